//! Where streams stand: what their checkpoints and tables hold, and what running ones tell.

use crisol_checkpoint::LogState;
use crisol_stream::Failure;
use crisol_table::TableSummary;
use serde::Serialize;

use crate::inspect::{Tables, find};
use crate::plan::StreamPlan;
use crate::report::StreamReport;
use crate::{EngineError, open};

/// Where a stream stands.
#[derive(Debug, Clone, Serialize)]
pub struct StreamStatus {
    /// Its name.
    pub stream: String,
    /// The table that it fills.
    pub table: String,
    /// What it does: a [`crisol_observe::StreamState`], or `not_running` where it said that it goes on and is not heard
    /// any more; absent when no run told anything.
    pub state: Option<&'static str>,
    /// Newest batch whose range is logged.
    pub batch_logged: Option<i64>,
    /// Newest batch that is committed for good.
    pub batch_committed: Option<i64>,
    /// Where the next batch starts, in the checkpoint's text.
    pub position: Option<String>,
    /// Version of the table.
    pub table_version: Option<i64>,
    /// Rows of the table, by its statistics.
    pub table_rows: Option<u64>,
    /// Rows of its quarantine; absent when nothing was ever refused.
    pub quarantine_rows: Option<u64>,
    /// What the run that goes on, or the last one, told.
    pub run: Option<StreamReport>,
}

impl Tables {
    /// Where streams stand: those of these names, or that fill these tables; all when none is named.
    ///
    /// # Errors
    /// There is no such stream, or a checkpoint or table cannot be read.
    pub async fn status(&self, names: &[String]) -> Result<Vec<StreamStatus>, EngineError> {
        let is_called = |stream: &StreamPlan, name: &str| stream.name == name || stream.table.name == name;
        if let Some(name) = names.iter().find(|name| !self.streams.iter().any(|stream| is_called(stream, name))) {
            let known = self.streams.iter().map(|stream| stream.name.clone()).collect();
            return Err(EngineError::UnknownStream { name: name.clone(), known });
        }
        let mut all = Vec::new();
        for stream in &self.streams {
            if names.is_empty() || names.iter().any(|name| is_called(stream, name)) {
                all.push(status(stream).await?);
            }
        }
        Ok(all)
    }
}

async fn status(stream: &StreamPlan) -> Result<StreamStatus, EngineError> {
    // Before the rest: what the stream tells must not be newer than what it has done.
    let run = StreamReport::read(&stream.checkpoint);
    let state = checkpoint_state(stream).await?;
    let table = summary(stream, &stream.table.path).await?;
    let quarantine = summary(stream, &stream.table.quarantine_path).await?;
    let number = |batch: u64| i64::try_from(batch).unwrap_or(i64::MAX);
    let end = state.offsets.as_ref().and_then(|logged| logged.entry.ends.first()).and_then(Option::as_ref);
    Ok(StreamStatus {
        stream: stream.name.clone(),
        table: stream.table.name.clone(),
        state: run.as_ref().map(word),
        batch_logged: state.offsets.as_ref().map(|logged| number(logged.batch)),
        batch_committed: state.newest_commit.map(number),
        position: end.or(state.initial.as_ref()).map(ToString::to_string),
        table_version: table.as_ref().map(|table| table.version),
        table_rows: table.as_ref().and_then(|table| table.rows),
        quarantine_rows: quarantine.and_then(|quarantine| quarantine.rows),
        run,
    })
}

fn word(run: &StreamReport) -> &'static str {
    if run.state.is_alive() && !run.is_running() { "not_running" } else { run.state.name() }
}

/// What the checkpoint holds; one that does not exist is not made.
async fn checkpoint_state(stream: &StreamPlan) -> Result<LogState, EngineError> {
    if !stream.checkpoint.join("metadata").is_file() {
        return Ok(LogState::default());
    }
    let fail = |failure: Failure| EngineError::opening(&stream.name, failure);
    let checkpoint = open::open_checkpoint(stream).await.map_err(fail)?;
    checkpoint.state().await.map_err(|error| fail(error.into()))
}

async fn summary(stream: &StreamPlan, path: &str) -> Result<Option<TableSummary>, EngineError> {
    let Some(table) = find(stream, path).await? else { return Ok(None) };
    table.summary().await.map(Some).map_err(|error| EngineError::opening(&stream.name, error))
}
