//! What a table should be, as a contract says it.

use std::collections::BTreeMap;

use arrow_schema::SchemaRef;

/// What a table should be.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSpec {
    /// Contract's name, for messages.
    pub name: String,
    /// Absolute path of the table.
    pub path: String,
    /// Columns, provenance included, in the table's order; a column's comment in the field's metadata `comment`.
    pub schema: SchemaRef,
    /// Partition columns.
    pub partition_by: Vec<String>,
    /// Table properties, besides those that the host always sets (`delta.checkpointInterval = 10`).
    pub properties: BTreeMap<String, String>,
}
