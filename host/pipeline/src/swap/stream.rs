//! A stream whose stages may be exchanged, and the checks that other stages pass before they serve it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_schema::SchemaRef;
use crisol_plugin::{CallError, Registry};
use crisol_stage::{BatchContext, Chain, ChunkOutput, ComponentId, PoisonSearch, StageError};
use crisol_stream::Swap;

use super::Reason;
use super::columns::{changes, difference};
use crate::error::{Place, Refusal};
use crate::plan::StreamPlan;

/// A running stream.
#[derive(Debug)]
pub(crate) struct Swappable {
    pub(crate) plan: StreamPlan,
    /// The columns of its source.
    pub(crate) input: SchemaRef,
    pub(crate) swap: Swap,
}

impl Swappable {
    /// The stages that the stream gets from `registry`; `None` when they are those that serve.
    ///
    /// # Errors
    /// Why the stream cannot run with them.
    pub(super) fn next_chain(&self, registry: &Registry) -> Result<Option<Arc<Chain>>, Reason> {
        let serving = self.swap.serving();
        let refused = |what: String| Reason::from(format!("stream `{}`: {what}", self.plan.name));
        let chain = self.plan.chain(&self.input, registry).map_err(|refusals| refused(text(&refusals)))?;
        if chain.components() == serving.components() {
            return Ok(None);
        }
        let (table, other) = (serving.table_schema(), chain.table_schema());
        if let Some(difference) = difference(&table, &other) {
            let what = format!("its columns are not those of the table `{}`: {difference}", self.plan.table.name);
            return Err(Reason { columns: Some(changes(&table, &other)), ..refused(what) });
        }
        self.try_on_sample(&serving, &chain).map_err(refused)?;
        Ok(Some(Arc::new(chain)))
    }

    /// The components that serve.
    pub(super) fn components(&self) -> Vec<ComponentId> {
        self.swap.serving().components()
    }

    /// Runs the first rows of the last batch through `next`. It may fail on none that `serving` takes.
    fn try_on_sample(&self, serving: &Chain, next: &Chain) -> Result<(), String> {
        let Some(rows) = self.swap.sample() else { return Ok(()) };
        let of = format!("of {} rows of the last batch", rows.num_rows());
        let output = sampled(next, &rows).map_err(|error| format!("it fails on {of}: {error}"))?;
        let failed = failed_rows(&output);
        if failed.is_empty() {
            return Ok(());
        }
        let refused_anyway = sampled(serving, &rows).map(|output| output.refused).unwrap_or_default();
        let new: Vec<_> = failed.iter().filter(|(row, _)| refused_anyway.binary_search(row).is_err()).collect();
        match new.first() {
            None => Ok(()),
            Some((_, first)) => {
                Err(format!("it fails on {} {of} that what serves takes; the first: {first}", new.len()))
            }
        }
    }
}

fn sampled(chain: &Chain, rows: &RecordBatch) -> Result<ChunkOutput, StageError> {
    let timestamp_us = jiff::Timestamp::now().as_microsecond();
    chain.process(rows, &BatchContext { batch: 0, timestamp_us, poison: PoisonSearch::new(None) })
}

/// Input rows on which a component failed, and how.
fn failed_rows(output: &ChunkOutput) -> Vec<(u32, String)> {
    let Some(quarantined) = &output.quarantined else { return Vec::new() };
    let texts = |name: &str| quarantined.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    let (Some(codes), Some(texts)) = (texts("code"), texts("text")) else { return Vec::new() };
    let failed = output.refused.iter().zip(codes).zip(texts);
    let failed = failed.filter(|((_, code), _)| code.is_some_and(|code| CallError::POISON_CODES.contains(&code)));
    failed.map(|((row, _), text)| (*row, text.unwrap_or_default().to_owned())).collect()
}

/// Refusals in one line.
pub(crate) fn text(refusals: &[Refusal]) -> String {
    let one = |refusal: &Refusal| match &refusal.place {
        Place::Key { key, .. } if !key.is_empty() => format!("`{key}`: {}", refusal.message),
        _ => refusal.message.clone(),
    };
    refusals.iter().map(one).collect::<Vec<_>>().join("; ")
}
