//! The table of all types, and rows of it.

use std::sync::Arc;

use arrow_array::RecordBatch;
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
        ("extreme values", rare.clone()),
        ("texts of 64 KiB", values::rows(schema, 64, Choice::Long)?),
        ("16,384 rows", many(&rare)?),
    ])
}
