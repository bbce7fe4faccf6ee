//! Rows of the quarantine once more: a stream of its own, with a checkpoint of its own, under the protocol of `batch`.
//!
//! A batch is one snapshot of the quarantine and a selection of its rows; `offsets/N` binds both. The outcome binds the
//! rows for the table and those that leave the quarantine. The table comes first: between the two commits a row is in
//! both, and never in none.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use crisol_checkpoint::{Checkpoint, Position, Range, Step};
use crisol_observe::{Accounts, ChangeCounts};
use crisol_source::Source;
use crisol_stage::{Chain, restored_rows};
use crisol_table::{AppTransaction, CommitNote, CommitOutcome, PendingFile, Standing, TableWriter};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::batch::{check, components, counts, log_outcome, transaction};
use crate::failpoint::{Moment, pass};
use crate::flow::{Files, Message, context_of_old_rows, count, join, process};
use crate::journal::{Journal, Left, TIMES_MAX, Work};
use crate::writing::Writing;
use crate::{Failure, Selection, StreamError, report};

/// What a replay is made of.
pub struct ReplayParts {
    /// The stream whose rows are replayed: commits bear its name, so that what takes out its rows finds these, too.
    pub stream: String,
    /// The table that it fills.
    pub table_name: String,
    /// Id of that stream's checkpoint.
    pub stream_checkpoint: String,
    /// Where the table lies.
    pub table_path: String,
    /// Its id.
    pub table_id: String,
    /// Progress of the replays and rebuilds of this table.
    pub checkpoint: Checkpoint,
    /// The stages as they are today.
    pub chain: Arc<Chain>,
    /// Columns that go into them.
    pub input: arrow_schema::SchemaRef,
    /// The table.
    pub table: Arc<dyn TableWriter>,
    /// Takes the rows that it is given out of the quarantine.
    pub quarantine: Arc<dyn TableWriter>,
    /// The rows of the quarantine; a new checkpoint begins with all that it holds, in one batch.
    pub source: Box<dyn Source>,
}

impl std::fmt::Debug for ReplayParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayParts").field("table", &self.table_name).finish_non_exhaustive()
    }
}

/// Replays of the quarantine of one table.
#[derive(Debug)]
pub struct Replay {
    parts: ReplayParts,
    /// For errors and failpoints.
    name: String,
}

/// What a replay did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Replayed {
    /// Which rows were meant.
    pub selection: Selection,
    /// Rows that were taken from the quarantine to the first stage, by the reason for which they lay there.
    pub replayed: BTreeMap<String, u64>,
    /// What became of them.
    pub accounts: Accounts,
    /// An earlier replay, which had been cut short.
    pub resumed: bool,
}

/// What `offsets/N` binds besides the end.
#[derive(Debug, Serialize, Deserialize)]
struct Bound {
    start: serde_json::Value,
    selection: Selection,
    /// Where the stream stood in following rebuilds of the table above: such a batch may take out what is replayed.
    #[serde(default)]
    standing: Option<Standing>,
}

/// What `outcome/N` binds.
#[derive(Debug, Serialize, Deserialize)]
struct Decision {
    table_id: String,
    table: Vec<PendingFile>,
    /// Rows that leave the quarantine, whole.
    quarantine: Vec<PendingFile>,
    replayed: BTreeMap<String, u64>,
    accounts: Accounts,
    note: CommitNote,
}

/// One batch.
struct Batch {
    number: u64,
    range: Range,
    timestamp_ms: i64,
    selection: Selection,
    standing: Option<Standing>,
}

/// What became of rows.
#[derive(Default)]
struct Fates {
    replayed: BTreeMap<String, u64>,
    accounts: Accounts,
}

impl Replay {
    /// A replay of these parts.
    pub fn new(parts: ReplayParts) -> Self {
        let name = format!("replay:{}", parts.table_name);
        Self { parts, name }
    }

    /// Replays the rows that the quarantine holds now, as far as they are meant. When there is none, nothing is written.
    ///
    /// A replay that was cut short is finished first, and told first: what its outcome names is committed without calling
    /// a component; without an outcome the same rows are taken through the stages of today.
    ///
    /// # Errors
    /// As [`Stream::run`](crate::Stream::run).
    pub async fn run(&mut self, selection: &Selection) -> Result<Vec<Replayed>, StreamError> {
        let (unfinished, mut next) = self.look().await.map_err(|failure| self.error(None, failure))?;
        let mut all = Vec::new();
        if let Some(batch) = unfinished {
            let (done, after) = self.finish(batch).await?;
            all.push(Replayed { resumed: true, ..done });
            next = after;
        }
        let planned = self.plan(next, selection).await.map_err(|failure| self.error(None, failure))?;
        let Some(batch) = planned else {
            all.push(Replayed { selection: selection.clone(), ..Replayed::default() });
            return Ok(all);
        };
        self.log(&batch).await.map_err(|failure| self.error(Some(next), failure))?;
        all.push(self.finish(batch).await?.0);
        Ok(all)
    }

