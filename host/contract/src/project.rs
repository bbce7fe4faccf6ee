//! The project: `crisol.toml` and all contracts, resolved and checked against each other.

use std::path::PathBuf;

use crate::{IngestionContract, TableContract};

/// A whole project, valid: names resolve, there are no circles, placeholders are filled in.
#[derive(Debug, Clone)]
pub struct Project {
    /// Folder of `crisol.toml`, absolute.
    pub dir: PathBuf,
    /// Resolved `[path]`.
    pub paths: Paths,
    /// Resolved `[limits]`.
    pub limits: Limits,
    /// Resolved `[handoff]`.
    pub handoff: Handoff,
    /// Ingestion contracts, by name.
    pub ingestions: Vec<IngestionContract>,
    /// Table contracts, upstream before downstream.
    pub tables: Vec<TableContract>,
}

/// `[path]` of the project, absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Root of the files that arrive, `{path.landing}`; `None` when nothing uses it.
    pub landing: Option<PathBuf>,
    /// Root of the checkpoints.
    pub checkpoint: PathBuf,
    /// Root of the tables.
    pub tables: PathBuf,
}

impl Paths {
    /// Where a table lies that names no path: `{path.tables}/<name with dots as folders>`.
    pub fn table(&self, name: &str) -> PathBuf {
        let mut path = self.tables.clone();
        path.extend(name.split('.'));
        path
    }

    /// Folder of the checkpoint of a backfill into this table.
    pub fn backfill_dir(&self, table: &str) -> PathBuf {
        self.checkpoint.join("backfill").join(table)
    }
}

/// `[handoff]` of the project: what a stream commits waits in memory for those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handoff {
    /// Rows that wait, over all tables; what does not fit is read from the tables' files. 0: nothing waits.
    pub bytes_max: u64,
}

impl Default for Handoff {
    fn default() -> Self {
        Self { bytes_max: 67_108_864 }
    }
}

/// `[limits]` of the project, defaults for every stage; or those of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one instance.
    pub memory_bytes_max: u64,
    /// Wall time of one call.
    pub deadline_ms_max: u64,
    /// Bytes that one call may return.
    pub output_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_bytes_max: 268_435_456, deadline_ms_max: 10_000, output_bytes_max: 134_217_728 }
    }
}
