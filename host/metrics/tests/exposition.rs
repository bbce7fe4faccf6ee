//! What Prometheus reads after events of all kinds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use crisol_metrics::Monitor;
use crisol_observe::{
    Accounts, Build, Event, Gap, GapReason, HostProgress, Observer, PartitionLag, Phases, Progress, RuleCount, Served,
    SinkProgress,
};

fn progress(stream: &str, accounts: Accounts, losses: Vec<Gap>) -> Event {
    let phases = Phases { plan_seconds: 0.002, write_seconds: 0.25, commit_seconds: 0.02 };
    Event::Committed(Box::new(Progress {
        id: "secret-id".into(),
        run_id: "secret-run".into(),
        name: Some(stream.into()),
        timestamp: "2026-11-29T19:40:16.131Z".into(),
        batch_id: 7,
        batch_duration: 272,
        num_input_rows: accounts.rows_in,
        input_rows_per_second: None,
        processed_rows_per_second: None,
        duration_ms: BTreeMap::new(),
        state_operators: [],
        sources: Vec::new(),
        sink: SinkProgress { description: "DeltaSink[/t]".into(), num_output_rows: 0 },
        host: HostProgress {
            accounts,
            components: BTreeMap::new(),
            table_version: 12,
            phases,
            backlog_rows: None,
            lag: Vec::new(),
            losses,
        },
    }))
}

fn accounts() -> Accounts {
    Accounts {
        rows_in: 10,
        rows_accepted: 6,
        rows_written: 8,
        rejected: BTreeMap::from([("corrupt_record".into(), 3)]),
        filtered: BTreeMap::from([("test order".into(), 1)]),
        expectations: BTreeMap::from([("positive".into(), RuleCount { passed: 9, failed: 1 })]),
        ..Accounts::default()
    }
}

fn gap(partition: i32, offsets: Option<u64>) -> Gap {
    Gap { topic: "orders.v1".into(), partition, reason: GapReason::Expired, from: 5, until: Some(9), offsets }
}

fn lag(stream: &str, partitions: i32) -> Event {
    let partition = |partition: i32| PartitionLag {
        topic: "orders.v1".into(),
        partition,
        records: 5 * u64::from(partition.unsigned_abs()),
        seconds: (partition > 0).then_some(1.5),
        bytes: (partition > 0).then_some(512),
    };
    Event::Lag { stream: stream.into(), partitions: (0..partitions).map(partition).collect() }
}

fn started(stream: &str) -> Event {
    Event::Started { stream: stream.into(), table: format!("bronze.{stream}") }
}

fn ended(stream: &str, error: Option<&str>) -> Event {
    let error = error.map(str::to_owned);
    Event::Ended { stream: stream.into(), accounts: accounts(), batches: 1, error }
}

fn planned(stream: &str) -> Event {
    Event::Planned { stream: stream.into(), batch: 7, rows: None, backlog_rows: None, rerun: false }
}

fn told(events: &[Event]) -> Monitor {
    let monitor = Monitor::new();
    events.iter().for_each(|event| monitor.observe(event));
    monitor
}

/// Lines that hold all of these words.
fn lines(monitor: &Monitor, words: &[&str]) -> Vec<String> {
    let text = monitor.metrics().unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && words.iter().all(|word| line.contains(word)));
    lines.map(str::to_owned).collect()
}

