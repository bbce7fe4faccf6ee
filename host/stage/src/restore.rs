//! Rows of the quarantine as the input rows that they were: what a replay gives to the first stage.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, ListArray, MapArray, RecordBatch, StructArray};
use arrow_cast::base64::{BASE64_STANDARD, Engine};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_json::ReaderBuilder;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::quarantine::has_own_column;

/// Nothing is made null because it does not fit.
const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new() };

/// The input rows, with the columns of `input`, that became `rows` of [`quarantine_schema`](crate::quarantine_schema).
///
/// A column that the input did not have then is null. Floats that are no number come back as null: JSON has no word for
/// them.
///
/// # Errors
/// A value does not fit its column, as when the input's columns have changed since.
pub fn restored_rows(rows: &RecordBatch, input: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let others = others(rows, input)?;
    let column = |field: &FieldRef| match others.as_ref().and_then(|others| others.column_by_name(field.name())) {
        Some(column) => Ok(Arc::clone(column)),
        None => {
            let absent = || ArrowError::SchemaError(format!("a quarantine has no column `{}`", field.name()));
            let kept = rows.column_by_name(field.name()).ok_or_else(absent)?;
            cast_with_options(kept, field.data_type(), &STRICT)
        }
    };
    let columns = input.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(Arc::clone(input), columns)
}

/// The columns that are kept in `input`; `None` when there is none.
fn others(rows: &RecordBatch, input: &Schema) -> Result<Option<RecordBatch>, ArrowError> {
    let fields: Fields = input.fields().iter().filter(|field| !has_own_column(field)).cloned().collect();
    let kept = rows.column_by_name("input").and_then(|column| column.as_string_opt::<i32>());
    let Some(kept) = kept.filter(|_| !fields.is_empty() && rows.num_rows() > 0) else {
        return Ok(None);
    };
    let nullable = |field: &FieldRef| Arc::new(as_text(field).with_nullable(true));
    let schema = Arc::new(Schema::new(fields.iter().map(nullable).collect::<Fields>()));
    let mut decoder = ReaderBuilder::new(schema).with_batch_size(rows.num_rows()).build_decoder()?;
    let lines: Vec<&str> = kept.iter().map(|line| line.unwrap_or("{}")).collect();
    decoder.decode(lines.join("\n").as_bytes())?;
    let decoded = decoder.flush()?.filter(|decoded| decoded.num_rows() == rows.num_rows());
    let decoded =
        decoded.ok_or_else(|| ArrowError::JsonError("column `input` does not hold an object a row".into()))?;
    let columns = decoded.columns().iter().zip(&fields).map(|(column, field)| as_bytes(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let fields = fields.iter().map(|field| Arc::new(field.as_ref().clone().with_nullable(true)));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Fields>())), columns).map(Some)
}

/// Bytes stand there as base64 text, at every depth.
fn as_text(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Binary => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| Arc::new(as_text(field))).collect()),
        DataType::List(field) => DataType::List(Arc::new(as_text(field))),
        DataType::Map(entries, sorted) => DataType::Map(Arc::new(as_text(entries)), *sorted),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

fn as_bytes(column: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, ArrowError> {
    Ok(match wanted {
        DataType::Binary => Arc::new(decoded(column)?),
        DataType::Struct(fields) => Arc::new(structure(column.as_struct(), fields)?),
        DataType::List(field) => {
            let list = column.as_list::<i32>();
            let values = as_bytes(list.values(), field.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        DataType::Map(field, sorted) => {
            let map = column.as_map();
            let DataType::Struct(fields) = field.data_type() else { return Ok(Arc::clone(column)) };
            let entries = structure(map.entries(), fields)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *sorted)?)
        }
        _ => Arc::clone(column),
    })
}

fn structure(values: &StructArray, fields: &Fields) -> Result<StructArray, ArrowError> {
    let columns = values.columns().iter().zip(fields).map(|(column, field)| as_bytes(column, field.data_type()));
    StructArray::try_new(fields.clone(), columns.collect::<Result<_, _>>()?, values.nulls().cloned())
}

fn decoded(column: &ArrayRef) -> Result<BinaryArray, ArrowError> {
    let wrong = |error| ArrowError::JsonError(format!("bytes are not base64: {error}"));
    let value = |text: Option<&str>| text.map(|text| BASE64_STANDARD.decode(text).map_err(wrong)).transpose();
    let values = column.as_string::<i32>().iter().map(value).collect::<Result<Vec<_>, _>>()?;
    Ok(values.iter().map(Option::as_deref).collect())
}
