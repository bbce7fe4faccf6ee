//! What a source tells of itself beside its rows: how far behind a stream is, and what was passed over.

use serde::{Deserialize, Serialize};

/// How far a stream is behind the newest record of a partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartitionLag {
    /// Topic.
    pub topic: String,
    /// Partition.
    pub partition: i32,
    /// Offsets between what is read and the newest: with transactions or compaction more than there are records (K-049).
    pub records: u64,
    /// Age of the newest record that was read, where others wait; 0 where none does; `None` before the first is read.
    pub seconds: Option<f64>,
    /// `records` times the mean size of a record read so far, an estimate; `None` before the first is read (K-113).
    pub bytes: Option<u64>,
}

/// Offsets that were to be read, and that the source no longer had. The contract lets the stream go on without them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// Topic.
    pub topic: String,
    /// Partition.
    pub partition: i32,
    /// What became of them.
    pub reason: GapReason,
    /// First offset passed over.
    pub from: i64,
    /// Where reading goes on; `None` where nobody can tell.
    pub until: Option<i64>,
    /// Offsets passed over, where they can be counted: records, and whatever else had an offset.
    pub offsets: Option<u64>,
}

/// Why offsets were not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// Retention, or an order to delete records, took them.
    Expired,
    /// The partition, or its topic, was deleted.
    Deleted,
    /// The partition ends before what was read already: it was made anew, or cut off.
    Truncated,
}

impl std::fmt::Display for GapReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Expired => "expired",
            Self::Deleted => "deleted",
            Self::Truncated => "truncated",
        })
    }
}
