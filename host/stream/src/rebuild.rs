//! A slice of a table, made anew from the table above: work of its own beside the stream, under the protocol of `batch`.
//!
//! `offsets/N` binds the predicate, how far the table above is read (to the end of the stream's newest batch), and where the
//! stream stood. The table's commit lands only while it still stands there; when it has moved, the slice is decided anew.
//! The table comes first, then the quarantine: a commit that is held back has changed nothing.

use std::sync::Arc;

use crisol_checkpoint::{Checkpoint, Range, Step};
use crisol_observe::Accounts;
use crisol_source::Source;
use crisol_stage::{Chain, Condition};
use crisol_table::{CommitNote, CommitOutcome, PendingFile, Standing, TableWriter};
use serde::{Deserialize, Serialize};

use crate::batch::{check, components, log_outcome, transaction};
use crate::failpoint::{Moment, pass};
use crate::flow::{context_of_old_rows, failed_stage};
use crate::journal::{Journal, Left, TIMES_MAX, Work};
use crate::renew::{Above, Sink};
use crate::slices::{Meant, Slicing};
use crate::writing::Writing;
use crate::{Failure, OpenTable, SliceSize, Slices, StreamError, report};

/// What a rebuild is made of.
pub struct RebuildParts {
    /// The stream whose rows are made anew: commits bear its name.
    pub stream: String,
    /// Its checkpoint.
    pub stream_checkpoint: Checkpoint,
    /// The table that it fills.
    pub table_name: String,
    /// Where that lies.
    pub table_path: String,
    /// Its id.
    pub table_id: String,
    /// Progress of the replays and rebuilds of this table.
    pub checkpoint: Checkpoint,
    /// The stages as they are today.
    pub chain: Arc<Chain>,
    /// How rows belong together.
    pub slices: Slices,
    /// The table, written by `replace_named`; however it is written for [`Rebuild::try_out`].
    pub table: Arc<dyn TableWriter>,
    /// Its quarantine, written by `replace_named`.
    pub quarantine: OpenTable,
    /// The table above.
    pub source: Box<dyn Source>,
    /// Chunks worked on side by side.
    pub workers: usize,
}

impl std::fmt::Debug for RebuildParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RebuildParts").field("table", &self.table_name).finish_non_exhaustive()
    }
}

/// Rebuilds of slices of one table.
#[derive(Debug)]
pub struct Rebuild {
    parts: RebuildParts,
    /// For errors and failpoints.
    name: String,
}

/// What a rebuild did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Rebuilt {
    /// Which rows were meant.
    pub predicate: String,
    /// An earlier rebuild, which had been cut short.
    pub resumed: bool,
    /// What became of the rows that the slice is made of.
    pub accounts: Accounts,
    /// Rows of the table that differed, and are gone; not known where nothing is written.
    pub rows_removed: Option<u64>,
    /// Rows of the table that came in their place; as well.
    pub rows_added: Option<u64>,
    /// What the table holds of the slice; known where nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<SliceSize>,
}

/// What `offsets/N` binds besides the end.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Bound {
    predicate: String,
    standing: Standing,
}

/// What `outcome/N` binds.
#[derive(Debug, Serialize, Deserialize)]
struct Decision {
    table_id: String,
    table: Vec<PendingFile>,
    quarantine: Vec<PendingFile>,
    accounts: Accounts,
    note: CommitNote,
}

impl Rebuild {
    /// A rebuild of these parts.
    pub fn new(parts: RebuildParts) -> Self {
        let name = format!("rebuild:{}", parts.table_name);
        Self { parts, name }
    }

    /// Makes anew the rows for which the predicate is true, as they are or as they become. Before the stream's first batch
    /// there is nothing to do.
    ///
    /// A rebuild that was cut short is finished first, and told first.
    ///
    /// # Errors
    /// As [`Stream::run`](crate::Stream::run).
    pub async fn run(&mut self, predicate: &str) -> Result<Vec<Rebuilt>, StreamError> {
        let (unfinished, mut next) = self.journal().look().await.map_err(|failure| self.error(None, failure))?;
        let mut all = Vec::new();
        if let Some(left) = unfinished {
            let (done, after) = self.finish(left).await?;
            all.push(Rebuilt { resumed: true, ..done });
            next = after;
        }
        let planned = self.plan(next, predicate).await.map_err(|failure| self.error(None, failure))?;
        let Some(batch) = planned else {
            all.push(Rebuilt { predicate: predicate.to_owned(), ..Rebuilt::default() });
            return Ok(all);
        };
        self.log(&batch).await.map_err(|failure| self.error(Some(batch.number), failure))?;
        all.push(self.finish(batch).await?.0);
        Ok(all)
    }

