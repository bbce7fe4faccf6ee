//! What the rebuild of a slice is made of, and what a stream needs to follow one of the table above.

use std::sync::Arc;

use crisol_contract::WriteMode;
use crisol_stage::{Chain, Condition, Origins, StageError};
use crisol_stream::{OpenTable, Rebuild, RebuildParts, Renewal, Slices};
use crisol_table::{KeepFiles, TableWriter};

use super::replay::{examine, open_for};
use super::tables::{self, RenewedQuarantine, RenewedTable};
use super::{Examined, anew, source, workers};
use crate::plan::{SourcePlan, StreamPlan};
use crate::{Engine, EngineError};

/// The rebuild of the rows of a table for which `predicate` is true. The streams of the engine are those above the table,
/// and its own.
pub(crate) async fn slice(
    engine: &Engine,
    plan: &StreamPlan,
    predicate: &str,
    dry_run: bool,
) -> Result<Rebuild, EngineError> {
    refuse_source(plan)?;
    let fail = |failure| EngineError::opening(&plan.name, failure);
    let Examined { plan, checkpoint: stream, input, chain, table, .. } = examine(engine, plan).await?;
    let slices = slices(&plan, &chain);
    check(&plan, &chain, &slices, predicate)?;
    let Some(as_it_is) = table else { return Err(missing(&plan)) };
    let table_id = as_it_is.id().await;
    let checkpoint = open_for(&plan.replay, &[&as_it_is]).await.map_err(fail)?;
    let table: Arc<dyn TableWriter> = if dry_run {
        Arc::new(as_it_is)
    } else {
        let found = tables::find_table_to_renew(&plan, &chain).await.map_err(|error| fail(error.into()))?;
        let found = found.ok_or_else(|| missing(&plan))?;
        // Of the deleted keys there is one list a table, and it is the stream's.
        Arc::new(found.with_deleted_keys_of(&stream.id().to_string()))
    };
    Ok(Rebuild::new(RebuildParts {
        stream: plan.name.clone(),
        table_name: plan.table.name.clone(),
        table_path: plan.table.path.clone(),
        table_id,
        checkpoint,
        source: source(&plan, &stream, &input, None),
        stream_checkpoint: stream,
        quarantine: quarantine(&plan, &chain),
        chain,
        slices,
        table,
        workers: workers(),
    }))
}

/// What a stream needs to follow a rebuild of the table above.
pub(super) fn renewal(plan: &StreamPlan, chain: &Arc<Chain>, keeper: Option<Arc<dyn KeepFiles>>) -> Renewal {
    let table = RenewedTable { plan: plan.clone(), chain: Arc::clone(chain), keeper };
    Renewal { slices: slices(plan, chain), table: OpenTable::new(table), quarantine: quarantine(plan, chain) }
}

fn quarantine(plan: &StreamPlan, chain: &Chain) -> OpenTable {
    let origins = Origins::of_input(&chain.input_schema());
    OpenTable::new(RenewedQuarantine { plan: plan.clone(), origins })
}

/// How rows of a table belong together.
fn slices(plan: &StreamPlan, chain: &Chain) -> Slices {
    match &plan.table.write {
        WriteMode::Upsert { keys, .. } => Slices::Keys(keys.clone()),
        WriteMode::ReplaceGroups { group_by } => Slices::Groups(group_by.clone()),
        WriteMode::ReplacePartitions => Slices::Partitions { by: plan.table.partition_by.clone(), hint: anew(plan) },
        WriteMode::Append => {
            if Origins::of_input(&chain.input_schema()).are_kept_by(&chain.table_schema()) {
                return Slices::Rows;
            }
            Slices::None { why: "its rows do not say where they came from".into(), hint: anew(plan) }
        }
    }
}

fn refuse_source(plan: &StreamPlan) -> Result<(), EngineError> {
    match plan.source {
        SourcePlan::Stream { .. } | SourcePlan::External(_) => Ok(()),
        SourcePlan::Ingestion(_) => Err(refused(
            plan,
            "it is made from messages or files, and not from a table",
            format!(
                "rebuild a table below it; or delete the folder `{}` (the checkpoint) and run with `--rebuild`, which reads \
                 all of it again",
                plan.checkpoint.display()
            ),
        )),
    }
}

/// Everything that can be known of a predicate before a row is read.
fn check(plan: &StreamPlan, chain: &Chain, slices: &Slices, predicate: &str) -> Result<(), EngineError> {
    if let Slices::None { why, .. } = slices {
        let hint = format!(
            "to make all of it anew, delete the folder `{}` (the checkpoint) and run with `--rebuild`",
            plan.checkpoint.display()
        );
        return Err(refused(plan, why, hint));
    }
    let condition = Condition::plan("--where", predicate, &chain.table_schema()).map_err(|error| match error {
        StageError::Config { key, what, hint } => refused(plan, format!("`{key}`: {what}"), hint),
        other => EngineError::internal(other),
    })?;
    let (whole, by) = match slices {
        Slices::Groups(by) => ("group", by),
        Slices::Partitions { by, .. } => ("partition", by),
        Slices::Rows | Slices::Keys(_) | Slices::None { .. } => return Ok(()),
    };
    match condition.columns().iter().find(|column| !by.contains(column)) {
        None => Ok(()),
        Some(column) => {
            let columns = by.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let what = format!("`--where`: `{column}` is none of the columns of its {whole}s");
            Err(refused(plan, what, format!("a {whole} is made anew whole: choose {whole}s by {columns}")))
        }
    }
}

fn refused(plan: &StreamPlan, what: impl Into<String>, hint: String) -> EngineError {
    EngineError::NotRebuilt { table: plan.table.name.clone(), what: what.into(), hint }
}

fn missing(plan: &StreamPlan) -> EngineError {
    EngineError::UnknownTable {
        name: plan.table.name.clone(),
        what: "it does not exist yet".into(),
        hint: "`host run` creates it, with all that lies above".into(),
    }
}
