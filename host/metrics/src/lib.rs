//! What an operator's tools see of a running host: metrics for Prometheus, and probes for Kubernetes and the like.
//!
//! A [`Monitor`] listens to the events of the streams; [`start`] serves what it knows over HTTP. Nothing of it holds up
//! a stream, and it ends with the process.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod address;
mod bounded;
mod definitions;
mod exposition;
mod figures;
mod holder;
mod http;
mod monitor;
mod process;
mod readiness;
mod server;

pub use address::{Address, AddressError, ListenError};
pub use monitor::Monitor;
pub use server::start;
