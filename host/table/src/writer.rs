//! What streams know of a table: traits, and the values that cross them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{HeldFile, RowChanges, TableError};

/// Delta's `txn` action: who wrote, and the newest number that it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppTransaction {
    /// Id of the checkpoint.
    pub app_id: String,
    /// Number of the batch.
    pub version: i64,
}

/// A data file that is written and durable, and belongs to no commit yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingFile {
    /// Relative to the table, as the log will name it (URI-encoded).
    pub path: String,
    /// Bytes.
    pub size: i64,
    /// Rows.
    pub rows: u64,
    /// Value per partition column, in the protocol's text; `None` is null.
    pub partition_values: BTreeMap<String, Option<String>>,
    /// Delta statistics, JSON text.
    pub stats: String,
    /// Milliseconds since 1970.
    pub modification_time: i64,
}

/// What a commit says about itself in `commitInfo`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitNote {
    /// Stream that writes.
    pub stream: String,
    /// Number of the batch.
    pub batch: u64,
    /// Start and end of the range, the checkpoint's own text.
    pub range: serde_json::Value,
    /// `name@version` → SHA-256 of each component that made the rows.
    pub components: BTreeMap<String, String>,
    /// Rows read, written, rejected, filtered.
    pub accounts: serde_json::Value,
    /// Offsets that the batch passed over because the source no longer had them; null when there are none.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub losses: serde_json::Value,
    /// What was rebuilt: the predicate of a slice, or what the table above rebuilt. Streams below then compute anew what
    /// they made of the rows that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<String>,
}

/// Where an application stood in a table when something was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The application.
    pub app_id: String,
    /// Its newest version; `None`: it had written nothing.
    pub version: Option<i64>,
}

impl Standing {
    /// The application that moves whenever a commit of `app_id` follows a rebuild of the table above.
    pub fn rebuilds_of(app_id: &str) -> String {
        format!("{app_id}.rebuilds")
    }
}

/// What came of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum CommitOutcome {
    /// Landed as this version.
    Committed {
        /// Version of the table.
        version: i64,
    },
    /// Landed as this version, and changed rows of the table.
    Merged {
        /// Version of the table.
        version: i64,
        /// What became of the rows, where they count one by one.
        changes: RowChanges,
    },
    /// The table already holds this transaction: nothing was written.
    AlreadyCommitted {
        /// Newest version when that was seen.
        version: i64,
    },
}

/// A table that a stream writes to.
///
/// Contract, held by one suite over all implementations: a commit is all or nothing; the same [`AppTransaction`]
/// commits once, whoever tries and however often; pending files that no commit names are never seen by readers; after
/// an unknown outcome nothing is deleted.
#[async_trait]
pub trait TableWriter: Send + Sync {
    /// Columns of the table, in order.
    fn schema(&self) -> SchemaRef;

    /// Columns that [`TableWriter::writer`] takes: those of the table; where it is written by `upsert`,
    /// `replace_groups` or `replace_named`, all of them nullable, and then [`DELETED`](crate::DELETED).
    fn incoming(&self) -> SchemaRef {
        self.schema()
    }

    /// Newest `version` of this application in a fresh snapshot, `None` when it never wrote (D-002, R-032).
    async fn transaction(&self, app_id: &str) -> Result<Option<i64>, TableError>;

    /// A writer of pending files for one batch.
    fn writer(&self) -> Result<Box<dyn FileWriter>, TableError>;

    /// Commits pending files (none is legal, D-010) with their transaction. Durable when it returns.
    async fn commit(
        &self,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<CommitOutcome, TableError>;

    /// As [`TableWriter::commit`], as long as an application stands where it did: `None` when it has moved, and nothing
    /// is written. Asked and committed at one version of the table.
    async fn commit_while(
        &self,
        standing: &Standing,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<Option<CommitOutcome>, TableError>;

    /// The files that the table holds now.
    async fn held(&self) -> Result<Vec<HeldFile>, TableError>;

    /// Waits for what is done beside the commits, such as log checkpoints: a process that ends earlier cuts it off.
    async fn settled(&self) {}
}

/// Writes the rows of one batch into files. Blocking: call it on a worker thread.
pub trait FileWriter: Send {
    /// Adds rows of the table's schema. An empty string in a partition column is refused: Delta would give it back as
    /// null (D-089, D-090).
    fn write(&mut self, rows: &RecordBatch) -> Result<(), TableError>;

    /// Ends the files and makes them durable.
    fn finish(self: Box<Self>) -> Result<Vec<PendingFile>, TableError>;
}
