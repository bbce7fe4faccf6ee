//! The sandbox with real components. What hostile ones do is told in `tests/hostile`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bundled;
mod calls;
mod describing;
mod determinism;
mod groups;
mod guests;
mod harness;
mod limits;
mod loading;
mod logging;
mod registry;
mod reuse;
mod samples;
