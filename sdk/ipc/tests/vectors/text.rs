//! A batch as JSON: its columns, and its rows as lists of values.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use crisol_ipc::types;

pub(crate) fn of(batch: &RecordBatch) -> String {
    let schema = batch.schema();
    let columns = schema.fields().iter().map(|field| {
        let data_type = types::name(field.data_type()).unwrap();
        format!(
            "    {{ \"name\": {:?}, \"type\": {data_type:?}, \"nullable\": {} }}",
            field.name(),
            field.is_nullable()
        )
    });
    let rows = (0..batch.num_rows()).map(|row| {
        let values: Vec<String> = batch.columns().iter().map(|column| value(column.as_ref(), row)).collect();
        format!("    [{}]", values.join(", "))
    });
    format!("{{\n  \"columns\": {},\n  \"rows\": {}\n}}\n", lines(columns), lines(rows))
}

fn lines(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "[]".into() } else { format!("[\n{}\n  ]", items.join(",\n")) }
}

/// Whole numbers of all widths, decimals unscaled, and moments as the numbers that they are; bytes as hex.
fn value(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) {
        return "null".into();
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => quoted(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => quoted(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::Date32 => array.as_primitive::<Date32Type>().value(row).to_string(),
        DataType::Timestamp(..) => quoted(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::Utf8 => format!("{:?}", array.as_string::<i32>().value(row)),
        DataType::Binary => {
            let hex: String = array.as_binary::<i32>().value(row).iter().map(|byte| format!("{byte:02x}")).collect();
            quoted(hex)
        }
        DataType::List(_) => list(&array.as_list::<i32>().value(row)),
        DataType::Map(..) => list(&array.as_map().value(row)),
        DataType::Struct(_) => {
            let children = array.as_struct().columns().iter().map(|child| value(child.as_ref(), row));
            format!("[{}]", children.collect::<Vec<_>>().join(", "))
        }
        other => panic!("no text for {other}"),
    }
}

fn list(values: &dyn Array) -> String {
    let items: Vec<String> = (0..values.len()).map(|row| value(values, row)).collect();
    format!("[{}]", items.join(", "))
}

/// What a reader of JSON might round stands in a text.
fn quoted(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}

fn float(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { quoted(value) }
}
