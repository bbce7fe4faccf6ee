//! Evaluation of an expression over a chunk.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::expressions::{CastExpr, Literal};
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use super::functions::BatchTime;
use super::patterns;
use super::type_names::contract_types;
use crate::BatchContext;

/// A checked expression over one row.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    text: String,
    physical: Arc<dyn PhysicalExpr>,
    data_type: DataType,
    columns: Vec<String>,
    uses_time: bool,
}

/// An expression failed (E-008).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EvaluationError {
    /// The first row at which it fails.
    pub(crate) row: u32,
    /// Why.
    pub(crate) text: String,
}

impl Expression {
    pub(super) fn new(
        text: &str,
        physical: Arc<dyn PhysicalExpr>,
        columns: Vec<String>,
        schema: &SchemaRef,
    ) -> Result<Self> {
        let data_type = physical.data_type(schema)?;
        let uses_time = physical.exists(|expr| Ok(batch_time(expr).is_some()))?;
        Ok(Self { text: text.to_owned(), physical, data_type, columns, uses_time })
    }

    /// The SQL text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Type of the result.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Columns that it reads.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The same, cast to a type; a value that does not fit is an evaluation error.
    pub(crate) fn cast_to(self, data_type: &DataType) -> Self {
        if self.data_type == *data_type {
            return self;
        }
        let physical = Arc::new(CastExpr::new(self.physical, data_type.clone(), None));
        Self { physical, data_type: data_type.clone(), ..self }
    }

    /// The same over rows of another schema that has its columns, with the same types.
    ///
    /// # Errors
    /// One of its columns is not there.
    pub(crate) fn over(self, schema: &Schema) -> Result<Self> {
        Ok(Self { physical: reassign_expr_columns(self.physical, schema)?, ..self })
    }

    /// One value per row.
    ///
    /// A vectorised `a AND b` evaluates `b` for rows at which `a` is false; a row alone does not. So when a chunk
    /// fails it is halved until single rows decide: the result depends on no row but its own.
    pub(crate) fn evaluate(&self, rows: &RecordBatch, context: &BatchContext) -> Result<ArrayRef, EvaluationError> {
        let bound = self.bind(context).map_err(|error| EvaluationError { row: 0, text: words(&error) })?;
        let mut parts = Vec::new();
        by_halves(&bound, rows, 0, &mut parts)?;
        match parts.as_slice() {
            [whole] => Ok(Arc::clone(whole)),
            parts => {
                let parts: Vec<_> = parts.iter().map(AsRef::as_ref).collect();
                arrow_select::concat::concat(&parts)
                    .map_err(|error| EvaluationError { row: 0, text: error.to_string() })
            }
        }
    }

    /// Puts the batch's timestamp in.
    fn bind(&self, context: &BatchContext) -> Result<Arc<dyn PhysicalExpr>> {
        let expr = Arc::clone(&self.physical);
        if !self.uses_time {
            return Ok(expr);
        }
        expr.transform_up(|expr| {
            let literal = batch_time(&expr).map(|time| Literal::new(time.value(context.timestamp_us)));
            Ok(match literal {
                Some(literal) => Transformed::yes(Arc::new(literal) as Arc<dyn PhysicalExpr>),
                None => Transformed::no(expr),
            })
        })
        .data()
    }
}

fn batch_time(expr: &Arc<dyn PhysicalExpr>) -> Option<&BatchTime> {
    expr.downcast_ref::<ScalarFunctionExpr>()?.fun().inner().downcast_ref()
}

fn by_halves(
    expr: &Arc<dyn PhysicalExpr>,
    rows: &RecordBatch,
    first: usize,
    parts: &mut Vec<ArrayRef>,
) -> Result<(), EvaluationError> {
    let error = match expr.evaluate(rows).and_then(|value| value.into_array(rows.num_rows())) {
        Ok(array) => {
            parts.push(array);
            return Ok(());
        }
        Err(error) => error,
    };
    if rows.num_rows() <= 1 {
        return Err(EvaluationError { row: first as u32, text: words(&error) });
    }
    let half = rows.num_rows() / 2;
    by_halves(expr, &rows.slice(0, half), first, parts)?;
    by_halves(expr, &rows.slice(half, rows.num_rows() - half), first + half, parts)
}

fn words(error: &DataFusionError) -> String {
    let text = error.find_root().strip_backtrace();
    if let Some(reason) = patterns::reason(&text) {
        return format!("no regular expression: {reason}");
    }
    contract_types(text.strip_prefix("Arrow error: ").unwrap_or(&text))
}
