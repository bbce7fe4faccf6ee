//! One batch: logged, run, checked, committed, marked. The steps and their order are those of the protocol's model.

use std::collections::BTreeMap;
use std::sync::Arc;

use crisol_checkpoint::{Checkpoint, Range, RangeEntry, Step};
use crisol_observe::{Accounts, ChangeCounts, Event, Gap, Observers};
use crisol_source::Source;
use crisol_stage::{BatchContext, Chain, PoisonSearch};
use crisol_table::{AppTransaction, CommitNote, CommitOutcome, PendingFile, RowChanges, TableWriter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::failpoint::{Moment, pass};
use crate::flow::{Flow, Written, context_of_old_rows};
use crate::renew::{Above, Sink};
use crate::report::Timings;
use crate::slices::Slicing;
use crate::writing::Writing;
use crate::{Failure, OpenTable, Renewal, Slices, Stages};

/// A batch whose range is in the log: it will be committed, now or by a later run.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) number: u64,
    pub(crate) range: Range,
    pub(crate) timestamp_ms: i64,
    /// Rows in it, where that is known before they are read: never less than there are.
    pub(crate) rows_planned: Option<u64>,
}

/// A batch that is committed and marked.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) accounts: Accounts,
    /// `name@version` of each component that worked on it, with its digest.
    pub(crate) components: BTreeMap<String, String>,
    pub(crate) version: i64,
    /// What it passed over.
    pub(crate) losses: Vec<Gap>,
}

/// What `outcome/N` holds: all that recovery needs to commit the batch without running it again.
#[derive(Debug, Serialize, Deserialize)]
struct Decision {
    quarantine: Vec<PendingFile>,
    table: Vec<PendingFile>,
    accounts: Accounts,
    note: CommitNote,
    /// The batch follows a rebuild of the table above: the files name what they replace.
    #[serde(default)]
    renews: bool,
    #[serde(default)]
    losses: Vec<Gap>,
}

impl Decision {
    fn done(self, version: i64, changes: Option<ChangeCounts>) -> Done {
        let accounts = Accounts { changes, ..self.accounts };
        Done { accounts, components: self.note.components, version, losses: self.losses }
    }
}

/// The parts of a stream that a batch works with.
pub(crate) struct Protocol<'a> {
    pub(crate) stream: &'a str,
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) stages: &'a Stages,
    pub(crate) table: &'a dyn TableWriter,
    pub(crate) quarantine: &'a OpenTable,
    pub(crate) renewal: &'a Renewal,
    pub(crate) workers: usize,
    pub(crate) observers: &'a Observers,
}

