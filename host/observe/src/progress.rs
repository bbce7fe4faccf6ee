//! Spark's progress object, key for key (O-001 … O-007), with ours under `host` (O-015).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Accounts, Gap, PartitionLag};

/// One finished batch, or an idle trigger, as Spark's `StreamingQueryProgress` prints it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Id of the checkpoint, for its whole life.
    pub id: String,
    /// Id of this start.
    pub run_id: String,
    /// Name of the stream.
    pub name: Option<String>,
    /// Start of the trigger, ISO 8601 with milliseconds and `Z`.
    pub timestamp: String,
    /// Number of the batch.
    pub batch_id: u64,
    /// Milliseconds of the whole batch.
    pub batch_duration: u64,
    /// Rows read.
    pub num_input_rows: u64,
    /// Rows over the time since the trigger before; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_rows_per_second: Option<f64>,
    /// Rows over the time of this trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processed_rows_per_second: Option<f64>,
    /// Milliseconds by step (O-002).
    pub duration_ms: BTreeMap<&'static str, u64>,
    /// No stage keeps state: always empty.
    pub state_operators: [(); 0],
    /// One source.
    pub sources: Vec<SourceProgress>,
    /// The table.
    pub sink: SinkProgress,
    /// What Spark does not have.
    pub host: HostProgress,
}

/// `sources[]` of the progress object (O-005).
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceProgress {
    /// `KafkaV2[Subscribe[orders.v1]]` (K-114).
    pub description: String,
    /// Where the batch began.
    pub start_offset: serde_json::Value,
    /// Where it ended, exclusive.
    pub end_offset: serde_json::Value,
    /// Where the source stands; null when unknown.
    pub latest_offset: serde_json::Value,
    /// Rows read.
    pub num_input_rows: u64,
    /// As in the whole object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_rows_per_second: Option<f64>,
    /// As in the whole object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processed_rows_per_second: Option<f64>,
    /// Source's own figures, as text (K-110).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, String>,
}

/// `sink` of the progress object (O-006).
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SinkProgress {
    /// `DeltaSink[<path>]`.
    pub description: String,
    /// Rows written to the table.
    pub num_output_rows: i64,
}

/// What the host adds.
#[derive(Debug, Clone, Serialize)]
pub struct HostProgress {
    /// What became of each row.
    pub accounts: Accounts,
    /// `name@version` of each component, with its SHA-256.
    pub components: BTreeMap<String, String>,
    /// Version of the table that holds the batch.
    pub table_version: i64,
    /// Where the time of the batch went.
    pub phases: Phases,
    /// Rows that wait behind this batch, as an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_rows: Option<u64>,
    /// How far behind each partition the batch ends, as far as the source was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lag: Vec<PartitionLag>,
    /// Offsets that the batch passed over (K-072).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Gap>,
}

/// Times of a batch. Its rows are read, taken through the stages and written side by side: that is one phase.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Phases {
    /// Asking the source how far it reaches, and binding the range.
    pub plan_seconds: f64,
    /// Reading the range, running the stages, writing the files.
    pub write_seconds: f64,
    /// Binding the outcome, committing to quarantine and table, marking the batch.
    pub commit_seconds: f64,
}

/// Rows per second, rounded to one decimal; `None` when it would not be a number (O-007).
pub fn rate(rows: u64, milliseconds: u64) -> Option<f64> {
    (milliseconds > 0).then(|| (rows as f64 * 10_000.0 / milliseconds as f64).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o007_rates_have_one_decimal_and_no_infinity() {
        assert_eq!(rate(2, 754), Some(2.7));
        assert_eq!(rate(0, 100), Some(0.0));
        assert_eq!(rate(5, 0), None);
    }

    #[test]
    fn o001_keys_come_in_spark_order() {
        let source = SourceProgress {
            description: "FileStreamSource[file:/in]".into(),
            start_offset: serde_json::json!({"logOffset": 0}),
            end_offset: serde_json::json!({"logOffset": 1}),
            latest_offset: serde_json::Value::Null,
            num_input_rows: 2,
            input_rows_per_second: Some(0.5),
            processed_rows_per_second: Some(2.7),
            metrics: BTreeMap::new(),
        };
        let progress = Progress {
            id: "c".into(),
            run_id: "r".into(),
            name: Some("q1".into()),
            timestamp: "2026-11-29T19:40:16.131Z".into(),
            batch_id: 1,
            batch_duration: 754,
            num_input_rows: 2,
            input_rows_per_second: Some(0.5),
            processed_rows_per_second: Some(2.7),
            duration_ms: BTreeMap::from([("addBatch", 548), ("triggerExecution", 754)]),
            state_operators: [],
            sources: vec![source],
            sink: SinkProgress { description: "DeltaSink[/t]".into(), num_output_rows: 2 },
            host: HostProgress {
                accounts: Accounts::default(),
                components: BTreeMap::new(),
                table_version: 1,
                phases: Phases::default(),
                backlog_rows: None,
                lag: Vec::new(),
                losses: Vec::new(),
            },
        };
        let text = serde_json::to_string(&progress).expect("progress is JSON");
        let keys = [
            "id",
            "runId",
            "name",
            "timestamp",
            "batchId",
            "batchDuration",
            "numInputRows",
            "inputRowsPerSecond",
            "processedRowsPerSecond",
            "durationMs",
            "stateOperators",
            "sources",
            "sink",
            "host",
        ];
        let places: Vec<_> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
        assert!(places.iter().all(Option::is_some), "{text}");
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains(r#""stateOperators":[]"#), "{text}");
        assert!(text.contains(r#""latestOffset":null"#), "{text}");
    }
}
