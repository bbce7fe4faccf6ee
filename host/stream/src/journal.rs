//! Work beside a stream, in a checkpoint that replays and rebuilds of a table share: as long as one of them is unfinished
//! no other begins, so that what one of them binds is not done by another in the meantime.

use crisol_checkpoint::{Checkpoint, Position, RangeEntry, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::failpoint::{Moment, pass};

/// A stream that moves on so often is busier than the work beside it.
pub(crate) const TIMES_MAX: u32 = 5;

/// What kind of work is bound, by its entry of `conf` in `offsets/N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Replay,
    Rebuild,
}

impl Work {
    const ALL: [Self; 2] = [Self::Replay, Self::Rebuild];

    fn key(self) -> &'static str {
        match self {
            Self::Replay => "crisol.replay",
            Self::Rebuild => "crisol.rebuild",
        }
    }
}

/// The entries of one kind of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Journal<'a> {
    pub(crate) checkpoint: &'a Checkpoint,
    /// For failpoints.
    pub(crate) name: &'a str,
    pub(crate) table: &'a str,
    pub(crate) work: Work,
}

/// A batch that an earlier run logged and did not mark.
#[derive(Debug)]
pub(crate) struct Left<B> {
    pub(crate) number: u64,
    pub(crate) end: Position,
    pub(crate) timestamp_ms: i64,
    pub(crate) bound: B,
}

impl Journal<'_> {
    /// The batch that is logged and not marked, and the number of the next one.
    pub(crate) async fn look<B: DeserializeOwned>(&self) -> Result<(Option<Left<B>>, u64), Failure> {
        let state = self.checkpoint.state().await?;
        let Some(logged) = state.offsets else { return Ok((None, 0)) };
        let (number, next) = (logged.batch, logged.batch + 1);
        if state.newest_commit == Some(number) {
            return Ok((None, next));
        }
        let conf = &logged.entry.conf;
        let damaged = |what: String| Failure::Internal { what: format!("`offsets/{number}`: {what}") };
        let Some(bound) = conf.get(self.work.key()) else {
            let other = Work::ALL.into_iter().find_map(|work| conf.get(work.key()).map(|bound| (work, bound)));
            let (work, bound) = other.ok_or_else(|| damaged("it is neither of a replay nor of a rebuild".into()))?;
            return Err(unfinished(self.table, work, bound));
        };
        let bound = serde_json::from_str(bound).map_err(|error| damaged(error.to_string()))?;
        let end = logged.entry.ends.first().cloned().flatten().ok_or_else(|| damaged("it has no end".into()))?;
        Ok((Some(Left { number, end, timestamp_ms: logged.entry.timestamp_ms, bound }), next))
    }

    /// Binds a batch. Fails when another host has bound it.
    pub(crate) async fn log<B: Serialize>(
        &self,
        number: u64,
        timestamp_ms: i64,
        end: Position,
        bound: &B,
    ) -> Result<(), Failure> {
        let bound = serde_json::to_string(bound).map_err(|error| Failure::Internal { what: error.to_string() })?;
        let mut entry = RangeEntry::new(timestamp_ms, end);
        entry.conf.insert(self.work.key().into(), bound);
        pass(self.name, Step::LogRange, Moment::Before);
        self.checkpoint.log_range(number, &entry).await?;
        pass(self.name, Step::LogRange, Moment::After);
        Ok(())
    }

    /// Whether what was decided for the table `bound` is meant for the one that lies at `path` now.
    pub(crate) fn check_table(&self, bound: &str, found: &str, path: &str) -> Result<(), Failure> {
        if bound == found {
            return Ok(());
        }
        let (replayed, path, found) = (bound.to_owned(), path.to_owned(), found.to_owned());
        Err(Failure::ReplayOfAnother { replayed, path, found, checkpoint: self.checkpoint.to_string() })
    }

    /// Marks a batch as done with.
    pub(crate) async fn mark(&self, number: u64) -> Result<(), Failure> {
        pass(self.name, Step::Mark, Moment::Before);
        self.checkpoint.mark(number).await?;
        pass(self.name, Step::Mark, Moment::After);
        Ok(())
    }
}

/// How a person finishes the other kind of work.
fn unfinished(table: &str, work: Work, bound: &str) -> Failure {
    let hint = match work {
        Work::Replay => format!("`host quarantine replay {table}` finishes it first"),
        Work::Rebuild => {
            let bound = serde_json::from_str::<serde_json::Value>(bound).unwrap_or_default();
            let predicate = bound["predicate"].as_str().unwrap_or_default();
            format!("`host rebuild {table} --where \"{predicate}\"` finishes it first")
        }
    };
    let work = match work {
        Work::Replay => "a replay of its quarantine",
        Work::Rebuild => "a rebuild of a slice",
    };
    Failure::Unfinished { table: table.to_owned(), work, hint }
}
