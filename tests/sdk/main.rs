//! Plugins in each language: built by the real binary with the language's own tools, run in the sandbox.
//!
//! `scripts/test-sdk.sh` runs these; a tool that is missing fails them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod author;
mod conformance;
mod equal;
mod scaffold;
mod tutorials;
