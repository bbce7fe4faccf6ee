//! A Delta table that a stream writes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use async_trait::async_trait;
use crisol_store::Store;
use tokio::sync::Mutex;

use crate::checkpoint::Checkpoints;
use crate::commit::Entries;
use crate::entry::Entry;
use crate::error::Place;
use crate::files::{Files, Layout};
use crate::log::Log;
use crate::merge::Merge;
use crate::tail::Tail;
use crate::{
    AppTransaction, CommitNote, CommitOutcome, FileWriter, HeldFile, KeepFiles, PendingFile, Standing, TableError,
    TableSpec, TableWriter, WriteMode, commit, create, merge, upgrade,
};

/// A Delta table that exists, is the one its contract means, and may be written by this host.
#[derive(Debug)]
pub struct Table {
    place: Arc<Place>,
    spec: Arc<TableSpec>,
    log: Log,
    layout: Arc<Layout>,
    /// How rows are changed, where they are.
    merge: Option<Arc<Merge>>,
    /// Checkpoint whose deleted keys count, when it is another than that of a commit.
    deleted_keys_of: Option<String>,
    /// One commit at a time: the second would only lose to the first.
    tail: Mutex<Tail>,
    checkpoints: Checkpoints,
}

impl Table {
    /// Opens the table in the store's folder; it is created when there is none.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] when the folder holds something else, another table, or one with foreign features.
    pub async fn open_or_create(spec: &TableSpec, store: &Store) -> Result<Self, TableError> {
        let (place, log) = at(spec, store)?;
        let created = if log.exists().await? { None } else { create::create(&place, spec, &log).await? };
        let table = Self::load(place, spec, log).await?;
        let id = table.id().await;
        match created {
            Some(wanted) if wanted != id => Err(table.place.mismatch(
                format!("it was created with id `{wanted}`, and what lies there now has id `{id}`"),
                "another writer creates the same table; start again when it is done",
            )),
            Some(_) => {
                tracing::info!(table = %spec.name, path = %spec.path, "table created");
                Ok(table)
            }
            None => Ok(table),
        }
    }

    /// Opens the table in the store's folder, `None` when there is none yet.
    pub async fn open(spec: &TableSpec, store: &Store) -> Result<Option<Self>, TableError> {
        let (place, log) = at(spec, store)?;
        if log.exists().await? { Self::load(place, spec, log).await.map(Some) } else { Ok(None) }
    }

    /// Opens the table in the store's folder as it is, whatever a contract says; `None` when there is none. For looking
    /// at it.
    pub async fn find(name: &str, path: &str, store: &Store) -> Result<Option<Self>, TableError> {
        let mut spec = TableSpec {
            name: name.to_string(),
            path: path.to_string(),
            schema: Arc::new(Schema::empty()),
            partition_by: Vec::new(),
            write: WriteMode::Append,
            properties: BTreeMap::new(),
        };
        let (place, log) = at(&spec, store)?;
        if !log.exists().await? {
            return Ok(None);
        }
        let state = log.load().await?;
        spec.schema = state.snapshot().arrow_schema();
        spec.partition_by = state.metadata().partition_columns().to_vec();
        Self::load(place, &spec, log).await.map(Some)
    }

    async fn load(place: Arc<Place>, spec: &TableSpec, log: Log) -> Result<Self, TableError> {
        let spec = Arc::new(spec.clone());
        let mut tail = Tail::open(place.clone(), spec.clone(), log.clone()).await?;
        upgrade::change_data(&place, &spec, &log, &mut tail).await?;
        tail.settle().await?;
        warn_about(&spec, &tail);
        let layout = Arc::new(Layout::new(place.clone(), &spec, log.store().clone(), tail.metadata())?);
        let merge = Merge::new(&place, &spec, &log, &layout, tail.metadata())?;
        Ok(Self {
            place,
            spec,
            log,
            layout,
            merge: merge.map(Arc::new),
            deleted_keys_of: None,
            tail: Mutex::new(tail),
            checkpoints: Checkpoints::default(),
        })
    }

    /// Gives the rows of files that it writes to `keeper`, too: the streams below may take them from there.
    #[must_use]
    pub fn handing_over(mut self, keeper: Arc<dyn KeepFiles>) -> Self {
        let layout = Arc::new(self.layout.handing_over(keeper.clone()));
        let merge = self.merge.take().map(|merge| Arc::new(merge.handing_over(keeper)));
        Self { layout, merge, ..self }
    }

    /// Lets commits of another checkpoint heed, and tell, the deleted keys of this one.
    #[must_use]
    pub fn with_deleted_keys_of(mut self, app_id: &str) -> Self {
        self.deleted_keys_of = Some(app_id.to_string());
        self
    }

    /// The table's id: it changes when the table is created anew.
    pub async fn id(&self) -> String {
        self.tail.lock().await.metadata().id().to_string()
    }

    /// What the contract says.
    pub fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// Newest version, in a fresh view.
    pub async fn latest_version(&self) -> Result<i64, TableError> {
        let mut tail = self.tail.lock().await;
        tail.advance().await?;
        Ok(tail.version())
    }

