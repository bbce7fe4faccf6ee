//! Generated columns: SQL expressions over the row after the last row stage (D-083).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, cast::AsArray};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::columns::without_rejected;
use crate::sql::{EvaluationError, Expression};
use crate::{BatchContext, Fate, Rejection, Stage, StageError, StageOutput};

const NAME: &str = "generated";

/// A column and the expression that gives it, already cast to the column's type.
#[derive(Debug)]
pub(crate) struct Generated {
    /// Name of the column.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: Expression,
    /// `column <=> value`, when the rows bring the column along: it must be true.
    pub(crate) check: Option<Expression>,
}

/// The step: appends the columns that are absent, checks those that are present.
#[derive(Debug)]
pub(crate) struct GeneratedStage {
    columns: Vec<Generated>,
    schema: SchemaRef,
}

impl GeneratedStage {
    /// Adds `columns` to rows of `input`.
    pub(crate) fn new(input: &Schema, columns: Vec<Generated>) -> Result<Self, StageError> {
        let columns = columns.into_iter().map(|column| column.over(input)).collect::<Result<Vec<_>, _>>()?;
        let added = columns.iter().filter(|column| column.check.is_none());
        let added = added.map(|column| Arc::new(Field::new(&column.name, column.value.data_type().clone(), true)));
        let fields: Vec<_> = input.fields().iter().cloned().chain(added).collect();
        Ok(Self { columns, schema: Arc::new(Schema::new(fields)) })
    }
}

impl Stage for GeneratedStage {
    fn name(&self) -> String {
        NAME.into()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError> {
        let mut columns = rows.columns().to_vec();
        for column in &self.columns {
            let result = match &column.check {
                None => column.value.evaluate(rows, context).map(|values| columns.push(values)),
                Some(check) => check.evaluate(rows, context).and_then(|same| column.compare(&same)),
            };
            if let Err(error) = result {
                // The chain stops at the rejection; its rows are never used.
                return Ok(StageOutput {
                    rows: RecordBatch::new_empty(self.schema()),
                    origin: Vec::new(),
                    rejected: vec![column.failure(error)],
                    rules: Vec::new(),
                });
            }
        }
        let rows = RecordBatch::try_new(self.schema(), columns).map_err(|error| StageError::internal(NAME, error))?;
        without_rejected(&rows, Vec::new()).map_err(|error| StageError::internal(NAME, error))
    }
}

impl Generated {
    fn over(self, schema: &Schema) -> Result<Self, StageError> {
        let over = |expression: Expression| expression.over(schema).map_err(|error| StageError::internal(NAME, error));
        Ok(Self { name: self.name, value: over(self.value)?, check: self.check.map(over).transpose()? })
    }

    fn compare(&self, same: &ArrayRef) -> Result<(), EvaluationError> {
        let same: &BooleanArray = same.as_boolean();
        match (0..same.len()).find(|row| !same.is_valid(*row) || !same.value(*row)) {
            Some(row) => Err(EvaluationError { row: row as u32, text: "the row has another value".into() }),
            None => Ok(()),
        }
    }

    fn failure(&self, error: EvaluationError) -> Rejection {
        Rejection {
            row: error.row,
            fate: Fate::Fail,
            code: format!("generated: {}", self.name).into(),
            text: format!("`{}`: {}", self.value.text(), error.text).into(),
            component: None,
        }
    }
}
