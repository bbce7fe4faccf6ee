//! Commits that change rows: which rows go, which come, and what is told of that to streams below.
//!
//! A batch's rows wait in staged files. A merge is planned on one version of the table and may be committed as the next
//! one only; when another writer comes first, all of it is planned again. `live` knows the table's files,
//! `keys` and `events` which rows belong together, `upsert`, `groups`, `recompute`, `partitions` and `take_out` what
//! becomes of them, `rewrite` writes files anew, `tombstones` remembers deleted keys.

mod events;
mod groups;
mod keys;
mod live;
mod partitions;
mod prune;
mod recompute;
mod rewrite;
mod take_out;
#[cfg(test)]
mod tests;
mod tombstones;
mod upsert;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use deltalake::kernel::Metadata;
use serde::{Deserialize, Serialize};

pub(crate) use self::live::{LiveFile, Partition, files as live_files};
pub(crate) use self::tombstones::application;
use crate::error::Place;
use crate::files::{Files, Layout};
use crate::log::Log;
use crate::scan::{Scanned, local};
use crate::{KeepFiles, PendingFile, TableError, TableSpec, WriteMode};

/// Last column of rows on their way to a table that is written by `upsert`, `replace_groups` or `replace_named`: true in a
/// row that only names what is to go.
pub const DELETED: &str = "_deleted";
/// Column of change data (D-084).
const CHANGE_TYPE: &str = "_change_type";
/// Folders that readers, and `VACUUM` of every engine, take for none of the table's data.
const STAGED: &str = "_staged/";
const CHANGES: &str = "_change_data/";
/// About 90 MiB of keys with what is known of them.
const SHARE_ROWS: u64 = 600_000;

/// What became of the rows of an upsert; each counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChanges {
    /// Rows with a key that the table did not have.
    pub inserted: u64,
    /// Rows that took the place of an older one.
    pub updated: u64,
    /// Rows older than what the table, or another row of the batch, has.
    pub superseded: u64,
    /// Rows that took their key out.
    pub deleted: u64,
}

/// What one commit does to the table.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    pub(crate) removes: Vec<LiveFile>,
    pub(crate) adds: Vec<PendingFile>,
    pub(crate) changes: Vec<PendingFile>,
    /// File of the tombstones that hold from this version on, when they change.
    pub(crate) tombstones: Option<i64>,
    pub(crate) counts: RowChanges,
}

/// How rows of a table are changed.
#[derive(Debug)]
pub(crate) struct Merge {
    place: Arc<Place>,
    spec: Arc<TableSpec>,
    log: Log,
    data: Arc<Layout>,
    /// Files of rows that are new: where a commit adds nothing else, streams below read them.
    added: Arc<Layout>,
    staged: Arc<Layout>,
    changes: Arc<Layout>,
    /// Rows of an upsert whose keys are held at a time.
    share_rows: u64,
}

impl Merge {
    /// `None` when the table only grows.
    pub(crate) fn new(
        place: &Arc<Place>,
        spec: &Arc<TableSpec>,
        log: &Log,
        data: &Arc<Layout>,
        metadata: &Metadata,
    ) -> Result<Option<Self>, TableError> {
        if spec.write == WriteMode::Append {
            return Ok(None);
        }
        let plain = TableSpec { partition_by: Vec::new(), schema: incoming_for(spec), ..spec.as_ref().clone() };
        let staged = Layout::new(place.clone(), &plain, log.store().clone(), metadata)?.below(STAGED).for_staging();
        let told = TableSpec { schema: with_change_type(&spec.schema), ..spec.as_ref().clone() };
        let changes = Layout::new(place.clone(), &told, log.store().clone(), metadata)?.below(CHANGES);
        Ok(Some(Self {
            place: place.clone(),
            spec: spec.clone(),
            log: log.clone(),
            data: data.clone(),
            added: data.clone(),
            staged: Arc::new(staged),
            changes: Arc::new(changes),
            share_rows: SHARE_ROWS,
        }))
    }

    /// The same, where `keeper` keeps what streams below read: change data, and added files. Files that are only written
    /// anew they do not.
    pub(crate) fn handing_over(&self, keeper: Arc<dyn KeepFiles>) -> Self {
        Self {
            place: self.place.clone(),
            spec: self.spec.clone(),
            log: self.log.clone(),
            data: self.data.clone(),
            added: Arc::new(self.added.handing_over(keeper.clone())),
            staged: self.staged.clone(),
            changes: Arc::new(self.changes.handing_over(keeper)),
            share_rows: self.share_rows,
        }
    }

