//! The names of all metrics, with their labels and meanings. They are an interface: held by a snapshot test, told to
//! users in `docs/metrics.md`, which a test compares with this file.

use prometheus_client::metrics::MetricType;

/// One metric.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Its name as it is asked for, with its suffix.
    pub(crate) name: &'static str,
    pub(crate) kind: MetricType,
    /// Names of its labels, in the order in which values are given.
    pub(crate) labels: &'static [&'static str],
    /// Meaning and unit, one line.
    pub(crate) help: &'static str,
}

impl Definition {
    /// The name without the suffix that its kind puts behind it.
    pub(crate) fn family(&self) -> &'static str {
        let suffix = match self.kind {
            MetricType::Counter => "_total",
            MetricType::Info => "_info",
            _ => "",
        };
        self.name.strip_suffix(suffix).unwrap_or(self.name)
    }
}

const STREAM: &[&str] = &["stream"];
const PARTITION: &[&str] = &["stream", "topic", "partition"];
const TABLE: &[&str] = &["stream", "table"];

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Definition {
    Definition { name, kind: MetricType::Counter, labels, help }
}

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Definition {
    Definition { name, kind: MetricType::Gauge, labels, help }
}

const fn info(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Definition {
    Definition { name, kind: MetricType::Info, labels, help }
}

pub(crate) const BUILD: Definition = info("crisol_build_info", &["version"], "The build of the host; always 1");
pub(crate) const STREAM_STATE: Definition = gauge(
    "crisol_stream_state",
    &["stream", "state"],
    "1 for the state that the stream is in, 0 for the others: starting, running, idle, waiting (its source does not \
     answer), failed, ended",
);
pub(crate) const LAG_RECORDS: Definition = gauge(
    "crisol_source_lag_records",
    PARTITION,
    "Offsets between what was read and the newest of the partition, as of the source's last answer; without partition: \
     sum of the topic",
);
pub(crate) const LAG_SECONDS: Definition = gauge(
    "crisol_source_lag_seconds",
    PARTITION,
    "Age in seconds of the newest record that was read where others wait behind it, 0 where none does; without \
     partition: the greatest of the topic",
);
pub(crate) const BACKLOG_BYTES: Definition = gauge(
    "crisol_source_backlog_bytes",
    PARTITION,
    "Bytes that wait to be read, an estimate: lag in records times the mean size of those read; without partition: sum \
     of the topic",
);
pub(crate) const LOST_OFFSETS: Definition = counter(
    "crisol_source_lost_offsets_total",
    PARTITION,
    "Offsets that were to be read and that the source no longer had, where they can be counted; the contract let the \
     stream go on",
);
pub(crate) const ROWS_READ: Definition =
    counter("crisol_rows_read_total", STREAM, "Rows read from the source, of committed batches");
pub(crate) const ROWS_WRITTEN: Definition = counter("crisol_rows_written_total", STREAM, "Rows written to the table");
pub(crate) const ROWS_FILTERED: Definition =
    counter("crisol_rows_filtered_total", STREAM, "Rows read that were dropped on purpose");
pub(crate) const ROWS_REJECTED: Definition = counter(
    "crisol_rows_rejected_total",
    &["stream", "reason"],
    "Rows read that went to quarantine, by code; beyond 100 codes: other",
);
pub(crate) const ACCOUNTS_MISMATCH: Definition = counter(
    "crisol_accounts_mismatch_total",
    STREAM,
    "Batches whose rows in and rows out did not add up; nothing of them is committed, and the stream stops",
);
pub(crate) const BATCHES: Definition =
    counter("crisol_batches_total", &["stream", "outcome"], "Batches by outcome: committed, failed");
pub(crate) const BATCH_DURATION: Definition = Definition {
    name: "crisol_batch_duration_seconds",
    kind: MetricType::Histogram,
    labels: &["stream", "phase"],
    help: "Seconds that a committed batch took by phase: plan, write (reading, stages and writing, which go side by \
           side), commit",
};
pub(crate) const TABLE_LAST_COMMIT: Definition = gauge(
    "crisol_table_last_commit_timestamp_seconds",
    TABLE,
    "When this run last committed to the table, in seconds since 1970",
);
pub(crate) const TABLE_VERSION: Definition =
    gauge("crisol_table_version", TABLE, "Version of the table that holds the newest batch of this run");
pub(crate) const EXPECTATION_ROWS: Definition = counter(
    "crisol_expectation_rows_total",
    &["stream", "rule", "result"],
    "Rows that a rule judged, by result: passed, failed; beyond 100 rules: other",
);
pub(crate) const PLUGIN: Definition = info(
    "crisol_plugin_info",
    &["plugin", "version", "digest", "schema_versions"],
    "A component that may serve, with the SHA-256 of its file; always 1",
);
pub(crate) const PLUGIN_SWAPS: Definition = counter(
    "crisol_plugin_swaps_total",
    &["outcome"],
    "Changes in the folder of the components while the host runs, by outcome: served, refused",
);
pub(crate) const PROCESS_CPU: Definition =
    counter("process_cpu_seconds_total", &[], "Processor time of the host, user and system, in seconds");
pub(crate) const PROCESS_MEMORY: Definition =
    gauge("process_resident_memory_bytes", &[], "Memory of the host that is resident, in bytes");
pub(crate) const PROCESS_FILES: Definition =
    gauge("process_open_fds", &[], "Files and connections that the host has open");
pub(crate) const PROCESS_START: Definition =
    gauge("process_start_time_seconds", &[], "When the host was started, in seconds since 1970");

#[cfg(test)]
pub(crate) const ALL: [&Definition; 22] = [
    &BUILD,
    &STREAM_STATE,
    &LAG_RECORDS,
    &LAG_SECONDS,
    &BACKLOG_BYTES,
    &LOST_OFFSETS,
    &ROWS_READ,
    &ROWS_WRITTEN,
    &ROWS_FILTERED,
    &ROWS_REJECTED,
    &ACCOUNTS_MISMATCH,
    &BATCHES,
    &BATCH_DURATION,
    &TABLE_LAST_COMMIT,
    &TABLE_VERSION,
    &EXPECTATION_ROWS,
    &PLUGIN,
    &PLUGIN_SWAPS,
    &PROCESS_CPU,
    &PROCESS_MEMORY,
    &PROCESS_FILES,
    &PROCESS_START,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/metrics.md");

    #[test]
    fn the_document_lists_every_metric_as_it_is_defined() {
        let row = |metric: &Definition| {
            let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            format!("| `{}` | {} | {} | {} |\n", metric.name, metric.kind.as_str(), labels.join(", "), metric.help)
        };
        let table: String = ALL.into_iter().map(row).collect();
        assert!(DOCUMENT.contains(&table), "docs/metrics.md is to contain:\n{table}");
    }

    #[test]
    fn every_metric_that_the_document_names_exists() {
        let known: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
        let words = DOCUMENT.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: BTreeSet<&str> =
            words.filter(|word| word.starts_with("crisol_") || word.starts_with("process_")).collect();
        for name in &named {
            let histogram = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
            assert!(known.contains(name) || histogram.is_some_and(|name| known.contains(name)), "{name}");
        }
        assert!(named.len() >= known.len(), "{named:?}");
    }

    #[test]
    fn names_follow_the_conventions() {
        for metric in ALL {
            assert_eq!(metric.name.ends_with("_total"), metric.kind == MetricType::Counter, "{}", metric.name);
            assert!(!metric.help.contains('\n') && !metric.help.contains('\\'), "{}", metric.name);
        }
    }
}
