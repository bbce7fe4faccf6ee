//! The table of all types, and rows of it.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::conformance::rows::many;
use crate::conformance::values::{self, Choice};

/// Every type that a column may have.
const COLUMNS: [(&str, &str); 19] = [
    ("b", "boolean"),
    ("i8", "tinyint"),
    ("i16", "smallint"),
    ("i32", "int"),
    ("i64", "bigint"),
    ("f32", "float"),
    ("f64", "double"),
    ("d9", "decimal(9,2)"),
    ("d18", "decimal(18,4)"),
    ("d38", "decimal(38,10)"),
    ("s", "string"),
    ("bin", "binary"),
    ("day", "date"),
    ("ts", "timestamp"),
    ("ints", "array<int>"),
    ("texts", "array<string>"),
    ("st", "struct<a:int,b:string>"),
    ("m", "map<string,bigint>"),
    ("deep", "array<struct<k:string,v:array<double>>>"),
];

/// All columns.
pub(in crate::conformance) fn all() -> SchemaRef {
    of(|_| true)
}

/// Those that JSON has.
pub(super) fn textual() -> SchemaRef {
    of(|name| name != "bin")
}

fn of(wanted: impl Fn(&str) -> bool) -> SchemaRef {
    let columns = COLUMNS.iter().filter(|(name, _)| wanted(name)).map(|(name, data_type)| (*name, *data_type, true));
    crisol_ipc::schema_of(columns).unwrap_or_else(|_| Arc::new(Schema::empty()))
}

/// Messages that any stage over rows must manage, and what they are called.
pub(super) fn messages(schema: &SchemaRef) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let rare = values::rows(schema, 97, Choice::Rare)?;
    Ok(vec![
        ("no row", rare.slice(0, 0)),
        ("one row", rare.slice(3, 1)),
        ("rows of nulls", values::nulls(schema, 3)?),
        ("values that stand under nulls", veiled(&rare)?),
        ("extreme values", rare.clone()),
        ("texts of 64 KiB", values::rows(schema, 64, Choice::Long)?),
        ("16,384 rows", many(&rare)?),
    ])
}

/// The rows with nulls over every second value, which stays where it is.
fn veiled(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let veil = NullBuffer::from_iter((0..rows.num_rows()).map(|row| row % 2 == 0));
    let veiled = |column: &ArrayRef| {
        let nulls = NullBuffer::union(Some(&veil), column.nulls());
        Ok(make_array(column.to_data().into_builder().nulls(nulls).build()?))
    };
    RecordBatch::try_new(rows.schema(), rows.columns().iter().map(veiled).collect::<Result<_, ArrowError>>()?)
}
