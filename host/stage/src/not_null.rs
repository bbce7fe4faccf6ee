//! NOT NULL columns: a null goes to quarantine, not to the whole batch (D-080, T-059).

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use crate::columns::without_rejected;
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

const NAME: &str = "not_null";

/// The step.
#[derive(Debug)]
pub(crate) struct NotNullStage {
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl NotNullStage {
    /// Nulls in the named columns of `schema` are refused.
    pub(crate) fn new(schema: &SchemaRef, names: &[String]) -> Self {
        let columns = names.iter().filter_map(|name| Schema::index_of(schema, name).ok()).collect();
        Self { columns, schema: Arc::clone(schema) }
    }
}

impl Stage for NotNullStage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, _context: &BatchContext) -> Result<StageOutput, StageError> {
        let mut rejected = Vec::new();
        for &at in &self.columns {
            let Some(nulls) = rows.column(at).logical_nulls().filter(|nulls| nulls.null_count() > 0) else { continue };
            let name = self.schema.field(at).name();
            let code: Arc<str> = format!("not_null: {name}").into();
            let text: Arc<str> = format!("column `{name}` is null").into();
            rejected.extend((!nulls.inner()).set_indices_u32().map(|row| Rejection {
                row,
                fate: Fate::Quarantine,
                code: Arc::clone(&code),
                text: Arc::clone(&text),
                component: None,
            }));
        }
        without_rejected(rows, rejected).map_err(|error| StageError::internal(NAME, error))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int32Array, StringArray};
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::PoisonSearch;

    #[test]
    fn d080_t059_a_null_is_refused_with_the_columns_name() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("id", DataType::Utf8, true),
            Field::new("n", DataType::Int32, true),
            Field::new("free", DataType::Int32, true),
        ]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])),
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
            Arc::new(Int32Array::from(vec![None, None, Some(3)])),
        ];
        let rows = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let stage = NotNullStage::new(&schema, &["id".into(), "n".into()]);
        let output =
            stage.process(&rows, &BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) }).unwrap();
        assert_eq!(output.origin, [0, 2]);
        let codes: Vec<_> = output.rejected.iter().map(|r| (r.row, &*r.code)).collect();
        assert_eq!(codes, [(1, "not_null: id"), (1, "not_null: n")]);
    }
}
