//! Arrow IPC between host and components, shared by both sides: one encapsulated record-batch message, and the words
//! for column types.
//!
//! What a component returns is hostile until [`decode`] has seen it: nothing here panics or aborts on any bytes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod types;