impl Protocol<'_> {
    /// Binds the range of a batch. Fails when another host has bound it.
    pub(crate) async fn log(&self, batch: &Logged, timings: &mut Timings) -> Result<(), Failure> {
        let from = Instant::now();
        let entry = RangeEntry::new(batch.timestamp_ms, batch.range.end.clone());
        pass(self.stream, Step::LogRange, Moment::Before);
        self.checkpoint.log_range(batch.number, &entry).await?;
        pass(self.stream, Step::LogRange, Moment::After);
        timings.add("walCommit", from);
        Ok(())
    }

    /// Runs and commits a logged batch. `None` when `stop` came first: the batch is left for the next start.
    pub(crate) async fn run(
        &self,
        batch: &Logged,
        source: &mut dyn Source,
        timings: &mut Timings,
        stop: &CancellationToken,
    ) -> Result<Option<Done>, Failure> {
        let from = Instant::now();
        pass(self.stream, Step::WriteFiles, Moment::Before);
        // One batch is the work of one chain, whatever is exchanged meanwhile.
        let chain = self.stages.now();
        let written = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(None),
            written = self.write(&chain, batch, source, timings) => written?,
        };
        pass(self.stream, Step::WriteFiles, Moment::After);
        timings.wrote(from);
        let (written, rebuild) = written;
        if let Err(unbalanced) = check(&written.accounts) {
            self.observers.tell(&Event::Unbalanced { stream: self.stream.into() });
            return Err(unbalanced);
        }
        let committing = Instant::now();
        let mut losses: Vec<Gap> = self.checkpoint.planned_losses(batch.number).await?;
        losses.extend(source.take_gaps());
        let outcome = self.outcome(&chain, batch, written, rebuild, losses);
        // Also without rejected rows: another host may run the same range with other components, and reject some.
        log_outcome(self.stream, self.checkpoint, batch.number, &outcome).await?;
        let (version, changes) = self.commit(batch.number, &outcome).await?;
        timings.committed(committing);
        timings.add("addBatch", from);
        self.mark(batch.number, timings).await?;
        Ok(Some(outcome.done(version, changes)))
    }

    /// Commits what an earlier run had decided, and marks it. No component is called.
    pub(crate) async fn adopt(&self, number: u64, timings: &mut Timings) -> Result<Done, Failure> {
        let from = Instant::now();
        let outcome = self.checkpoint.outcome::<Decision>(number).await?.map(|outcome| outcome.payload);
        let outcome =
            outcome.ok_or_else(|| Failure::Internal { what: format!("`outcome/{number}` was there and is gone") })?;
        let (version, changes) = self.commit(number, &outcome).await?;
        timings.committed(from);
        timings.add("addBatch", from);
        self.mark(number, timings).await?;
        Ok(outcome.done(version, changes))
    }

    /// Marks a batch as committed for good.
    pub(crate) async fn mark(&self, number: u64, timings: &mut Timings) -> Result<(), Failure> {
        let from = Instant::now();
        pass(self.stream, Step::Mark, Moment::Before);
        self.checkpoint.mark(number).await?;
        pass(self.stream, Step::Mark, Moment::After);
        timings.add("commitOffsets", from);
        Ok(())
    }

    /// What the batch came to, and what the table above rebuilt, where it follows that.
    async fn write(
        &self,
        chain: &Arc<Chain>,
        batch: &Logged,
        source: &mut dyn Source,
        timings: &mut Timings,
    ) -> Result<(Written, Option<String>), Failure> {
        match source.read_rebuilt(&batch.range).await? {
            None => Ok((self.write_files(chain, batch, source, timings).await?, None)),
            Some(_) => {
                let written = self.renew(chain, batch, source).await?;
                Ok((written, Some(format!("follows a rebuild of the table above, {}", batch.range.end))))
            }
        }
    }

    /// Makes anew what was made of the rows that the table above rebuilt.
    async fn renew(&self, chain: &Arc<Chain>, batch: &Logged, source: &mut dyn Source) -> Result<Written, Failure> {
        let Renewal { slices, table, quarantine } = self.renewal;
        let cannot = |why: &str, hint: &String| Failure::NotRenewed { why: why.into(), hint: hint.clone() };
        match slices {
            Slices::None { why, hint } => return Err(cannot(why, hint)),
            Slices::Partitions { hint, .. } => return Err(cannot("each delivery replaces its partitions whole", hint)),
            Slices::Rows | Slices::Keys(_) | Slices::Groups(_) => {}
        }
        let table = table.get().await?.as_ref();
        let context = context_of_old_rows(batch.number, batch.timestamp_ms);
        let slicing = Slicing { chain, slices, table, context, workers: self.workers };
        let meant = slicing.of_rebuilt(source, &batch.range).await?;
        let writing = Writing::begin(table.writer()?);
        let mut sink = Sink::new(&writing, table.incoming(), quarantine);
        let renewed = slicing.renew(meant, Above::Rebuilt(&batch.range), source, &mut sink).await;
        let (accounts, (table, quarantine)) = writing.end(renewed).await?;
        self.observers.tell(&Event::Rows { stream: self.stream.into(), rows: accounts.rows_in });
        Ok(Written { table, quarantine, accounts })
    }

    async fn write_files(
        &self,
        chain: &Arc<Chain>,
        batch: &Logged,
        source: &mut dyn Source,
        timings: &mut Timings,
    ) -> Result<Written, Failure> {
        let from = Instant::now();
        let chunks = source.read(&batch.range).await?;
        timings.add("getBatch", from);
        let timestamp_us = batch.timestamp_ms.saturating_mul(1_000);
        let flow = Flow {
            stream: self.stream,
            chain,
            stages: self.stages,
            table: self.table,
            quarantine: self.quarantine,
            workers: self.workers,
            observers: self.observers,
            context: BatchContext { batch: batch.number, timestamp_us, poison: PoisonSearch::new(batch.rows_planned) },
        };
        flow.run(chunks, source, &batch.range.end).await
    }

    fn outcome(
        &self,
        chain: &Chain,
        batch: &Logged,
        written: Written,
        rebuild: Option<String>,
        losses: Vec<Gap>,
    ) -> Decision {
        let renews = rebuild.is_some();
        let Written { table, quarantine, accounts } = written;
        let note = CommitNote {
            stream: self.stream.into(),
            batch: batch.number,
            range: batch.range.to_json(),
            components: components(chain),
            accounts: serde_json::to_value(&accounts).unwrap_or_default(),
            losses: if losses.is_empty() { serde_json::Value::Null } else { json!(losses) },
            rebuild,
        };
        Decision { quarantine, table, accounts, note, renews, losses }
    }

    /// Quarantine first, then the table, each once whatever happened before.
    async fn commit(&self, number: u64, outcome: &Decision) -> Result<(i64, Option<ChangeCounts>), Failure> {
        let transaction = transaction(self.checkpoint, number)?;
        if !outcome.losses.is_empty() {
            self.checkpoint.keep_losses(number, &outcome.losses).await?;
        }
        let (table, quarantine) = match outcome.renews {
            true => (self.renewal.table.get().await?.as_ref(), &self.renewal.quarantine),
            false => (self.table, self.quarantine),
        };
        if !outcome.quarantine.is_empty() {
            let quarantine = quarantine.get().await?;
            pass(self.stream, Step::CommitQuarantine, Moment::Before);
            let _known = quarantine.commit(&outcome.quarantine, &transaction, &outcome.note).await?;
            pass(self.stream, Step::CommitQuarantine, Moment::After);
        }
        pass(self.stream, Step::CommitTable, Moment::Before);
        let committed = table.commit(&outcome.table, &transaction, &outcome.note).await?;
        pass(self.stream, Step::CommitTable, Moment::After);
        Ok(match committed {
            CommitOutcome::Committed { version } | CommitOutcome::AlreadyCommitted { version } => (version, None),
            // Rows that are replaced by others do not count as events, one by one.
            CommitOutcome::Merged { version, .. } if outcome.renews => (version, None),
            CommitOutcome::Merged { version, .. } => (version, counts(&committed)),
        })
    }
}

