//! The checkpoint's folder: the one place that reads and writes it.

use std::fmt;

use bytes::Bytes;
use crisol_store::Store;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::CheckpointError;
use crate::entries::{self, Put};
use crate::log::{self, CommitEntry, Metadata, RangeEntry};
use crate::outcome::Outcome;
use crate::position::Position;
use crate::recovery::{LogState, Logged};
use crate::source_log::SourceLog;

/// Batches whose entries are kept (C-009).
const KEPT_BATCHES: u64 = 100;

/// Something that is settled at the first start and holds for the checkpoint's whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Columns that were taken from the files present, in `schema`.
    Columns,
    /// Where the contract said to begin, in `starting`: a later change has no effect (K-031).
    Starting,
}

impl Fact {
    fn file(self) -> &'static str {
        match self {
            Self::Columns => "schema",
            Self::Starting => "starting",
        }
    }
}

/// A stream's checkpoint, used by one run of one host.
///
/// Every entry is written once, durably, and only when it does not exist. The run that loses such a put learns it as
/// [`CheckpointError::Held`] and must stop: another host owns the checkpoint.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    store: Store,
    id: Uuid,
    run_id: Uuid,
}

impl Checkpoint {
    /// Opens the checkpoint in a folder, or makes a new one there. Entries without `metadata` are refused (C-034).
    ///
    /// `run_id` is new for every start of a stream.
    pub async fn open(store: Store, run_id: Uuid) -> Result<Self, CheckpointError> {
        settle(&store).await?;
        let id = match read_id(&store).await? {
            Some(id) => id,
            None => make_id(&store).await?,
        };
        Ok(Self { store, id, run_id })
    }

    /// The checkpoint's id: the application id of its commits. It never changes.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// The id of this run.
    pub fn run_id(&self) -> Uuid {
        self.run_id
    }

    /// What [`crate::next_step`] needs. Everything that it tells is durable.
    pub async fn state(&self) -> Result<LogState, CheckpointError> {
        settle(&self.store).await?;
        let batch = newest(&self.store, "offsets").await?;
        let offsets = match batch {
            Some(batch) => self.range(batch).await?.map(|entry| Logged { batch, entry }),
            None => None,
        };
        let previous = match batch.and_then(|batch| batch.checked_sub(1)) {
            Some(before) => self.range(before).await?,
            None => None,
        };
        Ok(LogState {
            initial: self.initial().await?,
            offsets,
            previous,
            newest_commit: self.newest_commit().await?,
            newest_outcome: newest(&self.store, "outcome").await?,
        })
    }

    /// The first position of the source, kept for ever (K-032): `position`, or the one that was kept before. Not for
    /// sources of files, whose log of files lies there.
    pub async fn log_initial(&self, position: &Position) -> Result<Position, CheckpointError> {
        let content = Bytes::from(log::initial_text(position));
        let kept = self.source_log().put_if_absent(0, content).await?;
        let file = SourceLog::file(0);
        log::parse_initial(&file, &entries::text(&file, &kept)?)
    }

    /// What is kept of a fact; `None` when nothing was kept yet.
    pub async fn kept(&self, fact: Fact) -> Result<Option<String>, CheckpointError> {
        entries::get_text(&self.store, fact.file()).await
    }

    /// Keeps a fact for ever: `text`, or what was kept before.
    pub async fn keep(&self, fact: Fact, text: &str) -> Result<String, CheckpointError> {
        match entries::put(&self.store, fact.file(), &Bytes::copy_from_slice(text.as_bytes())).await? {
            Put::Written => Ok(text.to_owned()),
            Put::Exists(found) => entries::text(fact.file(), &found),
        }
    }

    /// Binds the range of a batch: `offsets/N`. Afterwards this run owns the batch.
    pub async fn log_range(&self, batch: u64, entry: &RangeEntry) -> Result<(), CheckpointError> {
        let file = format!("offsets/{batch}");
        let entry = RangeEntry { run_id: Some(self.run_id), ..entry.clone() };
        self.put_own(&file, entry.to_text(), |text| RangeEntry::parse(&file, text).map(|found| found.run_id)).await
    }

