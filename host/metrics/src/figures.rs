//! What is counted, stream by stream, as events tell it.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crisol_observe::{Event, PartitionLag, Progress, RuleCount, Served, StreamState};
use prometheus_client::metrics::histogram::Histogram;

use crate::bounded::ByValue;

/// Upper bounds of a batch's times, in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0];

/// All that is counted.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) streams: BTreeMap<String, StreamFigures>,
    /// Components that may serve.
    pub(crate) components: Vec<Served>,
    pub(crate) swaps_served: u64,
    pub(crate) swaps_refused: u64,
}

/// What is counted of a stream.
#[derive(Debug, Default)]
pub(crate) struct StreamFigures {
    pub(crate) table: String,
    pub(crate) state: StreamState,
    pub(crate) lag: Vec<PartitionLag>,
    pub(crate) lost: BTreeMap<(String, i32), u64>,
    pub(crate) rows_read: u64,
    pub(crate) rows_written: u64,
    pub(crate) rows_filtered: u64,
    pub(crate) rejected: ByValue<u64>,
    pub(crate) rules: ByValue<RuleCount>,
    pub(crate) mismatches: u64,
    pub(crate) batches: Batches,
    pub(crate) phases: PhaseTimes,
    /// Version of the table, and when it was committed; `None` before the first batch.
    pub(crate) commit: Option<Commit>,
}

/// Batches by what came of them.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    pub(crate) committed: u64,
    pub(crate) failed: u64,
    under_way: bool,
}

/// Times of batches by phase.
#[derive(Debug)]
pub(crate) struct PhaseTimes {
    pub(crate) plan: Histogram,
    pub(crate) write: Histogram,
    pub(crate) commit: Histogram,
}

impl Default for PhaseTimes {
    fn default() -> Self {
        let [plan, write, commit] = [(); 3].map(|()| Histogram::new(BUCKETS));
        Self { plan, write, commit }
    }
}

/// The newest commit of a table.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) version: i64,
    /// In seconds since 1970.
    pub(crate) at: f64,
}

impl Figures {
    /// Counts an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        match event {
            Event::Serving { components } => self.components.clone_from(components),
            Event::Swapped { .. } => self.swaps_served += 1,
            Event::PluginRefused { .. } => self.swaps_refused += 1,
            _ => {}
        }
        if let Some(stream) = event.stream() {
            self.streams.entry(stream.into()).or_default().observe(event);
        }
    }
}

impl StreamFigures {
    fn observe(&mut self, event: &Event) {
        self.state = self.state.after(event);
        match event {
            Event::Started { table, .. } => self.table.clone_from(table),
            Event::Planned { .. } => self.batches.under_way = true,
            Event::Lag { partitions, .. } => self.lag.clone_from(partitions),
            Event::Committed(progress) => self.committed(progress),
            Event::Unbalanced { .. } => self.mismatches += 1,
            Event::Ended { error, .. } => self.ended(error.is_some()),
            _ => {}
        }
    }

    fn committed(&mut self, progress: &Progress) {
        let accounts = &progress.host.accounts;
        self.rows_read += accounts.rows_in;
        self.rows_written += accounts.rows_written;
        self.rows_filtered += accounts.rows_filtered();
        for (code, rows) in &accounts.rejected {
            *self.rejected.of(code) += rows;
        }
        for (rule, count) in &accounts.expectations {
            let known = self.rules.of(rule);
            known.passed += count.passed;
            known.failed += count.failed;
        }
        for gap in &progress.host.losses {
            *self.lost.entry((gap.topic.clone(), gap.partition)).or_default() += gap.offsets.unwrap_or(0);
        }
        if !progress.host.lag.is_empty() {
            self.lag.clone_from(&progress.host.lag);
        }
        self.batches.committed += 1;
        self.batches.under_way = false;
        self.phases.plan.observe(progress.host.phases.plan_seconds);
        self.phases.write.observe(progress.host.phases.write_seconds);
        self.phases.commit.observe(progress.host.phases.commit_seconds);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.commit = Some(Commit { version: progress.host.table_version, at: since.as_secs_f64() });
    }

    /// Of a stream that ended well only its state is left. One that failed still concerns someone: what it counted stays,
    /// so that alerts on its table and accounts can be heard. How far it is behind nobody knows any more.
    fn ended(&mut self, failed: bool) {
        self.lag.clear();
        if failed {
            self.batches.failed += u64::from(self.batches.under_way);
        }
    }

    /// Whether more than its state is told.
    pub(crate) fn is_told(&self) -> bool {
        self.state != StreamState::Ended
    }
}
