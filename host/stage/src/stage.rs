//! What a step of a chain is.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::{PoisonSearch, StageError};

/// What holds for all rows of a batch.
#[derive(Debug, Clone)]
pub struct BatchContext {
    /// Number of the batch.
    pub batch: u64,
    /// Batch timestamp in microseconds: what `now()` means inside a stage (C-022).
    pub timestamp_us: i64,
    /// Rows on which components fail.
    pub poison: PoisonSearch,
}

impl BatchContext {
    /// For rows of the batch that were judged before.
    #[must_use]
    pub fn of_old_rows(&self) -> Self {
        Self { poison: self.poison.among_old_rows(), ..self.clone() }
    }
}

/// What one step gives for a chunk.
#[derive(Debug)]
pub struct StageOutput {
    /// Rows, in input order.
    pub rows: RecordBatch,
    /// For each row of `rows` the input row it came from, never descending; an input row may give several.
    pub origin: Vec<u32>,
    /// Input rows that are refused or filtered; a row may be here several times, for several reasons. A row is in
    /// `origin` or here, never both, never neither.
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
    pub code: Arc<str>,
    /// For people.
    pub text: Arc<str>,
    /// Which of the stage's components refused it; `None`: the host.
    pub component: Option<usize>,
}

/// What a rejection does with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// To the quarantine table.
    Quarantine,
    /// Dropped and counted.
    Filter,
    /// Stops the stream: nothing of the batch is committed.
    Fail,
}

/// One step of a chain.
pub trait Stage: Send + Sync + std::fmt::Debug {
    /// `decode orders`, `expectations`: for messages and for the quarantine's `stage` column.
    fn name(&self) -> String;

    /// The components behind it, for quarantine and `commitInfo`.
    fn components(&self) -> Vec<ComponentId> {
        Vec::new()
    }

    /// Columns that each of these components gives, in the same order.
    fn written(&self) -> Vec<SchemaRef> {
        Vec::new()
    }

    /// Columns that each of these components sees, in the same order.
    fn read(&self) -> Vec<SchemaRef> {
        Vec::new()
    }

    /// Columns that come out.
    fn schema(&self) -> SchemaRef;

    /// What one of its components sees of these rows; `None` for rules, and for rows that no one component gets.
    ///
    /// # Errors
    /// A defect of the host.
    fn given(&self, _rows: &RecordBatch) -> Result<Option<Given>, StageError> {
        Ok(None)
    }

    /// Works on one chunk. Blocking; called on worker threads, several at a time.
    ///
    /// # Errors
    /// An error stops the stream; nothing of the batch is committed.
    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError>;
}

/// What a component is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The component.
    pub component: ComponentId,
    /// Its options, a JSON object as text.
    pub options: String,
    /// Rows with the columns that it reads.
    pub rows: RecordBatch,
}

/// A component at work in a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct AtWork {
    /// The component.
    pub component: ComponentId,
    /// Columns that it sees, in its order.
    pub reads: SchemaRef,
    /// Columns that it gives.
    pub writes: SchemaRef,
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
