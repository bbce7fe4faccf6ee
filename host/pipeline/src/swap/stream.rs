//! A stream whose stages may be exchanged, and the checks that other stages pass before they serve it.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use crisol_plugin::Registry;
use crisol_stage::{BatchContext, Chain, ComponentId, PoisonSearch, StageError};
use crisol_stream::Swap;

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
    pub(super) fn next_chain(&self, registry: &Registry) -> Result<Option<Arc<Chain>>, String> {
        let serving = self.swap.serving();
        let refused = |what: String| format!("stream `{}`: {what}", self.plan.name);
        let chain = self.plan.chain(&self.input, registry).map_err(|refusals| refused(text(&refusals)))?;
        if chain.components() == serving.components() {
            return Ok(None);
        }
        if let Some(difference) = difference(&serving.table_schema(), &chain.table_schema()) {
            return Err(refused(format!(
                "its columns are not those of the table `{}`: {difference}",
                self.plan.table.name
            )));
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

/// How the columns of other stages differ from those of a table that exists.
fn difference(table: &Schema, other: &Schema) -> Option<String> {
    let described = |field: &Field| {
        let null = if field.is_nullable() { "" } else { " not null" };
        let data_type = crisol_ipc::types::name(field.data_type()).unwrap_or_else(|| field.data_type().to_string());
        format!("{data_type}{null}")
    };
    let mut differences = Vec::new();
    for field in other.fields() {
        match table.field_with_name(field.name()) {
            Err(_) => differences.push(format!("column `{}` is new", field.name())),
            Ok(known) if described(known) != described(field) => differences.push(format!(
                "column `{}` is {} instead of {}",
                field.name(),
                described(field),
                described(known)
            )),
            Ok(_) => {}
        }
    }
    let missing = table.fields().iter().filter(|field| other.field_with_name(field.name()).is_err());
    differences.extend(missing.map(|field| format!("column `{}` is missing", field.name())));
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    if differences.is_empty() && names(table) != names(other) {
        differences.push("they come in another order".into());
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn schema(columns: &[(&str, DataType, bool)]) -> Schema {
        let field =
            |(name, data_type, nullable): &(&str, DataType, bool)| Field::new(*name, data_type.clone(), *nullable);
        Schema::new(columns.iter().map(field).collect::<Vec<_>>())
    }

    #[test]
    fn differences_of_columns_are_named() {
        let table = schema(&[("a", DataType::Int32, false), ("b", DataType::Utf8, true)]);
        let of = |columns: &[(&str, DataType, bool)]| difference(&table, &schema(columns));
        assert_eq!(of(&[("a", DataType::Int32, false), ("b", DataType::Utf8, true)]), None);
        assert_eq!(
            of(&[("a", DataType::Int64, false), ("c", DataType::Utf8, true)]).unwrap(),
            "column `a` is bigint not null instead of int not null; column `c` is new; column `b` is missing"
        );
        assert_eq!(
            of(&[("a", DataType::Int32, true), ("b", DataType::Utf8, true)]).unwrap(),
            "column `a` is int instead of int not null"
        );
        assert_eq!(
            of(&[("b", DataType::Utf8, true), ("a", DataType::Int32, false)]).unwrap(),
            "they come in another order"
        );
    }
}
