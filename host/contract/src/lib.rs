//! What users write: the project's settings, ingestion contracts and table contracts, parsed into types that are
//! already valid.
//!
//! This room is pure: it gets texts and gives values or problems. It does no I/O, has no clock and is not async.

mod ingestion;
mod project;
mod table;

pub use ingestion::{
    FileFormat, FilesSpec, IngestionContract, KafkaSpec, SourceSpec, StartingOffsets, Subscription, Trigger,
};
pub use project::{Limits, Paths, Project};
pub use table::{
    ColumnSpec, ExpectationSpec, OnRejected, OnViolation, StageKind, StageSpec, TableContract, Upstream, VersionSource,
    WriteMode,
};
