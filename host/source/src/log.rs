//! What a source keeps in the checkpoint: the numbered texts under `sources/0`.

use async_trait::async_trait;

use crate::SourceError;

/// What to do about an entry that is damaged or missing. A new checkpoint alone is refused for a table that holds rows.
pub(crate) const DAMAGED: &str = "restore the checkpoint folder from a backup; or begin anew: give the contract another \
                                  `checkpoint_suffix` and run once with `--rebuild`, which takes out what the table \
                                  holds and reads all again";
/// What to do about a checkpoint of another source. Rows of that source stay in the table, or are taken out.
pub(crate) const OTHER_SOURCE: &str = "put the contract back; or begin a new checkpoint with another `checkpoint_suffix`, \
                                       and run once with `--reread` to add to what the table holds, or with `--rebuild` \
                                       to replace it";

/// Whatever the store says went wrong.
pub type LogError = Box<dyn std::error::Error + Send + Sync>;

/// The folder `sources/0` of a checkpoint: texts by number, written once and never changed (C-008).
#[async_trait]
pub trait SourceLog: Send + Sync {
    /// The text of an entry.
    async fn get(&self, n: u64) -> Result<Option<String>, LogError>;

    /// Writes an entry, durably; false when there is one already.
    async fn put_if_absent(&self, n: u64, text: &str) -> Result<bool, LogError>;

    /// Numbers of all entries, in any order.
    async fn list(&self) -> Result<Vec<u64>, LogError>;
}

/// Writes an entry. "Already there" is read back before it is believed: our own text means that an earlier answer got
/// lost, another text that a second host works on this checkpoint.
pub(crate) async fn put_once(log: &dyn SourceLog, n: u64, text: &str) -> Result<(), SourceError> {
    let written = log
        .put_if_absent(n, text)
        .await
        .map_err(|e| SourceError::caused(format!("checkpoint entry sources/0/{n} could not be written"), e))?;
    if written || get(log, n).await?.as_deref() == Some(text) {
        return Ok(());
    }
    Err(SourceError::Concurrent {
        what: format!("checkpoint entry sources/0/{n} was written by another host with another content"),
    })
}

pub(crate) async fn get(log: &dyn SourceLog, n: u64) -> Result<Option<String>, SourceError> {
    log.get(n).await.map_err(|e| {
        // What is no text stays so, however often it is read.
        if e.is::<std::string::FromUtf8Error>() {
            return SourceError::config(format!("checkpoint entry sources/0/{n} is damaged: {e}"), DAMAGED);
        }
        SourceError::caused(format!("checkpoint entry sources/0/{n} could not be read"), e)
    })
}
