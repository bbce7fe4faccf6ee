//! One of those that are compared, run on all rows.

use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_observe::Build;
use crisol_plugin::Component;
use crisol_stage::{BatchContext, Chain, ChunkOutput, GroupCounts, GroupRun, Grouping, PoisonSearch, StageError};
use futures::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use super::builds;
use super::reasons::{Reason, by_code, refused};
use crate::EngineError;

/// Most rows that a chain gets at once.
const CHUNK_ROWS_MAX: usize = 16_384;

/// What both get.
pub(super) struct Given {
    /// Rows of the table above, in chunks.
    pub(super) rows: Vec<RecordBatch>,
    /// Columns whose values make a group, where groups are what is compared.
    pub(super) groups: Vec<String>,
}

/// What came of the rows.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// The builds of the component, in the order in which they are asked.
    pub builds: Vec<Build>,
    /// Rows that came out of the stages.
    pub rows_out: u64,
    /// Rows that would go to quarantine.
    pub rejected: Vec<Reason>,
    /// Rows dropped on purpose.
    pub filtered: Vec<Reason>,
    /// How many groups there were; `None` where rows are what is compared.
    pub groups: Option<u64>,
    /// What the component took for that.
    pub cost: Cost,
    /// Why it could not go on: nothing came out then.
    pub error: Option<String>,
}

/// What all calls of a component took.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    /// Rows that it was given.
    pub rows: u64,
    /// Time in it for each of these rows.
    pub nanoseconds_per_row: Option<u64>,
    /// Most linear memory that one instance of it had.
    pub memory_bytes: u64,
}

/// The same, and the rows.
pub(super) struct Ran {
    pub(super) tried: Tried,
    /// `None` after a failure.
    pub(super) outcome: Option<Outcome>,
}

/// Rows that came out.
pub(super) enum Outcome {
    /// For each chunk given.
    Rows(Vec<ChunkOutput>),
    /// Of the table of groups.
    Groups(Vec<RecordBatch>),
}

/// Runs a chain whose component in question is one of `components`.
pub(super) async fn run(chain: Chain, components: Vec<Arc<Component>>, given: &Given) -> Result<Ran, EngineError> {
    // What was counted before, for samples or by a run before this one, is none of it.
    cost(&components);
    let timestamp_us = jiff::Timestamp::now().as_microsecond();
    let context = BatchContext { batch: 0, timestamp_us, poison: PoisonSearch::new(None) };
    let (chunks, work) = (given.rows.clone(), context.clone());
    let grouping = chain.grouping().filter(|_| !given.groups.is_empty()).cloned();
    let done = tokio::task::spawn_blocking(move || process(&chain, &chunks, &work)).await;
    let (outputs, error) = match done.map_err(EngineError::internal)? {
        Ok(outputs) => (outputs, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let (mut rejected, mut filtered) = (Vec::new(), Vec::new());
    for output in &outputs {
        rejected.extend(refused(output).into_iter().map(|(_, code, text)| (code, text)));
        filtered.extend(output.filtered_rows.iter().map(|row| (row.code.to_string(), row.text.to_string())));
    }
    let (outcome, groups, error) = match (grouping, error) {
        (_, Some(error)) => (None, None, Some(error)),
        (None, None) => (Some(Outcome::Rows(outputs)), None, None),
        (Some(grouping), None) => match grouped(grouping, outputs, context).await {
            Ok((rows, counts)) => (Some(Outcome::Groups(rows)), Some(counts.groups), None),
            Err(error) => (None, None, Some(error)),
        },
    };
    let tried = Tried {
        builds: builds(&components),
        rows_out: outcome.as_ref().map_or(0, Outcome::rows),
        rejected: by_code(rejected.into_iter()),
        filtered: by_code(filtered.into_iter()),
        groups,
        cost: cost(&components),
        error: error.map(|error| error.to_string()),
    };
    Ok(Ran { tried, outcome })
}

impl Outcome {
    fn rows(&self) -> u64 {
        match self {
            Self::Rows(outputs) => outputs.iter().map(|output| output.accepted.num_rows() as u64).sum(),
            Self::Groups(rows) => rows.iter().map(|rows| rows.num_rows() as u64).sum(),
        }
    }
}

fn process(chain: &Chain, rows: &[RecordBatch], context: &BatchContext) -> Result<Vec<ChunkOutput>, StageError> {
    rows.iter().map(|chunk| chain.process(chunk, context)).collect()
}

/// Rows in chunks that a chain takes.
pub(super) fn chunks(rows: Vec<RecordBatch>) -> Vec<RecordBatch> {
    let cut = |rows: RecordBatch| {
        let starts = (0..rows.num_rows()).step_by(CHUNK_ROWS_MAX);
        starts.map(|at| rows.slice(at, CHUNK_ROWS_MAX.min(rows.num_rows() - at))).collect::<Vec<_>>()
    };
    rows.into_iter().flat_map(cut).collect()
}

/// The groups of these rows alone.
async fn grouped(
    grouping: Arc<Grouping>,
    outputs: Vec<ChunkOutput>,
    context: BatchContext,
) -> Result<(Vec<RecordBatch>, GroupCounts), StageError> {
    let rows = futures::stream::iter(outputs).map(|output| Ok::<_, String>(output.accepted));
    let sorted: Vec<RecordBatch> = grouping.sorted(rows.boxed()).await?.try_collect().await?;
    let work = tokio::task::spawn_blocking(move || {
        let mut run = GroupRun::new(grouping, context)?;
        let mut given = Vec::new();
        for rows in &sorted {
            given.extend(run.push(rows)?);
        }
        let (last, counts) = run.finish()?;
        given.extend(last);
        Ok((given, counts))
    });
    work.await.unwrap_or_else(|error| {
        Err(StageError::Internal { stage: "groups".into(), what: format!("the work on them ended: {error}") })
    })
}

fn cost(components: &[Arc<Component>]) -> Cost {
    let work: Vec<_> = components.iter().map(|component| component.take_work()).collect();
    let rows = work.iter().map(|work| work.rows).sum();
    let nanoseconds: u128 = work.iter().map(|work| work.time.as_nanos()).sum();
    let per_row = nanoseconds.checked_div(u128::from(rows));
    Cost {
        calls: work.iter().map(|work| work.calls).sum(),
        rows,
        nanoseconds_per_row: per_row.map(|time| u64::try_from(time).unwrap_or(u64::MAX)),
        memory_bytes: work.iter().map(|work| work.memory_bytes).max().unwrap_or_default(),
    }
}
