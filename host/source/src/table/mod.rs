//! A Delta table as a source: its log is read version by version, files in the order of the log (D-120…D-129).
//!
//! Of a table that only grows, the added files are read; a commit that removes rows is refused (D-123). Of a table whose
//! rows change, the change data is read as well (D-084). Tables of the same project that only grow are read from version 0,
//! so nothing depends on when a stream was first started. A table of someone else, or one whose rows change, may have
//! lost rows before: a stream on it begins with what the table holds (D-120).

mod anew;
mod commit;
mod files;
mod history;
mod rebuilt;
mod snapshot;
mod walk;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use bytes::Bytes;
use crisol_checkpoint::{Position, Range, TablePosition};
use crisol_contract::DELETED;
use deltalake::logstore::LogStoreRef;
use deltalake::{DeltaTable, DeltaTableBuilder, DeltaTableError, ObjectStore, Path};
use futures::StreamExt;
use url::Url;

use self::commit::{AddedFile, Commit, TableLayout};
use self::history::History;
use self::walk::Walk;
use crate::chunks::spawn;
use crate::{Chunks, Estimate, Planned, Source, SourceError};

/// Columns that say where a row came from, for each kind of first source.
const PROVENANCE: [&[&str]; 2] = [&["topic", "partition", "offset"], &["file_path", "file_row"]];

/// Which table is read, and how much of it at once.
#[derive(Debug, Clone)]
pub struct TableSourceSpec {
    /// Name for messages: the contract's, or the path of an external table.
    pub name: String,
    /// Where it lies: an absolute local path or a `file://` URL.
    pub path: String,
    /// Columns to read, with their types, in this order.
    pub columns: SchemaRef,
    /// True when nobody of ours fills the table: it must exist, and is read from what it holds at first.
    pub external: bool,
    /// What a person does to have the table read from its beginning again, for hints.
    pub anew: String,
    /// Rows that change or go are followed, too: rows come with [`DELETED`] as their last column, true in those that the
    /// table no longer has (D-084). An update gives its old row and its new one. The stream begins with what the table
    /// holds.
    pub changes: bool,
    /// Where batches may end.
    pub cut: Cut,
    /// Files whose rows need not be read from disk.
    pub held: Option<Arc<dyn HeldFiles>>,
    /// Most files of a batch (D-122: 1,000).
    pub max_files: usize,
    /// Files are added while their sum is at most this, always one (256 MiB).
    pub max_bytes: u64,
}

/// Rows of data files that are still in memory, as their writer wrote them: without partition columns. Whoever reads a
/// file from here gives the same rows as one who reads it from disk.
pub trait HeldFiles: Send + Sync + fmt::Debug {
    /// The rows of a file, in order; `None` when they are no longer held.
    fn rows(&self, file: &std::path::Path) -> Option<Vec<RecordBatch>>;
}

/// Where a batch may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Between any two files.
    Files,
    /// Between versions, so that what was committed at once arrives at once (D-126); within the snapshot that a stream
    /// begins with, between files.
    Versions,
    /// Behind each version that holds rows: no two are in one batch.
    EachVersion,
}

impl TableSourceSpec {
    /// Columns of the rows that the source gives.
    pub(crate) fn schema(&self) -> SchemaRef {
        if self.changes { with_changes(&self.columns) } else { Arc::clone(&self.columns) }
    }

    /// Default of `max_files`.
    pub const MAX_FILES: usize = 1_000;
    /// Default of `max_bytes`.
    pub const MAX_BYTES: u64 = 256 << 20;
}

