//! What a worker gave for parts of its rows, put together.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;

use crate::{Rejection, WorkerOutput, accounts};

/// Outputs of parts that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    parts: Vec<RecordBatch>,
    origin: Vec<u32>,
    rejected: Vec<Rejection>,
}

impl Pieces {
    /// The next part: `count` rows from row `first` on.
    ///
    /// # Errors
    /// Its account does not hold.
    pub(crate) fn add(&mut self, first: usize, count: usize, output: WorkerOutput) -> Result<(), String> {
        let WorkerOutput { rows, rejected } = output;
        if let Some((part, origin)) = rows {
            accounts::check(count, part.num_rows(), &origin, &rejected)?;
            self.origin.extend(origin.into_iter().map(|row| row + first as u32));
            self.parts.push(part);
        }
        self.rejected
            .extend(rejected.into_iter().map(|rejection| Rejection { row: rejection.row + first as u32, ..rejection }));
        Ok(())
    }

    /// The next row, which is refused.
    pub(crate) fn reject(&mut self, rejection: Rejection) {
        self.rejected.push(rejection);
    }

    /// All of them; `writes` are the columns that the worker gives.
    pub(crate) fn output(self, writes: &SchemaRef) -> Result<WorkerOutput, ArrowError> {
        let rows = match self.parts.first() {
            None if writes.fields().is_empty() => None,
            None => Some((RecordBatch::new_empty(Arc::clone(writes)), Vec::new())),
            Some(part) => Some((concat_batches(part.schema_ref(), &self.parts)?, self.origin)),
        };
        Ok(WorkerOutput { rows, rejected: self.rejected })
    }
}
