//! Write a Crisol stage in Rust.
//!
//! Two ways. *Columns* ([`columns`]): typed Arrow arrays in, columns out.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod about;
pub mod columns;
mod export;
mod log;
pub mod raw;

pub use about::{About, Batch, Column, Failure, NoOptions, Plan};
pub use crisol_ipc::{Fate, Rejected, Rejections, types};
pub use log::{Level, log};
