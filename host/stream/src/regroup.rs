//! A table of groups: the groups that a batch touched are computed again, from all their rows at the version that ends
//! the batch's range.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use crisol_checkpoint::Position;
use crisol_observe::{Accounts, GroupCounts};
use crisol_source::{CHUNK_ROWS_MAX, Chunks, Source};
use crisol_stage::{BatchContext, Chain, GroupRun, Grouping, TouchedGroups};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::flow::{Message, failed_stage, join, process};

/// The first error of rows on their way into a sort, which can carry its text only.
type Cause = Arc<Mutex<Option<Failure>>>;

/// What computes groups.
pub(crate) struct Regrouping<'a> {
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) context: BatchContext,
    pub(crate) workers: usize,
}

impl Regrouping<'_> {
    /// Gives the writer the groups that are to go, and their new rows.
    pub(crate) async fn run(
        &self,
        grouping: &Arc<Grouping>,
        touched: TouchedGroups,
        source: &mut dyn Source,
        end: &Position,
        send: &mpsc::Sender<Message>,
        accounts: &mut Accounts,
    ) -> Result<(), Failure> {
        let defect = |error| Failure::Internal { what: format!("the groups of a batch: {error}") };
        let mut counts = GroupCounts { touched: touched.len() as u64, ..GroupCounts::default() };
        accounts.rows_written = 0;
        for named in touched.named(CHUNK_ROWS_MAX).map_err(defect)? {
            // A closed queue means that the writer failed; its own error says why.
            if send.send(Message::Rows(named)).await.is_err() {
                return Ok(());
            }
        }
        if !touched.is_empty() {
            let held = source.read_held(end).await?;
            let done = self.compute(grouping, touched, held, send).await?;
            counts.rows_in = done.rows_in;
            counts.not_ranked = done.not_ranked;
            counts.empty = counts.touched - (done.groups - done.empty);
            accounts.rows_written = done.rows_out;
        }
        accounts.groups = Some(counts);
        Ok(())
    }

    /// Takes all rows of the touched groups through the stage.
    async fn compute(
        &self,
        grouping: &Arc<Grouping>,
        touched: TouchedGroups,
        held: Chunks,
        send: &mpsc::Sender<Message>,
    ) -> Result<crisol_stage::GroupCounts, Failure> {
        let cause = Cause::default();
        let rows = rows_of_groups(self.chain, touched, held, &self.context, self.workers, &cause);
        let failed = |error| take(&cause).unwrap_or_else(|| failed_stage(error));
        let mut sorted = grouping.sorted(rows).await.map_err(failed)?;
        let mut run = GroupRun::new(Arc::clone(grouping), self.context.clone()).map_err(failed_stage)?;
        while let Some(rows) = sorted.next().await {
            let rows = rows.map_err(failed)?;
            let work = spawn_blocking(move || {
                let given = run.push(&rows);
                (run, given)
            });
            let (back, given) = join(work).await?;
            run = back;
            for rows in given.map_err(failed_stage)? {
                if send.send(Message::Rows(rows)).await.is_err() {
                    return Ok(crisol_stage::GroupCounts::default());
                }
            }
        }
        let (given, counts) = join(spawn_blocking(move || run.finish())).await?.map_err(failed_stage)?;
        for rows in given {
            if send.send(Message::Rows(rows)).await.is_err() {
                break;
            }
        }
        Ok(counts)
    }
}

/// The rows that the table above holds of the touched groups, as far as the chain accepts them: what it rejects was put
/// into quarantine by the batch that brought it.
fn rows_of_groups(
    chain: &Arc<Chain>,
    touched: TouchedGroups,
    held: Chunks,
    context: &BatchContext,
    workers: usize,
    cause: &Cause,
) -> BoxStream<'static, Result<RecordBatch, String>> {
    let (chain, touched, context, cause) = (Arc::clone(chain), Arc::new(touched), context.clone(), Arc::clone(cause));
    let worked = held.map(move |chunk| {
        let (chain, touched, context) = (Arc::clone(&chain), Arc::clone(&touched), context.clone());
        async move {
            let rows = chunk?;
            let work = spawn_blocking(move || {
                let (_, output) = process(&chain, &rows, 0..rows.num_rows() as u64, &context)?;
                let defect = |error| Failure::Internal { what: format!("the rows of groups: {error}") };
                touched.select(&output.accepted).map_err(defect)
            });
            join(work).await?
        }
    });
    let kept = worked.buffered(workers + 2).map_err(move |failure| {
        let text = failure.to_string();
        cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        text
    });
    kept.boxed()
}

fn take(cause: &Cause) -> Option<Failure> {
    cause.lock().unwrap_or_else(PoisonError::into_inner).take()
}