    /// What [`Replay::run`] would do now; nothing is written.
    ///
    /// # Errors
    /// As [`Replay::run`].
    pub async fn try_out(&mut self, selection: &Selection) -> Result<Replayed, StreamError> {
        let tried = async {
            let Some(batch) = self.plan(0, selection).await? else { return Ok(Fates::default()) };
            let fates = self.feed(&batch, None).await?;
            check(&fates.accounts)?;
            Ok(fates)
        };
        let Fates { replayed, accounts } = tried.await.map_err(|failure| self.error(None, failure))?;
        Ok(Replayed { selection: selection.clone(), replayed, accounts, resumed: false })
    }

    /// Carries a logged batch to its end, and gives the number of the next one. When the stream followed a rebuild of the
    /// table above in the meantime, what is left of the rows is bound again.
    async fn finish(&mut self, mut batch: Batch) -> Result<(Replayed, u64), StreamError> {
        for _ in 0..TIMES_MAX {
            let next = batch.number + 1;
            let concluded = self.conclude(&batch).await.map_err(|failure| self.error(Some(next - 1), failure))?;
            if let Some(done) = concluded {
                return Ok((done, next));
            }
            let planned = self.plan(next, &batch.selection).await;
            let Some(planned) = planned.map_err(|failure| self.error(Some(next), failure))? else {
                return Ok((Replayed { selection: batch.selection, ..Replayed::default() }, next));
            };
            self.log(&planned).await.map_err(|failure| self.error(Some(next), failure))?;
            batch = planned;
        }
        let given_up = self.journal().mark(batch.number).await;
        let restless = Failure::Restless { table: self.parts.table_name.clone(), times: TIMES_MAX };
        Err(self.error(Some(batch.number), given_up.err().unwrap_or(restless)))
    }

