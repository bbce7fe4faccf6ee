//! What becomes of a session that failed: a second try, or the group on which the component fails.

use std::ops::Range;
use std::time::Instant;

use arrow_array::RecordBatch;

use super::run::{Ended, Session};
use super::{GroupAnswer, GroupSession, Grouping};
use crate::{BatchContext, StageError};

impl Grouping {
    /// There are no more rows: the rest of the answer.
    pub(super) fn finish(&self, session: &mut Session, context: &BatchContext) -> Result<Vec<GroupAnswer>, StageError> {
        let reused = session.work.reused();
        match std::mem::replace(&mut session.work, Box::new(Ended)).finish() {
            Err(error) if reused => match self.replayed(session, context).and_then(|(work, _)| work.finish()) {
                Ok(answers) => Ok(self.grown_old(&error, answers)),
                Err(error) => Err(self.named(session, &error, context)),
            },
            answers => answers.map_err(|error| self.named(session, &error, context)),
        }
    }

    /// After an error in an instance that had worked before: the session once more in a fresh one, and its answer to the newest
    /// rows.
    pub(super) fn afresh(
        &self,
        session: &mut Session,
        error: &str,
        context: &BatchContext,
    ) -> Result<(Box<dyn GroupSession>, Vec<GroupAnswer>), StageError> {
        let reused = session.work.reused();
        // Gives its memory back before another one is started.
        session.work = Box::new(Ended);
        if !reused {
            return Err(self.named(session, error, context));
        }
        let again = self.replayed(session, context).map_err(|error| self.named(session, &error, context));
        again.map(|(work, answers)| (work, self.grown_old(error, answers)))
    }

    /// All rows of a session in a fresh instance. Answers to all but the newest rows were taken already.
    fn replayed(
        &self,
        session: &Session,
        context: &BatchContext,
    ) -> Result<(Box<dyn GroupSession>, Vec<GroupAnswer>), String> {
        let mut work = self.worker.open_fresh(context.timestamp_us)?;
        let mut answers = Vec::new();
        for (rows, numbers) in rows_of(session, 0..session.groups.len()) {
            answers = work.push(&self.seen(&rows, numbers).map_err(|error| error.to_string())?)?;
        }
        Ok((work, answers))
    }

    fn grown_old(&self, error: &str, answers: Vec<GroupAnswer>) -> Vec<GroupAnswer> {
        let (stage, component) = (&self.name, self.worker.id().name);
        tracing::warn!(
            stage,
            component,
            error,
            "a session of groups failed in an instance that had worked before, and succeeded in a fresh one"
        );
        answers
    }

    /// The error of a session, with the group that alone brings it about, else with all that it was about.
    fn named(&self, session: &Session, error: &str, context: &BatchContext) -> StageError {
        let shown = |group: usize| {
            let (batch, row) = session.groups.get(group)?;
            Some(self.keys.shown(session.rows.get(*batch)?, *row))
        };
        if let Some((group, error)) = self.guilty(session, context) {
            let group = shown(group).unwrap_or_default();
            return self.failed(format!("{error} (in the group ({group}))"));
        }
        let first = shown(0).unwrap_or_default();
        let last = shown(session.groups.len().saturating_sub(1)).unwrap_or_default();
        let groups =
            if first == last { format!("in the group ({first})") } else { format!("in groups ({first}) to ({last})") };
        self.failed(format!("{error} ({groups})"))
    }

    /// The group that alone makes a session fail, and how it fails on it; `None` when no single one does, or when the time
    /// for the search in this batch is over.
    fn guilty(&self, session: &Session, context: &BatchContext) -> Option<(usize, String)> {
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
