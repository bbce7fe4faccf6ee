//! What can be seen without running anything: tables, where streams stand, components.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use crisol_checkpoint::LogState;
use crisol_stream::Failure;
use crisol_table::{Table, TableSummary};
use serde::Serialize;

use crate::files::Kafka;
use crate::plan::{self, StreamPlan};
use crate::{EngineBuilder, EngineError, error, open};

/// Components of a folder.
#[derive(Debug, Clone, Serialize)]
pub struct Components {
    /// Those that serve.
    pub serving: Vec<ComponentInfo>,
    /// Those that do not, and why.
    pub refused: Vec<RefusedInfo>,
}

/// A component that serves.
#[derive(Debug, Clone, Serialize)]
pub struct ComponentInfo {
    /// Its own name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// `decoder`, `transformer`, `validator`, `ranker` or `aggregator`.
    pub kind: String,
    /// Schema versions that it handles.
    pub schema_versions: String,
    /// JSON Schema of its options, as it declares it; absent when it takes none.
    pub options: Option<serde_json::Value>,
    /// SHA-256 of its file.
    pub digest: String,
    /// Its file.
    pub file: String,
}

/// A file that does not serve.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedInfo {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Rows of a table.
#[derive(Debug)]
pub struct Shown {
    /// Version of the table.
    pub version: i64,
    /// Where it lies.
    pub path: String,
    /// The newest rows.
    pub rows: Vec<RecordBatch>,
}

/// Where a stream stands, from its checkpoint and table.
#[derive(Debug, Clone, Serialize)]
pub struct StreamStatus {
    /// Its name.
    pub stream: String,
    /// The table that it fills.
    pub table: String,
    /// Newest batch whose range is logged.
    pub batch_logged: Option<i64>,
    /// Newest batch that is committed for good.
    pub batch_committed: Option<i64>,
    /// Where the next batch starts, in the checkpoint's text.
    pub position: Option<String>,
    /// Version of the table.
    pub table_version: Option<i64>,
    /// Rows of the table, by its statistics.
    pub table_rows: Option<u64>,
    /// Rows of its quarantine; absent when nothing was ever refused.
    pub quarantine_rows: Option<u64>,
}

/// The tables of a project.
#[derive(Debug)]
pub struct Tables {
    pub(crate) streams: Vec<StreamPlan>,
}

impl EngineBuilder {
    /// The components of the folder named; without one, of the project's own.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn components(self) -> Result<Components, EngineError> {
        let registry = self.registry(&self.project_dir())?;
        let serving = registry.serving().iter().map(|component| ComponentInfo {
            name: component.name().into(),
            version: component.version().to_string(),
            kind: component.kind().to_string(),
            schema_versions: component.schema_versions().to_string(),
            options: component.options().cloned(),
            digest: component.digest().into(),
            file: component.path().display().to_string(),
        });
        let refused = registry.refused().iter().map(|refused| RefusedInfo {
            file: refused.path.display().to_string(),
            reason: refused.reason.to_string(),
        });
        Ok(Components { serving: serving.collect(), refused: refused.collect() })
    }

    /// The tables that the contracts describe. Options of Kafka are not looked up.
    ///
    /// # Errors
    /// The contracts are wrong.
    pub fn tables(self) -> Result<Tables, EngineError> {
        let (project, ..) = self.resolve(Kafka::Unread)?;
        Ok(Tables { streams: plan::streams(&project) })
    }
}

impl Tables {
    /// The newest rows of a table, or of its quarantine.
    ///
    /// # Errors
    /// No contract describes the table, it does not exist yet, or it cannot be read.
    pub async fn rows(&self, name: &str, quarantine: bool, limit: usize) -> Result<Shown, EngineError> {
        let Some(stream) = self.streams.iter().find(|stream| stream.table.name == name) else {
            return Err(self.unknown(name));
        };
        let path = if quarantine { &stream.table.quarantine_path } else { &stream.table.path };
        let missing = if quarantine { "no row was ever refused" } else { "it does not exist yet" };
        let Some(table) = find(stream, path).await? else {
            return Err(EngineError::UnknownTable {
                name: name.into(),
                what: missing.into(),
                hint: "`host run` creates tables, and quarantines once a row is refused".into(),
            });
        };
        let fail = |failure| EngineError::opening(&stream.name, failure);
        let version = table.latest_version().await.map_err(fail)?;
        let rows = table.read_rows(limit, &[]).await.map_err(fail)?;
        Ok(Shown { version, path: path.clone(), rows })
    }

    /// Where each stream stands.
    ///
    /// # Errors
    /// A checkpoint or table cannot be read.
    pub async fn status(&self) -> Result<Vec<StreamStatus>, EngineError> {
        let mut all = Vec::new();
        for stream in &self.streams {
            all.push(status(stream).await?);
        }
        Ok(all)
    }

    pub(crate) fn unknown(&self, name: &str) -> EngineError {
        let known: Vec<_> = self.streams.iter().map(|stream| format!("`{}`", stream.table.name)).collect();
        EngineError::UnknownTable {
            name: name.into(),
            what: "no contract describes it".into(),
            hint: format!("choose one of {}", known.join(", ")),
        }
    }
}

async fn status(stream: &StreamPlan) -> Result<StreamStatus, EngineError> {
    let state = checkpoint_state(stream).await?;
    let table = summary(stream, &stream.table.path).await?;
    let quarantine = summary(stream, &stream.table.quarantine_path).await?;
    let number = |batch: u64| i64::try_from(batch).unwrap_or(i64::MAX);
    let end = state.offsets.as_ref().and_then(|logged| logged.entry.ends.first()).and_then(Option::as_ref);
    Ok(StreamStatus {
        stream: stream.name.clone(),
        table: stream.table.name.clone(),
        batch_logged: state.offsets.as_ref().map(|logged| number(logged.batch)),
        batch_committed: state.newest_commit.map(number),
        position: end.or(state.initial.as_ref()).map(ToString::to_string),
        table_version: table.as_ref().map(|table| table.version),
        table_rows: table.as_ref().and_then(|table| table.rows),
        quarantine_rows: quarantine.and_then(|quarantine| quarantine.rows),
    })
}

/// What the checkpoint holds; one that does not exist is not made.
async fn checkpoint_state(stream: &StreamPlan) -> Result<LogState, EngineError> {
    if !stream.checkpoint.join("metadata").is_file() {
        return Ok(LogState::default());
    }
    let fail = |failure: Failure| EngineError::opening(&stream.name, failure);
    let checkpoint = open::open_checkpoint(stream).await.map_err(fail)?;
    checkpoint.state().await.map_err(|error| fail(error.into()))
}

async fn summary(stream: &StreamPlan, path: &str) -> Result<Option<TableSummary>, EngineError> {
    let Some(table) = find(stream, path).await? else { return Ok(None) };
    table.summary().await.map(Some).map_err(|error| EngineError::opening(&stream.name, error))
}

/// A table as it lies there, without making it.
async fn find(stream: &StreamPlan, path: &str) -> Result<Option<Table>, EngineError> {
    if !PathBuf::from(path).join("_delta_log").is_dir() {
        return Ok(None);
    }
    let fail = |error| EngineError::opening(&stream.name, error);
    let store = crisol_store::open(path).map_err(|source| fail(error::no_table_folder(&stream.table.name, source)))?;
    Table::find(&stream.table.name, path, &store).await.map_err(fail)
}
