//! What a table held at one version: where a stream on a table of someone else begins (D-120).

use std::collections::BTreeSet;
use std::sync::Arc;

use crisol_checkpoint::TablePosition;
use deltalake::kernel::LogicalFileView;
use futures::TryStreamExt;

use super::commit::{AddedFile, Commit, TableLayout, unsupported};
use super::{TableSource, load, state_of, table_url};
use crate::SourceError;

impl TableSource {
    /// Where a new checkpoint begins: in the snapshot of the newest version; behind it when it is empty.
    pub(super) async fn newest_snapshot(&mut self) -> Result<TablePosition, SourceError> {
        let (version, commit) = self.load_snapshot(None).await?;
        let reservoir_id = self.opened_id().await?;
        let empty = commit.added.is_empty();
        self.snapshot = Some((version, Arc::new(commit)));
        let reservoir_version = if empty { version + 1 } else { version };
        Ok(TablePosition { reservoir_id, reservoir_version, index: 0, snapshot: !empty })
    }

    /// The files of the table at one version, always in the same order.
    pub(super) async fn snapshot_at(&mut self, version: i64) -> Result<Arc<Commit>, SourceError> {
        if let Some((known, commit)) = &self.snapshot
            && *known == version
        {
            return Ok(Arc::clone(commit));
        }
        let commit = match self.load_snapshot(Some(version)).await {
            Ok((_, commit)) => Arc::new(commit),
            Err(error) if self.log_reaches(version).await? => return Err(error),
            Err(error) => return Err(self.snapshot_gone(version, &error)),
        };
        self.snapshot = Some((version, Arc::clone(&commit)));
        Ok(commit)
    }

    /// Reads the table at a version, or at its newest.
    async fn load_snapshot(&mut self, version: Option<i64>) -> Result<(i64, Commit), SourceError> {
        let id = self.opened_id().await?;
        let name = &self.spec.name;
        let table = load(name, &table_url(name, &self.spec.path)?, version).await?.ok_or_else(|| self.no_table())?;
        let state = state_of(name, &table)?;
        let layout = TableLayout::of(name, state.protocol(), state.metadata())?;
        let found = i64::try_from(state.version()).unwrap_or(i64::MAX);
        if layout.id != id {
            return Err(SourceError::external(format!(
                "table `{name}` was replaced by another (id {}, before {id}) while it was opened",
                layout.id
            )));
        }
        let log = table.log_store();
        let views = state.snapshot().file_views(&*log, None).try_collect::<Vec<_>>().await;
        let views = views.map_err(|e| {
            SourceError::caused(format!("table `{name}`: its files at version {found} are not known"), e)
        })?;
        if views.iter().any(|file| file.deletion_vector_descriptor().is_some()) {
            return Err(unsupported(name, "deletion vectors"));
        }
        Ok((found, Commit::of(in_order(views))))
    }

    async fn opened_id(&mut self) -> Result<String, SourceError> {
        match self.open().await? {
            Some(opened) => Ok(opened.layout.id.clone()),
            None => Err(self.no_table()),
        }
    }

    /// Whether the log still has what a version is put together from: its own entry, and all or a log checkpoint before.
    async fn log_reaches(&mut self, version: i64) -> Result<bool, SourceError> {
        let names = self.log_names().await?;
        let entries: BTreeSet<i64> = names.iter().filter(|(_, kind)| kind == ".json").map(|(at, _)| *at).collect();
        let bases = names.iter().filter(|(at, kind)| kind.starts_with(".checkpoint.") && *at <= version);
        let base = bases.map(|(at, _)| at + 1).max().unwrap_or(0);
        Ok((base..=version).all(|needed| entries.contains(&needed)))
    }

    fn snapshot_gone(&self, version: i64, cause: &SourceError) -> SourceError {
        SourceError::data_loss(
            format!(
                "table `{}`: what it held at version {version}, where this stream began, is no longer in its log ({cause})",
                self.spec.name
            ),
            format!("log entries were cleaned up before all of it was read: {}", self.spec.anew),
        )
    }
}

/// Oldest first, equal times by path.
fn in_order(mut views: Vec<LogicalFileView>) -> Vec<AddedFile> {
    views.sort_by_cached_key(|file| (file.modification_time(), file.path().into_owned()));
    let added = views.iter().map(|file| AddedFile {
        path: uri(&file.path()),
        size: u64::try_from(file.size()).unwrap_or(0),
        rows: file.num_records().and_then(|rows| u64::try_from(rows).ok()),
        partition_values: file.partition_values_map(),
        changes: false,
    });
    added.collect()
}

/// The URI of a path that the library gives decoded. A whole URL stays: it leads out of the table, which is refused.
fn uri(path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'=' => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn a_path_becomes_a_uri_that_leads_to_the_same_file() {
        let root = Url::parse("file:///t/").unwrap();
        for path in ["day=1/a.parquet", "d=a%20b/x y.parquet", "at=12:30/q?#.parquet", "a:b\\c/ñ\n "] {
            let back = root.join(&uri(path)).unwrap().to_file_path().unwrap();
            assert_eq!(back.to_str().unwrap(), format!("/t/{path}"));
        }
        assert_eq!(uri("s3://b/c d"), "s3://b/c d");
    }
}
