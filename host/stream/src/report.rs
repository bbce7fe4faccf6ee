//! The progress object of a batch.

use std::collections::BTreeMap;
use std::time::Duration;

use crisol_checkpoint::Position;
use crisol_observe::{Accounts, Gap, HostProgress, PartitionLag, Phases, Progress, SinkProgress, SourceProgress, rate};
use tokio::time::Instant;

/// Times of the steps of a batch, under Spark's names (O-002).
#[derive(Debug)]
pub(crate) struct Timings {
    began: Instant,
    steps: BTreeMap<&'static str, u64>,
    phases: Phases,
}

impl Timings {
    pub(crate) fn begin() -> Self {
        let steps = ["latestOffset", "queryPlanning", "walCommit", "getBatch", "addBatch", "commitOffsets"];
        let steps = steps.into_iter().map(|step| (step, 0)).collect();
        Self { began: Instant::now(), steps, phases: Phases::default() }
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Adds the time since `from` to a step.
    pub(crate) fn add(&mut self, step: &'static str, from: Instant) {
        let elapsed = from.elapsed();
        *self.steps.entry(step).or_default() += milliseconds(elapsed);
        match step {
            "latestOffset" | "walCommit" => self.phases.plan_seconds += elapsed.as_secs_f64(),
            "commitOffsets" => self.phases.commit_seconds += elapsed.as_secs_f64(),
            _ => {}
        }
    }

    /// All rows of the batch are in files, since `from`.
    pub(crate) fn wrote(&mut self, from: Instant) {
        self.phases.write_seconds += from.elapsed().as_secs_f64();
    }

    /// The outcome is bound and committed, since `from`.
    pub(crate) fn committed(&mut self, from: Instant) {
        self.phases.commit_seconds += from.elapsed().as_secs_f64();
    }

    fn close(mut self) -> (u64, BTreeMap<&'static str, u64>, Phases) {
        let whole = milliseconds(self.began.elapsed());
        self.steps.insert("triggerExecution", whole);
        (whole, self.steps, self.phases)
    }
}

/// All that a progress object tells besides times and rates.
pub(crate) struct Finished<'a> {
    pub(crate) stream: &'a str,
    pub(crate) checkpoint_id: String,
    pub(crate) run_id: String,
    pub(crate) batch: u64,
    pub(crate) source: String,
    pub(crate) table_path: String,
    pub(crate) start: &'a Position,
    pub(crate) end: &'a Position,
    pub(crate) latest: Option<&'a Position>,
    pub(crate) accounts: Accounts,
    pub(crate) components: BTreeMap<String, String>,
    pub(crate) table_version: i64,
    pub(crate) backlog_rows: Option<u64>,
    pub(crate) metrics: BTreeMap<String, String>,
    pub(crate) lag: Vec<PartitionLag>,
    pub(crate) losses: Vec<Gap>,
}

/// Builds the progress object; `since_last` is the time since the trigger before.
pub(crate) fn progress(finished: Finished<'_>, timings: Timings, since_last: Option<Duration>) -> Progress {
    let (whole, duration_ms, phases) = timings.close();
    let rows = finished.accounts.rows_in;
    let began_ms = now_ms().saturating_sub(i64::try_from(whole).unwrap_or(i64::MAX));
    let input_rows_per_second = since_last.and_then(|time| rate(rows, milliseconds(time)));
    let processed_rows_per_second = rate(rows, whole);
    let source = SourceProgress {
        description: finished.source,
        start_offset: finished.start.to_json(),
        end_offset: finished.end.to_json(),
        latest_offset: finished.latest.map_or(serde_json::Value::Null, Position::to_json),
        num_input_rows: rows,
        input_rows_per_second,
        processed_rows_per_second,
        metrics: finished.metrics,
    };
    let rows_written = i64::try_from(finished.accounts.rows_written).unwrap_or(i64::MAX);
    Progress {
        id: finished.checkpoint_id,
        run_id: finished.run_id,
        name: Some(finished.stream.into()),
        timestamp: iso(began_ms),
        batch_id: finished.batch,
        batch_duration: whole,
        num_input_rows: rows,
        input_rows_per_second,
        processed_rows_per_second,
        duration_ms,
        state_operators: [],
        sources: vec![source],
        sink: SinkProgress {
            description: format!("DeltaSink[{}]", finished.table_path),
            num_output_rows: rows_written,
        },
        host: HostProgress {
            accounts: finished.accounts,
            components: finished.components,
            table_version: finished.table_version,
            phases,
            backlog_rows: finished.backlog_rows,
            lag: finished.lag,
            losses: finished.losses,
        },
    }
}

/// How far behind the source a batch ends, in Spark's words (K-110, K-113); nothing for sources without offsets.
pub(crate) fn lag_metrics(lag: &[PartitionLag]) -> BTreeMap<String, String> {
    let behind = || lag.iter().map(|partition| partition.records);
    let (Some(min), Some(max)) = (behind().min(), behind().max()) else { return BTreeMap::new() };
    let sum: u128 = behind().map(u128::from).sum();
    let mut metrics = BTreeMap::from([
        ("minOffsetsBehindLatest".into(), min.to_string()),
        ("maxOffsetsBehindLatest".into(), max.to_string()),
        ("avgOffsetsBehindLatest".into(), (sum as f64 / lag.len() as f64).to_string()),
    ]);
    let bytes: Option<u64> = lag.iter().map(|partition| partition.bytes).sum();
    if let Some(bytes) = bytes {
        metrics.insert("estimatedTotalBytesBehindLatest".into(), bytes.to_string());
    }
    metrics
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn iso(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .map(|time| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
        .unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k110_lag_is_text_over_all_partitions_and_bytes_only_where_all_are_known() {
        let of = |records, bytes| PartitionLag { topic: "t".into(), partition: 0, records, seconds: None, bytes };
        let metrics = lag_metrics(&[of(0, Some(0)), of(15, Some(300)), of(3, Some(6))]);
        let texts: Vec<_> = metrics.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("avgOffsetsBehindLatest", "6"),
                ("estimatedTotalBytesBehindLatest", "306"),
                ("maxOffsetsBehindLatest", "15"),
                ("minOffsetsBehindLatest", "0"),
            ]
        );
        assert!(!lag_metrics(&[of(1, None)]).contains_key("estimatedTotalBytesBehindLatest"));
        assert!(lag_metrics(&[]).is_empty());
    }

    #[test]
    fn o001_timestamps_have_milliseconds_and_z() {
        assert_eq!(iso(1_764_444_016_131), "2025-11-29T19:20:16.131Z");
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
    }
}
