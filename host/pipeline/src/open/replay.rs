//! What a replay of a quarantine is made of.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use crisol_checkpoint::Checkpoint;
use crisol_contract::WriteMode;
use crisol_source::{Chunks, Cut, Source, TableSource, TableSourceSpec};
use crisol_stage::{Chain, quarantine_schema};
use crisol_stream::{Failure, Replay, ReplayParts};
use crisol_table::{Table, TableWriter};

use super::{Examined, Opener, checkpoint_in, tables};
use crate::plan::StreamPlan;
use crate::{Engine, EngineError};

/// The replay of a table's quarantine; `None` when there is nothing in it. The streams of the engine are those above the
/// table, and its own.
pub(crate) async fn replay(engine: &Engine, plan: &StreamPlan) -> Result<Option<Replay>, EngineError> {
    refuse_modes(plan)?;
    let fail = |failure| EngineError::opening(&plan.name, failure);
    let Some(quarantine) = tables::find_quarantine_to_empty(plan).await.map_err(|e| fail(e.into()))? else {
        return Ok(None);
    };
    let examined = examine(engine, plan).await?;
    parts(examined, quarantine).await.map(|parts| Some(Replay::new(parts))).map_err(fail)
}

/// Rows computed from others, and partitions that are delivered whole, do not come one by one.
fn refuse_modes(plan: &StreamPlan) -> Result<(), EngineError> {
    let refuse = |what: &str, hint: &str| {
        Err(EngineError::NotReplayed { table: plan.table.name.clone(), what: what.into(), hint: hint.into() })
    };
    match plan.table.write {
        WriteMode::Append | WriteMode::Upsert { .. } => Ok(()),
        WriteMode::ReplaceGroups { .. } => refuse(
            "its groups are computed from all rows of the table above",
            "mend the component or rule, and make the groups anew with `host rebuild`",
        ),
        WriteMode::ReplacePartitions => refuse(
            "each delivery replaces its partitions whole, and the rows would replace what they belong to",
            "mend the component or rule, and make the partitions anew with `host rebuild`, or have them delivered again",
        ),
    }
}

/// The stages of a stream, and the columns that go into them.
pub(crate) async fn chain(engine: &Engine, plan: &StreamPlan) -> Result<(Arc<Chain>, SchemaRef), EngineError> {
    examine(engine, plan).await.map(|examined| (examined.chain, examined.input))
}

/// A stream, and those above it, held against what there is.
pub(super) async fn examine(engine: &Engine, plan: &StreamPlan) -> Result<Examined, EngineError> {
    let mut opener = Opener::new(engine);
    for stream in &engine.streams {
        let examined = opener.examine(stream).await?;
        if stream.name == plan.name {
            return Ok(examined);
        }
    }
    Err(EngineError::internal(format!("stream `{}` is none of the engine's", plan.name)))
}

async fn parts(examined: Examined, quarantine: Table) -> Result<ReplayParts, Failure> {
    let Examined { plan, checkpoint: stream, input, chain, table, .. } = examined;
    let table = match table {
        Some(table) => table,
        None => tables::make_table(&plan, &chain).await?,
    };
    let table_id = table.id().await;
    // Of the deleted keys there is one list a table, and it is the stream's.
    let table = table.with_deleted_keys_of(&stream.id().to_string());
    let checkpoint = open_for(&plan.replay, &[&table, &quarantine]).await?;
    Ok(ReplayParts {
        stream: plan.name.clone(),
        table_name: plan.table.name.clone(),
        stream_checkpoint: stream.id().to_string(),
        table_path: plan.table.path.clone(),
        table_id,
        checkpoint,
        chain,
        input,
        source: Box::new(quarantine_source(&plan, quarantine_schema())),
        table: Arc::new(table),
        quarantine: Arc::new(quarantine),
    })
}

/// The checkpoint of replays, and of rebuilds of slices. A rebuild of all has closed the tables to the one before, which is
/// done with.
pub(super) async fn open_for(folder: &Path, tables: &[&Table]) -> Result<Checkpoint, Failure> {
    let checkpoint = checkpoint_in(folder).await?;
    for table in tables {
        if table.transaction(&checkpoint.id().to_string()).await? == Some(i64::MAX) {
            checkpoint.discard().await?;
            return checkpoint_in(folder).await;
        }
    }
    Ok(checkpoint)
}

/// The rows that a table's quarantine holds now, oldest files first; `None` when there is none.
pub(crate) async fn quarantine_rows(plan: &StreamPlan, columns: SchemaRef) -> Result<Option<Chunks>, Failure> {
    if !Path::new(&plan.table.quarantine_path).join("_delta_log").is_dir() {
        return Ok(None);
    }
    let mut source = quarantine_source(plan, columns);
    let start = source.initial().await?;
    let Some(planned) = source.plan(&start).await? else { return Ok(None) };
    Ok(Some(source.read(&crisol_checkpoint::Range { start, end: planned.end }).await?))
}

/// All that it holds, in one batch.
fn quarantine_source(plan: &StreamPlan, columns: SchemaRef) -> TableSource {
    TableSource::new(TableSourceSpec {
        name: format!("{}_quarantine", plan.table.name),
        path: plan.table.quarantine_path.clone(),
        columns,
        external: true,
        changes: false,
        cut: Cut::Files,
        held: None,
        anew: format!("remove the folder `{}` and replay again", plan.replay.display()),
        max_files: usize::MAX,
        max_bytes: u64::MAX,
    })
}