/// What tells that a table has a batch.
pub(crate) fn transaction(checkpoint: &Checkpoint, batch: u64) -> Result<AppTransaction, Failure> {
    let version = i64::try_from(batch).map_err(|_| Failure::Internal { what: "too many batches".into() })?;
    Ok(AppTransaction { app_id: checkpoint.id().to_string(), version })
}

/// Binds what a batch came to. `name` is that of its failpoints.
pub(crate) async fn log_outcome(
    name: &str,
    checkpoint: &Checkpoint,
    batch: u64,
    outcome: &impl Serialize,
) -> Result<(), Failure> {
    pass(name, Step::LogOutcome, Moment::Before);
    checkpoint.log_outcome(batch, outcome).await?;
    pass(name, Step::LogOutcome, Moment::After);
    Ok(())
}

/// What became of the rows one by one, where the table tells it: an upsert.
pub(crate) fn counts(committed: &CommitOutcome) -> Option<ChangeCounts> {
    let CommitOutcome::Merged { changes, .. } = committed else { return None };
    let RowChanges { inserted, updated, superseded, deleted } = *changes;
    let counts = ChangeCounts { inserted, updated, superseded, deleted };
    (*changes != RowChanges::default()).then_some(counts)
}

/// `name@version` of each component of a chain, with its digest; several of one version, each for its own schema versions,
/// are all named.
pub(crate) fn components(chain: &Chain) -> BTreeMap<String, String> {
    let mut components = BTreeMap::<String, String>::new();
    for id in chain.components() {
        let digests = components.entry(format!("{}@{}", id.name, id.version)).or_default();
        if !digests.contains(&id.digest) {
            let comma = if digests.is_empty() { "" } else { "," };
            digests.push_str(comma);
            digests.push_str(&id.digest);
        }
    }
    components
}

/// Promise 2: every row read has one fate, or nothing is committed.
pub(crate) fn check(accounts: &Accounts) -> Result<(), Failure> {
    if accounts.balanced() {
        return Ok(());
    }
    Err(Failure::Accounts {
        rows_in: accounts.rows_in,
        accepted: accounts.rows_accepted,
        rejected: accounts.rows_rejected(),
        filtered: accounts.rows_filtered(),
    })
}
