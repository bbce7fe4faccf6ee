//! What users write: the project's settings, ingestion contracts and table contracts, parsed into types that are
//! already valid.
//!
//! This room is pure: it gets texts and gives values or problems. It does no I/O, has no clock and is not async; what
//! it needs of the outside it asks of a [`Lookup`].
//!
//! [`resolve`] is the only way in. A text becomes a tree with positions (`text`), typed values are read out of it
//! (`read`, guarded by the table of [`keys`]), a contract is made of them (`parse`), and all contracts are held
//! against each other (`check`). Each step reports and goes on, so that all mistakes are found at once.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod check;
mod client;
mod ingestion;
mod jaas;
mod keys;
mod limits;
mod parse;
mod partition;
mod placeholder;
mod positions;
mod problem;
mod project;
mod properties;
mod range;
mod read;
mod resolve;
mod schema;
mod settings;
mod suggest;
mod table;
mod text;
mod unsupported;

/// The type name of an Arrow type, as contracts write it.
pub use crisol_ipc::types::name as type_name;
pub use ingestion::{
    BatchMinimum, FileFormat, FilesSpec, IngestionContract, KafkaBound, KafkaSpec, NoRecord, SourceSpec, Subscription,
    Trigger, is_internal,
};
pub use keys::{Key, KeyFile, keys};
pub use limits::{HostLimits, Limits};
pub use parse::refused_kafka_options;
pub use partition::{PARTITION_HINT, can_partition};
pub use placeholder::Lookup;
pub use positions::Positions;
pub use problem::{Code, Problem, Problems};
pub use project::{Handoff, Paths, Project};
pub use range::{check_range, parse_bound};
pub use resolve::{Resolved, SourceText, Texts, resolve};
pub use schema::schema;
pub use table::{
    ColumnSpec, DELETED, ExpectationSpec, OnRejected, OnViolation, StageKind, StageSpec, TableContract, Upstream,
    VersionSource, WriteMode,
};
