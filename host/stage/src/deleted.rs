//! `delete_when`: which rows take their key out of an upsert table (E-064).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::DELETED;

use crate::sql::Expression;
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

const NAME: &str = "delete_when";

/// The step: gives [`DELETED`], true where the row was taken out of the table above, or where the condition is true.
#[derive(Debug)]
pub(crate) struct DeletedStage {
    condition: Option<Expression>,
    /// Where the rows already say whether they are gone.
    given: Option<usize>,
    schema: SchemaRef,
}

impl DeletedStage {
    /// Over rows of `input`, which may have the column already.
    pub(crate) fn new(input: &SchemaRef, condition: Option<Expression>) -> Result<Self, StageError> {
        let condition = condition.map(|condition| condition.over(input)).transpose();
        let condition = condition.map_err(|error| StageError::internal(NAME, error))?;
        let given = input.index_of(DELETED).ok();
        let schema = if given.is_some() { Arc::clone(input) } else { with_deleted(input) };
        Ok(Self { condition, given, schema })
    }

    /// False **or null** means that the row stays (E-064).
    fn taken_out(&self, rows: &RecordBatch, context: &BatchContext) -> Result<BooleanBuffer, Rejection> {
        let given = self.given.map(|at| rows.column(at).as_boolean().values().clone());
        let given = given.unwrap_or_else(|| BooleanBuffer::new_unset(rows.num_rows()));
        let Some(condition) = &self.condition else { return Ok(given) };
        let values = condition.evaluate(rows, context).map_err(|error| Rejection {
            row: error.row,
            fate: Fate::Fail,
            code: NAME.into(),
            text: format!("`{}` cannot be evaluated: {}", condition.text(), error.text).into(),
            component: None,
        })?;
        let values = values.as_boolean();
        let taken = match values.nulls() {
            Some(nulls) => values.values() & nulls.inner(),
            None => values.values().clone(),
        };
        Ok(&given | &taken)
    }
}

impl Stage for DeletedStage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError> {
        let defect = |error| StageError::internal(NAME, error);
        let origin = (0..rows.num_rows() as u32).collect();
        let mut output = StageOutput { rows: rows.clone(), origin, rejected: Vec::new(), rules: Vec::new() };
        match self.taken_out(rows, context) {
            Ok(taken) => {
                let column: ArrayRef = Arc::new(BooleanArray::new(taken, None));
                let mut columns = rows.columns().to_vec();
                match self.given {
                    Some(at) => columns[at] = column,
                    None => columns.push(column),
                }
                output.rows = RecordBatch::try_new(self.schema(), columns).map_err(defect)?;
            }
            Err(rejection) => output.rejected.push(rejection),
        }
        Ok(output)
    }
}

/// The columns, all nullable, and [`DELETED`]: rows on their way to a table whose rows change. Those that only name what
/// is to go have nulls elsewhere.
pub(crate) fn incoming(table: &Schema) -> SchemaRef {
    let fields = table.fields().iter().map(|field| Arc::new(field.as_ref().clone().with_nullable(true)));
    with_deleted(&Schema::new(fields.collect::<Vec<_>>()))
}

fn with_deleted(schema: &Schema) -> SchemaRef {
    let deleted = Arc::new(Field::new(DELETED, DataType::Boolean, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([deleted]).collect::<Vec<_>>()))
}

/// Rows of a chunk that the table above no longer has; `None` where it only grows.
pub(crate) fn gone(rows: &RecordBatch) -> Option<BooleanArray> {
    rows.column_by_name(DELETED).and_then(|column| column.as_boolean_opt()).cloned()
}
