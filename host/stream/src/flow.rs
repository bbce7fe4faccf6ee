//! Rows of a batch on their way: read in chunks, worked on side by side, put back in order, written to pending files.
//!
//! Memory is bounded whatever the size of the batch: a few chunks are under way at a time, and a slow writer holds up
//! the reading. Files are abandoned, not finished, when the flow ends early.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_observe::{Accounts, Event, Observers};
use crisol_source::Chunks;
use crisol_stage::{BatchContext, Chain, ChunkOutput};
use crisol_table::{FileWriter, PendingFile, TableError, TableWriter};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{Failure, OpenTable, Stages};

/// Chunks that wait for the writer.
const QUEUE_CHUNKS: usize = 2;

/// What a flow needs; shared by all batches of a stream.
pub(crate) struct Flow<'a> {
    pub(crate) stream: &'a str,
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) stages: &'a Stages,
    pub(crate) table: &'a dyn TableWriter,
    pub(crate) quarantine: &'a OpenTable,
    pub(crate) workers: usize,
    pub(crate) observers: &'a Observers,
}

/// What a flow leaves: durable files that belong to no commit, and the fate of every row.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) table: Vec<PendingFile>,
    pub(crate) quarantine: Vec<PendingFile>,
    pub(crate) accounts: Accounts,
}

enum Message {
    Rows(RecordBatch),
    QuarantineWriter(Box<dyn FileWriter>),
    Quarantined(RecordBatch),
    End,
}

type Files = (Vec<PendingFile>, Vec<PendingFile>);

impl Flow<'_> {
    /// Carries all chunks through.
    pub(crate) async fn run(&self, chunks: Chunks, context: BatchContext) -> Result<Written, Failure> {
        let (send, receive) = mpsc::channel(QUEUE_CHUNKS);
        let writer = self.table.writer()?;
        let written = spawn_blocking(move || write(writer, receive));
        let fed = self.feed(chunks, context, &send).await;
        drop(send);
        let files = join(written).await?;
        // A failed writer closes the queue: its error comes first, it is the cause.
        let accounts = fed?;
        let Some((table, quarantine)) = files? else {
            return Err(Failure::Internal { what: "the writer ended before the rows did".into() });
        };
        Ok(Written { table, quarantine, accounts })
    }

    async fn feed(
        &self,
        chunks: Chunks,
        context: BatchContext,
        send: &mpsc::Sender<Message>,
    ) -> Result<Accounts, Failure> {
        let mut next_row = 0;
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
                let chain = Arc::clone(self.chain);
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
            if send.send(Message::Rows(output.accepted)).await.is_err() {
                return Ok(accounts);
            }
        }
        // Ignored on purpose: a closed queue means that the writer failed, and its own error says why.
        let _ = send.send(Message::End).await;
        Ok(accounts)
    }
}

fn process(
    chain: &Chain,
    rows: &RecordBatch,
    span: Range<u64>,
    context: &BatchContext,
) -> Result<(u64, ChunkOutput), Failure> {
    let output = chain.process(rows, context).map_err(|source| Failure::Stage { rows: span, source })?;
    Ok((rows.num_rows() as u64, output))
}

fn count(accounts: &mut Accounts, rows: u64, output: &ChunkOutput) {
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
fn write(mut table: Box<dyn FileWriter>, mut receive: mpsc::Receiver<Message>) -> Result<Option<Files>, TableError> {
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

async fn join<T>(handle: JoinHandle<T>) -> Result<T, Failure> {
    handle.await.map_err(|error| Failure::Internal { what: format!("a worker thread ended: {error}") })
}
