//! A compaction lands only on a version that still has every file that it takes out (R-030, T-121).

use std::collections::HashSet;

use async_trait::async_trait;
use bytes::Bytes;

use super::Compaction;
use super::plan::bytes;
use super::rewrite::Rewritten;
use crate::commit::Entries;
use crate::error::Place;
use crate::files::Layout;
use crate::log::Log;
use crate::merge::{LiveFile, live_files};
use crate::tail::Tail;
use crate::{PendingFile, TableError, entry};

/// What one commit puts together.
pub(super) struct Compacting<'a> {
    place: &'a Place,
    log: &'a Log,
    layout: &'a Layout,
    rewritten: Vec<Rewritten>,
    /// Rows of the table in the version that the entry follows; `None` when a file says not how many it has.
    rows: Option<u64>,
}

impl<'a> Compacting<'a> {
    pub(super) fn new(place: &'a Place, log: &'a Log, layout: &'a Layout, rewritten: Vec<Rewritten>) -> Self {
        Self { place, log, layout, rewritten, rows: None }
    }

    /// The table must have as many rows as before.
    pub(super) async fn compare_rows(&self, version: i64) -> Result<(), TableError> {
        let after = rows(&live_files(self.place, self.log, version).await?);
        match self.rows.zip(after) {
            Some((before, after)) if before != after => Err(self.place.mismatch(
                format!("the compaction of version {version} left {after} rows of {before}"),
                format!("restore the table to version {} with another engine, and report this", version - 1),
            )),
            _ => Ok(()),
        }
    }

    /// Adds what landed to the sum.
    pub(super) fn count(&self, version: i64, sum: &mut Compaction) {
        sum.version = version;
        for Rewritten { group, adds } in &self.rewritten {
            sum.files_after -= group.files.len() as u64;
            sum.files_after += adds.len() as u64;
            let added: u64 = adds.iter().map(|file| u64::try_from(file.size).unwrap_or_default()).sum();
            let removed: u64 = group.files.iter().map(bytes).sum();
            sum.bytes_after = sum.bytes_after.map(|bytes| (bytes + added).saturating_sub(removed));
        }
    }
}

#[async_trait]
impl Entries for Compacting<'_> {
    /// Files are never written again, so what was made of them holds as long as they are all there. What others took out
    /// meanwhile is theirs.
    async fn done(&mut self, tail: &mut Tail) -> Result<bool, TableError> {
        let live = live_files(self.place, self.log, tail.version()).await?;
        self.rows = rows(&live);
        let live: HashSet<&str> = live.iter().map(|file| file.path.as_str()).collect();
        let all_there = |one: &Rewritten| one.group.files.iter().all(|file| live.contains(file.path.as_str()));
        let (here, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.rewritten).into_iter().partition(all_there);
        self.rewritten = here;
        let gone: Vec<PendingFile> = gone.into_iter().flat_map(|one| one.adds).collect();
        self.layout.discard(&gone).await;
        Ok(self.rewritten.is_empty())
    }

    async fn text(&mut self, _tail: &mut Tail, token: &str, seen: i64) -> Result<Bytes, TableError> {
        let compacted = entry::Compacted {
            removes: self.rewritten.iter().flat_map(|one| &one.group.files).collect(),
            adds: self.rewritten.iter().flat_map(|one| &one.adds).collect(),
            stream: self.rewritten.first().and_then(|one| one.group.stream.as_deref()),
        };
        entry::compaction(&compacted, token, seen).map_err(|e| self.place.unwritten(e))
    }
}

fn rows(files: &[LiveFile]) -> Option<u64> {
    files.iter().map(|file| file.rows).sum()
}
