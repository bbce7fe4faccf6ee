//! `take_out`: rows leave the table, each for one that equals it in all columns. Files that lose none stay as they are.
//!
//! Rows are told by their values and not by their places, so it does not matter what rewrote their files meanwhile.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};

use super::keys::{Digest, Values, digest};
use super::rewrite::{Change, Writers};
use super::{LiveFile, Merge, Rewrite, RowChanges};
use crate::{PendingFile, TableError};

/// How many rows of each kind are still to go.
struct Wanted {
    row: Values,
    counts: HashMap<Digest, u64>,
}

impl Merge {
    pub(super) fn take_out(&self, live: Vec<LiveFile>, files: &[PendingFile]) -> Result<Rewrite, TableError> {
        let mut wanted = Wanted::new(&self.spec.schema).map_err(|e| self.failed(e))?;
        for file in files {
            for rows in self.rows(file, &self.spec.schema)? {
                wanted.add(&rows?).map_err(|e| self.failed(e))?;
            }
        }
        let mut writers = Writers::new(self, false)?;
        let mut deleted = 0;
        for file in &live {
            let goes = self.meet(file, &mut wanted)?;
            let count = goes.iter().filter(|goes| **goes).count() as u64;
            if count > 0 {
                writers.replace(file, |row| goes.get(row).is_some_and(|goes| *goes).then_some(Change::Delete))?;
                deleted += count;
            }
        }
        writers.finish(RowChanges { deleted, ..RowChanges::default() })
    }

    /// Which rows of a file go.
    fn meet(&self, file: &LiveFile, wanted: &mut Wanted) -> Result<Vec<bool>, TableError> {
        let mut goes = Vec::new();
        if wanted.counts.is_empty() {
            return Ok(goes);
        }
        for rows in file.scanned.rows(&self.spec.schema).map_err(|e| self.failed(e))? {
            let rows = rows.map_err(|e| self.failed(e))?;
            wanted.take(&rows, &mut goes).map_err(|e| self.failed(e))?;
        }
        Ok(goes)
    }
}

impl Wanted {
    fn new(schema: &Schema) -> Result<Self, ArrowError> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { row: Values::new(schema, &names)?, counts: HashMap::new() })
    }

    fn add(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        for row in &self.row.of(rows)? {
            *self.counts.entry(digest(row.as_ref())).or_default() += 1;
        }
        Ok(())
    }

    fn take(&mut self, rows: &RecordBatch, goes: &mut Vec<bool>) -> Result<(), ArrowError> {
        for row in &self.row.of(rows)? {
            let count = self.counts.get_mut(&digest(row.as_ref())).filter(|count| **count > 0);
            goes.push(count.is_some());
            if let Some(count) = count {
                *count -= 1;
            }
        }
        Ok(())
    }
}
