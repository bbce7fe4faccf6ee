//! Rows of the quarantine table: the whole input row, its provenance, who refused it and why (E-031).

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::new_null_array;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, UInt32Array};
use arrow_cast::base64::{BASE64_STANDARD, Engine};
use arrow_json::writer::{LineDelimited, NullableEncoder, WriterBuilder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow_select::take::take_record_batch;

use crate::trail::Settled;
use crate::{BatchContext, Stage};

pub(crate) const PAYLOAD: &str = "payload";
pub(crate) const INPUT: &str = "input";
/// Columns of the quarantine table that take the input's column of the same name.
pub(crate) const PLACES: [&str; 5] = ["topic", "partition", "offset", "file_path", "file_row"];

/// Columns of every quarantine table; final.
///
/// `stream, batch, batch_timestamp, stage, component, component_version, component_digest, code, text` say who refused
/// the row and why; `payload` holds the bytes of the input's `payload` column; `input` the other input columns as one
/// JSON object; `topic, partition, offset, file_path, file_row` its provenance, null where it has none.
pub fn quarantine_schema() -> SchemaRef {
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let column = |name: &str, data_type: DataType, nullable: bool| Field::new(name, data_type, nullable);
    Arc::new(Schema::new(vec![
        column("stream", DataType::Utf8, false),
        column("batch", DataType::Int64, false),
        column("batch_timestamp", timestamp, false),
        column("stage", DataType::Utf8, false),
        column("component", DataType::Utf8, true),
        column("component_version", DataType::Utf8, true),
        column("component_digest", DataType::Utf8, true),
        column("code", DataType::Utf8, false),
        column("text", DataType::Utf8, true),
        column(PAYLOAD, DataType::Binary, true),
        column(INPUT, DataType::Utf8, true),
        column("topic", DataType::Utf8, true),
        column("partition", DataType::Int32, true),
        column("offset", DataType::Int64, true),
        column("file_path", DataType::Utf8, true),
        column("file_row", DataType::Int64, true),
    ]))
}

/// A column of a row's provenance, null where the rows do not have it.
pub(crate) fn place(rows: &RecordBatch, field: &Field) -> Result<ArrayRef, ArrowError> {
    match rows.column_by_name(field.name()) {
        Some(column) => arrow_cast::cast(column, field.data_type()),
        None => Ok(new_null_array(field.data_type(), rows.num_rows())),
    }
}

/// Quarantine rows for refused rows of `input`, given in input order.
pub(crate) fn quarantine_rows(
    input: &RecordBatch,
    refused: &[(u32, &Settled)],
    stages: &[Arc<dyn Stage>],
    stream: &str,
    context: &BatchContext,
) -> Result<RecordBatch, ArrowError> {
    let rows = take_record_batch(input, &UInt32Array::from_iter_values(refused.iter().map(|(row, _)| *row)))?;
    let count = refused.len();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(std::iter::repeat_n(stream, count))),
        Arc::new(Int64Array::from_value(i64::try_from(context.batch).unwrap_or(i64::MAX), count)),
        Arc::new(TimestampMicrosecondArray::from_value(context.timestamp_us, count).with_timezone("UTC")),
    ];
    columns.extend(reasons(refused, stages)?);
    columns.push(payloads(&rows)?);
    columns.push(Arc::new(others(&rows)?));
    let schema = quarantine_schema();
    for name in PLACES {
        columns.push(place(&rows, schema.field_with_name(name)?)?);
    }
    RecordBatch::try_new(schema, columns)
}

/// `stage` to `text`.
fn reasons(refused: &[(u32, &Settled)], stages: &[Arc<dyn Stage>]) -> Result<[ArrayRef; 6], ArrowError> {
    let mut builders: [StringBuilder; 6] = std::array::from_fn(|_| StringBuilder::new());
    let known: Vec<_> = stages.iter().map(|stage| (stage.name(), stage.components())).collect();
    for (_, settled) in refused {
        let (stage, components) = known
            .get(settled.step)
            .ok_or_else(|| ArrowError::InvalidArgumentError(format!("there is no step {}", settled.step)))?;
        let id = settled.component.and_then(|component| components.get(component));
        let values = [
            Some(stage.as_str()),
            id.map(|id| id.name.as_str()),
            id.map(|id| id.version.as_str()),
            id.map(|id| id.digest.as_str()),
            Some(&*settled.code),
            Some(&*settled.text),
        ];
        for (builder, value) in builders.iter_mut().zip(values) {
            builder.append_option(value);
        }
    }
    Ok(builders.map(|mut builder| Arc::new(builder.finish()) as ArrayRef))
}

pub(crate) fn payloads(rows: &RecordBatch) -> Result<ArrayRef, ArrowError> {
    match rows.column_by_name(PAYLOAD) {
        Some(column) if matches!(column.data_type(), DataType::Binary) => Ok(Arc::clone(column)),
        Some(column) if carries_bytes(column.data_type()) => arrow_cast::cast(column, &DataType::Binary),
        _ => Ok(new_null_array(&DataType::Binary, rows.num_rows())),
    }
}

/// Whether a column of the input has one of its own in the quarantine, and is not in `input`.
pub(crate) fn has_own_column(field: &Field) -> bool {
    PLACES.contains(&field.name().as_str()) || (field.name() == PAYLOAD && carries_bytes(field.data_type()))
}

fn carries_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Binary | LargeBinary | BinaryView | Utf8 | LargeUtf8 | Utf8View)
}

/// `input`: the columns that have none of their own, in their order, nulls written out, bytes in base64.
pub(crate) fn others(rows: &RecordBatch) -> Result<StringArray, ArrowError> {
    let schema = rows.schema();
    let at: Vec<usize> = (0..schema.fields().len()).filter(|at| !has_own_column(schema.field(*at))).collect();
    if at.is_empty() {
        return Ok(StringArray::new_null(rows.num_rows()));
    }
    let mut text = Vec::new();
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_encoder_factory(Arc::new(Base64))
        .build::<_, LineDelimited>(&mut text);
    writer.write(&rows.project(&at)?)?;
    writer.finish()?;
    let text = String::from_utf8(text).map_err(|error| ArrowError::JsonError(error.to_string()))?;
    Ok(StringArray::from(text.lines().collect::<Vec<_>>()))
}

/// Bytes as base64 text, at every depth.
#[derive(Debug)]
struct Base64;

struct Base64Encoder<'a>(&'a arrow_array::BinaryArray);

impl EncoderFactory for Base64 {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
        _options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        Ok(array.as_binary_opt::<i32>().map(|bytes| {
            NullableEncoder::new(Box::new(Base64Encoder(bytes)) as Box<dyn Encoder + 'a>, bytes.nulls().cloned())
        }))
    }
}

impl Encoder for Base64Encoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(BASE64_STANDARD.encode(self.0.value(row)).as_bytes());
        out.push(b'"');
    }
}
