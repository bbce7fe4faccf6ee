//! The project: `crisol.toml` and all contracts, resolved and checked against each other.

use std::path::PathBuf;

use crate::{HostLimits, IngestionContract, Limits, TableContract};

/// A whole project, valid: names resolve, there are no circles, placeholders are filled in.
#[derive(Debug, Clone)]
pub struct Project {
    /// Folder of `crisol.toml`, absolute.
    pub dir: PathBuf,
    /// Resolved `[path]`.
    pub paths: Paths,
    /// Resolved `[limits]`: defaults of stages.
    pub limits: Limits,
    /// Resolved `[limits]`: what belongs to no stage.
    pub host_limits: HostLimits,
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
