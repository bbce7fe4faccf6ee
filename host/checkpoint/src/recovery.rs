//! What a stream does first when it starts: pure decisions over what was found.

use crate::log::RangeEntry;
use crate::position::{FilesPosition, Kind, Position};
use crate::{CheckpointError, Range};

/// What was found in a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogState {
    /// Newest entry of `offsets/`.
    pub offsets: Option<Logged>,
    /// The entry before it, when it is there.
    pub previous: Option<RangeEntry>,
    /// Newest number in `commits/`.
    pub newest_commit: Option<u64>,
    /// Newest number in `outcome/`.
    pub newest_outcome: Option<u64>,
    /// Position kept in `sources/0/0`, for sources that keep one (K-032).
    pub initial: Option<Position>,
}

/// An entry of `offsets/` with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Number of the batch.
    pub batch: u64,
    /// Its range.
    pub entry: RangeEntry,
}

/// What to do first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Plan batch `batch` from `start` (C-030).
    Plan {
        /// Number of the batch.
        batch: u64,
        /// Where it starts; `None` for a new checkpoint whose source has not been asked for its first position.
        start: Option<Position>,
    },
    /// Run batch `batch` with exactly this range and timestamp (C-031), with today's components. When the table holds
    /// the batch already, only its mark is missing: a run with other components might reject rows that have landed.
    Rerun {
        /// Number of the batch.
        batch: u64,
        /// Its range.
        range: Range,
        /// Clock of the batch.
        timestamp_ms: i64,
    },
    /// Commit what `outcome/N` names, and call no guest.
    AdoptOutcome {
        /// Number of the batch.
        batch: u64,
        /// Its range.
        range: Range,
        /// Clock of the batch.
        timestamp_ms: i64,
    },
}

/// Decides what a stream does first (C-030 … C-035).
pub fn next_step(state: &LogState) -> Result<NextStep, CheckpointError> {
    let logged = state.offsets.as_ref().map(|logged| logged.batch);
    refuse_unlogged("commits", state.newest_commit, logged)?;
    refuse_unlogged("outcome", state.newest_outcome, logged)?;
    let Some(Logged { batch, entry }) = &state.offsets else {
        return Ok(NextStep::Plan { batch: 0, start: state.initial.clone() });
    };
    let file = format!("offsets/{batch}");
    let end = entry.end(&file)?;
    // What comes after a marked batch needs no start of its own, but a missing file shows that somebody deleted some.
    let start = start_of(state, *batch, end)?;
    if state.newest_commit == Some(*batch) {
        return Ok(NextStep::Plan { batch: batch + 1, start: Some(end.clone()) });
    }
    if state.newest_commit != batch.checked_sub(1) {
        return Err(CheckpointError::Gap { offsets: *batch, commit: state.newest_commit });
    }
    // Loss that a contract allowed when the range was planned stays allowed: the range is bound.
    let range = Range::after_loss(start, end.clone()).map_err(|source| CheckpointError::Position { file, source })?;
    let (batch, timestamp_ms) = (*batch, entry.timestamp_ms);
    Ok(match state.newest_outcome {
        Some(outcome) if outcome == batch => NextStep::AdoptOutcome { batch, range, timestamp_ms },
        _ => NextStep::Rerun { batch, range, timestamp_ms },
    })
}

fn refuse_unlogged(folder: &str, newest: Option<u64>, logged: Option<u64>) -> Result<(), CheckpointError> {
    match newest {
        Some(n) if logged.is_none_or(|logged| n > logged) => {
            Err(CheckpointError::Unlogged { file: format!("{folder}/{n}"), offsets: logged })
        }
        _ => Ok(()),
    }
}

/// A batch starts where the one before it ended (C-033), the first where the source said (K-032).
fn start_of(state: &LogState, batch: u64, end: &Position) -> Result<Position, CheckpointError> {
    if let Some(before) = batch.checked_sub(1) {
        let previous = state.previous.as_ref().ok_or(CheckpointError::MissingPrevious { batch })?;
        return previous.end(&format!("offsets/{before}")).cloned();
    }
    match (&state.initial, end.kind()) {
        (_, Kind::Files) => Ok(Position::Files(FilesPosition { log_offset: -1 })),
        (Some(initial), _) => Ok(initial.clone()),
        (None, _) => Err(CheckpointError::MissingInitial),
    }
}

/// Compares a table with its checkpoint, at every start and before anything is written.
///
/// `newest_commit` and `logged` are the newest numbers of `commits/` and `offsets/`, `txn` is the table's newest
/// transaction of this checkpoint. A table behind lost a batch; one that holds a batch that was never logged belongs to
/// a newer state of the checkpoint, and planning that batch again would skip its rows.
pub fn check_table(newest_commit: Option<u64>, logged: Option<u64>, txn: Option<i64>) -> Result<(), CheckpointError> {
    let number = |n: Option<u64>| n.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
    if let Some(commit) = newest_commit
        && txn.unwrap_or(-1) < number(newest_commit)
    {
        return Err(CheckpointError::TableBehind { commit, txn });
    }
    match txn {
        Some(txn) if txn > number(logged) || txn > number(newest_commit).saturating_add(1) => {
            Err(CheckpointError::TableAhead { commit: newest_commit, logged, txn })
        }
        _ => Ok(()),
    }
}

/// Compares a quarantine with its checkpoint, like [`check_table`]. `txn` is the quarantine's newest transaction.
///
/// A batch reaches the quarantine only after its outcome was bound. One that is not marked yet and has no outcome was
/// bound by a newer state of the checkpoint: running it again might reject other rows than those that landed.
///
/// `newest_rejected` is the newest marked batch that had rejected rows, as far as outcomes are kept: a quarantine behind
/// it lost them.
pub fn check_quarantine(
    newest_commit: Option<u64>,
    newest_outcome: Option<u64>,
    newest_rejected: Option<u64>,
    txn: Option<i64>,
) -> Result<(), CheckpointError> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    if let Some(batch) = newest_rejected.filter(|batch| txn.unwrap_or(-1) < number(*batch)) {
        return Err(CheckpointError::QuarantineBehind { batch, txn });
    }
    let bound = newest_commit.max(newest_outcome).map_or(-1, number);
    match txn {
        Some(txn) if txn > bound => Err(CheckpointError::QuarantineAhead { outcome: newest_outcome, txn }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
