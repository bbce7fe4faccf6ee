//! `upsert`: the newest row of each key stands (E-060 … E-064).
//!
//! First it is found out which rows win and which give way, from the columns of key and order alone and a share of the
//! keys at a time, so that memory is bounded whatever the size of batch and table; then files are written.

use std::hash::RandomState;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};

use super::events::{Events, Fate, Share};
use super::keys::Values;
use super::prune::Span;
use super::rewrite::{Change, Writers};
use super::tombstones::Tombstone;
use super::{LiveFile, Merge, Rewrite, RowChanges, incoming};
use crate::{PendingFile, TableError, entry};

/// The columns that an upsert compares.
pub(super) struct Columns<'a> {
    pub(super) keys: &'a [String],
    pub(super) sequence_by: &'a [String],
    pub(super) position: &'a [String],
}

/// Which rows win, and which give way.
#[derive(Debug)]
struct Matched {
    /// For each row of each staged file.
    staged: Vec<Vec<Fate>>,
    /// For each row of each live file; empty where none gives way.
    live: Vec<Vec<Fate>>,
    counts: RowChanges,
    tombstones: Vec<Tombstone>,
    tombstones_changed: bool,
}

struct Matching<'a> {
    merge: &'a Merge,
    key: Values,
    order: Values,
    /// Columns of key and order.
    compared: SchemaRef,
    keys: &'a [String],
    files: &'a [PendingFile],
    live: &'a [LiveFile],
}

impl Merge {
    pub(super) fn upsert(
        &self,
        columns: &Columns<'_>,
        live: Vec<LiveFile>,
        files: &[PendingFile],
        tombstones: Option<i64>,
    ) -> Result<Rewrite, TableError> {
        if files.is_empty() {
            return Ok(Rewrite::default());
        }
        let matching = Matching::new(self, columns, files, &live)?;
        let matched = matching.run(self.read_tombstones(tombstones)?)?;
        self.check_counts(&matched.counts, files)?;
        let takes_out = matched.live.iter().any(|rows| !rows.is_empty());
        let mut writers = Writers::new(self, takes_out)?;
        for (file, fates) in live.iter().zip(&matched.live).filter(|(_, fates)| !fates.is_empty()) {
            writers.replace(file, |row| match fates.get(row) {
                Some(Fate::Update) => Some(Change::OldImage),
                Some(Fate::Delete) => Some(Change::Delete),
                _ => None,
            })?;
        }
        self.write_winners(&mut writers, files, &matched.staged)?;
        let mut rewrite = writers.finish(matched.counts)?;
        if matched.tombstones_changed {
            rewrite.tombstones = Some(self.write_tombstones(&matched.tombstones)?);
        }
        Ok(rewrite)
    }

    /// Promise 2: each row has one fate, or nothing is committed.
    fn check_counts(&self, counts: &RowChanges, files: &[PendingFile]) -> Result<(), TableError> {
        let RowChanges { inserted, updated, superseded, deleted } = counts;
        let (rows, fates) =
            (files.iter().map(|file| file.rows).sum::<u64>(), inserted + updated + superseded + deleted);
        if rows == fates {
            return Ok(());
        }
        Err(self.failed(format!("{rows} rows came, and {counts:?} is what became of them: a defect of the host")))
    }

