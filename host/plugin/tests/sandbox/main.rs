//! The sandbox with real components: a guest that misbehaves on demand, and hand-written ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bundled;
mod calls;
mod describing;
mod groups;
mod harness;
mod hostile;
mod hostile_groups;
mod loading;
mod logging;
mod registry;
mod reuse;
mod samples;
