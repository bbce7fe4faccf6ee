//! Where a source stands, and the range between two such places.

use std::collections::BTreeMap;

/// Where a source stands: always *next to read*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// Kafka partitions.
    Kafka(KafkaPosition),
    /// A folder of files.
    Files(FilesPosition),
    /// A Delta table.
    Table(TablePosition),
}

/// Next offset to read, per topic and partition (C-006, K-033).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KafkaPosition(pub BTreeMap<String, BTreeMap<i32, i64>>);

/// Newest entry of the source's log of files (`sources/0/<n>`, C-005); -1 before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesPosition {
    /// `logOffset` in Spark's text.
    pub log_offset: i64,
}

/// Next file to read of a Delta table (D-129): file `index` of the data changes of `version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePosition {
    /// The table's id: another table at the same path is refused.
    pub reservoir_id: String,
    /// Version of the table.
    pub reservoir_version: i64,
    /// Index among the added files of that version, in the order of the log.
    pub index: i64,
}

/// A half-open range: what lies from `start` up to, and not including, `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// First to read.
    pub start: Position,
    /// First not to read.
    pub end: Position,
}
