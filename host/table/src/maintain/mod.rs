//! Upkeep of a table: small files put together, without a change of any row (D-102, R-031).
//!
//! `plan` says which files become one, `rewrite` writes them anew, `land` commits that. The library's `optimize` is never
//! called: two of its runs at once double every row (T-121).

mod land;
mod plan;
mod rewrite;

use std::sync::Arc;

use self::land::Compacting;
use self::plan::Group;
use crate::merge::live_files;
use crate::{CommitOutcome, Table, TableError};

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// Version of its last commit; the newest version when it committed nothing.
    pub version: i64,
    /// Data files of the table when it began.
    pub files_before: u64,
    /// The same without those that it put together, with those that it made.
    pub files_after: u64,
    /// Bytes of the data files when it began.
    pub bytes_before: u64,
    /// The same afterwards; `None` when nothing was written, only planned.
    pub bytes_after: Option<u64>,
}

struct Plan {
    groups: Vec<Group>,
    target_bytes: u64,
    before: Compaction,
}

impl Table {
    /// Puts small files of one partition together into files of up to `delta.targetFileSize` (128 MiB). Only files of
    /// one stream are put together, so that they still count as that stream's. Streams below see nothing of it.
    ///
    /// Safe beside whatever else writes to the table: a commit takes out files only as long as all of them are still in
    /// the version before. Files that are gone by then are left to whoever took them out.
    ///
    /// # Errors
    /// A file cannot be read, or holds another number of rows than the log says; the table cannot be written. What was
    /// committed until then stays, and nothing was lost.
    pub async fn compact(&self) -> Result<Compaction, TableError> {
        let Plan { groups, target_bytes, before } = self.plan_compaction().await?;
        let layout = Arc::new(self.layout().for_compaction(rewrite::file_bytes(target_bytes)));
        let mut sum = Compaction { bytes_after: Some(before.bytes_before), ..before };
        for bundle in plan::bundles(groups, target_bytes) {
            let rewritten = rewrite::groups(self.place(), &layout, bundle).await?;
            let mut compacting = Compacting::new(self.place(), self.log(), &layout, rewritten);
            if let CommitOutcome::Committed { version } = self.land(&mut compacting).await? {
                compacting.compare_rows(version).await?;
                compacting.count(version, &mut sum);
            }
        }
        Ok(sum)
    }

    /// What [`Table::compact`] would do now, without doing it.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn compactable(&self) -> Result<Compaction, TableError> {
        let Plan { groups, before, .. } = self.plan_compaction().await?;
        let gone: usize = groups.iter().map(|group| group.files.len() - 1).sum();
        Ok(Compaction { files_after: before.files_before - gone as u64, ..before })
    }

    async fn plan_compaction(&self) -> Result<Plan, TableError> {
        let version = self.latest_version().await?;
        let live = live_files(self.place(), self.log(), version).await?;
        let origins = self.origins(version).await?;
        let target_bytes = self.target_bytes().await;
        let (files, bytes) = (live.len() as u64, live.iter().map(plan::bytes).sum());
        let before =
            Compaction { version, files_before: files, files_after: files, bytes_before: bytes, bytes_after: None };
        Ok(Plan { groups: plan::groups(live, &origins, target_bytes), target_bytes, before })
    }

    async fn target_bytes(&self) -> u64 {
        let Some(text) = self.property(plan::TARGET).await else { return plan::TARGET_BYTES };
        plan::parse_bytes(&text).unwrap_or_else(|| {
            tracing::warn!(
                table = %self.spec().name,
                value = %text,
                "`{}` is no size such as `128mb`; files are made as large as without it", plan::TARGET
            );
            plan::TARGET_BYTES
        })
    }
}
