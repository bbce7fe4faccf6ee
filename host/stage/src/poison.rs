//! The search for rows on which a component fails.
//!
//! The rows of a failed call are halved until those stand alone that a component cannot bear; they are refused with the
//! cause, all others go on in order. A call that failed for no row in particular, because its instance had grown old for
//! example, simply succeeds in halves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;

use crate::pieces::Pieces;
use crate::{BatchContext, Fate, Rejection, RowWorker, WorkerError, WorkerOutput};

/// Time for the search in one batch, over all its chunks.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(60);
/// So many rows of a batch may be poison, however small the batch.
const ROWS_ALLOWED: u64 = 100;
/// One row in so many may be poison.
const SHARE_ALLOWED: u64 = 100;

/// What is found in one batch, by all stages. Clones share it.
#[derive(Debug, Clone)]
pub struct PoisonSearch {
    /// Rows of the batch, as far as they are known before; more than that are never read.
    rows_planned: Option<u64>,
    /// Whether rows are counted against what is allowed.
    counts: bool,
    time_max: Duration,
    found: Arc<Mutex<Found>>,
}

#[derive(Debug, Default)]
struct Found {
    told: bool,
    time: Duration,
    rows: u64,
    /// The component and its words at the first row.
    first: Option<String>,
}

impl PoisonSearch {
    /// For a batch of at most `rows_planned` rows, where that is known.
    pub fn new(rows_planned: Option<u64>) -> Self {
        Self { rows_planned, counts: true, time_max: SEARCH_TIME_MAX, found: Arc::default() }
    }

    /// The same time, for rows that were judged before: however many are poison, they stopped no stream when they came.
    #[must_use]
    pub fn among_old_rows(&self) -> Self {
        Self { counts: false, ..self.clone() }
    }

    /// Holds what was found against all rows of the batch.
    ///
    /// # Errors
    /// More rows are poison than may be: the component, or what it is given, is wrong as a whole.
    pub fn settle(&self, rows: u64) -> Result<(), String> {
        let found = self.found();
        if found.rows <= allowed(rows) {
            return Ok(());
        }
        Err(too_many(&found, &format!("of {rows}"), allowed(rows)))
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says once in a batch that rows are searched for.
    fn tell(&self, component: &str, rows: usize, what: &str) {
        if std::mem::replace(&mut self.found().told, true) {
            return;
        }
        tracing::warn!(
            plugin = component,
            rows,
            "a component failed; the rows that it cannot bear are searched for: {what}"
        );
    }

    /// Counts a row that a component cannot bear.
    fn add(&self, component: &str, what: &str) -> Result<(), String> {
        if !self.counts {
            return Ok(());
        }
        let mut found = self.found();
        found.rows += 1;
        if found.first.is_none() {
            found.first = Some(format!("`{component}`: {what}"));
        }
        match self.rows_planned {
            Some(rows) if found.rows > allowed(rows) => Err(too_many(&found, "so far", allowed(rows))),
            _ => Ok(()),
        }
    }

    /// Counts the time of a call.
    pub(crate) fn spend(&self, time: Duration) -> Result<(), String> {
        let mut found = self.found();
        found.time += time;
        if found.time <= self.time_max {
            return Ok(());
        }
        let (seconds, rows) = (self.time_max.as_secs(), found.rows);
        Err(format!(
            "the search for the rows on which it fails took more than {seconds} s of this batch; {rows} were found"
        ))
    }
}

fn allowed(rows: u64) -> u64 {
    ROWS_ALLOWED.max(rows / SHARE_ALLOWED)
}

fn too_many(found: &Found, of: &str, allowed: u64) -> String {
    let first = found.first.as_deref().unwrap_or_default();
    format!(
        "components failed on {} rows {of}; {allowed} may go to quarantine for that, the greater of 1 % of a batch and {ROWS_ALLOWED}; \
         the first: {first}",
        found.rows
    )
}

/// One search, in the rows of a call that failed.
pub(crate) struct Searching<'a> {
    pub(crate) worker: &'a dyn RowWorker,
    pub(crate) whole: &'a RecordBatch,
    pub(crate) context: &'a BatchContext,
}

impl Searching<'_> {
    /// What the worker gives for all rows but those on which it fails.
    ///
    /// # Errors
    /// `error` itself where no row is to blame for it; else what ended the search.
    pub(crate) fn run(&self, error: WorkerError) -> Result<WorkerOutput, WorkerError> {
        if error.poison_code.is_none() {
            return Err(error);
        }
        let rows = self.whole.num_rows();
        self.context.poison.tell(&self.component(), rows, &error.what);
        let mut pieces = Pieces::default();
        match rows {
            // Alone it may not be to blame, either: an instance that has worked before may have failed for what it did then.
            1 => match self.call(0, 1)? {
                Ok(output) => return Ok(output),
                Err(error) => self.halve(0, 1, error, &mut pieces)?,
            },
            _ => self.halve(0, rows, error, &mut pieces)?,
        }
        pieces.output(&self.worker.writes()).map_err(|error| error.to_string().into())
    }

    /// Rows on which a call failed with `error`.
    fn halve(&self, first: usize, count: usize, error: WorkerError, pieces: &mut Pieces) -> Result<(), WorkerError> {
        let Some(code) = error.poison_code else { return Err(error) };
        if count == 1 {
            self.context.poison.add(&self.component(), &error.what)?;
            let (row, code, text) = (first as u32, code.into(), error.what.into());
            pieces.reject(Rejection { row, fate: Fate::Quarantine, code, text, component: None });
            return Ok(());
        }
        let middle = count / 2;
        for (start, length) in [(first, middle), (first + middle, count - middle)] {
            match self.call(start, length)? {
                Ok(output) => pieces.add(start, length, output)?,
                Err(error) => self.halve(start, length, error, pieces)?,
            }
        }
        Ok(())
    }

    fn component(&self) -> String {
        let id = self.worker.id();
        format!("{}@{}", id.name, id.version)
    }

    fn call(&self, start: usize, length: usize) -> Result<Result<WorkerOutput, WorkerError>, WorkerError> {
        let began = Instant::now();
        let rows = self.whole.slice(start, length);
        let result = self.worker.call_part(&rows, self.whole.num_rows(), self.context.timestamp_us);
        let spent = self.context.poison.spend(began.elapsed());
        match (&result, spent) {
            // What the component said last helps more than the time alone.
            (Err(error), Err(stopped)) => Err(format!("{stopped}; it failed last with: {}", error.what).into()),
            (_, Err(stopped)) => Err(stopped.into()),
            _ => Ok(result),
        }
    }
}

#[cfg(test)]
mod tests;
