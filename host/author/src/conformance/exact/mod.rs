//! The conformance stages of an SDK, which do the same in every language: what comes is computed here, too.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::Suite;

/// Every type that a column may have.
pub(super) fn table() -> SchemaRef {
    let columns = COLUMNS.map(|(name, data_type)| (name, data_type, true));
    crisol_ipc::schema_of(columns).unwrap_or_else(|_| Arc::new(arrow_schema::Schema::empty()))
}

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

impl Suite {
    pub(super) fn exact(&mut self) {}
}
