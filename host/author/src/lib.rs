//! What authors of plugins need: a project to start from, a component built of it, and its samples run.
//!
//! [`scaffold`] writes a project from templates and the sources of the SDK, both of them in this binary. [`build`](fn@build)
//! calls the language's own tool and puts the samples into the component. [`Bench`] loads a component that need not be good
//! enough to serve: [`test`](Bench::test) runs samples through it, [`inspect`](Bench::inspect) tells what it is,
//! [`place`](Bench::place) puts it where a host takes it. [`Watch`] waits for the next change.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bench;
mod build;
mod conformance;
mod dev;
mod error;
mod inspect;
mod project;
mod samples;
mod scaffold;
mod test;

pub use bench::Bench;
pub use build::{Built, Profile, build};
pub use conformance::{Case, Conformance};
pub use crisol_plugin::{Compiler, Difference, Kind, SampleColumns};
pub use dev::Watch;
pub use error::AuthorError;
pub use inspect::Inspected;
pub use project::{Lang, Project, Recipe};
pub use scaffold::{Scaffold, scaffold};
pub use test::{Report, SampleResult, Verdict};
