//! What a component is given: options and columns as its samples have them.

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use crisol_plugin::{Component, Limits, Sample};
use serde_json::{Map, Value};

use super::{NAME, exact};
use crate::Kind;

/// Options, columns, and some rows that are of use.
pub(super) struct Given {
    /// For messages: nothing when there is only one.
    pub(super) label: String,
    pub(super) options: Map<String, Value>,
    /// All input columns.
    pub(super) schema: SchemaRef,
    /// Rows of the samples; maybe none.
    pub(super) rows: RecordBatch,
    pub(super) timestamp_us: i64,
}

impl Given {
    /// The columns of the rows that a component reads, in its order.
    pub(super) fn seen(&self, reads: &[String]) -> Result<RecordBatch, ArrowError> {
        let reads = reads.iter().map(|name| self.schema.index_of(name)).collect::<Result<Vec<_>, _>>()?;
        self.rows.project(&reads)
    }
}

/// One for each set of options and columns among the samples. Without samples what the kind, or the name, tells.
///
/// # Errors
/// A sample cannot be given to it.
pub(super) fn of(component: &Component, samples: &[Sample]) -> Result<Vec<Given>, String> {
    let mut all: Vec<Given> = Vec::new();
    for sample in samples {
        let rows = sample.rows().map_err(|fault| format!("sample `{}` {fault}", sample.name))?;
        let known = all.iter_mut().find(|known| known.options == sample.options && known.schema == rows.schema());
        match known {
            Some(known) => {
                known.rows = concat_batches(&known.schema, [&known.rows, &rows]).map_err(|error| error.to_string())?;
            }
            None => all.push(Given {
                label: format!(", as in sample `{}`", sample.name),
                options: sample.options.clone(),
                schema: rows.schema(),
                rows,
                timestamp_us: sample.timestamp_us,
            }),
        }
    }
    if all.is_empty() {
        all.extend(guessed(component));
    }
    if let [only] = &mut all[..] {
        only.label.clear();
    }
    Ok(all)
}

/// Columns that it must be able to work on; `None` when nothing tells.
fn guessed(component: &Component) -> Option<Given> {
    let schema = match component.kind() {
        Kind::Decoder => Schema::new(vec![Field::new("payload", DataType::Utf8, true)]).into(),
        _ if component.name() == NAME => exact::table::all(),
        _ => return None,
    };
    let options = Map::new();
    let planned = component.plan_unchecked(&Value::from(options.clone()).to_string(), &schema);
    planned.ok()?;
    let rows = RecordBatch::new_empty(schema.clone());
    Some(Given { label: String::new(), options, schema, rows, timestamp_us: 0 })
}

/// Limits of production.
pub(super) fn limits() -> Limits {
    Limits::default()
}
