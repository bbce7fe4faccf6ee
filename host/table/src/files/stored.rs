//! Rows as a file gives them back. What lies beneath a null is not stored; in memory a field of a struct that is null may
//! hold anything, and an expression that takes the field would see it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, MapArray, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::nullif::nullif;

/// The same rows, with nulls beneath nulls.
pub(super) fn stored(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !rows.columns().iter().any(|column| column.data_type().is_nested()) {
        return Ok(rows.clone());
    }
    let columns: Result<_, _> = rows.columns().iter().map(|column| beneath(column, None)).collect();
    RecordBatch::try_new(rows.schema(), columns?)
}

/// A column that is null where `above` is, all the way down.
fn beneath(column: &ArrayRef, above: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let nulls = NullBuffer::union(above, column.nulls());
    match column.data_type() {
        DataType::Struct(fields) => {
            let inner = column.as_struct().columns().iter().map(|field| beneath(field, nulls.as_ref()));
            let inner: Vec<ArrayRef> = inner.collect::<Result<_, _>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), inner, nulls, column.len())?))
        }
        DataType::List(field) => {
            let list = column.as_list::<i32>();
            let values = beneath(list.values(), None)?;
            Ok(Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, nulls)?))
        }
        DataType::Map(field, sorted) => {
            let map = column.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = beneath(&entries, None)?.as_struct().clone();
            Ok(Arc::new(MapArray::try_new(field.clone(), map.offsets().clone(), entries, nulls, *sorted)?))
        }
        _ => match above.filter(|above| above.null_count() > 0) {
            Some(above) => nullif(column, &BooleanArray::new(!above.inner(), None)),
            None => Ok(Arc::clone(column)),
        },
    }
}

#[cfg(test)]
mod tests;
