//! What happens in a running host, told to whoever listens.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::{Accounts, ColumnChanges, PartitionLag, Progress};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// The stream runs.
    Started {
        /// Its name.
        stream: String,
        /// The table that it fills.
        table: String,
    },
    /// A batch was planned and logged.
    Planned {
        /// Which stream.
        stream: String,
        /// Which batch.
        batch: u64,
        /// Rows in it, as an estimate.
        rows: Option<u64>,
        /// Rows that wait in all, this batch included, as an estimate.
        backlog_rows: Option<u64>,
        /// True when the batch was planned by an earlier run.
        rerun: bool,
    },
    /// Rows went through the stages.
    Rows {
        /// Which stream.
        stream: String,
        /// Rows read since the last such event.
        rows: u64,
    },
    /// A batch is committed.
    Committed(Box<Progress>),
    /// Nothing waits; at most one in ten seconds (C-023).
    Idle {
        /// Which stream.
        stream: String,
    },
    /// The stream holds its checkpoint, and its source answered; told once in a run.
    Ready {
        /// Which stream.
        stream: String,
    },
    /// Something outside did not answer; the stream tries again by itself.
    Waiting {
        /// Which stream.
        stream: String,
        /// What did not answer, and how.
        reason: String,
        /// Tries that failed since it last answered.
        tries: u32,
        /// Pause before the next.
        retry_in: Duration,
    },
    /// What did not answer does so again.
    Recovered {
        /// Which stream.
        stream: String,
    },
    /// The source was asked how far it reaches.
    Lag {
        /// Which stream.
        stream: String,
        /// All partitions that it reads; none for sources without.
        partitions: Vec<PartitionLag>,
    },
    /// Something a person should know; the stream goes on.
    Warning {
        /// Which stream.
        stream: String,
        /// What, and what to do.
        text: String,
    },
    /// Rows in and rows out of a batch do not add up: nothing of it is committed, and the stream ends.
    Unbalanced {
        /// Which stream.
        stream: String,
    },
    /// All components that may serve from now on; told at the start, and whenever they are others.
    Serving {
        /// In the order in which they are asked.
        components: Vec<Served>,
    },
    /// A component was exchanged: from their next batch on, these streams run `to` in place of `from`.
    Swapped {
        /// Its name.
        component: String,
        /// What served, in the order in which schema versions are looked for.
        from: Vec<Build>,
        /// What serves in its place.
        to: Vec<Build>,
        /// Which streams.
        streams: Vec<String>,
        /// Columns that it gives, before and after; absent where they are the same.
        columns: Option<ColumnChanges>,
    },
    /// A file in the folder of the components may not serve; what served goes on.
    PluginRefused {
        /// Which file.
        path: String,
        /// Why.
        reason: String,
        /// Columns of the table, and those that it would get; absent where the reason is another one.
        columns: Option<ColumnChanges>,
    },
    /// The stream ended.
    Ended {
        /// Which stream.
        stream: String,
        /// What became of all rows of this run.
        accounts: Accounts,
        /// Batches committed in this run.
        batches: u64,
        /// Why it failed; `None` when it ended well.
        error: Option<String>,
    },
}

impl Event {
    /// The stream that it is about; `None` when it is about the host.
    pub fn stream(&self) -> Option<&str> {
        match self {
            Self::Started { stream, .. }
            | Self::Planned { stream, .. }
            | Self::Rows { stream, .. }
            | Self::Idle { stream }
            | Self::Ready { stream }
            | Self::Waiting { stream, .. }
            | Self::Recovered { stream }
            | Self::Lag { stream, .. }
            | Self::Warning { stream, .. }
            | Self::Unbalanced { stream }
            | Self::Ended { stream, .. } => Some(stream),
            Self::Committed(progress) => progress.name.as_deref(),
            Self::Serving { .. } | Self::Swapped { .. } | Self::PluginRefused { .. } => None,
        }
    }
}

/// A component that may serve.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Served {
    /// Its own name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// SHA-256 of its file, lower-case hex.
    pub digest: String,
    /// Schema versions that it handles.
    pub schema_versions: String,
}

/// One build of a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Build {
    /// Its semantic version.
    pub version: String,
    /// SHA-256 of its file, lower-case hex.
    pub digest: String,
}

/// Listens to events. Called from the streams' tasks: it returns soon and never fails (O-013).
pub trait Observer: Send + Sync {
    /// Takes one event.
    fn observe(&self, event: &Event);
}

/// All who listen.
#[derive(Clone, Default)]
pub struct Observers(Vec<Arc<dyn Observer>>);

impl Observers {
    /// Adds a listener.
    pub fn add(&mut self, observer: Arc<dyn Observer>) {
        self.0.push(observer);
    }

    /// Tells everyone.
    pub fn tell(&self, event: &Event) {
        for observer in &self.0 {
            observer.observe(event);
        }
    }
}

impl std::fmt::Debug for Observers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Observers").field(&self.0.len()).finish()
    }
}
