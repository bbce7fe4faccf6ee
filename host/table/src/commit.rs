//! How an append lands: once, at the version after the one at which its transaction was seen to be absent.
//!
//! No retries of the library are used: each turn of the loop reads what others committed, looks for our
//! transaction, and puts the entry of exactly the next version if that is free.

use std::time::Duration;

use crate::error::Place;
use crate::log::{Log, Put};
use crate::tail::Tail;
use crate::{AppTransaction, CommitNote, CommitOutcome, PendingFile, TableError, entry};

/// Each lost turn is somebody else's commit, so this many are a table that never rests.
const ATTEMPTS_MAX: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);

pub(crate) async fn append(
    place: &Place,
    log: &Log,
    tail: &mut Tail,
    files: &[PendingFile],
    transaction: &AppTransaction,
    note: &CommitNote,
) -> Result<CommitOutcome, TableError> {
    let token = uuid::Uuid::new_v4().to_string();
    for attempt in 0..ATTEMPTS_MAX {
        tail.advance().await?;
        // Reading the table anew for an application not asked for before may move the tail, so it comes before the
        // version is taken.
        let newest = tail.transaction(&transaction.app_id).await?;
        let seen = tail.version();
        if newest.is_some_and(|version| version >= transaction.version) {
            tail.settle().await?;
            return Ok(CommitOutcome::AlreadyCommitted { version: seen });
        }
        let text = entry::append(files, transaction, note, &token, seen)
            .map_err(|e| place.external("cannot write the text of its commit", e))?;
        let next = seen + 1;
        match log.put(next, &text).await {
            Ok(Put::Done) => {
                tail.take(&text)?;
                return Ok(CommitOutcome::Committed { version: next });
            }
            Ok(Put::Exists) => {
                if is_ours(place, log, next, &token).await? == Some(true) {
                    return landed(tail, next).await;
                }
            }
            // Unknown until it is read back (D-069). Absent now is no proof for later: a put that is still on its way
            // can land at this version only, and the next call then finds the transaction there.
            Err(unknown) => match is_ours(place, log, next, &token).await? {
                Some(true) => return landed(tail, next).await,
                Some(false) => {}
                None => return Err(unknown),
            },
        }
        tracing::debug!(table = %place.table, version = next, attempt, "another writer was first");
        tokio::time::sleep(pause(attempt)).await;
    }
    Err(TableError::External {
        table: place.table.clone(),
        what: format!("other writers were first {ATTEMPTS_MAX} times in a row"),
        source: None,
    })
}

/// Our entry is there although its put did not say so.
async fn landed(tail: &mut Tail, version: i64) -> Result<CommitOutcome, TableError> {
    tail.advance().await?;
    tail.settle().await?;
    Ok(CommitOutcome::Committed { version })
}

/// Whether the entry of a version was written by this very call; `None` when there is no entry.
async fn is_ours(place: &Place, log: &Log, version: i64, token: &str) -> Result<Option<bool>, TableError> {
    let Some(text) = log.read(version).await? else { return Ok(None) };
    let entry = entry::Entry::parse(&text)
        .map_err(|e| place.external(format!("version {version} of its log cannot be understood"), e))?;
    Ok(Some(entry.token.as_deref() == Some(token)))
}

/// The first loss is followed at once by another try; later ones by longer and longer rests (T-125).
fn pause(attempt: u32) -> Duration {
    (PAUSE * attempt).min(PAUSE_MAX)
}
