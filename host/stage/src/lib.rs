//! From input rows to the rows of a table: components and native rules, one chunk at a time.
//!
//! A [`Chain`] is what a contract's stages become. It is pure per chunk: it keeps nothing between calls, so chunks may
//! be worked on side by side and in any order; the stream puts the results back in order.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

/// What holds for all rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchContext {
    /// Number of the batch.
    pub batch: u64,
    /// Batch timestamp in microseconds: what `now()` means inside a stage (C-022).
    pub timestamp_us: i64,
}

/// What one step gives for a chunk.
#[derive(Debug)]
pub struct StageOutput {
    /// Rows, in input order.
    pub rows: RecordBatch,
    /// For each row of `rows` the input row it came from, never descending.
    pub origin: Vec<u32>,
    /// Input rows that are refused or filtered. A row is in `origin` or here, never both, never neither.
    pub rejected: Vec<Rejection>,
    /// Passed and failed rows per expectation.
    pub rules: Vec<(String, u64, u64)>,
}

/// An input row that does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Input row.
    pub row: u32,
    /// Filtered on purpose, or refused.
    pub fate: Fate,
    /// Short stable reason: `corrupt_record`, `not_null: day`.
    pub code: String,
    /// For people.
    pub text: String,
}

/// What a rejection does with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// To the quarantine table.
    Quarantine,
    /// Dropped and counted.
    Filter,
}

/// One step of a chain.
pub trait Stage: Send + Sync + std::fmt::Debug {
    /// `decode orders`, `expectations`: for messages and for the quarantine's `stage` column.
    fn name(&self) -> String;

    /// The component behind it, for quarantine and `commitInfo`.
    fn component(&self) -> Option<ComponentId> {
        None
    }

    /// Columns that come out.
    fn schema(&self) -> SchemaRef;

    /// Works on one chunk. Blocking; called on worker threads, several at a time.
    ///
    /// # Errors
    /// An error stops the stream; nothing of the batch is committed.
    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError>;
}

/// Which component, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentId {
    /// Its own name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// SHA-256 of its file, lower-case hex.
    pub digest: String,
}

/// Stages in a row, ended by the table's columns.
#[derive(Debug, Clone)]
pub struct Chain {
    stages: Vec<Arc<dyn Stage>>,
}

/// Why a chunk could not be worked on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// The component trapped, ran out of a limit, or returned what does not hold.
    #[error("stage `{stage}`: component `{component}` ({digest}): {what}")]
    Plugin {
        /// Which stage.
        stage: String,
        /// Name and version of the component.
        component: String,
        /// Its digest.
        digest: String,
        /// The trap, limit (with its value and how to raise it) or wrong answer, with the guest's own words.
        what: String,
    },
    /// A rule with `on_violation: fail`, or `on_rejected: fail`.
    #[error("stage `{stage}`: {what}")]
    Refused {
        /// Which stage or rule.
        stage: String,
        /// The row and the reason.
        what: String,
    },
    /// The contract asks for what cannot be.
    #[error("{what}")]
    Config {
        /// What is wrong.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A defect of the host.
    #[error("internal error in stage `{stage}`: {what}")]
    Internal {
        /// Which stage.
        stage: String,
        /// What was found.
        what: String,
    },
}

/// What a chain gives for a chunk of its input.
#[derive(Debug)]
pub struct ChunkOutput {
    /// Rows of the table, in input order.
    pub accepted: RecordBatch,
    /// Rows of the quarantine table ([`quarantine_schema`]); `None` when nothing was refused.
    pub quarantined: Option<RecordBatch>,
    /// Input rows that gave at least one accepted row.
    pub rows_accepted: u64,
    /// Input rows in quarantine, by code.
    pub rejected: Vec<(String, u64)>,
    /// Input rows filtered, by code.
    pub filtered: Vec<(String, u64)>,
    /// Passed and failed rows per expectation.
    pub rules: Vec<(String, u64, u64)>,
}

/// Columns of every quarantine table; final.
///
/// `stream, batch, batch_timestamp, stage, component, component_version, component_digest, code, text` say who refused
/// the row and why; `payload` holds the bytes of the input's `payload` column; `input` the other input columns as one
/// JSON object; `topic, partition, offset, file_path, file_row` its provenance, null where it has none.
pub fn quarantine_schema() -> SchemaRef {
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let column = |name: &str, data_type: DataType, nullable: bool| Field::new(name, data_type, nullable);
    Arc::new(Schema::new(vec![
        column("stream", DataType::Utf8, false),
        column("batch", DataType::Int64, false),
        column("batch_timestamp", timestamp, false),
        column("stage", DataType::Utf8, false),
        column("component", DataType::Utf8, true),
        column("component_version", DataType::Utf8, true),
        column("component_digest", DataType::Utf8, true),
        column("code", DataType::Utf8, false),
        column("text", DataType::Utf8, true),
        column("payload", DataType::Binary, true),
        column("input", DataType::Utf8, true),
        column("topic", DataType::Utf8, true),
        column("partition", DataType::Int32, true),
        column("offset", DataType::Int64, true),
        column("file_path", DataType::Utf8, true),
        column("file_row", DataType::Int64, true),
    ]))
}
