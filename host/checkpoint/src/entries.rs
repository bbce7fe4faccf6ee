//! Reading, listing and putting of numbered entries.

use bytes::Bytes;
use crisol_store::Store;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutPayload};

use crate::CheckpointError;

/// What came of a put-if-absent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The entry is ours, and durable.
    Written,
    /// Somebody's entry (perhaps ours, from a put whose answer was lost) is there already, with this text.
    Exists(Bytes),
}

/// How often a put is tried whose entry "exists" and then cannot be read (a conflict in which nothing landed).
const PUT_TRIES: usize = 5;

/// Reads a file; `None` when it does not exist.
pub(crate) async fn get(store: &Store, file: &str) -> Result<Option<Bytes>, CheckpointError> {
    let failed = |e: Error| CheckpointError::storage("read", file, e);
    match store.object.get(&Path::from(file)).await {
        Ok(found) => found.bytes().await.map(Some).map_err(failed),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(e) => Err(failed(e)),
    }
}

/// Reads a file as text.
pub(crate) async fn get_text(store: &Store, file: &str) -> Result<Option<String>, CheckpointError> {
    get(store, file).await?.map(|bytes| text(file, &bytes)).transpose()
}

pub(crate) fn text(file: &str, bytes: &[u8]) -> Result<String, CheckpointError> {
    let text = std::str::from_utf8(bytes).map_err(|e| CheckpointError::malformed(file, e))?;
    Ok(text.to_owned())
}

/// Writes a file that must not exist. "Already exists" is no proof of a rival: what is there is read back.
pub(crate) async fn put(store: &Store, file: &str, content: &Bytes) -> Result<Put, CheckpointError> {
    let path = Path::from(file);
    let mut last = None;
    for _ in 0..PUT_TRIES {
        let payload = PutPayload::from_bytes(content.clone());
        match store.object.put_opts(&path, payload, PutMode::Create.into()).await {
            Ok(_) => return Ok(Put::Written),
            Err(e @ Error::AlreadyExists { .. }) => match get(store, file).await? {
                Some(found) => return Ok(Put::Exists(found)),
                None => last = Some(e),
            },
            Err(e) => return Err(CheckpointError::storage("write", file, e)),
        }
    }
    let error = last.map_or_else(|| "not tried".into(), |e| Box::new(e) as Box<dyn std::error::Error + Send + Sync>);
    Err(CheckpointError::storage("write", file, error))
}

/// Numbers of the entries in a folder, ascending. Companions such as `.0.crc` and names that are no number are none of
/// our business (C-010).
pub(crate) async fn numbers(store: &Store, folder: &str) -> Result<Vec<u64>, CheckpointError> {
    let files: Vec<_> = store
        .object
        .list(Some(&Path::from(folder)))
        .try_filter_map(|meta| std::future::ready(Ok(number(&meta.location, folder))))
        .try_collect()
        .await
        .map_err(|e| CheckpointError::storage("list", folder, e))?;
    let mut numbers = files;
    numbers.sort_unstable();
    Ok(numbers)
}

fn number(location: &Path, folder: &str) -> Option<u64> {
    let name = location.as_ref().strip_prefix(folder)?.strip_prefix('/')?;
    name.parse().ok().filter(|n: &u64| n.to_string() == name)
}

/// Deletes the entries of a folder below `first`.
pub(crate) async fn delete_below(store: &Store, folder: &str, first: u64) -> Result<(), CheckpointError> {
    for n in numbers(store, folder).await?.into_iter().take_while(|n| *n < first) {
        let file = format!("{folder}/{n}");
        match store.object.delete(&Path::from(file.as_str())).await {
            Ok(()) | Err(Error::NotFound { .. }) => {}
            Err(e) => return Err(CheckpointError::storage("delete", &file, e)),
        }
    }
    Ok(())
}
