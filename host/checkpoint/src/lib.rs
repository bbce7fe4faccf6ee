//! A stream's progress: positions and ranges, the log of planned and committed batches, and outcomes.
//!
//! The core (`position`, `range`, `log`, `outcome`, `recovery`, `step`) is pure: no I/O, no async, no clock. Only
//! `checkpoint` and `source_log` touch storage. The directory and its texts are Spark's (C-001 … C-008); what goes
//! beyond stands in `outcome/`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod checkpoint;
mod entries;
mod error;
mod log;
mod outcome;
mod position;
mod range;
mod recovery;
mod source_log;
mod step;
mod unique;

pub use checkpoint::{Checkpoint, Fact};
pub use error::CheckpointError;
pub use log::{CommitEntry, Metadata, RangeEntry};
pub use outcome::Outcome;
pub use position::{FilesPosition, KafkaPosition, Kind, Position, PositionError, TablePosition};
pub use range::Range;
pub use recovery::{LogState, Logged, NextStep, check_quarantine, check_table, next_step};
pub use source_log::SourceLog;
pub use step::Step;
