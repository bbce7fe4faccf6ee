//! How a commit lands: once, at the version after the one at which its transaction was seen to be absent.
//!
//! No retries of the library are used: each turn of the loop reads what others committed, looks for our
//! transaction (a compaction: for its files), and puts the entry of exactly the next version if that is free.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Place;
use crate::log::{Log, Put};
use crate::merge::{self, Merge, Rewrite};
use crate::tail::Tail;
use crate::{AppTransaction, CommitNote, CommitOutcome, PendingFile, Standing, TableError, entry};

/// Each lost turn is somebody else's commit, so this many are a table that never rests.
const ATTEMPTS_MAX: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// What is committed.
pub(crate) struct Batch<'a> {
    pub(crate) files: &'a [PendingFile],
    pub(crate) transaction: &'a AppTransaction,
    pub(crate) note: &'a CommitNote,
    /// Checkpoint whose deleted keys count.
    pub(crate) deleted_keys_of: &'a str,
    /// What must not have moved.
    pub(crate) standing: Option<&'a Standing>,
}

impl Batch<'_> {
    /// Whether the table has it, or must not get it because something has moved.
    async fn is_settled(&self, tail: &mut Tail, moved: &mut bool) -> Result<bool, TableError> {
        let stands = match self.standing {
            Some(standing) => tail.transaction(&standing.app_id).await? == standing.version,
            None => true,
        };
        let holds = holds(tail, self.transaction).await?;
        *moved = !stands && !holds;
        Ok(*moved || holds)
    }
}

/// What is put: made anew for each version that it may follow.
#[async_trait]
pub(crate) trait Entries: Send {
    /// Whether the table, as the tail has it, needs no entry any more. May move the tail.
    async fn done(&mut self, tail: &mut Tail) -> Result<bool, TableError>;

    /// The entry after version `seen`.
    async fn text(&mut self, tail: &mut Tail, token: &str, seen: i64) -> Result<Bytes, TableError>;
}

struct Appending<'a> {
    place: &'a Place,
    batch: &'a Batch<'a>,
    /// What the batch was made for is no longer so: it must not land.
    moved: bool,
}

#[async_trait]
impl Entries for Appending<'_> {
    async fn done(&mut self, tail: &mut Tail) -> Result<bool, TableError> {
        self.batch.is_settled(tail, &mut self.moved).await
    }

    async fn text(&mut self, _tail: &mut Tail, token: &str, seen: i64) -> Result<Bytes, TableError> {
        let Batch { files, transaction, note, .. } = self.batch;
        entry::append(files, transaction, note, token, seen).map_err(|e| self.place.unwritten(e))
    }
}

/// Adds the files of a batch; `None` when what it was made for has moved.
pub(crate) async fn append(
    place: &Place,
    log: &Log,
    tail: &mut Tail,
    batch: &Batch<'_>,
) -> Result<Option<CommitOutcome>, TableError> {
    let mut appending = Appending { place, batch, moved: false };
    let outcome = land(place, log, tail, &mut appending).await?;
    Ok((!appending.moved).then_some(outcome))
}

/// A merge, and what it wrote for the version that it was last planned on.
struct Merging<'a> {
    place: &'a Place,
    merge: &'a Arc<Merge>,
    batch: &'a Batch<'a>,
    /// Of the deleted keys.
    application: String,
    attempt: Option<Attempt>,
    /// What the batch was made for is no longer so: it must not land.
    moved: bool,
}

struct Attempt {
    rewrite: Rewrite,
    /// File of the deleted keys before.
    tombstones: Option<i64>,
}

impl Merging<'_> {
    async fn give_up(&mut self) {
        if let Some(lost) = self.attempt.take() {
            self.merge.give_up(&lost.rewrite, self.batch.files).await;
        }
    }
}

#[async_trait]
impl Entries for Merging<'_> {
    async fn done(&mut self, tail: &mut Tail) -> Result<bool, TableError> {
        self.batch.is_settled(tail, &mut self.moved).await
    }

    /// Asked again, the attempt before has lost to another writer: all is planned anew.
    async fn text(&mut self, tail: &mut Tail, token: &str, seen: i64) -> Result<Bytes, TableError> {
        self.give_up().await;
        let tombstones = tail.known_transaction(&self.application);
        let rewrite = self.merge.plan(seen, self.batch.files, tombstones).await?;
        let Attempt { rewrite, .. } = self.attempt.insert(Attempt { rewrite, tombstones });
        let Batch { transaction, note, .. } = self.batch;
        entry::rewrite(rewrite, transaction, &self.application, note, token, seen).map_err(|e| self.place.unwritten(e))
    }
}

/// Merges the rows of a batch into the table as it is when its entry is put; `None` when what it was made for has moved.
pub(crate) async fn merge(
    place: &Place,
    log: &Log,
    tail: &mut Tail,
    merge: &Arc<Merge>,
    batch: &Batch<'_>,
) -> Result<Option<CommitOutcome>, TableError> {
    let application = merge::application(batch.deleted_keys_of);
    // From now on it is followed from commit to commit.
    tail.transaction(&application).await?;
    let mut merging = Merging { place, merge, batch, application, attempt: None, moved: false };
    let outcome = land(place, log, tail, &mut merging).await?;
    let CommitOutcome::Committed { version } = outcome else {
        merging.give_up().await;
        merge.landed(batch.files, None).await;
        return Ok((!merging.moved).then_some(outcome));
    };
    let Some(Attempt { rewrite, tombstones }) = merging.attempt else { return Ok(Some(outcome)) };
    // A host that shares the deleted keys may be reading the file before.
    let shared = batch.deleted_keys_of != batch.transaction.app_id;
    merge.landed(batch.files, tombstones.filter(|_| rewrite.tombstones.is_some() && !shared)).await;
    Ok(Some(CommitOutcome::Merged { version, changes: rewrite.counts }))
}

async fn holds(tail: &mut Tail, transaction: &AppTransaction) -> Result<bool, TableError> {
    let newest = tail.transaction(&transaction.app_id).await?;
    Ok(newest.is_some_and(|version| version >= transaction.version))
}

/// Puts an entry as the next one after what was seen; tries until one is ours, or none is needed any more.
pub(crate) async fn land(
    place: &Place,
    log: &Log,
    tail: &mut Tail,
    entries: &mut dyn Entries,
) -> Result<CommitOutcome, TableError> {
    let token = uuid::Uuid::new_v4().to_string();
    for attempt in 0..ATTEMPTS_MAX {
        tail.advance().await?;
        // Reading the table anew for an application not asked for before may move the tail, so it comes before the
        // version is taken.
        let done = entries.done(tail).await?;
        let seen = tail.version();
        if done {
            tail.settle().await?;
            return Ok(CommitOutcome::AlreadyCommitted { version: seen });
        }
        let text = entries.text(tail, &token, seen).await?;
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
