//! `host backfill`: ranges into tables of their own.

use std::collections::BTreeSet;

use crisol_tests::{Project, Record, Topic};
use serde_json::{Value, json};

use crate::bronze::{numbered, offsets, places, reading, run};

/// Partition and offset of each row of a table; none is there twice.
fn held(project: &Project, table: &str) -> BTreeSet<(i32, i64)> {
    let rows = project.tables().query(table, "SELECT \"partition\", \"offset\" FROM rows");
    let number = |value: &Value| value.as_i64().expect("a number");
    let places: BTreeSet<_> = rows.iter().map(|row| (number(&row[0]) as i32, number(&row[1]))).collect();
    assert_eq!(places.len(), rows.len(), "a record is there twice");
    places
}

fn backfill(project: &Project, from: &str, to: &str, into: &str) -> crisol_tests::Host {
    project.host(&["backfill", "log", "--from", from, "--to", to, "--into", into])
}

/// Offsets of both partitions.
fn both(first: std::ops::Range<i64>, second: std::ops::Range<i64>) -> BTreeSet<(i32, i64)> {
    offsets(0, first).into_iter().chain(offsets(1, second)).collect()
}

/// Entries in the log of the production table.
fn versions(project: &Project) -> usize {
    std::fs::read_dir(project.path().join("data/tables/bronze/log/_delta_log")).expect("a table").count()
}

fn topic(name: &str) -> Topic {
    let topic = Topic::create(name, 2);
    topic.send(numbered(0, 0..50).chain(numbered(1, 0..30)).collect::<Vec<_>>());
    topic
}

