//! The sandbox with real components: a guest that misbehaves on demand, and hand-written ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod describing;
mod harness;
mod hostile;
mod loading;
mod logging;
mod registry;
mod reuse;
