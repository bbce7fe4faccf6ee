//! Table contracts: an upstream, stages, and the Delta table they fill.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_schema::DataType;

use crate::{Limits, Paths};

/// One file under `tables/`.
#[derive(Debug, Clone, PartialEq)]
pub struct TableContract {
    /// Dotted name, `silver.orders`; also the name other contracts use.
    pub name: String,
    /// The file it was read from, for messages.
    pub file: PathBuf,
    /// Where the table lies, absolute, placeholders resolved; by default `{path.tables}/silver/orders`.
    pub path: String,
    /// Where the quarantine of this table lies; by default `<path>_quarantine`.
    pub quarantine_path: String,
    /// Where rows come from.
    pub from: Upstream,
    /// Stages in order.
    pub stages: Vec<StageSpec>,
    /// The table's own columns; `None`: those that come out of the last stage.
    pub columns: Option<Vec<ColumnSpec>>,
    /// Whether the provenance columns are kept.
    pub provenance: bool,
    /// SQL rules over the row after the last row stage.
    pub expectations: Vec<ExpectationSpec>,
    /// How rows are written.
    pub write: WriteMode,
    /// What a rejected row does.
    pub on_rejected: OnRejected,
    /// Partition columns of the Delta table.
    pub partition_by: Vec<String>,
    /// Delta table properties.
    pub properties: BTreeMap<String, String>,
    /// Most files of the upstream table in one batch; `None`: the source's own cap.
    pub max_files_per_trigger: Option<u64>,
    /// Files of the upstream table are added while their sum is at most this; `None`: the source's own cap.
    pub max_bytes_per_trigger: Option<u64>,
    /// `retention` as it stands; refused until it can be run.
    pub retention: Option<serde_json::Map<String, serde_json::Value>>,
    /// `maintenance` as it stands; refused until it can be run.
    pub maintenance: Option<serde_json::Map<String, serde_json::Value>>,
}

impl TableContract {
    /// Folder of the stream's checkpoint: `{path.checkpoint}/tables/<table name>`.
    pub fn checkpoint_dir(&self, paths: &Paths) -> PathBuf {
        paths.checkpoint.join("tables").join(&self.name)
    }

    /// The folder of the checkpoint under which rows of its quarantine are replayed.
    pub fn replay_dir(&self, paths: &Paths) -> PathBuf {
        paths.checkpoint.join("replay").join(&self.name)
    }

    /// Whether rows of the table change or go when it is written; a stream that reads it follows that.
    pub fn changes_rows(&self) -> bool {
        self.write != WriteMode::Append
    }

    /// Whether its rows are those of groups, which do not come from one row each: they have no provenance.
    pub fn is_of_groups(&self) -> bool {
        matches!(self.write, WriteMode::ReplaceGroups { .. })
    }

    /// Whether its rows say where they came from.
    pub fn keeps_provenance(&self) -> bool {
        self.provenance && !self.is_of_groups()
    }
}

/// Where the rows of a table come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// The ingestion contract of this name fills the table.
    Ingestion(String),
    /// Another table contract.
    Table(String),
    /// A Delta table that someone else writes.
    External(String),
    /// No contract fills it (a warning).
    None,
}

/// One step of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StageSpec {
    /// What kind of component is asked for.
    pub kind: StageKind,
    /// Name of the component.
    pub component: String,
    /// Semantic version range, `orders@^1.2`.
    pub version_range: Option<semver::VersionReq>,
    /// Where a row's schema version stands.
    pub version: Option<VersionSource>,
    /// Given to the component as JSON; empty when there are none.
    pub options: serde_json::Map<String, serde_json::Value>,
    /// The stage's own limits over the project's.
    pub limits: Limits,
}

/// Kind of a stage, after the key that names it in a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageKind {
    /// `decode`
    Decoder,
    /// `transform`
    Transformer,
    /// `validate`
    Validator,
    /// `rank`
    Ranker,
    /// `aggregate`
    Aggregator,
}

impl StageKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Decoder, Self::Transformer, Self::Validator, Self::Ranker, Self::Aggregator];

    /// Whether it works on whole groups of rows.
    pub fn takes_groups(self) -> bool {
        matches!(self, Self::Ranker | Self::Aggregator)
    }

    /// The key that asks for it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Decoder => "decode",
            Self::Transformer => "transform",
            Self::Validator => "validate",
            Self::Ranker => "rank",
            Self::Aggregator => "aggregate",
        }
    }
}

/// Where a row's schema version stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionSource {
    /// A top-level field of the JSON text in a column.
    Json {
        /// Name of the field.
        field: String,
        /// Column that holds the text.
        column: String,
    },
    /// A Kafka header.
    Header(String),
    /// A column.
    Column(String),
    /// Always this version.
    Constant(i64),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// Name, exact case.
    pub name: String,
    /// Arrow form of the Spark type name (`crisol_ipc::types`).
    pub data_type: DataType,
    /// False: a null goes to quarantine as `not_null: <column>`.
    pub nullable: bool,
    /// Comment kept in the table's schema.
    pub comment: Option<String>,
    /// SQL expression that gives the value.
    pub generated: Option<String>,
}

/// A SQL rule over one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectationSpec {
    /// Unique within the table.
    pub name: String,
    /// SQL condition; false or null is a violation (E-007).
    pub condition: String,
    /// What a violation does.
    pub on_violation: OnViolation,
}

/// What a violated expectation does to the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnViolation {
    /// The row is written and counted (E-002).
    Warn,
    /// The row is filtered and counted (E-003).
    Drop,
    /// The row goes to quarantine.
    Quarantine,
    /// The batch fails, nothing is committed (E-004).
    Fail,
}

/// Column of rows on their way to a table whose rows change: true in a row that is to go. The name belongs to the host.
pub const DELETED: &str = "_deleted";

/// How rows are written to a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteMode {
    /// Rows are added.
    Append,
    /// The partitions present in the batch are replaced.
    ReplacePartitions,
    /// The newest row of each key stands.
    Upsert {
        /// Key columns.
        keys: Vec<String>,
        /// Columns whose greatest value is the newest row.
        sequence_by: Vec<String>,
        /// SQL condition under which the newest row deletes the key.
        delete_when: Option<String>,
    },
    /// The groups that changed are computed again.
    ReplaceGroups {
        /// Group columns.
        group_by: Vec<String>,
    },
}

/// What a rejected row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRejected {
    /// It lands in the quarantine table.
    Quarantine,
    /// It stops the stream before anything of the batch is committed.
    Fail,
}
