//! The rows of a sample as columns.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use serde_json::Value;

use super::{Sample, SampleFault, decode};
use crate::limits::{COLUMNS_MAX, ROWS_MAX};
use crate::text::printable;

static NULL: Value = Value::Null;

/// The given rows in this order, with the columns of `input` and then those that rows name; all may be null.
pub(super) fn batch(sample: &Sample, order: &[usize]) -> Result<RecordBatch, SampleFault> {
    if order.len() > ROWS_MAX {
        return Err(wrong(format!("it gives {} rows, {ROWS_MAX} are allowed", order.len())));
    }
    let mut names: Vec<&str> = sample.input.iter().map(|(name, _)| name.as_str()).collect();
    let mut known: HashSet<&str> = names.iter().copied().collect();
    for name in sample.given.iter().flat_map(|row| row.keys()) {
        if known.insert(name) {
            names.push(name);
        }
        if names.len() > COLUMNS_MAX {
            return Err(wrong(format!("it gives more than {COLUMNS_MAX} columns")));
        }
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for name in names {
        let values: Vec<&Value> = order.iter().map(|row| sample.given[*row].get(name).unwrap_or(&NULL)).collect();
        let data_type = data_type(sample, name, &values)?;
        let column = decode::column(&data_type, &values)
            .map_err(|what| wrong(format!("column `{}` of `given`: {what}", printable(name, 200))))?;
        fields.push(Field::new(name, data_type, true));
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(order.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| wrong(error.to_string()))
}

fn data_type(sample: &Sample, name: &str, values: &[&Value]) -> Result<DataType, SampleFault> {
    let named = sample.input.iter().find(|(column, _)| column == name).map(|(_, data_type)| data_type.clone());
    named.or_else(|| decode::inferred(values)).ok_or_else(|| {
        let name = printable(name, 200);
        wrong(format!("the values of column `{name}` do not tell its type; name it in `input`"))
    })
}

pub(super) fn wrong(what: String) -> SampleFault {
    SampleFault::Wrong { what }
}
