//! What can be seen without running anything: tables and components.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_contract::Project;
use crisol_plugin::{Component, printable_path};
use crisol_table::Table;
use serde::Serialize;

use crate::files::Kafka;
use crate::plan::{self, StreamPlan};
use crate::swap::{Decisions, Kept, ServedState, decisions_file};
use crate::{EngineBuilder, EngineError, error};

/// Components of a folder.
#[derive(Debug, Clone, Serialize)]
pub struct Components {
    /// Those that serve.
    pub serving: Vec<ComponentInfo>,
    /// Those that wait: others of their names come before them for all of their schema versions.
    pub waiting: Vec<ComponentInfo>,
    /// Files that are refused, and why.
    pub refused: Vec<RefusedInfo>,
    /// What the host that runs the project, or ran it last, decided; `None` when none did, or there is no project.
    pub host: Option<Decisions>,
    /// Builds that can be put back, by component; of each the last states, the newest last.
    pub kept: BTreeMap<String, Vec<ServedState>>,
}

/// A component.
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

/// The tables of a project.
#[derive(Debug)]
pub struct Tables {
    pub(crate) streams: Vec<StreamPlan>,
    /// Folder of the checkpoints of backfills.
    pub(crate) backfills: PathBuf,
}

impl EngineBuilder {
    /// The components of the folder named; without one, of the project's own.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn components(self) -> Result<Components, EngineError> {
        // Components are also looked at outside of a project, or in one whose contracts are wrong.
        let project = self.resolve(Kafka::Unread).ok().map(|(project, ..)| project);
        let (_, registry) = self.shelf(&self.project_dir(), project.as_ref())?;
        let info = |component: &Arc<Component>| ComponentInfo {
            name: component.name().into(),
            version: component.version().to_string(),
            kind: component.kind().to_string(),
            schema_versions: component.schema_versions().to_string(),
            options: component.options().cloned(),
            digest: component.digest().into(),
            file: printable_path(component.path()),
        };
        let refused = registry
            .refused()
            .iter()
            .map(|refused| RefusedInfo { file: printable_path(&refused.path), reason: refused.reason.to_string() });
        Ok(Components {
            serving: registry.serving().iter().map(info).collect(),
            waiting: registry.shadowed().iter().map(info).collect(),
            refused: refused.collect(),
            host: project.as_ref().and_then(|project| Decisions::read(&decisions_file(project))),
            kept: project.as_ref().map(kept).unwrap_or_default(),
        })
    }

    /// The tables that the contracts describe. Options of Kafka are not looked up.
    ///
    /// # Errors
    /// The contracts are wrong.
    pub fn tables(self) -> Result<Tables, EngineError> {
        let (project, ..) = self.resolve(Kafka::Unread)?;
        Ok(Tables { streams: plan::streams(&project), backfills: project.paths.checkpoint.join("backfill") })
    }
}

/// What is damaged is told, and the rest shown.
fn kept(project: &Project) -> BTreeMap<String, Vec<ServedState>> {
    let history = Kept::of(project).history();
    history.inspect_err(|error| tracing::warn!("builds that are kept: {error}")).unwrap_or_default().components()
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
        let table = find(stream, path).await?.ok_or_else(|| Self::missing(name, quarantine))?;
        let fail = |failure| EngineError::opening(&stream.name, failure);
        let version = table.latest_version().await.map_err(fail)?;
        let rows = table.read_rows(limit, &[]).await.map_err(fail)?;
        Ok(Shown { version, path: path.clone(), rows })
    }

    /// A table of a contract that is not there.
    pub(crate) fn missing(name: &str, quarantine: bool) -> EngineError {
        EngineError::UnknownTable {
            name: name.into(),
            what: if quarantine { "no row was ever refused" } else { "it does not exist yet" }.into(),
            hint: "`host run` creates tables, and quarantines once a row is refused".into(),
        }
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

/// A table as it lies there, without making it.
pub(crate) async fn find(stream: &StreamPlan, path: &str) -> Result<Option<Table>, EngineError> {
    if !PathBuf::from(path).join("_delta_log").is_dir() {
        return Ok(None);
    }
    let fail = |error| EngineError::opening(&stream.name, error);
    let store = crisol_store::open(path).map_err(|source| fail(error::no_table_folder(&stream.table.name, source)))?;
    Table::find(&stream.table.name, path, &store).await.map_err(fail)
}
