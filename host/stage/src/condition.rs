//! A condition that someone asks about the rows of a table: which of them are meant.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use crate::build::type_name;
use crate::sql::{Expression, Planner};
use crate::{BatchContext, StageError};

/// A SQL condition over the columns of a table, in the dialect of expectations.
#[derive(Debug, Clone)]
pub struct Condition(Expression);

impl Condition {
    /// A condition over rows of `columns`. `key` names it in errors.
    ///
    /// # Errors
    /// [`StageError::Config`] when the text is no condition over these columns.
    pub fn plan(key: &str, text: &str, columns: &SchemaRef) -> Result<Self, StageError> {
        let planner = Planner::new().map_err(|error| StageError::internal("sql", error))?;
        let planned =
            planner.plan(text, columns).map_err(|problem| StageError::config(key, problem.what, problem.hint))?;
        if *planned.data_type() != DataType::Boolean {
            let what = format!("gives `{}`, not true or false", type_name(planned.data_type()));
            return Err(StageError::config(key, what, "write a comparison, `day = DATE '2026-03-01'`"));
        }
        Ok(Self(planned))
    }

    /// The columns that it names.
    pub fn columns(&self) -> &[String] {
        self.0.columns()
    }

    /// The same over rows that have its columns at other places.
    ///
    /// # Errors
    /// One of them is not there: a defect of the host.
    pub fn over(&self, columns: &SchemaRef) -> Result<Self, StageError> {
        self.0.clone().over(columns).map(Self).map_err(|error| StageError::internal("sql", error))
    }

    /// Which rows it is true for; null is not true.
    ///
    /// # Errors
    /// It cannot be evaluated for a row.
    pub fn holds(&self, rows: &RecordBatch, context: &BatchContext) -> Result<BooleanArray, StageError> {
        let values = self
            .0
            .evaluate(rows, context)
            .map_err(|error| StageError::Condition { text: self.0.text().into(), what: error.text })?;
        let values = values.as_boolean();
        Ok(match values.nulls() {
            Some(nulls) => BooleanArray::new(values.values() & nulls.inner(), None),
            None => values.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};

    use super::*;
    use crate::PoisonSearch;

    fn rows() -> RecordBatch {
        RecordBatch::try_from_iter([("amount", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as ArrayRef)])
            .unwrap()
    }

    #[test]
    fn e007_null_is_not_meant() {
        let condition = Condition::plan("where", "amount > 0", &rows().schema()).unwrap();
        let context = BatchContext { batch: 0, timestamp_us: 0, poison: PoisonSearch::new(None) };
        let meant: Vec<bool> = condition.holds(&rows(), &context).unwrap().values().iter().collect();
        assert_eq!(meant, [true, false, true]);
        assert_eq!(condition.columns(), ["amount"]);
    }

    #[test]
    fn unknown_columns_and_values_that_are_no_condition_are_refused() {
        let told = |text: &str| match Condition::plan("where", text, &rows().schema()) {
            Err(StageError::Config { what, hint, .. }) => (what, hint),
            other => panic!("{other:?}"),
        };
        assert_eq!(told("amuont > 0"), ("no column `amuont`".into(), "did you mean `amount`?".into()));
        assert!(told("amount + 1").0.contains("not true or false"));
        assert!(told("random() > 0.5").0.contains("random"));
    }
}