#[test]
fn k027_a_range_of_offsets_goes_to_a_table_of_its_own_and_production_is_untouched() {
    let topic = topic("backfill.offsets");
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 7 }));
    run(&project);
    let production = places(&project);
    let position = || std::fs::read_to_string(project.path().join("data/checkpoints/streaming/log/sources/0/0"));
    let (version, kept) = (versions(&project), position().unwrap());

    let name = topic.name();
    let from = format!(r#"{{"{name}": {{"0": 10, "1": -2}}}}"#);
    let to = format!(r#"{{"{name}": {{"0": 20, "1": -1}}}}"#);
    let output = backfill(&project, &from, &to, "bronze.again").succeed();
    assert_eq!(held(&project, "bronze/again"), both(10..20, 0..30));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("bronze.again") && said.contains("40"), "{said}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("limits of batches in the contract have no effect"), "K-027: {told}");
    assert_eq!((versions(&project), position().unwrap()), (version, kept));

    topic.send(numbered(0, 50..60).collect::<Vec<_>>());
    backfill(&project, &from, &to, "bronze.again").succeed();
    assert_eq!(held(&project, "bronze/again"), both(10..20, 0..30), "it was done, and `-1` was settled then");
    run(&project);
    assert_eq!(places(&project).len(), production.len() + 10);

    let said = backfill(&project, "earliest", &to, "bronze.again").fail_with(3);
    assert!(said.contains("it was begun with the range") && said.contains("another `--into`"), "{said}");
}

#[test]
fn a_range_of_times_begins_at_the_first_record_as_young_and_ends_before_the_next() {
    let topic = Topic::create("backfill.times", 2);
    let at = |partition: i32, seconds: &[i64]| -> Vec<Record> {
        seconds.iter().map(|s| Record::to(partition).payload("x").at(1_772_323_200_000 + s * 1_000)).collect()
    };
    topic.send([at(0, &[0, 1, 2, 3]), at(1, &[1, 4])].concat());
    let project = reading(&topic, json!({}));
    backfill(&project, "2026-03-01T00:00:01Z", "2026-03-01T00:00:03Z", "bronze.morning").succeed();
    assert_eq!(held(&project, "bronze/morning"), both(1..3, 0..1));
    let late = "2027-01-01";
    backfill(&project, "2026-03-01", late, "bronze.all").succeed();
    assert_eq!(held(&project, "bronze/all"), both(0..4, 0..2), "K-030: no record is as young, the end is latest");
    let said = backfill(&project, late, "latest", "bronze.none").fail_with(3);
    assert!(said.contains("has no record with a timestamp"), "K-029: {said}");
}

#[test]
fn k024_k025_ranges_that_cannot_be_are_refused_before_anything_is_made() {
    let topic = topic("backfill.refused");
    let project = reading(&topic, json!({}));
    let at = |first: i64, second: i64| format!(r#"{{"{}": {{"0": {first}, "1": {second}}}}}"#, topic.name());
    let first_only = format!(r#"{{"{}": {{"0": 5}}}}"#, topic.name());
    for (from, to, reason) in [
        ("latest", "latest", "cannot begin at the latest"),
        (&at(0, -1), "latest", "cannot begin at the latest"),
        ("earliest", "earliest", "cannot end at the earliest"),
        ("earliest", &at(9, -2), "cannot end at the earliest"),
        (&at(0, 0), &first_only, "must name the same partitions"),
        (&first_only, "latest", "must name every partition"),
        (&at(9, 0), &at(8, 9), "begins at 9 and ends at 8"),
        ("earliest", &at(51, 30), "the range ends at offset 51, and the partition at 50"),
    ] {
        let said = backfill(&project, from, to, "bronze.no").fail_with(3);
        assert!(said.contains(reason), "{from} to {to}: {said}");
        assert!(!project.tables().exists("bronze/no") || held(&project, "bronze/no").is_empty());
    }
    backfill(&project, "earliest", &at(50, 30), "bronze.no").succeed();
    assert_eq!(held(&project, "bronze/no"), both(0..50, 0..30), "a mistake that was refused can be mended");
    let said = backfill(&project, "yesterday", "latest", "bronze.no").fail_with(2);
    assert!(said.contains("give `earliest`"), "{said}");
}

#[test]
fn a_terminal_shows_how_much_is_done_and_how_long_the_rest_takes() {
    let topic = topic("backfill.terminal");
    let project = reading(&topic, json!({}));
    let output = backfill(&project, "earliest", "latest", "bronze.shown").on_terminal(120).succeed();
    let screen = String::from_utf8_lossy(&output.stdout);
    assert!(screen.contains("80/80") && screen.contains(" left"), "{screen}");
}

#[test]
fn the_production_table_is_refused_and_so_is_its_folder() {
    let topic = topic("backfill.production");
    let project = reading(&topic, json!({}));
    for (into, reason) in [
        ("bronze.log", "is a table of the project"),
        ("log", "is a table of the project"),
        ("bronze.log.deeper", "would lie in the folder of table `bronze.log`"),
        ("BRONZE.Log", "is a table of the project"),
        ("bronze", "would lie in the folder of table"),
        ("../log", "is no name of a table"),
        ("bronze._x", "is no name of a table"),
    ] {
        let said = backfill(&project, "earliest", "latest", into).fail_with(3);
        assert!(said.contains(reason), "{into}: {said}");
    }
    let said =
        project.host(&["backfill", "lag", "--from", "earliest", "--to", "latest", "--into", "bronze.x"]).fail_with(3);
    assert!(said.contains("no stream is called `lag`") && said.contains("`log`"), "{said}");
}

#[test]
fn a_backfill_that_is_killed_goes_on_and_holds_each_record_once() {
    let topic = topic("backfill.killed");
    let project = reading(&topic, json!({}));
    for step in ["plan", "log_range", "write_files", "log_outcome", "commit_table", "mark"] {
        let into = format!("bronze.killed_{step}");
        let failpoint = format!("{into}/{step}/after");
        let killed = backfill(&project, "earliest", "latest", &into).abort_at(&failpoint, 0).run();
        assert!(!killed.status.success(), "{step} was not passed");
        backfill(&project, "earliest", "latest", &into).succeed();
        assert_eq!(held(&project, &into.replace('.', "/")), both(0..50, 0..30), "{step}");
    }
}

#[test]
fn records_that_are_gone_stop_a_backfill_unless_it_may_go_on_and_then_they_are_told() {
    let topic = topic("backfill.lossy");
    topic.delete_records(0, 20);
    let project = reading(&topic, json!({}));
    let from = format!(r#"{{"{}": {{"0": 0, "1": 0}}}}"#, topic.name());
    let said = backfill(&project, &from, "latest", "bronze.lossy").fail_with(6);
    assert!(said.contains("--accept-data-loss"), "{said}");
    let go_on = ["backfill", "log", "--from", &from, "--to", "latest", "--into", "bronze.lossy", "--accept-data-loss"];
    project.host(&go_on).succeed();
    assert_eq!(held(&project, "bronze/lossy"), both(20..50, 0..30));
    let output = project.host(&["losses", "bronze.lossy", "-o", "json"]).succeed();
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["losses"][0]["table"], &told["losses"][0]["offsets"]), (&json!("bronze.lossy"), &json!(20)));
}
