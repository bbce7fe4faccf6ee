//! `replace_groups`, `replace_named`: the groups that a batch names are replaced whole; one whose rows are as before stays
//! untouched.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use super::keys::{Digest, Values, digest};
use super::prune::Span;
use super::rewrite::{Change, Writers};
use super::{DELETED, LiveFile, Merge, Rewrite, RowChanges};
use crate::{PendingFile, TableError, upgrade};

/// Rows in any order: how many, and a sum over their digests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Rows {
    rows: u64,
    sums: Digest,
}

impl Rows {
    fn add(&mut self, row: &[u8]) {
        self.rows += 1;
        for (sum, half) in self.sums.iter_mut().zip(digest(row)) {
            *sum = sum.wrapping_add(half);
        }
    }
}

/// A group before and after.
#[derive(Debug, Default)]
struct Group {
    old: Rows,
    new: Rows,
}

impl Group {
    fn changes(&self) -> bool {
        self.old != self.new
    }
}

struct Grouped {
    key: Values,
    row: Values,
    groups: HashMap<Box<[u8]>, Group>,
    span: Span,
}

impl Merge {
    pub(super) fn replace_groups(
        &self,
        group_by: &[String],
        apart_from: &[String],
        live: Vec<LiveFile>,
        files: &[PendingFile],
    ) -> Result<Rewrite, TableError> {
        if files.is_empty() {
            return Ok(Rewrite::default());
        }
        let mut grouped = self.named(group_by, apart_from, files)?;
        let candidates: Vec<LiveFile> = live.into_iter().filter(|file| grouped.span.may_be_in(file)).collect();
        let mut touched = Vec::new();
        for file in candidates {
            let mut holds_some = false;
            for rows in file.scanned.rows(&self.spec.schema).map_err(|e| self.failed(e))? {
                let rows = rows.map_err(|e| self.failed(e))?;
                holds_some |= grouped.count(&rows, |group| &mut group.old).map_err(|e| self.failed(e))? > 0;
            }
            if holds_some {
                touched.push(file);
            }
        }
        self.write_groups(&grouped, &touched, files)
    }

    /// The groups that the batch names, and their new rows. Rows are compared in all columns but `apart_from`.
    fn named(&self, group_by: &[String], apart_from: &[String], files: &[PendingFile]) -> Result<Grouped, TableError> {
        let schema = &self.spec.schema;
        let all = schema.fields().iter().map(|field| field.name().clone());
        let all: Vec<String> = all.filter(|name| !apart_from.contains(name)).collect();
        let values = |names: &[String]| Values::new(schema, names).map_err(|e| self.failed(e));
        let span = Span::new(group_by, &self.spec.partition_by);
        let mut grouped = Grouped { key: values(group_by)?, row: values(&all)?, groups: HashMap::new(), span };
        let incoming = super::incoming(schema);
        for file in files {
            for rows in self.rows(file, &incoming)? {
                let rows = rows?;
                let named = self.filter(&rows, deleted(&rows, true))?;
                for key in &grouped.key.of(&named).map_err(|e| self.failed(e))? {
                    grouped.groups.entry(key.as_ref().into()).or_default();
                }
                grouped.span.add(&named).map_err(|e| self.failed(e))?;
            }
        }
        for file in files {
            for rows in self.rows(file, &incoming)? {
                let rows = rows?;
                let new = self.filter(&rows, deleted(&rows, false))?;
                let counted = grouped.count(&new, |group| &mut group.new).map_err(|e| self.failed(e))?;
                if counted != new.num_rows() {
                    return Err(self.place.data("rows belong to groups that their batch does not name"));
                }
            }
        }
        Ok(grouped)
    }

    fn write_groups(
        &self,
        grouped: &Grouped,
        touched: &[LiveFile],
        files: &[PendingFile],
    ) -> Result<Rewrite, TableError> {
        let changed = || grouped.groups.values().filter(|group| group.changes());
        let takes_out = changed().any(|group| group.old.rows > 0);
        let mut writers = Writers::new(self, takes_out && upgrade::tells_changes(&self.spec))?;
        for file in touched {
            let gone = self.changed_rows(grouped, file)?;
            if gone.contains(&true) {
                writers.replace(file, |row| gone.get(row).is_some_and(|gone| *gone).then_some(Change::Delete))?;
            }
        }
        let incoming = super::incoming(&self.spec.schema);
        for file in files {
            for rows in self.rows(file, &incoming)? {
                let rows = rows?;
                let new = self.filter(&rows, deleted(&rows, false))?;
                let changed = grouped.changed(&new).map_err(|e| self.failed(e))?;
                let new = self.filter(&new, changed)?;
                let columns = new.columns().iter().take(self.spec.schema.fields().len()).cloned().collect();
                let new = RecordBatch::try_new(self.spec.schema.clone(), columns);
                writers.add(&new.map_err(|e| self.place.data(e.to_string()))?, Change::Insert)?;
            }
        }
        writers.finish(RowChanges {
            inserted: changed().map(|group| group.new.rows).sum(),
            deleted: changed().map(|group| group.old.rows).sum(),
            ..RowChanges::default()
        })
    }

    fn changed_rows(&self, grouped: &Grouped, file: &LiveFile) -> Result<Vec<bool>, TableError> {
        let mut gone = Vec::new();
        for rows in file.scanned.rows(&self.spec.schema).map_err(|e| self.failed(e))? {
            let rows = rows.map_err(|e| self.failed(e))?;
            gone.extend(grouped.changed(&rows).map_err(|e| self.failed(e))?);
        }
        Ok(gone)
    }
}

impl Grouped {
    /// Adds rows of named groups to one side of them; gives how many there were.
    fn count(
        &mut self,
        rows: &RecordBatch,
        side: impl Fn(&mut Group) -> &mut Rows,
    ) -> Result<usize, arrow_schema::ArrowError> {
        let (keys, values) = (self.key.of(rows)?, self.row.of(rows)?);
        let mut counted = 0;
        for (key, value) in keys.iter().zip(&values) {
            if let Some(group) = self.groups.get_mut(key.as_ref()) {
                side(group).add(value.as_ref());
                counted += 1;
            }
        }
        Ok(counted)
    }

    /// Which rows belong to groups that change.
    fn changed(&self, rows: &RecordBatch) -> Result<Vec<bool>, arrow_schema::ArrowError> {
        let keys = self.key.of(rows)?;
        Ok(keys.iter().map(|key| self.groups.get(key.as_ref()).is_some_and(Group::changes)).collect())
    }
}

fn deleted(rows: &RecordBatch, wanted: bool) -> Vec<bool> {
    let column = rows.column_by_name(DELETED).and_then(|column| column.as_boolean_opt());
    column.into_iter().flat_map(|column| column.iter().map(|deleted| deleted == Some(wanted))).collect()
}
