//! Payloads in, values or reasons out, as text.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields};
use crisol_plugin_json::Decoder;
use crisol_sdk::columns::Output;
use crisol_sdk::{Rejections, types};

/// Columns from pairs of name and type.
pub(crate) fn fields(columns: &[(&str, &str)]) -> Fields {
    columns.iter().map(|(name, data_type)| Field::new(*name, types::parse(data_type).unwrap(), true)).collect()
}

/// Decodes the payloads into these columns.
pub(crate) fn decode(columns: &[(&str, &str)], payloads: &[Option<&[u8]>]) -> Output {
    let payloads: BinaryArray = payloads.iter().copied().collect();
    let output = Decoder::new("payload", &fields(columns)).unwrap().decode(&payloads).unwrap();
    for (column, field) in output.columns.iter().zip(&fields(columns)) {
        assert_eq!(column.data_type(), field.data_type(), "{}", field.name());
        assert_eq!(column.len(), output.origin.len(), "{}", field.name());
    }
    output
}

/// One payload into these columns: the values of the row, or code and text of its rejection.
pub(crate) fn row(columns: &[(&str, &str)], payload: &[u8]) -> Result<Vec<String>, String> {
    let output = decode(columns, &[Some(payload)]);
    match output.rejected.is_empty() {
        true => Ok(output.columns.iter().map(|column| value(column, 0)).collect()),
        false => {
            assert!(output.origin.is_empty());
            Err(reasons(output).remove(0).1)
        }
    }
}

/// `{"a": VALUE}` into a column `a` of that type.
pub(crate) fn one(data_type: &str, value: &str) -> Result<String, String> {
    row(&[("a", data_type)], format!("{{\"a\":{value}}}").as_bytes()).map(|mut values| values.remove(0))
}

/// Rejected rows: number and `code: text`.
pub(crate) fn reasons(output: Output) -> Vec<(i32, String)> {
    let Some(batch) = output.rejected.finish().unwrap() else { return Vec::new() };
    Rejections::read(&batch).unwrap().into_iter().map(|r| (r.row, format!("{}: {}", r.code, r.text))).collect()
}

/// A value as Spark's cast to string writes it; `null` for null.
pub(crate) fn value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "null".to_string();
    }
    let values = |column: &ArrayRef| (0..column.len()).map(|i| value(column, i)).collect::<Vec<_>>();
    match column.data_type() {
        DataType::Struct(_) => {
            let values: Vec<_> = column.as_struct().columns().iter().map(|child| value(child, row)).collect();
            format!("{{{}}}", values.join(", "))
        }
        DataType::List(_) => format!("[{}]", values(&column.as_list::<i32>().value(row)).join(", ")),
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            let (keys, values) = (values(entries.column(0)), values(entries.column(1)));
            let entries: Vec<_> = keys.iter().zip(&values).map(|(key, value)| format!("{key} -> {value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        DataType::Binary => column.as_binary::<i32>().value(row).iter().map(|b| format!("{b:02X}")).collect(),
        DataType::Timestamp(..) => {
            let naive = column.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt(None::<&str>);
            let text = ArrayFormatter::try_new(&naive, &FormatOptions::new())
                .unwrap()
                .value(row)
                .to_string()
                .replace('T', " ");
            if text.contains('.') { text.trim_end_matches('0').to_string() } else { text }
        }
        _ => ArrayFormatter::try_new(column, &FormatOptions::new()).unwrap().value(row).to_string(),
    }
}