/// Columns of the rows of a table whose changes are followed: its own, and [`DELETED`].
pub fn with_changes(columns: &SchemaRef) -> SchemaRef {
    let deleted = Field::new(DELETED, DataType::Boolean, false);
    let fields = columns.fields().iter().cloned().chain([Arc::new(deleted)]);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A Delta table as a source.
pub struct TableSource {
    spec: TableSourceSpec,
    table: Option<Opened>,
    /// Last version of this run, where it is fixed; -1 when there was no table.
    fixed_version: Option<i64>,
    /// From, to: versions that were looked through and hold nothing to read.
    empty_between: Option<(i64, i64)>,
    /// What the table held at the version where the stream began, while that is read.
    snapshot: Option<(i64, Arc<Commit>)>,
}

/// The table as it was found.
struct Opened {
    log: LogStoreRef,
    root: PathBuf,
    layout: TableLayout,
}

impl fmt::Debug for TableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSource").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// The columns of a Delta table, partition columns included; `None` when there is no table yet.
///
/// # Errors
/// When the table cannot be read by this version.
pub async fn table_schema(name: &str, path: &str) -> Result<Option<SchemaRef>, SourceError> {
    match load(name, &table_url(name, path)?, None).await? {
        Some(table) => Ok(Some(state_of(name, &table)?.snapshot().arrow_schema())),
        None => Ok(None),
    }
}

impl TableSource {
    /// A source over a table that may not exist yet.
    pub fn new(spec: TableSourceSpec) -> Self {
        Self { spec, table: None, fixed_version: None, empty_between: None, snapshot: None }
    }

    /// Opens the table when it is there, once.
    async fn open(&mut self) -> Result<Option<&mut Opened>, SourceError> {
        if self.table.is_none() {
            let url = table_url(&self.spec.name, &self.spec.path)?;
            let Some(table) = load(&self.spec.name, &url, None).await? else {
                return if self.spec.external { Err(self.no_table()) } else { Ok(None) };
            };
            let state = state_of(&self.spec.name, &table)?;
            let layout = TableLayout::of(&self.spec.name, state.protocol(), state.metadata())?;
            self.check_columns(&state.snapshot().arrow_schema())?;
            let root = url.to_file_path().map_err(|()| not_local(&self.spec.name, &self.spec.path))?;
            self.table = Some(Opened { log: table.log_store(), root, layout });
        }
        Ok(self.table.as_mut())
    }

    fn no_table(&self) -> SourceError {
        SourceError::config(
            format!("table `{}`: there is no Delta table at `{}`", self.spec.name, self.spec.path),
            "correct the path in the contract, or create the table first",
        )
    }

    fn check_columns(&self, present: &SchemaRef) -> Result<(), SourceError> {
        let absent: Vec<&str> = self
            .spec
            .columns
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .filter(|name| present.field_with_name(name).is_err())
            .collect();
        if absent.is_empty() {
            return Ok(());
        }
        Err(SourceError::config(
            format!("table `{}` has no column {}", self.spec.name, absent.join(", ")),
            format!(
                "its columns are {}",
                present.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>().join(", ")
            ),
        ))
    }

    fn check_id(&self, position: &TablePosition, id: &str) -> Result<(), SourceError> {
        if position.reservoir_id == id {
            return Ok(());
        }
        Err(SourceError::config(
            format!(
                "table `{}` at `{}` is another table (id {id}) than the one read so far (id {})",
                self.spec.name, self.spec.path, position.reservoir_id
            ),
            "put the table back; or run with `--rebuild` to take out what was made of the other and read this one",
        ))
    }

    /// The changes of one version; `None` when it is not there.
    async fn commit(&mut self, version: i64) -> Result<Option<Commit>, SourceError> {
        let Some(bytes) = self.entry(version).await? else { return Ok(None) };
        let commit = Commit::parse(&self.spec, version, &bytes)?;
        let name = self.spec.name.clone();
        let Some(opened) = self.open().await? else { return Ok(None) };
        opened.layout.follow(&name, &commit)?;
        Ok(Some(commit))
    }

    /// The log's entry of one version; `None` when it is not there.
    async fn entry(&mut self, version: i64) -> Result<Option<Bytes>, SourceError> {
        let name = self.spec.name.clone();
        let Some(opened) = self.open().await? else { return Ok(None) };
        let entry = opened.log.read_commit_entry(u64::try_from(version).unwrap_or(0)).await;
        entry.map_err(|e| SourceError::caused(format!("table `{name}`: version {version} cannot be read"), e))
    }

    /// The table's past, for the first position; it ends where the log has a gap, which `plan` then tells (D-127).
    async fn history(&mut self) -> Result<History, SourceError> {
        let mut history = History::default();
        for version in 0.. {
            let Some(entry) = self.entry(version).await? else { break };
            history.take(version, &entry).map_err(|e| {
                SourceError::data(format!("table `{}`: version {version} of its log is damaged: {e}", self.spec.name))
            })?;
        }
        Ok(history)
    }

    /// Newest version that the log names from `version` on, whether as commit or as log checkpoint.
    async fn newest_from(&mut self, version: i64) -> Result<Option<i64>, SourceError> {
        let names = self.log_names().await?;
        Ok(names.into_iter().map(|(named, _)| named).filter(|named| *named >= version).max())
    }

    /// The versions that the log names, with what follows them in the names.
    async fn log_names(&mut self) -> Result<Vec<(i64, String)>, SourceError> {
        let name = self.spec.name.clone();
        let Some(opened) = self.open().await? else { return Ok(Vec::new()) };
        let store = opened.log.object_store(None);
        let mut entries = store.list(Some(&Path::from("_delta_log")));
        let mut versions = Vec::new();
        while let Some(entry) = entries.next().await {
            let entry = entry.map_err(|e| SourceError::caused(format!("table `{name}`: log cannot be listed"), e))?;
            let file_name = entry.location.filename().unwrap_or_default();
            let kind = file_name.get(20..).unwrap_or_default();
            versions.extend(version_of(file_name).map(|version| (version, kind.to_owned())));
        }
        Ok(versions)
    }

    /// Walks the log from `start` and takes files until a limit, the end, or a version that cannot be followed; that
    /// one is told when nothing lies before it.
    async fn look_ahead(&mut self, start: &TablePosition) -> Result<Walk, SourceError> {
        let mut walk = Walk::from(start.reservoir_version, start.index, start.snapshot);
        let at_the_end = start.index == 0 && !start.snapshot;
        if at_the_end
            && let Some((from, to)) = self.empty_between
            && from == start.reservoir_version
        {
            walk.version = to;
        }
        if walk.snapshot {
            let held = self.snapshot_at(walk.version).await?;
            if !walk.take(&held, &self.spec) {
                return Ok(walk);
            }
        }
        while self.fixed_version.is_none_or(|last| walk.version <= last) {
            let commit = match self.next(walk.version).await {
                Ok(Some(commit)) => commit,
                Ok(None) => break,
                Err(_) if walk.files > 0 => break,
                Err(error) => return Err(error),
            };
            if !walk.take(&commit, &self.spec) {
                break;
            }
        }
        if walk.files == 0 && at_the_end {
            self.empty_between = Some((start.reservoir_version, walk.version));
        }
        Ok(walk)
    }

    /// The changes of a version; `None` at the end of the log. A version that is missing while a later one exists was
    /// cleaned up before it was read (D-127).
    async fn next(&mut self, version: i64) -> Result<Option<Commit>, SourceError> {
        if let Some(commit) = self.commit(version).await? {
            return Ok(Some(commit));
        }
        let Some(newest) = self.newest_from(version).await? else { return Ok(None) };
        // It may have been committed since it was asked for.
        if let Some(commit) = self.commit(version).await? {
            return Ok(Some(commit));
        }
        Err(SourceError::data_loss(
            format!(
                "table `{}`: version {version} is no longer in the log, which goes on to version {newest}",
                self.spec.name
            ),
            format!(
                "log entries were cleaned up before they were read (keep `delta.logRetentionDuration` longer than the \
                 stream may stand still): {}",
                self.spec.anew
            ),
        ))
    }
}

#[async_trait]
impl Source for TableSource {
    fn description(&self) -> String {
        format!("DeltaSource[{}]", self.spec.path)
    }

    fn schema(&self) -> SchemaRef {
        self.spec.schema()
    }

    fn provenance(&self) -> Vec<String> {
        let has = |name: &&str| self.spec.columns.field_with_name(name).is_ok();
        let found = PROVENANCE.iter().find(|names| names.iter().all(has));
        found.map(|names| names.iter().map(|name| (*name).to_owned()).collect()).unwrap_or_default()
    }

    async fn initial(&mut self) -> Result<Position, SourceError> {
        // Without the table's id a position could not tell it from another at the same place.
        let id = match self.open().await? {
            Some(opened) => opened.layout.id.clone(),
            None => return Err(SourceError::external(format!("table `{}` does not exist yet", self.spec.name))),
        };
        if self.spec.external || self.spec.changes {
            return Ok(Position::Table(self.newest_snapshot().await?));
        }
        let reservoir_version = self.history().await?.start();
        Ok(Position::Table(TablePosition { reservoir_id: id, reservoir_version, index: 0, snapshot: false }))
    }

    async fn prepare_for_available_now(&mut self, _start: &Position) -> Result<(), SourceError> {
        self.fixed_version = Some(self.newest_from(0).await?.unwrap_or(-1));
        Ok(())
    }

    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError> {
        let start = table_position(start)?;
        let Some(opened) = self.open().await? else { return Ok(None) };
        let id = opened.layout.id.clone();
        self.check_id(start, &id)?;
        if !start.snapshot {
            self.snapshot = None;
        }
        let walk = self.look_ahead(start).await?;
        if walk.files == 0 {
            return Ok(None);
        }
        let Walk { version: reservoir_version, index, snapshot, .. } = walk;
        let end = TablePosition { reservoir_id: id, reservoir_version, index, snapshot };
        let estimate = Estimate { batch_rows: walk.rows, backlog_rows: None };
        Ok(Some(Planned { end: Position::Table(end), latest: None, estimate }))
    }

    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError> {
        let (start, end) = (table_position(&range.start)?, table_position(&range.end)?);
        let Some(opened) = self.open().await? else { return Err(self.no_table()) };
        let (root, id) = (opened.root.clone(), opened.layout.id.clone());
        self.check_id(start, &id)?;
        self.check_id(end, &id)?;
        let files = self.files(start, end).await?;
        let spec = self.spec.clone();
        Ok(spawn(format!("table `{}`", spec.name), move |out| files::read(&spec, &root, &files, out)))
    }

    async fn read_held(&mut self, end: &Position) -> Result<Chunks, SourceError> {
        let end = table_position(end)?;
        let Some(opened) = self.open().await? else { return Err(self.no_table()) };
        let (root, id) = (opened.root.clone(), opened.layout.id.clone());
        self.check_id(end, &id)?;
        let whole = end.index == 0 && !end.snapshot;
        let held = self.snapshot_at(if whole { end.reservoir_version - 1 } else { end.reservoir_version }).await?;
        let spec = self.spec.clone();
        Ok(spawn(format!("table `{}`", spec.name), move |out| files::read(&spec, &root, &held.added, out)))
    }

    async fn read_before(&mut self, end: &Position) -> Result<Chunks, SourceError> {
        self.rows_before(table_position(end)?).await
    }

    async fn read_rebuilt(&mut self, range: &Range) -> Result<Option<Chunks>, SourceError> {
        self.rebuilt_rows(table_position(&range.start)?, table_position(&range.end)?).await
    }

    async fn committed(&mut self, _end: &Position) -> Result<(), SourceError> {
        Ok(())
    }
}

impl TableSource {
    /// The files of a range, in order.
    async fn files(&mut self, start: &TablePosition, end: &TablePosition) -> Result<Vec<AddedFile>, SourceError> {
        let mut files: Vec<AddedFile> = Vec::new();
        let last = if end.index > 0 { end.reservoir_version } else { end.reservoir_version - 1 };
        for version in start.reservoir_version..=last {
            let first = version == start.reservoir_version;
            let commit = if first && start.snapshot {
                self.snapshot_at(version).await?
            } else {
                Arc::new(self.commit(version).await?.ok_or_else(|| self.not_reached(version, last))?)
            };
            if commit.rebuilt && !self.spec.changes {
                let what = format!(
                    "table `{}`: version {version} is a rebuild, and was read as if rows only came",
                    self.spec.name
                );
                return Err(SourceError::external(what));
            }
            let from = if first { start.index } else { 0 };
            let until = if version == end.reservoir_version { end.index } else { i64::MAX };
            let wanted = commit.added.iter().zip(0..).filter(|(_, index)| (from..until).contains(index));
            files.extend(wanted.map(|(file, _)| file.clone()));
        }
        Ok(files)
    }

    /// The planned version must be reached, else a listing that lags behind would let rows slip by (D-128).
    fn not_reached(&self, version: i64, last: i64) -> SourceError {
        SourceError::external(format!(
            "table `{}`: version {version} of the planned range (up to version {last}) cannot be found",
            self.spec.name
        ))
    }
}

fn table_position(position: &Position) -> Result<&TablePosition, SourceError> {
    match position {
        Position::Table(position) => Ok(position),
        other => Err(SourceError::config(
            format!("the checkpoint stands at {other:?}, which is no position in a table"),
            "the checkpoint belongs to another kind of source; begin a new one",
        )),
    }
}

fn version_of(file_name: &str) -> Option<i64> {
    let (digits, rest) = file_name.split_at_checked(20)?;
    if !rest.starts_with('.') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn table_url(name: &str, path: &str) -> Result<Url, SourceError> {
    let url = match Url::parse(path) {
        Ok(url) if url.scheme().len() > 1 => url,
        _ => Url::from_directory_path(path).map_err(|()| not_local(name, path))?,
    };
    if url.scheme() == "file" { Ok(url) } else { Err(not_local(name, path)) }
}

fn not_local(name: &str, path: &str) -> SourceError {
    SourceError::config(
        format!("table `{name}`: `{path}` is no absolute local path"),
        "this version reads tables on local disks only",
    )
}

/// The table at a version, or at its newest; `None` when there is none.
async fn load(name: &str, url: &Url, version: Option<i64>) -> Result<Option<DeltaTable>, SourceError> {
    let failed = |e: DeltaTableError| SourceError::caused(format!("table `{name}` at `{url}` cannot be opened"), e);
    let present = url.to_file_path().is_ok_and(|path| path.join("_delta_log").is_dir());
    if !present {
        return Ok(None);
    }
    let mut table = DeltaTableBuilder::from_url(url.clone()).and_then(DeltaTableBuilder::build).map_err(failed)?;
    if !table.verify_deltatable_existence().await.map_err(failed)? {
        return Ok(None);
    }
    match version.and_then(|version| u64::try_from(version).ok()) {
        Some(version) => table.load_version(version).await.map_err(failed)?,
        None => table.load().await.map_err(failed)?,
    }
    Ok(Some(table))
}

fn state_of<'a>(
    name: &str,
    table: &'a DeltaTable,
) -> Result<&'a deltalake::table::state::DeltaTableState, SourceError> {
    table.snapshot().map_err(|e| SourceError::caused(format!("table `{name}` cannot be opened"), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_log_files_give_their_version() {
        assert_eq!(version_of("00000000000000000012.json"), Some(12));
        assert_eq!(version_of("00000000000000000010.checkpoint.parquet"), Some(10));
        assert_eq!(version_of("_last_checkpoint"), None);
        assert_eq!(version_of("00000000000000000012"), None);
    }
}
