use std::sync::Arc;

use crisol_observe::Observer;
use tempfile::TempDir;

use super::*;

const RUN: &str = "run-1";

fn report() -> StreamReport {
    StreamReport::of("orders", "bronze.orders", RUN)
}

fn waiting(tries: u32) -> Event {
    let retry_in = Duration::from_secs(8);
    Event::Waiting { stream: "orders".into(), reason: "the broker does not answer".into(), tries, retry_in }
}

fn started() -> Event {
    Event::Started { stream: "orders".into(), table: "bronze.orders".into() }
}

fn ended(error: Option<&str>) -> Event {
    let accounts = Accounts { rows_in: 7, rows_accepted: 7, ..Accounts::default() };
    Event::Ended { stream: "orders".into(), accounts, batches: 2, error: error.map(str::to_owned) }
}

fn lag(records: [u64; 2]) -> Event {
    let partition = |(partition, records)| PartitionLag {
        topic: "orders".into(),
        partition,
        records,
        seconds: Some(2.5),
        bytes: None,
    };
    Event::Lag { stream: "orders".into(), partitions: (0..).zip(records).map(partition).collect() }
}

#[test]
fn a_report_follows_the_stream_and_says_when_something_else_begins() {
    let mut report = report();
    assert!(!report.take_in(&started()), "it starts as it said");
    assert!(report.take_in(&waiting(1)) && report.take_in(&waiting(2)));
    let waits = report.waiting.clone().unwrap();
    assert_eq!((waits.reason.as_str(), waits.tries), ("the broker does not answer", 2));
    assert!(waits.retry_at > report.updated);
    assert!(report.take_in(&Event::Recovered { stream: "orders".into() }));
    assert_eq!((report.state, &report.waiting), (StreamState::Running, &None));
    assert!(!report.take_in(&lag([3, 4])), "progress is nothing else");
    assert_eq!(report.lag, Some(Lag { records: 7, seconds: Some(2.5), bytes: None }));
    assert_eq!(report.partitions.len(), 2);
    assert!(report.take_in(&ended(Some("disk full"))));
    assert_eq!((report.state, report.error.as_deref()), (StreamState::Failed, Some("disk full")));
    assert_eq!((report.batches, report.accounts.rows_in), (2, 7));
}

#[test]
fn a_stream_that_is_not_heard_does_not_run() {
    let mut report = report();
    assert!(report.is_running());
    report.updated = rfc3339(Timestamp::now() - SILENCE_MAX - Duration::from_secs(1));
    assert!(!report.is_running());
    report.updated = "never".into();
    assert!(!report.is_running());
    report.updated = rfc3339(Timestamp::now());
    report.take_in(&ended(None));
    assert!(!report.is_running());
}

#[tokio::test]
async fn another_state_is_written_at_once_and_read_back() {
    let dir = TempDir::new().unwrap();
    assert_eq!(StreamReport::read(dir.path()), None);
    let file = ReportFile::begin(dir.path(), report());
    assert_eq!(StreamReport::read(dir.path()).unwrap().state, StreamState::Starting);
    file.observe(&waiting(4));
    let read = StreamReport::read(dir.path()).unwrap();
    assert_eq!((read.state, read.waiting.unwrap().tries), (StreamState::Waiting, 4));
    file.observe(&ended(None));
    let read = StreamReport::read(dir.path()).unwrap();
    assert_eq!((read.state, read.batches), (StreamState::Ended, 2));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[tokio::test]
async fn progress_waits_for_the_next_look() {
    let dir = TempDir::new().unwrap();
    let file = ReportFile::begin(dir.path(), report());
    file.observe(&Event::Ready { stream: "orders".into() });
    file.observe(&lag([3, 4]));
    assert_eq!(StreamReport::read(dir.path()).unwrap().lag, None);
    file.refresh();
    let read = StreamReport::read(dir.path()).unwrap();
    assert_eq!(read.lag.unwrap().records, 7);
    file.refresh();
    assert_eq!(StreamReport::read(dir.path()).unwrap().updated, read.updated, "nothing is new");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_or_understood_stops_nothing() {
    let dir = TempDir::new().unwrap();
    let file: Arc<ReportFile> = ReportFile::begin(&dir.path().join("gone"), report());
    file.observe(&waiting(1));
    file.observe(&ended(None));
    for text in ["", "{", "[]", r#"{"schema":"crisol.stream_status/v9"}"#] {
        std::fs::write(path(dir.path()), text).unwrap();
        assert_eq!(StreamReport::read(dir.path()), None, "{text}");
    }
}