    fn write_winners(
        &self,
        writers: &mut Writers<'_>,
        files: &[PendingFile],
        fates: &[Vec<Fate>],
    ) -> Result<(), TableError> {
        for (file, fates) in files.iter().zip(fates) {
            let mut first = 0;
            for rows in self.rows(file, &self.spec.schema)? {
                let rows = rows?;
                let of_rows = fates.get(first..first + rows.num_rows()).unwrap_or_default();
                first += rows.num_rows();
                for (fate, change) in [(Fate::Insert, Change::Insert), (Fate::Update, Change::NewImage)] {
                    let wins: Vec<bool> = of_rows.iter().map(|of_row| *of_row == fate).collect();
                    if wins.contains(&true) {
                        writers.add(&self.filter(&rows, wins)?, change)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'a> Matching<'a> {
    fn new(
        merge: &'a Merge,
        columns: &Columns<'a>,
        files: &'a [PendingFile],
        live: &'a [LiveFile],
    ) -> Result<Self, TableError> {
        let schema = &merge.spec.schema;
        let order = [columns.sequence_by, columns.position].concat();
        let compared = schema.fields().iter().filter(|f| columns.keys.contains(f.name()) || order.contains(f.name()));
        let compared = Arc::new(Schema::new(compared.cloned().collect::<Vec<_>>()));
        let values = |names: &[String]| Values::new(schema, names).map_err(|e| merge.failed(e));
        Ok(Self {
            merge,
            key: values(columns.keys)?,
            order: values(&order)?,
            compared,
            keys: columns.keys,
            files,
            live,
        })
    }

    fn run(&self, tombstones: Vec<Tombstone>) -> Result<Matched, TableError> {
        let rows: u64 = self.files.iter().map(|file| file.rows).sum();
        let shares = rows.div_ceil(self.merge.share_rows).max(1);
        let zeroes = |file: &PendingFile| vec![Fate::None; usize::try_from(file.rows).unwrap_or(0)];
        let mut matched = Matched {
            staged: self.files.iter().map(zeroes).collect(),
            live: vec![Vec::new(); self.live.len()],
            counts: RowChanges::default(),
            tombstones: Vec::new(),
            tombstones_changed: false,
        };
        let hashing = RandomState::new();
        let mut span = Span::new(self.keys, &self.merge.spec.partition_by);
        for of in 0..shares {
            let share = Share { of, shares, hashing: hashing.clone() };
            let mut events = Events::new(share.clone(), usize::try_from(rows.div_ceil(shares)).unwrap_or(0));
            self.take(&mut events, (of == 0).then_some(&mut span))?;
            matched.counts.superseded += events.superseded();
            for at in (0..self.live.len()).filter(|at| span.may_be_in(&self.live[*at])) {
                self.meet(&mut events, at, &mut matched.live)?;
            }
            for tombstone in tombstones.iter().filter(|tombstone| share.has(&tombstone.key)) {
                if events.meet_tombstone(tombstone) {
                    matched.tombstones.push(tombstone.clone());
                } else {
                    matched.tombstones_changed = true;
                }
            }
            matched.settle(&events);
        }
        Ok(matched)
    }

    /// Takes the rows of the batch, and widens the span by their keys.
    fn take(&self, events: &mut Events, mut span: Option<&mut Span>) -> Result<(), TableError> {
        let failed = |e| self.merge.failed(e);
        for (at, file) in self.files.iter().enumerate() {
            let mut first = 0;
            for rows in self.merge.rows(file, &incoming(&self.compared))? {
                let rows = rows?;
                if let Some(span) = &mut span {
                    if let Some(name) = self.key.null_in(&rows) {
                        return Err(self.merge.place.data(format!("key column `{name}` is null")));
                    }
                    span.add(&rows).map_err(failed)?;
                }
                let (keys, orders) = (self.key.of(&rows).map_err(failed)?, self.order.of(&rows).map_err(failed)?);
                let deleted = self.merge.deleted(&rows)?;
                for row in 0..rows.num_rows() {
                    events.take(
                        keys.row(row).as_ref(),
                        orders.row(row).as_ref(),
                        deleted.value(row),
                        (at, first + row),
                    );
                }
                first += rows.num_rows();
            }
        }
        Ok(())
    }

    /// Holds the rows of a live file against the events of a share.
    fn meet(&self, events: &mut Events, at: usize, fates: &mut [Vec<Fate>]) -> Result<(), TableError> {
        let mut first = 0;
        for rows in self.live[at].scanned.rows(&self.compared).map_err(|e| self.merge.failed(e))? {
            let rows = rows.map_err(|e| self.merge.failed(e))?;
            let keys = self.key.of(&rows).map_err(|e| self.merge.failed(e))?;
            let orders = self.order.of(&rows).map_err(|e| self.merge.failed(e))?;
            for row in 0..rows.num_rows() {
                let fate = events.meet(keys.row(row).as_ref(), orders.row(row).as_ref());
                if fate != Fate::None {
                    let of_file = &mut fates[at];
                    of_file.resize(of_file.len().max(first + row + 1), Fate::None);
                    of_file[first + row] = fate;
                }
            }
            first += rows.num_rows();
        }
        Ok(())
    }
}

impl Matched {
    /// What the events of a share come to.
    fn settle(&mut self, events: &Events) {
        for (event, key, order) in events.each() {
            let (file, row) = event.place;
            if event.late {
                self.counts.superseded += 1;
            } else if event.deletes {
                self.counts.deleted += 1;
                self.tombstones_changed = true;
                let deleted_at = entry::now_millis();
                self.tombstones.push(Tombstone { key: key.into(), order: order.into(), deleted_at });
            } else {
                self.staged[file][row] = if event.replaces { Fate::Update } else { Fate::Insert };
                let count = if event.replaces { &mut self.counts.updated } else { &mut self.counts.inserted };
                *count += 1;
            }
        }
    }
}
