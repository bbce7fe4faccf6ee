//! Where rows come from: Kafka, files, Delta tables, behind one trait.
//!
//! rdkafka is named only in `kafka`, deltalake only in `table`. A source never decides what is read twice: it plans
//! positions and reads the range it is given; the stream logs and commits.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bytes_column;
mod chunks;
mod error;
mod files;
mod kafka;
mod log;
mod memory;
mod source;
mod table;

pub use error::SourceError;
pub use files::{FilesSource, InferredSchema, files_schema, infer_schema, logged_files};
pub use kafka::{KafkaSource, RefusedOption, check_client, kafka_schema};
pub use log::{LogError, SourceLog};
pub use memory::{MemoryLog, MemorySource, MemoryTopic};
pub use source::{CHUNK_BYTES_MAX, CHUNK_ROWS_MAX, Chunks, Estimate, Planned, Source};
pub use table::{Cut, HeldFiles, TableSource, TableSourceSpec, table_schema, with_changes};
