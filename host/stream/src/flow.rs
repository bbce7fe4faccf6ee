//! Rows of a batch on their way: read in chunks, worked on side by side, put back in order, written to pending files.
//!
//! Rows of a table of groups take another turn (`regroup`): those of the batch say only which groups are touched.
//!
//! Memory is bounded whatever the size of the batch: a few chunks are under way at a time, and a slow writer holds up
//! the reading. Files are abandoned, not finished, when the flow ends early.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_checkpoint::Position;
use crisol_observe::{Accounts, Event, Observers};
use crisol_source::{Chunks, Source};
use crisol_stage::{BatchContext, Chain, ChunkOutput, PoisonSearch, StageError, TouchedGroups};
use crisol_table::{FileWriter, PendingFile, TableError, TableWriter};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::regroup::Regrouping;
use crate::writing::Writing;
use crate::{Failure, OpenTable, Stages};

/// Chunks that wait for the writer.
pub(crate) const QUEUE_CHUNKS: usize = 2;

/// What a flow needs.
pub(crate) struct Flow<'a> {
    pub(crate) stream: &'a str,
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) stages: &'a Stages,
    pub(crate) table: &'a dyn TableWriter,
    pub(crate) quarantine: &'a OpenTable,
    pub(crate) workers: usize,
    pub(crate) observers: &'a Observers,
    pub(crate) context: BatchContext,
}

/// What a flow leaves: durable files that belong to no commit, and the fate of every row.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) table: Vec<PendingFile>,
    pub(crate) quarantine: Vec<PendingFile>,
    pub(crate) accounts: Accounts,
}

pub(crate) enum Message {
    Rows(RecordBatch),
    QuarantineWriter(Box<dyn FileWriter>),
    Quarantined(RecordBatch),
    End,
}

pub(crate) type Files = (Vec<PendingFile>, Vec<PendingFile>);

impl Flow<'_> {
    /// Carries all chunks of a range that ends at `end` through.
    pub(crate) async fn run(
        &self,
        chunks: Chunks,
        source: &mut dyn Source,
        end: &Position,
    ) -> Result<Written, Failure> {
        let writing = Writing::begin(self.table.writer()?);
        let fed = self.carry(chunks, source, end, writing.sender()).await;
        let (accounts, (table, quarantine)) = writing.end(fed).await?;
        Ok(Written { table, quarantine, accounts })
    }

    async fn carry(
        &self,
        chunks: Chunks,
        source: &mut dyn Source,
        end: &Position,
        send: &mpsc::Sender<Message>,
    ) -> Result<Accounts, Failure> {
        let grouping = self.chain.grouping();
        let mut touched = grouping.map(|grouping| grouping.touched()).transpose().map_err(failed_stage)?;
        let mut accounts = self.feed(chunks, touched.as_mut(), send).await?;
        self.context.poison.settle(accounts.rows_in).map_err(|what| Failure::Poison { what })?;
        if let (Some(grouping), Some(touched)) = (grouping, touched) {
            let regrouping =
                Regrouping { chain: self.chain, context: self.context.of_old_rows(), workers: self.workers };
            regrouping.run(grouping, touched, source, end, send, &mut accounts).await?;
        }
        Ok(accounts)
    }

    /// Takes the chunks through the chain. What it gives goes to the writer, or, where groups are computed, says which.
    async fn feed(
        &self,
        chunks: Chunks,
        mut touched: Option<&mut TouchedGroups>,
        send: &mpsc::Sender<Message>,
    ) -> Result<Accounts, Failure> {
        let mut next_row = 0;
        let context = &self.context;
        let mut outputs = chunks
            .map(|chunk| {
                let chunk = chunk.map(|rows| {
                    if next_row == 0 {
                        self.stages.keep_sample(&rows);
                    }
                    let span = next_row..next_row + rows.num_rows() as u64;
                    next_row = span.end;
                    (rows, span)
                });
                let (chain, context) = (Arc::clone(self.chain), context.clone());
                async move {
                    let (rows, span) = chunk?;
                    join(spawn_blocking(move || process(&chain, &rows, span, &context))).await?
                }
            })
            .buffered(self.workers + 2);
        let mut accounts = Accounts::default();
        let mut quarantine_open = false;
        while let Some(output) = outputs.next().await {
            let (rows, output) = output?;
            count(&mut accounts, rows, &output);
            self.observers.tell(&Event::Rows { stream: self.stream.into(), rows });
            if let Some(quarantined) = output.quarantined {
                if !quarantine_open {
                    let writer = self.quarantine.get().await?.writer()?;
                    quarantine_open = true;
                    if send.send(Message::QuarantineWriter(writer)).await.is_err() {
                        return Ok(accounts);
                    }
                }
                if send.send(Message::Quarantined(quarantined)).await.is_err() {
                    return Ok(accounts);
                }
            }
            if let Some(touched) = touched.as_deref_mut() {
                let defect = |error| Failure::Internal { what: format!("the groups of a batch: {error}") };
                touched.add(&output.accepted).map_err(defect)?;
            } else if send.send(Message::Rows(output.accepted)).await.is_err() {
                return Ok(accounts);
            }
        }
        Ok(accounts)
    }
}