#[test]
fn names_types_labels_and_help_stand_fast() {
    let (build, digest) = (|version: &str| Build { version: version.into(), digest: "d".into() }, "0123".repeat(16));
    let served = Served { name: "orders".into(), version: "1.2.0".into(), digest, schema_versions: ">=1, <3".into() };
    let monitor = told(&[
        Event::Serving { components: vec![served] },
        started("orders"),
        Event::Ready { stream: "orders".into() },
        planned("orders"),
        lag("orders", 2),
        progress("orders", accounts(), vec![gap(0, Some(4)), gap(0, Some(2)), gap(1, None)]),
        Event::Swapped {
            component: "orders".into(),
            from: vec![build("1.1.0")],
            to: vec![build("1.2.0")],
            streams: vec!["orders".into()],
            columns: None,
        },
        Event::PluginRefused { path: "/secret/x.wasm".into(), reason: "secret".into(), columns: None },
    ]);
    let text = monitor.metrics().unwrap();
    assert!(!text.contains("secret"), "{text}");
    insta::with_settings!({ filters => [
        (r"(?m)^(process_\S+|crisol_table_last_commit_timestamp_seconds\S+) \d\S*$", "$1 [number]"),
        (r#"version="\d+\.\d+\.\d+"} 1"#, r#"version="[version]"} 1"#),
    ] }, { insta::assert_snapshot!(text) });
}

#[test]
fn counts_of_batches_add_up() {
    let monitor = told(&[
        started("orders"),
        planned("orders"),
        progress("orders", accounts(), Vec::new()),
        planned("orders"),
        progress("orders", accounts(), Vec::new()),
    ]);
    assert_eq!(lines(&monitor, &["rows_read_total"]), [r#"crisol_rows_read_total{stream="orders"} 20"#]);
    assert_eq!(lines(&monitor, &["rows_written_total"]), [r#"crisol_rows_written_total{stream="orders"} 16"#]);
    let rejected = [r#"crisol_rows_rejected_total{stream="orders",reason="corrupt_record"} 6"#];
    assert_eq!(lines(&monitor, &["rows_rejected_total"]), rejected);
    assert_eq!(lines(&monitor, &["phase=\"write\"", "_count"]).len(), 1);
    assert!(lines(&monitor, &["phase=\"write\"", "_sum"])[0].ends_with(" 0.5"));
}

#[test]
fn a_stream_is_in_one_state() {
    let waiting = Event::Waiting {
        stream: "orders".into(),
        reason: "the broker does not answer".into(),
        tries: 1,
        retry_in: Duration::from_secs(1),
    };
    let monitor = told(&[started("orders"), waiting]);
    let states = lines(&monitor, &["crisol_stream_state"]);
    assert_eq!(states.len(), 6);
    let is = |states: &[String]| states.iter().filter(|line| line.ends_with(" 1")).cloned().collect::<Vec<_>>();
    assert_eq!(is(&states), [r#"crisol_stream_state{stream="orders",state="waiting"} 1"#]);
    monitor.observe(&ended("orders", Some("no")));
    let states = lines(&monitor, &["crisol_stream_state"]);
    assert_eq!(is(&states), [r#"crisol_stream_state{stream="orders",state="failed"} 1"#]);
}

#[test]
fn a_stream_that_ended_well_leaves_its_state_alone_and_one_that_failed_what_it_counted() {
    let events = |stream: &str| [started(stream), lag(stream, 2), progress(stream, accounts(), Vec::new())];
    let monitor = told(&[events("well"), events("badly")].concat());
    monitor.observe(&ended("well", None));
    monitor.observe(&planned("badly"));
    monitor.observe(&Event::Unbalanced { stream: "badly".into() });
    monitor.observe(&ended("badly", Some("the accounts do not balance")));
    let well = lines(&monitor, &["stream=\"well\""]);
    assert!(well.iter().all(|line| line.starts_with("crisol_stream_state{")), "{well:?}");
    assert_eq!(well.len(), 6);
    assert!(lines(&monitor, &["stream=\"badly\"", "_lag_"]).is_empty());
    assert_eq!(lines(&monitor, &["mismatch"]), [r#"crisol_accounts_mismatch_total{stream="badly"} 1"#]);
    assert_eq!(lines(&monitor, &["stream=\"badly\"", "outcome=\"failed\""])[0].split(' ').next_back(), Some("1"));
    assert_eq!(lines(&monitor, &["stream=\"badly\"", "last_commit"]).len(), 1);
}

#[test]
fn k113_many_partitions_are_told_by_topic() {
    let monitor = told(&[started("orders"), lag("orders", 200)]);
    assert_eq!(lines(&monitor, &["lag_records{"]).len(), 200);
    assert_eq!(lines(&monitor, &["lag_seconds{"]).len(), 199, "the first partition tells none");
    monitor.observe(&lag("orders", 201));
    let (labels, records) = (r#"{stream="orders",topic="orders.v1"}"#, 5 * (0..201).sum::<u64>());
    assert_eq!(lines(&monitor, &["lag_records{"]), [format!("crisol_source_lag_records{labels} {records}.0")]);
    assert_eq!(lines(&monitor, &["lag_seconds{"]), [format!("crisol_source_lag_seconds{labels} 1.5")]);
    assert_eq!(lines(&monitor, &["backlog_bytes{"]), [format!("crisol_source_backlog_bytes{labels} {}.0", 200 * 512)]);
}

#[test]
fn what_a_rule_is_called_does_not_break_the_text() {
    let rule = "a \"b\"\\c\nd";
    let accounts = Accounts {
        expectations: BTreeMap::from([(rule.into(), RuleCount { passed: 1, failed: 0 })]),
        ..Accounts::default()
    };
    let monitor = told(&[started("orders"), progress("orders", accounts, Vec::new())]);
    let told = lines(&monitor, &["expectation_rows_total{"]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains(r#"rule="a \"b\"\\c\nd""#), "{told:?}");
}
