//! Rows of a file that is being written, kept for whoever reads the file next.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::slice_bytes;
use super::stored::stored;

/// Keeps the rows of files that were just written, so that they need not be read from disk.
pub trait KeepFiles: Send + Sync + std::fmt::Debug {
    /// Rows of one file that are worth keeping.
    fn file_bytes_max(&self) -> usize;

    /// The rows of a whole file, without partition columns, in the order in which it holds them; `bytes` in memory.
    fn keep(&self, file: PathBuf, rows: Vec<RecordBatch>, bytes: usize);
}

/// The rows of an open file, as long as they are few enough.
#[derive(Debug)]
pub(super) struct KeptRows {
    keeper: Arc<dyn KeepFiles>,
    rows: Vec<RecordBatch>,
    bytes: usize,
}

impl KeptRows {
    pub(super) fn new(keeper: Arc<dyn KeepFiles>) -> Self {
        Self { keeper, rows: Vec::new(), bytes: 0 }
    }

    /// The file's rows with these; `None` when they became too many.
    pub(super) fn with(mut self, rows: &RecordBatch) -> Result<Option<Self>, ArrowError> {
        self.bytes += slice_bytes(rows)?;
        self.rows.push(stored(rows)?);
        Ok((self.bytes <= self.keeper.file_bytes_max()).then_some(self))
    }

    pub(super) fn finish(self, file: PathBuf) {
        self.keeper.keep(file, self.rows, self.bytes);
    }
}
