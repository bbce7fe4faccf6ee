//! What a rebuild needs of the table above: its rows as of a position, and what a rebuild of that table changed.

use std::sync::Arc;

use crisol_checkpoint::TablePosition;

use super::commit::AddedFile;
use super::{TableSource, TableSourceSpec, files};
use crate::chunks::spawn;
use crate::{Chunks, SourceError};

impl TableSource {
    /// The rows that the table held at a position: those of whole versions before it, and of its files up to there.
    pub(super) async fn rows_before(&mut self, end: &TablePosition) -> Result<Chunks, SourceError> {
        let mut held = Vec::new();
        let first = usize::try_from(end.index).unwrap_or(usize::MAX);
        if end.snapshot {
            held.extend(self.snapshot_at(end.reservoir_version).await?.added.iter().take(first).cloned());
        } else {
            if end.reservoir_version > 0 {
                held.extend(self.snapshot_at(end.reservoir_version - 1).await?.added.iter().cloned());
            }
            if first > 0 {
                let version = end.reservoir_version;
                let commit = self.commit(version).await?.ok_or_else(|| self.not_reached(version, version))?;
                held.extend(commit.added.into_iter().take(first));
            }
        }
        self.rows_of(end, self.spec.clone(), held).await
    }

    /// The rows of a range that is one rebuild, old and new.
    pub(super) async fn rebuilt_rows(
        &mut self,
        start: &TablePosition,
        end: &TablePosition,
    ) -> Result<Option<Chunks>, SourceError> {
        // A rebuild ends its batch; versions without rows may lie before it.
        if start.snapshot || end.snapshot || end.index > 0 || end.reservoir_version <= start.reservoir_version {
            return Ok(None);
        }
        let version = end.reservoir_version - 1;
        let commit = self.commit(version).await?.ok_or_else(|| self.not_reached(version, version))?;
        if !commit.rebuilt {
            return Ok(None);
        }
        let spec = TableSourceSpec { changes: true, ..self.spec.clone() };
        self.rows_of(end, spec, commit.added).await.map(Some)
    }

    async fn rows_of(
        &mut self,
        at: &TablePosition,
        spec: TableSourceSpec,
        held: Vec<AddedFile>,
    ) -> Result<Chunks, SourceError> {
        let Some(opened) = self.open().await? else { return Err(self.no_table()) };
        let (root, id) = (opened.root.clone(), opened.layout.id.clone());
        self.check_id(at, &id)?;
        let held = Arc::new(held);
        Ok(spawn(format!("table `{}`", spec.name), move |out| files::read(&spec, &root, &held, out)))
    }
}