    /// Whether the table holds rows that this stream wrote under another checkpoint than `app_id`: a new checkpoint on
    /// such a table would read and append them again. Reads the log, so ask it of a new checkpoint only.
    ///
    /// Where entries of the log are gone, a table with files and without a `txn` of `app_id` counts as holding them.
    pub async fn holds_rows_of(&self, stream: &str, app_id: &str) -> Result<bool, TableError> {
        let newest = self.latest_version().await?;
        if self.transaction(app_id).await?.is_some() || self.summary().await?.files == 0 {
            return Ok(false);
        }
        for version in (1..=newest).rev() {
            let Some(text) = self.log.read(version).await? else { return Ok(true) };
            let entry = Entry::parse(&text)
                .map_err(|e| self.place.external(format!("version {version} of its log cannot be understood"), e))?;
            if entry.stream.as_deref() == Some(stream) && entry.added > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Commits something that belongs to no batch.
    pub(crate) async fn land(&self, entries: &mut dyn Entries) -> Result<CommitOutcome, TableError> {
        let mut tail = self.tail.lock().await;
        let outcome = commit::land(&self.place, &self.log, &mut tail, entries).await?;
        self.landed(outcome, &tail).await;
        Ok(outcome)
    }

    async fn commit_batch(
        &self,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
        standing: Option<&Standing>,
    ) -> Result<Option<CommitOutcome>, TableError> {
        let mut tail = self.tail.lock().await;
        let deleted_keys_of = self.deleted_keys_of.as_deref().unwrap_or(&transaction.app_id);
        let batch = commit::Batch { files, transaction, note, deleted_keys_of, standing };
        let outcome = match &self.merge {
            Some(merge) => commit::merge(&self.place, &self.log, &mut tail, merge, &batch).await?,
            None => commit::append(&self.place, &self.log, &mut tail, &batch).await?,
        };
        if let Some(outcome) = outcome {
            self.landed(outcome, &tail).await;
        }
        Ok(outcome)
    }

    async fn landed(&self, outcome: CommitOutcome, tail: &Tail) {
        if let CommitOutcome::Committed { version } | CommitOutcome::Merged { version, .. } = outcome {
            self.checkpoints.after_commit(&self.place.table, &self.log, tail.metadata(), version).await;
        }
    }

    /// A property of the table.
    pub(crate) async fn property(&self, name: &str) -> Option<String> {
        self.tail.lock().await.metadata().configuration().get(name).cloned()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn place(&self) -> &Arc<Place> {
        &self.place
    }
}

#[async_trait]
impl TableWriter for Table {
    fn schema(&self) -> SchemaRef {
        self.spec.schema.clone()
    }

    async fn transaction(&self, app_id: &str) -> Result<Option<i64>, TableError> {
        let mut tail = self.tail.lock().await;
        tail.advance().await?;
        let newest = tail.transaction(app_id).await?;
        tail.settle().await?;
        Ok(newest)
    }

    fn incoming(&self) -> SchemaRef {
        merge::incoming_for(&self.spec)
    }

    fn writer(&self) -> Result<Box<dyn FileWriter>, TableError> {
        Ok(Box::new(match &self.merge {
            Some(merge) => merge.writer()?,
            None => Files::new(self.layout.clone())?,
        }))
    }

    async fn commit(
        &self,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<CommitOutcome, TableError> {
        let outcome = self.commit_batch(files, transaction, note, None).await?;
        outcome.ok_or_else(|| self.place.data("a commit that waits for nothing was held back: a defect of the host"))
    }

    async fn commit_while(
        &self,
        standing: &Standing,
        files: &[PendingFile],
        transaction: &AppTransaction,
        note: &CommitNote,
    ) -> Result<Option<CommitOutcome>, TableError> {
        self.commit_batch(files, transaction, note, Some(standing)).await
    }

    async fn held(&self) -> Result<Vec<HeldFile>, TableError> {
        let version = self.latest_version().await?;
        let files = merge::live_files(&self.place, &self.log, version).await?;
        Ok(files.into_iter().map(|file| HeldFile::new(&self.place, &self.spec.schema, file.scanned)).collect())
    }

    async fn settled(&self) {
        self.checkpoints.settled(&self.place.table).await;
    }
}

fn at(spec: &TableSpec, store: &Store) -> Result<(Arc<Place>, Log), TableError> {
    let place = Arc::new(Place { table: spec.name.clone(), path: spec.path.clone() });
    let log = Log::new(place.clone(), store.clone())?;
    Ok((place, log))
}

/// What an existing table has otherwise than the contract, and that does not stop it from being written.
fn warn_about(spec: &TableSpec, tail: &Tail) {
    let found = tail.metadata().configuration();
    if let Some(duration) = found.get("delta.setTransactionRetentionDuration") {
        tracing::warn!(
            table = %spec.name,
            %duration,
            "`delta.setTransactionRetentionDuration` is set: after a longer stop a batch could land twice"
        );
    }
    for (key, wanted) in spec.properties.iter().filter(|(key, wanted)| found.get(*key) != Some(wanted)) {
        tracing::warn!(
            table = %spec.name,
            property = %key,
            "the table has another value than the contract's `{wanted}`; properties of an existing table are not changed"
        );
    }
}
