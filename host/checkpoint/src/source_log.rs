//! `sources/0/`: what a source keeps for itself in the checkpoint.

use bytes::Bytes;
use crisol_store::Store;

use crate::CheckpointError;
use crate::entries::{self, Put};

/// Entries `sources/0/<n>`: the files of a batch (C-005) or a source's first position (K-032).
#[derive(Debug, Clone)]
pub struct SourceLog {
    store: Store,
}

/// Folder of the one source of a stream.
const FOLDER: &str = "sources/0";

impl SourceLog {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Name of an entry, relative to the checkpoint, for messages.
    pub fn file(n: u64) -> String {
        format!("{FOLDER}/{n}")
    }

    /// The entry `n`; `None` when it does not exist.
    pub async fn get(&self, n: u64) -> Result<Option<Bytes>, CheckpointError> {
        entries::get(&self.store, &Self::file(n)).await
    }

    /// Writes entry `n` when it does not exist, durably, and gives what stands there then: `content`, or what was
    /// there before. The first one to write binds it for all.
    pub async fn put_if_absent(&self, n: u64, content: Bytes) -> Result<Bytes, CheckpointError> {
        match entries::put(&self.store, &Self::file(n), &content).await? {
            Put::Written => Ok(content),
            Put::Exists(found) => Ok(found),
        }
    }

    /// Numbers of the entries, ascending.
    pub async fn list(&self) -> Result<Vec<u64>, CheckpointError> {
        entries::numbers(&self.store, FOLDER).await
    }
}