    /// A writer of the rows of one batch.
    pub(crate) fn writer(&self) -> Result<Files, TableError> {
        match self.spec.write {
            WriteMode::Append | WriteMode::ReplacePartitions => Files::new(self.added.clone()),
            WriteMode::Upsert { .. }
            | WriteMode::ReplaceGroups { .. }
            | WriteMode::TakeOut
            | WriteMode::ReplaceNamed { .. } => Files::new(self.staged.clone()),
        }
    }

    /// What a batch does to the table as it is at `version`, where `tombstones` names the file of the deleted keys. The
    /// files that it names are written and durable.
    pub(crate) async fn plan(
        self: &Arc<Self>,
        version: i64,
        files: &[PendingFile],
        tombstones: Option<i64>,
    ) -> Result<Rewrite, TableError> {
        let live = live::files(&self.place, &self.log, version).await?;
        let (merge, files) = (Arc::clone(self), files.to_vec());
        let work = tokio::task::spawn_blocking(move || match &merge.spec.write {
            WriteMode::Append => Ok(Rewrite { adds: files, ..Rewrite::default() }),
            WriteMode::ReplacePartitions => merge.replace_partitions(live, files),
            WriteMode::Upsert { keys, sequence_by, position } => {
                merge.upsert(&upsert::Columns { keys, sequence_by, position }, live, &files, tombstones)
            }
            WriteMode::ReplaceGroups { group_by } => {
                let rewrite = merge.replace_groups(group_by, &[], live, &files)?;
                Ok(Rewrite { counts: RowChanges::default(), ..rewrite })
            }
            WriteMode::ReplaceNamed { named_by, newest_by, .. } if !newest_by.is_empty() => {
                merge.recompute(named_by, newest_by, live, &files, tombstones)
            }
            WriteMode::ReplaceNamed { named_by, apart_from, .. } => {
                merge.replace_groups(named_by, apart_from, live, &files)
            }
            WriteMode::TakeOut => merge.take_out(live, &files),
        });
        work.await.map_err(|e| self.place.external("its rows could not be merged", e))?
    }

    /// Removes what an attempt wrote that lost to another writer: `files` are those that the batch came with.
    pub(crate) async fn give_up(&self, attempt: &Rewrite, files: &[PendingFile]) {
        let own = attempt.adds.iter().filter(|add| !files.iter().any(|file| file.path == add.path));
        let own: Vec<PendingFile> = own.chain(&attempt.changes).cloned().collect();
        self.data.discard(&own).await;
        self.forget_tombstones(attempt.tombstones).await;
    }

    /// Removes what the table does not need once a batch has landed.
    pub(crate) async fn landed(&self, files: &[PendingFile], tombstones: Option<i64>) {
        if !matches!(self.spec.write, WriteMode::Append | WriteMode::ReplacePartitions) {
            self.data.discard(files).await;
        }
        self.forget_tombstones(tombstones).await;
    }

    async fn forget_tombstones(&self, file: Option<i64>) {
        if let Some(file) = file
            && let Err(error) = tokio::fs::remove_file(self.tombstones_path(file)).await
        {
            tracing::debug!(table = %self.spec.name, file, %error, "a file of deleted keys stays");
        }
    }

    fn scanned(&self, file: &PendingFile) -> Result<Scanned, TableError> {
        let path = local(&self.log.store().root, &file.path);
        let path = path.ok_or_else(|| self.place.data(format!("file `{}` lies outside the table", file.path)))?;
        Ok(Scanned { path, partition_values: file.partition_values.clone().into_iter().collect() })
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TableError {
        self.place.external(format!("cannot merge rows into it in `{}`", self.place.path), source)
    }
}

/// Columns of rows on their way to a table, as its writer takes them.
pub(crate) fn incoming_for(spec: &TableSpec) -> SchemaRef {
    match spec.write {
        WriteMode::Append | WriteMode::ReplacePartitions | WriteMode::TakeOut => spec.schema.clone(),
        WriteMode::Upsert { .. } | WriteMode::ReplaceGroups { .. } | WriteMode::ReplaceNamed { .. } => {
            incoming(&spec.schema)
        }
    }
}

fn incoming(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| Arc::new(field.as_ref().clone().with_nullable(true)));
    let deleted = Arc::new(Field::new(DELETED, DataType::Boolean, false));
    Arc::new(Schema::new(fields.chain([deleted]).collect::<Vec<_>>()))
}

fn with_change_type(schema: &Schema) -> SchemaRef {
    let change = Arc::new(Field::new(CHANGE_TYPE, DataType::Utf8, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([change]).collect::<Vec<_>>()))
}
