//! Upkeep of the tables of a project, beside a running host or without one.

use crisol_table::{Compaction, TableWriter};
use serde::Serialize;

use crate::inspect::find;
use crate::plan::StreamPlan;
use crate::{EngineError, Tables};

/// What upkeep did to a table, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Maintained {
    /// Name of the table.
    pub table: String,
    /// Whether this is the table of its refused rows.
    pub quarantine: bool,
    /// Where it lies.
    pub path: String,
    /// Its version afterwards.
    pub version: i64,
    /// Data files before.
    pub files_before: u64,
    /// Data files after.
    pub files_after: u64,
    /// Bytes of the data files before.
    pub bytes_before: u64,
    /// Bytes of the data files after; absent when nothing was written.
    pub bytes_after: Option<u64>,
}

impl Tables {
    /// Puts small files together, in the tables named and their quarantines; in all that exist when none is named. With
    /// `dry_run` nothing is written. One table that fails does not keep the others from it.
    ///
    /// # Errors
    /// No contract describes a table that was named; nothing was done then.
    pub async fn maintain(
        &self,
        names: &[String],
        dry_run: bool,
    ) -> Result<Vec<Result<Maintained, EngineError>>, EngineError> {
        if let Some(name) = names.iter().find(|name| !self.streams.iter().any(|stream| stream.table.name == **name)) {
            return Err(self.unknown(name));
        }
        let mut all = Vec::new();
        for stream in self.streams.iter().filter(|stream| names.is_empty() || names.contains(&stream.table.name)) {
            for quarantine in [false, true] {
                all.extend(maintain(stream, quarantine, dry_run).await.transpose());
            }
        }
        Ok(all)
    }
}

/// `None` when there is no such table yet.
async fn maintain(stream: &StreamPlan, quarantine: bool, dry_run: bool) -> Result<Option<Maintained>, EngineError> {
    let path = if quarantine { &stream.table.quarantine_path } else { &stream.table.path };
    let Some(table) = find(stream, path).await? else { return Ok(None) };
    let done = if dry_run { table.compactable().await } else { table.compact().await };
    table.settled().await;
    let Compaction { version, files_before, files_after, bytes_before, bytes_after } =
        done.map_err(|failure| EngineError::opening(&stream.name, failure))?;
    Ok(Some(Maintained {
        table: stream.table.name.clone(),
        quarantine,
        path: path.clone(),
        version,
        files_before,
        files_after,
        bytes_before,
        bytes_after,
    }))
}