    /// What [`Rebuild::run`] would do now; nothing is written.
    ///
    /// # Errors
    /// As [`Rebuild::run`].
    pub async fn try_out(&mut self, predicate: &str) -> Result<Rebuilt, StreamError> {
        let tried = async {
            let Some(batch) = self.plan(0, predicate).await? else { return Ok(Rebuilt::default()) };
            self.look_through(&batch).await
        };
        let tried = tried.await.map_err(|failure| self.error(None, failure))?;
        Ok(Rebuilt { predicate: predicate.to_owned(), ..tried })
    }

    fn journal(&self) -> Journal<'_> {
        let RebuildParts { checkpoint, table_name, .. } = &self.parts;
        Journal { checkpoint, name: &self.name, table: table_name, work: Work::Rebuild }
    }

    fn error(&self, batch: Option<u64>, failure: Failure) -> StreamError {
        StreamError { stream: self.name.clone(), batch, failure: Box::new(failure) }
    }

    /// Carries a logged batch to its end. When the stream moved on, the slice is bound again.
    async fn finish(&mut self, mut batch: Left<Bound>) -> Result<(Rebuilt, u64), StreamError> {
        for _ in 0..TIMES_MAX {
            let number = batch.number;
            match self.conclude(&batch).await {
                Ok(Some(done)) => return Ok((done, number + 1)),
                Ok(None) => {}
                Err(failure) => return Err(self.let_go(number, failure).await),
            }
            let again = async {
                let none = || Failure::Internal { what: "the stream's batches are gone".into() };
                let planned = self.plan(number + 1, &batch.bound.predicate).await?.ok_or_else(none)?;
                self.log(&planned).await?;
                Ok(planned)
            };
            batch = again.await.map_err(|failure| self.error(Some(number + 1), failure))?;
        }
        // The batch bound last is let go, so that nothing stays unfinished.
        let given_up = self.journal().mark(batch.number).await;
        given_up.map_err(|failure| self.error(Some(batch.number), failure))?;
        let failure = Failure::Restless { table: self.parts.table_name.clone(), times: TIMES_MAX };
        Err(self.error(Some(batch.number), failure))
    }

    /// A rebuild that could not be decided has changed nothing. It is let go, so that a condition which fails for some row
    /// stands in the way of no other rebuild or replay.
    async fn let_go(&self, number: u64, failure: Failure) -> StreamError {
        let undecided = matches!(self.parts.checkpoint.outcome::<Decision>(number).await, Ok(None));
        if undecided && let Err(error) = self.journal().mark(number).await {
            tracing::warn!(stream = self.name, batch = number, %error, "the rebuild that failed stays unfinished");
        }
        self.error(Some(number), failure)
    }

    /// How far the stream is, by what its table says; `None` before its first batch.
    async fn plan(&self, number: u64, predicate: &str) -> Result<Option<Left<Bound>>, Failure> {
        pass(&self.name, Step::Plan, Moment::Before);
        let RebuildParts { table, stream_checkpoint, slices, .. } = &self.parts;
        let stream = stream_checkpoint.id().to_string();
        // Later batches of rows come from elsewhere, and do not touch the slice; those that follow a rebuild may.
        let app_id = if *slices == Slices::Rows { Standing::rebuilds_of(&stream) } else { stream.clone() };
        // Asked before the newest batch: what follows a rebuild in between counts as a move.
        let version = table.transaction(&app_id).await?;
        let Some(newest) = table.transaction(&stream).await?.and_then(|newest| u64::try_from(newest).ok()) else {
            return Ok(None);
        };
        let entry = stream_checkpoint.range(newest).await?;
        let lost =
            || Failure::Internal { what: format!("`offsets/{newest}` of stream `{}` is gone", self.parts.stream) };
        let end = entry.and_then(|entry| entry.ends.into_iter().next().flatten()).ok_or_else(lost)?;
        let bound = Bound { predicate: predicate.to_owned(), standing: Standing { app_id, version } };
        pass(&self.name, Step::Plan, Moment::After);
        Ok(Some(Left { number, end, timestamp_ms: report::now_ms(), bound }))
    }

    async fn log(&self, batch: &Left<Bound>) -> Result<(), Failure> {
        self.journal().log(batch.number, batch.timestamp_ms, batch.end.clone(), &batch.bound).await
    }

    /// `None` when the stream moved on: nothing was changed.
    async fn conclude(&mut self, batch: &Left<Bound>) -> Result<Option<Rebuilt>, Failure> {
        let decision = match self.parts.checkpoint.outcome::<Decision>(batch.number).await? {
            Some(outcome) => outcome.payload,
            None => self.decide(batch).await?,
        };
        let committed = self.commit(batch, &decision).await?;
        self.journal().mark(batch.number).await?;
        let Some(committed) = committed else { return Ok(None) };
        let (rows_removed, rows_added) = match committed {
            CommitOutcome::Merged { changes, .. } => (changes.deleted, changes.inserted),
            CommitOutcome::Committed { .. } | CommitOutcome::AlreadyCommitted { .. } => (0, 0),
        };
        let (rows_removed, rows_added) = (Some(rows_removed), Some(rows_added));
        let (predicate, accounts) = (batch.bound.predicate.clone(), decision.accounts);
        Ok(Some(Rebuilt { predicate, accounts, rows_removed, rows_added, ..Rebuilt::default() }))
    }

    /// Makes the rows of the slice, and binds them.
    async fn decide(&mut self, batch: &Left<Bound>) -> Result<Decision, Failure> {
        pass(&self.name, Step::WriteFiles, Moment::Before);
        let meant = self.meant(batch).await?;
        let range = self.range(batch).await?;
        let RebuildParts { chain, slices, table, quarantine, source, workers, .. } = &mut self.parts;
        let writing = Writing::begin(table.writer()?);
        let mut sink = Sink::new(&writing, table.incoming(), quarantine);
        let slicing = slicing(chain, slices, table, batch, *workers);
        let renewed = slicing.renew(meant, Above::Before(&range), &mut **source, &mut sink).await;
        let (accounts, (table, quarantine)) = writing.end(renewed).await?;
        pass(&self.name, Step::WriteFiles, Moment::After);
        check(&accounts)?;
        let parts = &self.parts;
        let note = CommitNote {
            stream: parts.stream.clone(),
            batch: batch.number,
            range: batch.end.to_json(),
            components: components(&parts.chain),
            accounts: serde_json::to_value(&accounts).unwrap_or_default(),
            losses: serde_json::Value::Null,
            rebuild: Some(batch.bound.predicate.clone()),
        };
        let decision = Decision { table_id: parts.table_id.clone(), table, quarantine, accounts, note };
        log_outcome(&self.name, &parts.checkpoint, batch.number, &decision).await?;
        Ok(decision)
    }

    /// All that the stream has read.
    async fn range(&self, batch: &Left<Bound>) -> Result<Range, Failure> {
        let initial = self.parts.stream_checkpoint.state().await?.initial;
        let lost =
            || Failure::Internal { what: format!("the first position of stream `{}` is gone", self.parts.stream) };
        Ok(Range { start: initial.ok_or_else(lost)?, end: batch.end.clone() })
    }

    async fn meant(&mut self, batch: &Left<Bound>) -> Result<Meant, Failure> {
        let RebuildParts { chain, slices, table, source, workers, .. } = &mut self.parts;
        let condition =
            Condition::plan("--where", &batch.bound.predicate, &chain.table_schema()).map_err(failed_stage)?;
        slicing(chain, slices, table, batch, *workers).of_condition(&condition, &mut **source, &batch.end).await
    }

    /// The table first; `None` when the stream moved on.
    async fn commit(&self, batch: &Left<Bound>, decision: &Decision) -> Result<Option<CommitOutcome>, Failure> {
        let parts = &self.parts;
        self.journal().check_table(&decision.table_id, &parts.table_id, &parts.table_path)?;
        let transaction = transaction(&parts.checkpoint, batch.number)?;
        let Decision { table, quarantine, note, .. } = decision;
        pass(&self.name, Step::CommitTable, Moment::Before);
        let committed = parts.table.commit_while(&batch.bound.standing, table, &transaction, note).await?;
        pass(&self.name, Step::CommitTable, Moment::After);
        if committed.is_some() && !quarantine.is_empty() {
            pass(&self.name, Step::CommitQuarantine, Moment::Before);
            let _known = parts.quarantine.get().await?.commit(quarantine, &transaction, note).await?;
            pass(&self.name, Step::CommitQuarantine, Moment::After);
        }
        parts.table.settled().await;
        parts.quarantine.settled().await;
        Ok(committed)
    }

    /// Goes through all of it, and counts.
    async fn look_through(&mut self, batch: &Left<Bound>) -> Result<Rebuilt, Failure> {
        let (meant, range) = (self.meant(batch).await?, self.range(batch).await?);
        let RebuildParts { chain, slices, table, source, workers, .. } = &mut self.parts;
        let slicing = slicing(chain, slices, table, batch, *workers);
        let (meant, held) = slicing.size(meant).await?;
        let writing = Writing::nowhere();
        let mut sink = Sink::nowhere(&writing);
        let renewed = slicing.renew(meant, Above::Before(&range), &mut **source, &mut sink).await;
        let (accounts, _none) = writing.end(renewed).await?;
        check(&accounts)?;
        Ok(Rebuilt { accounts, held: Some(held), ..Rebuilt::default() })
    }
}

fn slicing<'a>(
    chain: &'a Arc<Chain>,
    slices: &'a Slices,
    table: &'a Arc<dyn TableWriter>,
    batch: &Left<Bound>,
    workers: usize,
) -> Slicing<'a> {
    let context = context_of_old_rows(batch.number, batch.timestamp_ms);
    Slicing { chain, slices, table: table.as_ref(), context, workers }
}
