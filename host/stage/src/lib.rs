//! From input rows to the rows of a table: components and native rules, one chunk at a time.
//!
//! A [`Chain`] is what a contract's stages become ([`Chain::build`]). It is pure per chunk: it keeps nothing between
//! calls, so chunks may be worked on side by side and in any order; the stream puts the results back in order.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod accounts;
mod build;
mod chain;
mod columns;
mod component;
mod condition;
mod deleted;
mod error;
mod expectations;
mod generated;
mod groups;
mod native;
mod not_null;
mod origins;
mod partition;
mod pieces;
mod poison;
mod quarantine;
mod restore;
mod routed;
mod sql;
mod stage;
mod trail;
mod utf8;
mod version;
mod wasm;
mod worker;

pub use build::{WorkerProblem, Workers};
pub use chain::{Chain, ChainInput, ChunkOutput, Filtered};
pub use component::ComponentStage;
pub use condition::Condition;
pub use error::StageError;
pub use groups::{GroupAnswer, GroupCounts, GroupRun, GroupSession, GroupWorker, Grouping, Sorted, TouchedGroups};
pub use native::NativeWorker;
pub use origins::Origins;
pub use poison::PoisonSearch;
pub use quarantine::quarantine_schema;
pub use restore::restored_rows;
pub use routed::Route;
pub use stage::{AtWork, BatchContext, ComponentId, Fate, Given, Rejection, Stage, StageOutput};
pub use wasm::Sandboxed;
pub use worker::{RowWorker, WorkerError, WorkerOutput};
