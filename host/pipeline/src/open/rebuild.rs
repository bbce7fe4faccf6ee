//! What a rebuild takes out, and how far it reaches: a stream whose upstream table was begun anew is begun anew itself.
//!
//! That is told from what lies on disk, not from what this run did: a rebuild that was cut short, or that named only some
//! of the streams, is taken up by the next one.

use arrow_schema::SchemaRef;
use crisol_checkpoint::{Checkpoint, Position};
use crisol_source::TableSource;
use crisol_stream::Failure;
use crisol_table::Table;

use super::{checkpoint_in, open_checkpoint, table_source, tables};
use crate::plan::{SourcePlan, StreamPlan};

/// Whether a stream stands in its upstream table at a place that is gone, because the table was emptied or made again.
pub(super) async fn upstream_began_anew(
    plan: &StreamPlan,
    checkpoint: &Checkpoint,
    columns: &SchemaRef,
) -> Result<bool, Failure> {
    let mut source = match &plan.source {
        SourcePlan::Ingestion(_) => return Ok(false),
        SourcePlan::Stream { table, path, .. } => TableSource::new(table_source(plan, columns, table, path, false)),
        SourcePlan::External(path) => TableSource::new(table_source(plan, columns, path, path, true)),
    };
    let state = checkpoint.state().await?;
    let logged = state.offsets.and_then(|logged| logged.entry.ends.into_iter().next().flatten());
    match logged.or(state.initial) {
        Some(position @ Position::Table(_)) => Ok(source.began_anew_since(&position).await?),
        _ => Ok(false),
    }
}

/// Discards a checkpoint, then the rows that were written under it, and gives the new checkpoint.
///
/// In this order: cut short after the first step, the new checkpoint finds a table with rows, which is refused until a
/// rebuild clears it.
pub(super) async fn begin_anew(
    plan: &StreamPlan,
    checkpoint: Checkpoint,
    table: &Table,
) -> Result<Checkpoint, Failure> {
    let former = checkpoint.id().to_string();
    checkpoint.discard().await?;
    let checkpoint = open_checkpoint(plan).await?;
    clear_tables(plan, table, Some(&former)).await?;
    Ok(checkpoint)
}

/// Takes out what a stream wrote, and closes its tables to a checkpoint that was discarded and to that of its replays: an
/// unfinished one would add rows that are read again. The table last: as long as it holds rows, a rebuild that was cut
/// short begins again.
pub(super) async fn clear_tables(plan: &StreamPlan, table: &Table, discarded: Option<&str>) -> Result<(), Failure> {
    let mut closed: Vec<String> = discarded.into_iter().map(str::to_owned).collect();
    if plan.replay.join("metadata").is_file() {
        closed.push(checkpoint_in(&plan.replay).await?.id().to_string());
    }
    if let Some(quarantine) = tables::find_quarantine(plan).await? {
        quarantine.clear(&plan.name, &closed).await?;
    }
    Ok(table.clear(&plan.name, &closed).await?)
}
