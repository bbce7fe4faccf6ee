//! `host status`: what each stream does, and where it stands, read from checkpoints and tables.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use comfy_table::Cell;
use crisol::{EngineError, Lag, PartitionLag, StreamReport, StreamStatus, waiting_text};

use crate::args::{Global, Output, Status};
use crate::exit::Exit;
use crate::out::println;
use crate::run::engine;
use crate::tables::{number, plain, table};
use crate::watch::thousands;

/// Shows where streams stand.
pub(crate) async fn status(global: &Global, status: &Status) -> Result<Exit, EngineError> {
    let streams = engine(global).tables()?.status(&status.streams).await?;
    match global.output {
        Output::Json => println!("{}", serde_json::json!({ "schema": "crisol.status/v1", "streams": streams })),
        Output::Text if status.partitions => print_partitions(&streams),
        Output::Text => print(&streams),
    }
    Ok(Exit::Done)
}

fn print(streams: &[StreamStatus]) {
    let headings =
        ["stream", "table", "state", "lag", "batch", "committed", "position", "table version", "rows", "quarantine"];
    let mut shown = table(&headings);
    for stream in streams {
        fn or_dash<N: ToString>(number: Option<N>) -> String {
            number.map_or_else(|| "-".into(), |number| number.to_string())
        }
        shown.add_row([
            stream.stream.clone(),
            stream.table.clone(),
            stream.state.map_or_else(|| "-".into(), |state| state.replace('_', " ")),
            or_dash(stream.run.as_ref().and_then(|run| run.lag.as_ref()).map(behind)),
            or_dash(stream.batch_logged),
            or_dash(stream.batch_committed),
            or_dash(stream.position.clone()),
            or_dash(stream.table_version),
            or_dash(stream.table_rows),
            or_dash(stream.quarantine_rows),
        ]);
    }
    println!("{shown}");
    for run in streams.iter().filter_map(|stream| stream.run.as_ref()) {
        if let Some(why) = why(run, SystemTime::now()) {
            println!("{}: {why}", run.stream);
        }
    }
}

/// Partitions of all streams, the one that is furthest behind first.
fn print_partitions(streams: &[StreamStatus]) {
    let runs = streams.iter().filter_map(|stream| stream.run.as_ref());
    let partitions = runs.flat_map(|run| run.partitions.iter().map(|partition| (&run.stream, partition)));
    let mut partitions: Vec<(&String, &PartitionLag)> = partitions.collect();
    if partitions.is_empty() {
        println!("no stream told of partitions; those of Kafka do while they run");
        return;
    }
    partitions.sort_by_key(|(_, partition)| Reverse(partition.records));
    let mut shown = table(&["stream", "topic", "partition", "lag", "seconds", "bytes"]);
    for (stream, PartitionLag { topic, partition, records, seconds, bytes }) in partitions {
        shown.add_row([
            Cell::new(stream),
            Cell::new(plain(topic)),
            Cell::new(partition),
            number(*records),
            Cell::new(seconds.map_or_else(|| "-".into(), |seconds| format!("{seconds:.1}"))),
            bytes.map_or_else(|| Cell::new("-"), number),
        ]);
    }
    println!("{shown}");
}

/// What a person should know of a stream that does not simply run or has ended.
fn why(run: &StreamReport, now: SystemTime) -> Option<String> {
    if run.state.is_alive() && !run.is_running() {
        return Some(format!("not running (last heard {})", plain(&run.updated)));
    }
    if let Some(error) = &run.error {
        return Some(format!("failed: {}", plain(error)));
    }
    let waiting = run.waiting.as_ref()?;
    let retry_at = humantime::parse_rfc3339(&waiting.retry_at).unwrap_or(now);
    let retry_in = retry_at.duration_since(now).unwrap_or(Duration::ZERO);
    let text = waiting_text(&waiting.reason, waiting.tries, retry_in);
    Some(format!("waiting for the source: {}", plain(&text)))
}

fn behind(lag: &Lag) -> String {
    let seconds = lag.seconds.map_or_else(String::new, |seconds| format!(", {seconds:.0} s"));
    format!("{} records{seconds}", thousands(lag.records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn run(state: &str, more: &Value) -> StreamReport {
        let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut report = json!({
            "schema": "crisol.stream_status/v1", "stream": "s", "table": "t", "run_id": "r", "started": now, "updated": now,
            "state": state, "since": now, "batches": 0,
            "accounts": { "rows_in": 0, "rows_accepted": 0, "rows_written": 0, "rejected": {}, "filtered": {}, "expectations": {} },
        });
        for (key, value) in more.as_object().expect("an object") {
            report[key] = value.clone();
        }
        serde_json::from_value(report).expect("a report")
    }

    #[test]
    fn a_stream_that_does_not_simply_run_is_explained() {
        let now = humantime::parse_rfc3339("2026-03-01T10:00:00Z").expect("a time");
        let said = |word, more| why(&run(word, &more), now).unwrap_or_default();
        assert_eq!(said("running", json!({})), "");
        assert_eq!(said("ended", json!({})), "");
        assert_eq!(said("failed", json!({ "error": "disk\u{1b}full" })), "failed: disk\\u{1b}full");
        let waiting = |at| json!({ "waiting": { "reason": "no broker", "tries": 4, "retry_at": at } });
        assert_eq!(
            said("waiting", waiting("2026-03-01T10:00:07.500Z")),
            "waiting for the source: no broker (4 tries, next in 8 s)"
        );
        assert!(said("waiting", waiting("2026-03-01T09:00:00Z")).ends_with("next in 0 s)"));
        assert_eq!(
            said("running", json!({ "updated": "2026-03-01T09:00:00.000Z" })),
            "not running (last heard 2026-03-01T09:00:00.000Z)"
        );
    }

    #[test]
    fn lag_is_said_in_records_and_seconds() {
        assert_eq!(behind(&Lag { records: 12_345, seconds: Some(7.6), bytes: Some(1) }), "12,345 records, 8 s");
        assert_eq!(behind(&Lag { records: 0, seconds: None, bytes: None }), "0 records");
    }
}
