//! What a table should be, as a contract says it.

use std::collections::BTreeMap;

use arrow_schema::SchemaRef;

/// How the rows of a batch become rows of the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WriteMode {
    /// They are added.
    #[default]
    Append,
    /// They replace the partitions that they belong to (D-032).
    ReplacePartitions,
    /// The newest row of each key stands: the greatest by `sequence_by`, then by `position`.
    Upsert {
        /// Key columns.
        keys: Vec<String>,
        /// Columns that say which event is newer.
        sequence_by: Vec<String>,
        /// Columns that say where a row came from: they decide between equal sequences.
        position: Vec<String>,
    },
    /// The groups that the batch names are replaced.
    ReplaceGroups {
        /// Group columns.
        group_by: Vec<String>,
    },
    /// The rows of the batch leave the table, each for one that equals it.
    TakeOut,
    /// What the batch names is replaced by the rows that it brings, as far as they differ: the rebuild of a slice.
    ReplaceNamed {
        /// Columns whose values name what is replaced.
        named_by: Vec<String>,
        /// Columns that say which of the rows brought for one name is the newest: it alone stands, or deletes the name.
        /// Empty: all of them stand.
        newest_by: Vec<String>,
        /// Columns in which rows may differ and still count as equal.
        apart_from: Vec<String>,
        /// Whether streams below are told.
        told: bool,
    },
}

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
    /// How rows are written.
    pub write: WriteMode,
    /// Table properties, besides those that the host always sets (`delta.checkpointInterval = 10`).
    pub properties: BTreeMap<String, String>,
}
