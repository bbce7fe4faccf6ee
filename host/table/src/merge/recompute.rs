//! `replace_named` by keys: what becomes of the keys that a batch names, from all the rows that there are of them above.
//!
//! Unlike in an upsert, what the table holds of a key does not count: a row with a greater sequence may be the very one that
//! was made wrongly. A row that only names its key has no sequence.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::RandomState;

use arrow_array::{Array, RecordBatch};

use super::events::{Events, Share};
use super::keys::Values;
use super::tombstones::Tombstone;
use super::{LiveFile, Merge, Rewrite, incoming};
use crate::scan::local;
use crate::{FileWriter, PendingFile, TableError, entry};

/// What the rows of a batch come to.
struct Newest {
    /// For each row of each staged file: it names its key, or it stands.
    chosen: Vec<Vec<bool>>,
    /// Keys whose newest row deletes them.
    deleted: HashMap<Box<[u8]>, Tombstone>,
    /// Keys that have a row, one that stands or one that deletes.
    known: HashSet<Box<[u8]>>,
}

impl Merge {
    pub(super) fn recompute(
        &self,
        keys: &[String],
        newest_by: &[String],
        live: Vec<LiveFile>,
        files: &[PendingFile],
        tombstones: Option<i64>,
    ) -> Result<Rewrite, TableError> {
        if files.is_empty() {
            return Ok(Rewrite::default());
        }
        let newest = self.newest(keys, newest_by, files)?;
        let chosen = self.stage(files, &newest.chosen)?;
        let rewrite = self.replace_groups(keys, &[], live, &chosen);
        self.unstage(&chosen);
        let (kept, concerned): (Vec<_>, Vec<_>) =
            self.read_tombstones(tombstones)?.into_iter().partition(|tombstone| !newest.known.contains(&tombstone.key));
        let as_before = |of: &Tombstone| newest.deleted.get(&of.key).is_some_and(|new| new.order == of.order);
        let mut rewrite = rewrite?;
        if concerned.len() != newest.deleted.len() || !concerned.iter().all(as_before) {
            let all: Vec<Tombstone> = kept.into_iter().chain(newest.deleted.into_values()).collect();
            rewrite.tombstones = Some(self.write_tombstones(&all)?);
        }
        Ok(rewrite)
    }

    fn newest(&self, keys: &[String], newest_by: &[String], files: &[PendingFile]) -> Result<Newest, TableError> {
        let schema = &self.spec.schema;
        let values = |names: &[String]| Values::new(schema, names).map_err(|e| self.failed(e));
        let (key, order) = (values(keys)?, values(newest_by)?);
        let rows = files.iter().map(|file| usize::try_from(file.rows).unwrap_or(0)).sum();
        let share = Share { of: 0, shares: 1, hashing: RandomState::new() };
        let (mut events, mut chosen) = (Events::new(share, rows), Vec::new());
        for (at, file) in files.iter().enumerate() {
            let mut names = Vec::new();
            for rows in self.rows(file, &incoming(schema))? {
                let rows = rows?;
                let (keys, orders) =
                    (key.of(&rows).map_err(|e| self.failed(e))?, order.of(&rows).map_err(|e| self.failed(e))?);
                let deleted = self.deleted(&rows)?;
                for row in 0..rows.num_rows() {
                    let only_names = deleted.value(row) && all_null(&rows, newest_by, row);
                    if !only_names {
                        let place = (at, names.len());
                        events.take(keys.row(row).as_ref(), orders.row(row).as_ref(), deleted.value(row), place);
                    }
                    names.push(only_names);
                }
            }
            chosen.push(names);
        }
        let mut newest = Newest { chosen, deleted: HashMap::new(), known: HashSet::new() };
        for (event, key, order) in events.each() {
            newest.known.insert(key.into());
            if event.deletes {
                let tombstone = Tombstone { key: key.into(), order: order.into(), deleted_at: entry::now_millis() };
                newest.deleted.insert(key.into(), tombstone);
            } else {
                let (file, row) = event.place;
                newest.chosen[file][row] = true;
            }
        }
        Ok(newest)
    }

    /// The rows that count, in files of their own.
    fn stage(&self, files: &[PendingFile], chosen: &[Vec<bool>]) -> Result<Vec<PendingFile>, TableError> {
        let mut staged = Box::new(self.writer()?);
        for (file, chosen) in files.iter().zip(chosen) {
            let mut first = 0;
            for rows in self.rows(file, &incoming(&self.spec.schema))? {
                let rows = rows?;
                let of_rows = chosen.get(first..first + rows.num_rows()).unwrap_or_default().to_vec();
                first += rows.num_rows();
                staged.write(&self.filter(&rows, of_rows)?)?;
            }
        }
        staged.finish()
    }

    fn unstage(&self, files: &[PendingFile]) {
        for path in files.iter().filter_map(|file| local(&self.log.store().root, &file.path)) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::debug!(table = %self.spec.name, file = %path.display(), %error, "a staged file stays");
            }
        }
    }
}

fn all_null(rows: &RecordBatch, columns: &[String], row: usize) -> bool {
    columns.iter().all(|name| rows.column_by_name(name).is_some_and(|column| column.is_null(row)))
}