    /// The range of a batch; `None` when it was never logged, or purged.
    pub async fn range(&self, batch: u64) -> Result<Option<RangeEntry>, CheckpointError> {
        let file = format!("offsets/{batch}");
        entries::get_text(&self.store, &file).await?.map(|text| RangeEntry::parse(&file, &text)).transpose()
    }

    /// Binds what a batch will commit: `outcome/N`.
    pub async fn log_outcome<T: Serialize>(&self, batch: u64, payload: &T) -> Result<(), CheckpointError> {
        let file = format!("outcome/{batch}");
        let text = Outcome::new(self.run_id, batch, payload).to_text(&file)?;
        self.put_own(&file, text, |text| {
            Outcome::<serde::de::IgnoredAny>::parse(&file, text).map(|found| Some(found.run_id))
        })
        .await
    }

    /// What a batch will commit; `None` when that was never bound.
    pub async fn outcome<T: DeserializeOwned>(&self, batch: u64) -> Result<Option<Outcome<T>>, CheckpointError> {
        let file = format!("outcome/{batch}");
        let Some(text) = entries::get_text(&self.store, &file).await? else { return Ok(None) };
        let outcome = Outcome::parse(&file, &text)?;
        if outcome.batch != batch {
            return Err(CheckpointError::malformed(&file, format!("it names batch {}", outcome.batch)));
        }
        Ok(Some(outcome))
    }

    /// Marks a batch as done: `commits/N`. Only after its table holds it.
    pub async fn mark(&self, batch: u64) -> Result<(), CheckpointError> {
        let file = format!("commits/{batch}");
        let text = CommitEntry { run_id: Some(self.run_id) }.to_text();
        self.put_own(&file, text, |text| CommitEntry::parse(&file, text).map(|found| found.run_id)).await
    }

    /// Keeps for ever what a batch passed over, in `losses/N`: before its table holds it, once.
    pub async fn keep_losses<T: Serialize>(&self, batch: u64, losses: &T) -> Result<(), CheckpointError> {
        self.put_losses(&format!("losses/{batch}"), losses).await
    }

    /// Keeps what was found missing while a batch was planned, in `losses/planned/N`, before its range is bound: nobody may
    /// find it again.
    pub async fn keep_planned_losses<T: Serialize>(&self, batch: u64, losses: &T) -> Result<(), CheckpointError> {
        self.put_losses(&planned_losses(batch), losses).await
    }

    /// What was found missing while a batch was planned.
    pub async fn planned_losses<T: DeserializeOwned + Default>(&self, batch: u64) -> Result<T, CheckpointError> {
        Ok(self.get_losses(&planned_losses(batch)).await?.unwrap_or_default())
    }

    /// What batches passed over, in their order. No clean-up takes it.
    pub async fn losses<T: DeserializeOwned>(&self) -> Result<Vec<(u64, T)>, CheckpointError> {
        let mut all = Vec::new();
        for batch in entries::numbers(&self.store, "losses").await? {
            all.extend(self.get_losses(&format!("losses/{batch}")).await?.map(|losses| (batch, losses)));
        }
        Ok(all)
    }

    async fn put_losses<T: Serialize>(&self, file: &str, losses: &T) -> Result<(), CheckpointError> {
        let text = serde_json::to_vec(losses).map_err(|e| CheckpointError::malformed(file, e))?;
        // One that is there was kept by a run that ended before its commit: it tells the same.
        entries::put(&self.store, file, &Bytes::from(text)).await.map(drop)
    }

    async fn get_losses<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, CheckpointError> {
        let text = entries::get(&self.store, file).await?;
        text.map(|text| serde_json::from_slice(&text).map_err(|e| CheckpointError::malformed(file, e))).transpose()
    }

