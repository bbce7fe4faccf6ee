//! Crisol as a library: contracts, components and Kafka settings make an [`Engine`], and an engine runs streams.
//!
//! ```no_run
//! # async fn example() -> Result<(), crisol::EngineError> {
//! let engine = crisol::Engine::builder()
//!     .project("examples/orders")
//!     .plugins("plugins")
//!     .kafka("bootstrap.servers", "localhost:9092")
//!     .build()?;
//! // All that is pending, from source to last table.
//! for summary in engine.run_streaming().await? {
//!     println!("{}: {} rows in", summary.stream, summary.accounts.rows_in);
//! }
//! // Or in the background, until stopped.
//! let handles = engine.start_streaming().await?;
//! let summaries = crisol::Engine::stop_streaming(handles).await?;
//! # Ok(()) }
//! ```
//!
//! `plan` turns contracts into streams, `open` is the one place that names concrete sources, tables and stores, `swap`
//! exchanges components while streams run.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod backfill;
mod builder;
mod engine;
mod error;
mod files;
mod fit;
mod handle;
mod handoff;
mod history;
mod inspect;
mod losses;
mod maintain;
mod names;
mod open;
mod plan;
mod quarantine;
mod rebuild;
mod replace;
mod report;
mod rollback;
mod samples;
mod sandbox;
mod source_log;
mod status;
mod swap;
mod trial;

pub use backfill::{Backfill, Range};
pub use builder::EngineBuilder;
pub use crisol_contract::{Code, KafkaBound, KeyFile, Problem, Problems, Trigger, parse_bound, schema, type_name};
pub use crisol_observe::{
    Accounts, Build, ColumnChange, ColumnChanges, Event, Gap, GapReason, HostProgress, Lag, Observer, PartitionLag,
    Phases, Progress, RuleCount, Served, SinkProgress, SourceProgress, StreamState, causes, waiting_text,
};
pub use crisol_plugin::compile_in_child;
/// Codes of rows on which a component failed.
pub const POISON_CODES: [&str; 5] = crisol_plugin::CallError::POISON_CODES;
pub use crisol_stream::{Failure, Rebuilt, Replayed, Selection, SliceSize, StreamError, Summary};
pub use engine::{Engine, StreamInfo};
pub use error::{EngineError, ErrorKind, error_json, kind};
pub use fit::Fit;
pub use handle::{Stopper, StreamHandle};
pub use history::{Origin, PartitionRange, Read, TableCommit, TableHistory, TablePlace, UsedComponent};
pub use inspect::{ComponentInfo, Components, RefusedInfo, Shown, Tables};
pub use losses::Loss;
pub use maintain::Maintained;
pub use names::Names;
pub use report::{StreamReport, Waiting};
pub use rollback::RolledBack;
pub use status::StreamStatus;
pub use swap::{Decided, Decisions, KeptBuild, RefusedFile, ServedState};
pub use trial::{Change, Cost, Difference, Differences, Reason, Trial, Tried};
