//! A folder of files as a source: JSON lines or text, found by listing, kept by path in the checkpoint (F-004…F-007).
//!
//! A file must appear whole, by a rename: one that is still being written may be read in part and is never read
//! again (F-024).

mod entries;
mod infer;
mod listing;
mod rows;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{FilesPosition, Position, Range};
use crisol_contract::{FileFormat, FilesSpec};

use self::entries::{Entry, from_text, to_text};
use self::listing::{Found, list, take};
use crate::chunks::{off_thread, spawn};
use crate::log::{DAMAGED, OTHER_SOURCE, get, put_once};
use crate::{Chunks, Estimate, Planned, Source, SourceError, SourceLog};

pub use self::entries::logged_files;
pub use self::infer::{InferredSchema, infer_schema};
pub use self::rows::files_schema;

/// A source of files.
pub struct FilesSource {
    spec: Arc<FilesSpec>,
    log: Arc<dyn SourceLog>,
    seen: Option<Seen>,
    /// Files of this run, where they are fixed (K-100).
    fixed: Option<Vec<Found>>,
}

/// What the log of files holds.
#[derive(Default)]
struct Seen {
    paths: HashSet<String>,
    /// Number of entries: the next one's number.
    entries: u64,
}

impl fmt::Debug for FilesSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilesSource").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl FilesSource {
    /// A source that keeps the files it has seen in `log`.
    pub fn new(spec: FilesSpec, log: Arc<dyn SourceLog>) -> Self {
        Self { spec: Arc::new(spec), log, seen: None, fixed: None }
    }

    /// Takes what the log holds, once. A gap in it would make files count as new: refused (F-017).
    async fn recover(&mut self) -> Result<&mut Seen, SourceError> {
        if self.seen.is_none() {
            self.seen = Some(self.recovered().await?);
        }
        Ok(self.seen.get_or_insert_default())
    }

    async fn recovered(&self) -> Result<Seen, SourceError> {
        let mut numbers = self
            .log
            .list()
            .await
            .map_err(|e| SourceError::caused("checkpoint folder sources/0 could not be listed", e))?;
        numbers.sort_unstable();
        let mut seen = Seen::default();
        for number in numbers {
            if number != seen.entries {
                return Err(missing_entry(seen.entries));
            }
            seen.paths.extend(self.entry(number).await?.into_iter().map(|entry| entry.path));
            seen.entries += 1;
        }
        Ok(seen)
    }

    async fn entry(&self, number: u64) -> Result<Vec<Entry>, SourceError> {
        let text = get(&*self.log, number).await?.ok_or_else(|| missing_entry(number))?;
        from_text(number, &text)
    }

    async fn unseen(&mut self) -> Result<Vec<Found>, SourceError> {
        let found = match &self.fixed {
            Some(fixed) => fixed.clone(),
            None => self.listed().await?,
        };
        let seen = self.recover().await?;
        Ok(found.into_iter().filter(|file| !seen.paths.contains(&file.url)).collect())
    }

    async fn listed(&self) -> Result<Vec<Found>, SourceError> {
        let spec = Arc::clone(&self.spec);
        off_thread(move || list(&spec.path, spec.latest_first)).await
    }

    /// Writes the entry of the next batch. After a failure the log is read again before it is believed.
    async fn keep(&mut self, files: &[Found]) -> Result<u64, SourceError> {
        let number = self.recover().await?.entries;
        let entries: Vec<Entry> = files.iter().map(|file| file.entry(number)).collect();
        if let Err(error) = put_once(&*self.log, number, &to_text(&entries)).await {
            self.seen = None;
            return Err(error);
        }
        let seen = self.recover().await?;
        seen.paths.extend(entries.into_iter().map(|entry| entry.path));
        seen.entries = number + 1;
        Ok(number)
    }
}

#[async_trait]
impl Source for FilesSource {
    fn description(&self) -> String {
        format!("FileStreamSource[{}]", self.spec.path)
    }

    fn schema(&self) -> SchemaRef {
        files_schema()
    }

    fn provenance(&self) -> Vec<String> {
        ["file_path", "file_row"].map(str::to_owned).to_vec()
    }

    async fn initial(&mut self) -> Result<Position, SourceError> {
        self.listed().await?;
        Ok(position(-1))
    }

    async fn prepare_for_available_now(&mut self, _start: &Position) -> Result<(), SourceError> {
        self.fixed = Some(self.listed().await?);
        Ok(())
    }

    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError> {
        let next = next_entry(start)?;
        let logged = self.recover().await?.entries;
        if next > logged {
            return Err(missing_entry(logged));
        }
        if next < logged {
            // A batch that was planned and not logged by the stream: the same files again (F-030).
            let end = position(i64::try_from(next).unwrap_or(i64::MAX));
            return Ok(Some(Planned { end, latest: None, estimate: Estimate::default() }));
        }
        let mut files = self.unseen().await?;
        take(&mut files, self.spec.max_files_per_trigger, self.spec.max_bytes_per_trigger);
        if files.is_empty() {
            return Ok(None);
        }
        let number = self.keep(&files).await?;
        let end = position(i64::try_from(number).unwrap_or(i64::MAX));
        Ok(Some(Planned { end, latest: None, estimate: Estimate::default() }))
    }

    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError> {
        let (from, until) = (next_entry(&range.start)?, next_entry(&range.end)?);
        let mut files: Vec<(PathBuf, i64)> = Vec::new();
        for number in from..until {
            for entry in self.entry(number).await? {
                files.push((entry.local_path(number)?, entry.timestamp));
            }
        }
        let skip_blank = self.spec.format == FileFormat::Json;
        Ok(spawn(self.description(), move |out| rows::read(&files, skip_blank, out)))
    }

    async fn committed(&mut self, _end: &Position) -> Result<(), SourceError> {
        Ok(())
    }
}

fn position(log_offset: i64) -> Position {
    Position::Files(FilesPosition { log_offset })
}

/// Number of the first entry after a position.
fn next_entry(at: &Position) -> Result<u64, SourceError> {
    match at {
        Position::Files(at) => Ok(u64::try_from(at.log_offset.saturating_add(1)).unwrap_or(0)),
        other => Err(SourceError::config(
            format!("the checkpoint stands at {other:?}, which is no position in files"),
            OTHER_SOURCE,
        )),
    }
}

fn missing_entry(number: u64) -> SourceError {
    // No row is lost: it is the checkpoint that is not whole.
    SourceError::config(
        format!("checkpoint entry sources/0/{number} is missing: which files were read is no longer known"),
        DAMAGED,
    )
}
