//! A stream's progress: positions and ranges, the log of planned and committed batches, and outcomes.
//!
//! The core (`position`, `range`, `log`, `outcome`) is pure: no I/O, no async, no clock. Only `checkpoint` touches
//! storage. The directory and its texts are Spark's (C-001 … C-008); what goes beyond stands in `outcome/`.

mod position;

pub use position::{FilesPosition, KafkaPosition, Position, Range, TablePosition};