    fn journal(&self) -> Journal<'_> {
        let ReplayParts { checkpoint, table_name, .. } = &self.parts;
        Journal { checkpoint, name: &self.name, table: table_name, work: Work::Replay }
    }

    fn error(&self, batch: Option<u64>, failure: Failure) -> StreamError {
        StreamError { stream: self.name.clone(), batch, failure: Box::new(failure) }
    }

    /// The batch that is logged and not marked, and the number of the next one.
    async fn look(&self) -> Result<(Option<Batch>, u64), Failure> {
        let (left, next) = self.journal().look::<Bound>().await?;
        let Some(Left { number, end, timestamp_ms, bound }) = left else { return Ok((None, next)) };
        let damaged = |error| Failure::Internal { what: format!("`offsets/{number}`: {error}") };
        let start = Position::parse(&bound.start.to_string()).map_err(damaged)?;
        let range = Range { start, end };
        let Bound { selection, standing, .. } = bound;
        Ok((Some(Batch { number, range, timestamp_ms, selection, standing }), next))
    }

    /// All that the quarantine holds; `None` when nothing of it is meant. The number was taken before: another host that
    /// replays the same rows meanwhile takes it, too, and one of the two loses it.
    async fn plan(&mut self, number: u64, selection: &Selection) -> Result<Option<Batch>, Failure> {
        pass(&self.name, Step::Plan, Moment::Before);
        let app_id = Standing::rebuilds_of(&self.parts.stream_checkpoint);
        let version = self.parts.table.transaction(&app_id).await?;
        let standing = Some(Standing { app_id, version });
        let start = self.parts.source.initial().await?;
        let Some(planned) = self.parts.source.plan(&start).await? else { return Ok(None) };
        let range = Range { start, end: planned.end };
        let selection = selection.clone();
        let batch = Batch { number, range, timestamp_ms: report::now_ms(), selection, standing };
        let mut chunks = self.parts.source.read(&batch.range).await?;
        while let Some(rows) = chunks.try_next().await? {
            if batch.selection.of(&rows).map_err(Failure::Restore)?.num_rows() > 0 {
                pass(&self.name, Step::Plan, Moment::After);
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    async fn log(&self, batch: &Batch) -> Result<(), Failure> {
        let (selection, standing) = (batch.selection.clone(), batch.standing.clone());
        let bound = Bound { start: batch.range.start.to_json(), selection, standing };
        self.journal().log(batch.number, batch.timestamp_ms, batch.range.end.clone(), &bound).await
    }

    /// Carries a logged batch on from wherever an earlier run left it; `None` when it was held back, and nothing changed.
    async fn conclude(&mut self, batch: &Batch) -> Result<Option<Replayed>, Failure> {
        let decision = match self.parts.checkpoint.outcome::<Decision>(batch.number).await? {
            Some(outcome) => outcome.payload,
            None => self.decide(batch).await?,
        };
        let committed = self.commit(batch, &decision).await?;
        self.journal().mark(batch.number).await?;
        let Some(changes) = committed else { return Ok(None) };
        let (selection, accounts) = (batch.selection.clone(), Accounts { changes, ..decision.accounts });
        Ok(Some(Replayed { selection, replayed: decision.replayed, accounts, resumed: false }))
    }

    /// Takes the rows through the stages, and binds what came of it.
    async fn decide(&mut self, batch: &Batch) -> Result<Decision, Failure> {
        pass(&self.name, Step::WriteFiles, Moment::Before);
        let (fates, (table, quarantine)) = self.write_files(batch).await?;
        pass(&self.name, Step::WriteFiles, Moment::After);
        check(&fates.accounts)?;
        let parts = &self.parts;
        let note = CommitNote {
            stream: parts.stream.clone(),
            batch: batch.number,
            range: batch.range.to_json(),
            components: components(&parts.chain),
            accounts: serde_json::to_value(&fates.accounts).unwrap_or_default(),
            losses: serde_json::Value::Null,
            rebuild: None,
        };
        let Fates { replayed, accounts } = fates;
        let decision = Decision { table_id: parts.table_id.clone(), table, quarantine, replayed, accounts, note };
        log_outcome(&self.name, &parts.checkpoint, batch.number, &decision).await?;
        Ok(decision)
    }

    async fn write_files(&mut self, batch: &Batch) -> Result<(Fates, Files), Failure> {
        let (table, taken) = (self.parts.table.writer()?, self.parts.quarantine.writer()?);
        let writing = Writing::begin(table);
        writing.send(Message::QuarantineWriter(taken)).await;
        let fed = self.feed(batch, Some(&writing)).await;
        writing.end(fed).await
    }

    /// Rows that pass go to the table; they, and those that are filtered, leave the quarantine.
    async fn feed(&mut self, batch: &Batch, writing: Option<&Writing>) -> Result<Fates, Failure> {
        let context = context_of_old_rows(batch.number, batch.timestamp_ms);
        let mut fates = Fates::default();
        let mut chunks = self.parts.source.read(&batch.range).await?;
        while let Some(rows) = chunks.try_next().await? {
            let kept = batch.selection.of(&rows).map_err(Failure::Restore)?;
            if kept.num_rows() == 0 {
                continue;
            }
            let input = restored_rows(&kept, &self.parts.input).map_err(Failure::Restore)?;
            let (chain, first) = (Arc::clone(&self.parts.chain), fates.accounts.rows_in);
            let (span, context) = (first..first + input.num_rows() as u64, context.clone());
            let (rows, output) = join(spawn_blocking(move || process(&chain, &input, span, &context))).await??;
            count(&mut fates.accounts, rows, &output);
            count_codes(&mut fates.replayed, &kept);
            let Some(writing) = writing else { continue };
            let leaves = without(&kept, &output.refused).map_err(Failure::Restore)?;
            writing.send(Message::Rows(output.accepted)).await;
            writing.send(Message::Quarantined(leaves)).await;
        }
        Ok(fates)
    }

    /// The table first, each once whatever happened before; `None` when the table's commit was held back.
    async fn commit(&self, batch: &Batch, decision: &Decision) -> Result<Option<Option<ChangeCounts>>, Failure> {
        let parts = &self.parts;
        self.journal().check_table(&decision.table_id, &parts.table_id, &parts.table_path)?;
        let transaction = transaction(&parts.checkpoint, batch.number)?;
        let mut changes = None;
        if !decision.table.is_empty() {
            pass(&self.name, Step::CommitTable, Moment::Before);
            let Some(committed) = self.commit_table(batch, decision, &transaction).await? else { return Ok(None) };
            pass(&self.name, Step::CommitTable, Moment::After);
            changes = counts(&committed);
        }
        if !decision.quarantine.is_empty() {
            pass(&self.name, Step::CommitQuarantine, Moment::Before);
            let _known = parts.quarantine.commit(&decision.quarantine, &transaction, &decision.note).await?;
            pass(&self.name, Step::CommitQuarantine, Moment::After);
        }
        parts.table.settled().await;
        parts.quarantine.settled().await;
        Ok(Some(changes))
    }

    async fn commit_table(
        &self,
        batch: &Batch,
        decision: &Decision,
        transaction: &AppTransaction,
    ) -> Result<Option<CommitOutcome>, Failure> {
        let (table, Decision { table: files, note, .. }) = (&self.parts.table, decision);
        Ok(match &batch.standing {
            Some(standing) => table.commit_while(standing, files, transaction, note).await?,
            None => Some(table.commit(files, transaction, note).await?),
        })
    }
}

fn count_codes(codes: &mut BTreeMap<String, u64>, rows: &RecordBatch) {
    let column = rows.column_by_name("code").and_then(|column| column.as_string_opt::<i32>());
    for code in column.into_iter().flat_map(|codes| codes.iter().flatten()) {
        *codes.entry(code.to_owned()).or_default() += 1;
    }
}

/// The rows but those at `refused`, which ascend.
fn without(rows: &RecordBatch, refused: &[u32]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let stays = |row: usize| u32::try_from(row).is_ok_and(|row| refused.binary_search(&row).is_ok());
    let leaves: BooleanArray = (0..rows.num_rows()).map(|row| Some(!stays(row))).collect();
    filter_record_batch(rows, &leaves)
}
