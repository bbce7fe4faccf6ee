//! The table's folder `_delta_log`: entries read and put one by one, and deltalake's snapshots.

use std::sync::Arc;

use bytes::Bytes;
use crisol_store::Store;
use deltalake::DeltaTable;
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore};
use deltalake::table::state::DeltaTableState;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutPayload};
use serde::Deserialize;
use url::Url;

use crate::TableError;
use crate::error::Place;

const FOLDER: &str = "_delta_log";

/// What came of putting an entry whose outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    Done,
    /// Somebody's entry has this version; perhaps our own, from a put whose answer was lost.
    Exists,
}

#[derive(Debug, Clone)]
pub(crate) struct Log {
    place: Arc<Place>,
    store: Store,
    delta: LogStoreRef,
}

impl Log {
    pub(crate) fn new(place: Arc<Place>, store: Store) -> Result<Self, TableError> {
        // The store's paths stand on the table's folder, so for deltalake that folder is the root of everything. The
        // scheme must be `file`: others are taken to list in order.
        let root = Url::parse("file:///").map_err(|e| place.external("cannot name its folder", e))?;
        let object = store.object.clone();
        let delta = default_logstore(object.clone(), object, &root, &StorageConfig::default());
        Ok(Self { place, store, delta })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn delta(&self) -> &LogStoreRef {
        &self.delta
    }

    /// Whether there is a table at all.
    pub(crate) async fn exists(&self) -> Result<bool, TableError> {
        let found = self.delta.is_delta_table_location().await;
        found.map_err(|e| self.place.external(format!("cannot list `{FOLDER}` in `{}`", self.place.path), e))
    }

    /// The entry of a version, `None` when there is none.
    pub(crate) async fn read(&self, version: i64) -> Result<Option<Bytes>, TableError> {
        let failed = |e| self.place.external(format!("cannot read version {version} of its log"), e);
        match self.store.object.get(&entry_path(version)).await {
            Ok(found) => found.bytes().await.map(Some).map_err(failed),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(failed(e)),
        }
    }

    /// Whether the entry of a version is there.
    pub(crate) async fn has(&self, version: i64) -> Result<bool, TableError> {
        match self.store.object.head(&entry_path(version)).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(self.place.external(format!("cannot look at version {version} of its log"), e)),
        }
    }

    /// Puts an entry if its version is free. An error means that the outcome is unknown.
    pub(crate) async fn put(&self, version: i64, entry: &Bytes) -> Result<Put, TableError> {
        let payload = PutPayload::from_bytes(entry.clone());
        match self.store.object.put_opts(&entry_path(version), payload, PutMode::Create.into()).await {
            Ok(_) => Ok(Put::Done),
            Err(Error::AlreadyExists { .. }) => Ok(Put::Exists),
            Err(e) => Err(self.place.external(format!("cannot write version {version} of its log"), e)),
        }
    }

    /// Version of the newest log checkpoint, as `_last_checkpoint` has it; a missing or broken hint is none.
    pub(crate) async fn last_checkpoint(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct Hint {
            version: i64,
        }
        let path = Path::from_iter([FOLDER, "_last_checkpoint"]);
        let text = self.store.object.get(&path).await.ok()?.bytes().await.ok()?;
        serde_json::from_slice::<Hint>(&text).ok().map(|hint| hint.version)
    }

    /// Makes durable what was seen in the log: another process may have died before it synced the folder.
    pub(crate) async fn settle(&self) -> Result<(), TableError> {
        self.store.settle(FOLDER).await.map_err(|e| self.place.external("cannot sync its log", e))
    }

    /// The whole table, at its newest version. Costs as much as the table has files.
    pub(crate) async fn load(&self) -> Result<DeltaTableState, TableError> {
        let error = match DeltaTableState::try_new(&self.delta, None).await {
            Ok(state) => return Ok(state),
            Err(error) => error,
        };
        let what = match self.damaged().await {
            Some(file) => format!("`{file}` in its log is damaged; restore that file from a backup"),
            None => format!("cannot read its log in `{}`", self.place.path),
        };
        Err(self.place.external(what, error))
    }

    /// The newest entry that is not JSON: the library's errors do not name it.
    async fn damaged(&self) -> Option<String> {
        let files = self.store.object.list_with_delimiter(Some(&Path::from(FOLDER))).await.ok()?.objects;
        let mut entries: Vec<_> = files.into_iter().map(|file| file.location).collect();
        entries.retain(|file| file.extension() == Some("json"));
        entries.sort();
        for file in entries.iter().rev() {
            let text = self.store.object.get(file).await.ok()?.bytes().await.ok()?;
            let lines = serde_json::Deserializer::from_slice(&text).into_iter::<serde_json::Value>();
            if lines.into_iter().any(|line| line.is_err()) {
                return Some(self.store.root.join(file.as_ref()).display().to_string());
            }
        }
        None
    }

    /// Writes Delta's log checkpoint of a version.
    pub(crate) async fn write_checkpoint(&self, version: i64) -> Result<(), deltalake::DeltaTableError> {
        let mut table = DeltaTable::new(self.delta.clone());
        table.load_version(version.unsigned_abs()).await?;
        deltalake::protocol::checkpoints::create_checkpoint(&table, None).await
    }
}

pub(crate) fn entry_path(version: i64) -> Path {
    Path::from_iter([FOLDER, &format!("{version:020}.json")])
}
