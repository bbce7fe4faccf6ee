//! Files written anew: rows that stay, rows that come, and what is told of those that change (D-084).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;

use super::{DELETED, LiveFile, Merge, Rewrite, RowChanges};
use crate::ahead::Behind;
use crate::{PendingFile, TableError};

/// What became of a row, in the words of change data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Insert,
    OldImage,
    NewImage,
    Delete,
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::OldImage => "update_preimage",
            Self::NewImage => "update_postimage",
            Self::Delete => "delete",
        }
    }
}

/// The new files of one merge.
pub(super) struct Writers<'a> {
    merge: &'a Merge,
    data: Behind,
    /// Change data is told by a commit that takes rows out; one that only adds files needs none.
    changes: Option<Behind>,
    removes: Vec<LiveFile>,
}

impl<'a> Writers<'a> {
    pub(super) fn new(merge: &'a Merge, takes_out: bool) -> Result<Self, TableError> {
        let changes = takes_out.then(|| Behind::new(&merge.changes)).transpose()?;
        let data = if takes_out { &merge.data } else { &merge.added };
        Ok(Self { merge, data: Behind::new(data)?, changes, removes: Vec::new() })
    }

    /// Adds rows to the table; of `change` is told.
    pub(super) fn add(&mut self, rows: &RecordBatch, change: Change) -> Result<(), TableError> {
        self.tell(rows, change)?;
        self.data.write(rows.clone())
    }

    /// Tells of rows without adding them.
    pub(super) fn tell(&mut self, rows: &RecordBatch, change: Change) -> Result<(), TableError> {
        let Some(changes) = self.changes.as_mut().filter(|_| rows.num_rows() > 0) else { return Ok(()) };
        let word: ArrayRef = Arc::new(StringArray::from(vec![change.word(); rows.num_rows()]));
        let columns = rows.columns().iter().cloned().chain([word]).collect();
        let told = RecordBatch::try_new(self.merge.changes.schema(), columns).map_err(|e| self.merge.failed(e))?;
        changes.write(told)
    }

    /// Takes out a file; rows that stay are written to another one. `change` gives the change of each row that does not.
    pub(super) fn replace(
        &mut self,
        file: &LiveFile,
        change: impl Fn(usize) -> Option<Change>,
    ) -> Result<(), TableError> {
        let mut first = 0;
        for rows in file.scanned.rows(&self.merge.spec.schema).map_err(|e| self.merge.failed(e))? {
            let rows = rows.map_err(|e| self.merge.failed(e))?;
            let changes: Vec<Option<Change>> = (first..first + rows.num_rows()).map(&change).collect();
            first += rows.num_rows();
            let stays: Vec<bool> = changes.iter().map(Option::is_none).collect();
            self.data.write(self.merge.filter(&rows, stays)?)?;
            for kind in [Change::OldImage, Change::Delete] {
                let of_kind: Vec<bool> = changes.iter().map(|change| *change == Some(kind)).collect();
                if !of_kind.contains(&true) {
                    continue;
                }
                self.tell(&self.merge.filter(&rows, of_kind)?, kind)?;
            }
        }
        self.removes.push(file.clone());
        Ok(())
    }

    pub(super) fn finish(self, counts: RowChanges) -> Result<Rewrite, TableError> {
        let adds = self.data.finish()?;
        let changes = self.changes.map_or(Ok(Vec::new()), |changes| changes.finish())?;
        Ok(Rewrite { removes: self.removes, adds, changes, tombstones: None, counts })
    }
}

impl Merge {
    pub(super) fn filter(&self, rows: &RecordBatch, keep: Vec<bool>) -> Result<RecordBatch, TableError> {
        filter_record_batch(rows, &BooleanArray::from(keep)).map_err(|e| self.failed(e))
    }

    /// Which incoming rows only name what is to go, or delete it.
    pub(super) fn deleted(&self, rows: &RecordBatch) -> Result<BooleanArray, TableError> {
        let deleted = rows.column_by_name(DELETED).and_then(|column| column.as_boolean_opt());
        deleted.cloned().ok_or_else(|| self.failed(format!("rows without `{DELETED}`")))
    }

    /// Rows of a file, with some of its columns.
    pub(super) fn rows(
        &self,
        file: &PendingFile,
        columns: &SchemaRef,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, TableError>> + use<'_>, TableError> {
        let rows = self.scanned(file)?.rows(columns).map_err(|e| self.failed(e))?;
        Ok(rows.map(|rows| rows.map_err(|e| self.failed(e))))
    }
}
