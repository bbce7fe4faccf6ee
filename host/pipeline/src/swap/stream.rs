//! A stream whose stages may be exchanged, and the checks that other stages pass before they serve it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use crisol_plugin::Registry;
use crisol_stage::{BatchContext, Chain, ComponentId, PoisonSearch, StageError};
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

    /// Runs the first rows of the last batch through `next`. It may fail on no more of them than `serving` does.
    fn try_on_sample(&self, serving: &Chain, next: &Chain) -> Result<(), String> {
        let Some(rows) = self.swap.sample() else { return Ok(()) };
        let of = format!("of {} rows of the last batch", rows.num_rows());
        match poison_rows(next, &rows).map_err(|error| format!("it fails on {of}: {error}"))? {
            (0, _) => Ok(()),
            (found, first) => match poison_rows(serving, &rows) {
                Ok((known, _)) if found > known => {
                    let first = first.unwrap_or_default();
                    Err(format!("it fails on {found} {of}, what serves on {known}; the first: {first}"))
                }
                _ => Ok(()),
            },
        }
    }
}

/// On how many rows components of a chain fail, and the words at the first.
fn poison_rows(chain: &Chain, rows: &RecordBatch) -> Result<(u64, Option<String>), StageError> {
    let timestamp_us = jiff::Timestamp::now().as_microsecond();
    let context = BatchContext { batch: 0, timestamp_us, poison: PoisonSearch::new(None) };
    chain.process(rows, &context)?;
    Ok(context.poison.result())
}

fn text(refusals: &[Refusal]) -> String {
    let one = |refusal: &Refusal| match &refusal.place {
        Place::Key { key, .. } if !key.is_empty() => format!("`{key}`: {}", refusal.message),
        _ => refusal.message.clone(),
    };
    refusals.iter().map(one).collect::<Vec<_>>().join("; ")
}