    /// What the source keeps under `sources/0/`.
    pub fn source_log(&self) -> SourceLog {
        SourceLog::new(self.store.clone())
    }

    /// Deletes the entries of batches that recovery never looks at, once `batch` is marked: those before
    /// `batch` - 100 (C-009). What the source keeps stays.
    pub async fn purge(&self, batch: u64) -> Result<(), CheckpointError> {
        let first = batch.saturating_sub(KEPT_BATCHES);
        // Marks last: a purge that is cut short leaves no range without its mark behind the newest.
        for folder in ["outcome", "offsets", "commits"] {
            entries::delete_below(&self.store, folder, first).await?;
        }
        Ok(())
    }

    /// Takes out the checkpoint, whole and in one step: opened again, the folder is a new one with another id.
    pub async fn discard(self) -> Result<(), CheckpointError> {
        self.store.remove().await.map_err(|e| CheckpointError::storage("remove", "", e))
    }

    async fn newest_commit(&self) -> Result<Option<u64>, CheckpointError> {
        let Some(batch) = newest(&self.store, "commits").await? else { return Ok(None) };
        let file = format!("commits/{batch}");
        if let Some(text) = entries::get_text(&self.store, &file).await? {
            CommitEntry::parse(&file, &text)?;
        }
        Ok(Some(batch))
    }

    /// `sources/0/0`, when it holds a first position and not a list of files.
    async fn initial(&self) -> Result<Option<Position>, CheckpointError> {
        let file = SourceLog::file(0);
        match entries::get(&self.store, &file).await? {
            Some(found) if log::is_initial(&found) => {
                log::parse_initial(&file, &entries::text(&file, &found)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Writes an entry that names its run. One that exists already is ours when it names this run: the answer to an
    /// earlier put was lost.
    async fn put_own(
        &self,
        file: &str,
        text: String,
        owner: impl Fn(&str) -> Result<Option<Uuid>, CheckpointError>,
    ) -> Result<(), CheckpointError> {
        let Put::Exists(found) = entries::put(&self.store, file, &Bytes::from(text)).await? else { return Ok(()) };
        match owner(&entries::text(file, &found)?)? {
            Some(run) if run == self.run_id => Ok(()),
            owner => Err(CheckpointError::Held { file: file.to_owned(), owner, ours: self.run_id }),
        }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store.root.display())
    }
}

fn planned_losses(batch: u64) -> String {
    format!("losses/planned/{batch}")
}

/// Makes durable what a host that died may have left visible only: decisions are built on it.
async fn settle(store: &Store) -> Result<(), CheckpointError> {
    for folder in ["", "offsets", "commits", "outcome", "losses", "losses/planned", "sources", "sources/0"] {
        store.settle(folder).await.map_err(|e| CheckpointError::storage("sync", folder, e))?;
    }
    Ok(())
}

async fn newest(store: &Store, folder: &str) -> Result<Option<u64>, CheckpointError> {
    Ok(entries::numbers(store, folder).await?.pop())
}

async fn read_id(store: &Store) -> Result<Option<Uuid>, CheckpointError> {
    let text = entries::get_text(store, "metadata").await?;
    text.map(|text| Metadata::parse(&text).map(|metadata| metadata.id)).transpose()
}

async fn make_id(store: &Store) -> Result<Uuid, CheckpointError> {
    for folder in ["offsets", "commits", "outcome"] {
        if let Some(n) = newest(store, folder).await? {
            return Err(CheckpointError::MissingMetadata { file: format!("{folder}/{n}") });
        }
    }
    let metadata = Metadata { id: Uuid::new_v4() };
    match entries::put(store, "metadata", &Bytes::from(metadata.to_text())).await? {
        Put::Written => Ok(metadata.id),
        Put::Exists(found) => Metadata::parse(&entries::text("metadata", &found)?).map(|metadata| metadata.id),
    }
}