/// For rows that were judged before, in whatever batch that was.
pub(crate) fn context_of_old_rows(batch: u64, timestamp_ms: i64) -> BatchContext {
    let poison = PoisonSearch::new(None).among_old_rows();
    BatchContext { batch, timestamp_us: timestamp_ms.saturating_mul(1_000), poison }
}

pub(crate) fn process(
    chain: &Chain,
    rows: &RecordBatch,
    span: Range<u64>,
    context: &BatchContext,
) -> Result<(u64, ChunkOutput), Failure> {
    let output = chain.process(rows, context).map_err(|source| Failure::Stage { rows: span, source })?;
    Ok((rows.num_rows() as u64, output))
}

pub(crate) fn count(accounts: &mut Accounts, rows: u64, output: &ChunkOutput) {
    accounts.rows_in += rows;
    accounts.rows_accepted += output.rows_accepted;
    accounts.rows_written += output.accepted.num_rows() as u64;
    for (code, rows) in &output.rejected {
        *accounts.rejected.entry(code.clone()).or_default() += rows;
    }
    for (code, rows) in &output.filtered {
        *accounts.filtered.entry(code.clone()).or_default() += rows;
    }
    for (rule, passed, failed) in &output.rules {
        let count = accounts.expectations.entry(rule.clone()).or_default();
        count.passed += passed;
        count.failed += failed;
    }
}

/// Writes until [`Message::End`]; `None` when the queue closed without it: the files are given up.
pub(crate) fn write(
    mut table: Box<dyn FileWriter>,
    mut receive: mpsc::Receiver<Message>,
) -> Result<Option<Files>, TableError> {
    let mut quarantine: Option<Box<dyn FileWriter>> = None;
    while let Some(message) = receive.blocking_recv() {
        match message {
            Message::Rows(rows) => table.write(&rows)?,
            Message::QuarantineWriter(writer) => quarantine = Some(writer),
            Message::Quarantined(rows) => {
                if let Some(writer) = &mut quarantine {
                    writer.write(&rows)?;
                }
            }
            Message::End => {
                let quarantined = quarantine.map_or(Ok(Vec::new()), |writer| writer.finish())?;
                return Ok(Some((table.finish()?, quarantined)));
            }
        }
    }
    Ok(None)
}

/// An error of a stage that is about no rows of the batch.
pub(crate) fn failed_stage(source: StageError) -> Failure {
    Failure::Stage { rows: 0..0, source }
}

pub(crate) async fn join<T>(handle: JoinHandle<T>) -> Result<T, Failure> {
    handle.await.map_err(|error| Failure::Internal { what: format!("a worker thread ended: {error}") })
}
