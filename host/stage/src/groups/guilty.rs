//! Which group of a session it is on which a component fails.

use std::ops::Range;
use std::time::Instant;

use arrow_array::RecordBatch;

use super::Grouping;
use super::run::Session;
use crate::BatchContext;

impl Grouping {
    /// The group that alone makes a session fail, and how it fails on it; `None` when no single one does, or when the time
    /// for the search in this batch is over.
    pub(super) fn guilty(&self, session: &Session, context: &BatchContext) -> Option<(usize, String)> {
        let mut groups = 0..session.groups.len();
        let mut told = None;
        while groups.len() > 1 {
            let middle = groups.start + groups.len() / 2;
            let halves = [groups.start..middle, middle..groups.end];
            let (half, error) = halves.into_iter().find_map(|half| {
                let error = self.failure(session, half.clone(), context)?;
                Some((half, error))
            })?;
            (groups, told) = (half, Some(error));
        }
        let error = told.or_else(|| self.failure(session, groups.clone(), context))?;
        Some((groups.start, error))
    }

    /// How a session of some of the groups fails.
    fn failure(&self, session: &Session, groups: Range<usize>, context: &BatchContext) -> Option<String> {
        let began = Instant::now();
        let result = self.try_groups(session, groups, context);
        context.poison.spend(began.elapsed()).ok()?;
        result.err()
    }

    fn try_groups(&self, session: &Session, groups: Range<usize>, context: &BatchContext) -> Result<(), String> {
        let mut work = self.worker.open_fresh(context.timestamp_us)?;
        for (rows, numbers) in rows_of(session, groups) {
            let seen = self.seen(&rows, numbers).map_err(|error| error.to_string())?;
            work.push(&seen)?;
        }
        work.finish().map(drop)
    }
}

/// The rows of some groups, and the group of each, counted from the first of them.
fn rows_of(session: &Session, groups: Range<usize>) -> Vec<(RecordBatch, Vec<i32>)> {
    let place = |group: usize| session.groups.get(group).copied().unwrap_or((session.rows.len(), 0));
    let (from, until) = (place(groups.start), place(groups.end));
    let mut pieces = Vec::new();
    for (batch, rows) in session.rows.iter().enumerate().take(until.0 + 1).skip(from.0) {
        let first = if batch == from.0 { from.1 } else { 0 };
        let last = if batch == until.0 { until.1 } else { rows.num_rows() };
        if first >= last {
            continue;
        }
        let group = |row: usize| {
            let begun = session.groups.partition_point(|start| *start <= (batch, row));
            i32::try_from(begun.saturating_sub(1 + groups.start)).unwrap_or(i32::MAX)
        };
        pieces.push((rows.slice(first, last - first), (first..last).map(group).collect()));
    }
    pieces
}
