//! What a running stream tells of itself in a file beside its checkpoint, for `host status`.
//!
//! Nothing depends on the file: it may be missing, old or damaged. The entries of the checkpoint tell what is done, this one
//! what goes on.

mod file;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crisol_observe::{Accounts, Event, Lag, PartitionLag, StreamState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use self::file::ReportFile;

const SCHEMA: &str = "crisol.stream_status/v1";

/// A stream that was not heard for so long does not run, whatever it told last.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// What a stream told last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    schema: String,
    /// Its name.
    pub stream: String,
    /// The table that it fills.
    pub table: String,
    /// Id of this start.
    pub run_id: String,
    /// When it was started, RFC 3339.
    pub started: String,
    /// When it told this, RFC 3339.
    pub updated: String,
    /// What it does.
    pub state: StreamState,
    /// Since when, RFC 3339.
    pub since: String,
    /// While it waits: for what, and how often it has tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How far it is behind in all; absent until its source tells, and for sources that do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag: Option<Lag>,
    /// The same for each partition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<PartitionLag>,
    /// Batches committed in this run.
    pub batches: u64,
    /// What became of the rows of this run.
    pub accounts: Accounts,
}

/// What a stream waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What does not answer, and how.
    pub reason: String,
    /// Tries that failed.
    pub tries: u32,
    /// When it tries again, RFC 3339.
    pub retry_at: String,
}

impl StreamReport {
    /// A stream that starts.
    pub(crate) fn of(stream: &str, table: &str, run_id: &str) -> Self {
        let now = rfc3339(Timestamp::now());
        Self {
            schema: SCHEMA.into(),
            stream: stream.into(),
            table: table.into(),
            run_id: run_id.into(),
            started: now.clone(),
            updated: now.clone(),
            state: StreamState::default(),
            since: now,
            waiting: None,
            error: None,
            lag: None,
            partitions: Vec::new(),
            batches: 0,
            accounts: Accounts::default(),
        }
    }

    /// What the stream of a checkpoint told last; `None` when it told nothing that can be understood.
    pub(crate) fn read(checkpoint: &Path) -> Option<Self> {
        let report: Self = serde_json::from_slice(&fs::read(path(checkpoint)).ok()?).ok()?;
        (report.schema == SCHEMA).then_some(report)
    }

    /// Whether it runs: it said so, and not too long ago.
    pub fn is_running(&self) -> bool {
        let silent = self.updated.parse::<Timestamp>().map(|updated| Timestamp::now().duration_since(updated));
        let heard =
            silent.is_ok_and(|silent| silent <= jiff::SignedDuration::try_from(SILENCE_MAX).unwrap_or_default());
        self.state.is_alive() && heard
    }

    /// Takes in an event of the stream; whether it does something else from now on, or waits in another way.
    fn take_in(&mut self, event: &Event) -> bool {
        let before = (self.state, self.waiting.clone());
        self.state = self.state.after(event);
        match event {
            Event::Waiting { reason, tries, retry_in, .. } => {
                let retry_at = Timestamp::now().checked_add(*retry_in).unwrap_or(Timestamp::MAX);
                self.waiting = Some(Waiting { reason: reason.clone(), tries: *tries, retry_at: rfc3339(retry_at) });
            }
            Event::Lag { partitions, .. } => self.behind(partitions),
            Event::Committed(progress) => {
                self.accounts.add(&progress.host.accounts);
                self.batches += 1;
                self.behind(&progress.host.lag);
            }
            Event::Ended { accounts, batches, error, .. } => {
                self.accounts.clone_from(accounts);
                self.batches = *batches;
                self.error.clone_from(error);
            }
            _ => {}
        }
        if self.state != StreamState::Waiting {
            self.waiting = None;
        }
        if before.0 != self.state {
            self.since = rfc3339(Timestamp::now());
        }
        before != (self.state, self.waiting.clone())
    }

    fn behind(&mut self, partitions: &[PartitionLag]) {
        if !partitions.is_empty() {
            self.lag = Some(partitions.iter().collect());
            self.partitions = partitions.to_vec();
        }
    }
}

/// Where the stream of a checkpoint tells.
fn path(checkpoint: &Path) -> PathBuf {
    checkpoint.join("status.json")
}

fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests;
