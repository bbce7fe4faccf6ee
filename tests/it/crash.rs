//! Exactly once: the real program is ended at every step of the protocol, and at random moments, and started again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use crisol_tests::{Host, Project, Topic};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_quarantine", "commit_table", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
/// Steps that only a batch with rejected rows has.
const ONLY_REJECTED: [&str; 1] = ["commit_quarantine"];

/// A project with one stream under test, and where its rows end.
struct Case {
    kind: &'static str,
    stream: &'static str,
    table: &'static str,
    rejected: bool,
    brokers: String,
    make: fn(&Case) -> Project,
    topic: String,
}

#[test]
fn a_crash_at_any_step_loses_and_doubles_nothing() {
    let clean = Topic::create("crash.clean", 2);
    let dirty = Topic::create("crash.dirty", 2);
    clean.produce(messages(false).iter().map(|(key, value)| (key.as_str(), value.as_str())));
    dirty.produce(messages(true).iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let mut matrix = String::new();
    for rejected in [false, true] {
        let topic = if rejected { &dirty } else { &clean };
        let brokers = topic.brokers().to_string();
        let name = topic.name().to_string();
        let case = |kind, stream, table, make| Case {
            kind,
            stream,
            table,
            rejected,
            brokers: brokers.clone(),
            make,
            topic: name.clone(),
        };
        for case in [
            case("kafka", "orders", "bronze/orders_raw", kafka_project),
            case("files", "plays", "bronze/plays_raw", files_project),
            case("table", "silver.orders", "silver/orders", kafka_project),
            case("upsert", "silver.state", "silver/state", medallion_project),
            case("groups", "gold.sums", "gold/sums", medallion_project),
            case("parts", "silver.days", "silver/days", medallion_project),
        ] {
            cells(&case, &mut matrix);
        }
    }
    println!("step x stream, ended once at each and started again:\n{matrix}");
}

fn cells(case: &Case, matrix: &mut String) {
    let expected = {
        let project = (case.make)(case);
        case.host(&project).succeed();
        contents(&project)
    };
    assert!(expected.values().any(|rows| !rows.is_empty()), "the undisturbed run writes rows");
    let kept = expected.get(&format!("{}_quarantine", case.table)).is_some_and(|rows| !rows.is_empty());
    assert_eq!(kept, case.rejected, "{}: rows are rejected where the case says so", case.kind);
    let rejected = if case.rejected { "rejected rows" } else { "no rejected rows" };
    for step in STEPS {
        let _ = write!(matrix, "{:6} {:17} {:18}", case.kind, rejected, step);
        for moment in MOMENTS {
            if !case.rejected && ONLY_REJECTED.contains(&step) {
                let _ = write!(matrix, " {moment}: no such step without rejected rows;");
                continue;
            }
            cell(case, step, moment, &expected);
            let _ = write!(matrix, " {moment}: ok;");
        }
        matrix.push('\n');
    }
}

fn cell(case: &Case, step: &str, moment: &str, expected: &BTreeMap<String, Vec<Value>>) {
    let project = (case.make)(case);
    let failpoint = format!("{}/{step}/{moment}", case.stream);
    let ended = case.host(&project).abort_at(&failpoint, 1).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint} is reached: {ended:?}");
    // What a reader sees now holds nothing twice.
    no_place_twice(&project, case.table);
    case.host(&project).succeed();
    assert_same(&contents(&project), expected, &failpoint);
    no_place_twice(&project, case.table);
}

#[test]
fn kills_at_random_moments_lose_and_double_nothing() {
    let topic = Topic::create("crash.random", 2);
    let messages: Vec<_> = (0..40).flat_map(|_| messages(true)).collect();
    topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let case = Case {
        kind: "kafka",
        stream: "orders",
        table: "silver/orders",
        rejected: true,
        brokers: topic.brokers().into(),
        make: kafka_project,
        topic: topic.name().into(),
    };
    let expected = {
        let project = (case.make)(&case);
        case.host(&project).succeed();
        contents(&project)
    };
    let project = (case.make)(&case);
    let mut seed = std::env::var("CRISOL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5eed_u64);
    println!("CRISOL_TEST_SEED={seed}");
    let mut kills = 0;
    while kills < 25 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let run = case.host(&project).start();
        std::thread::sleep(Duration::from_millis(150 + (seed >> 33) % 900));
        run.signal(Signal::SIGKILL);
        let ended = run.end();
        if ended.status.signal() == Some(Signal::SIGKILL as i32) {
            kills += 1;
        } else if ended.status.success() {
            break;
        }
        if project.tables().exists("silver/orders") {
            no_place_twice(&project, "silver/orders");
        }
    }
    assert!(kills > 0, "no run was ended before it was done");
    case.host(&project).succeed();
    assert_same(&contents(&project), &expected, &format!("after {kills} kills"));
}

impl Case {
    fn host(&self, project: &Project) -> Host {
        project.host(&["run"]).env("KAFKA_BROKERS", &self.brokers)
    }
}

/// Orders, two batches and a half of them; some dirty in ways that bronze or silver refuses.
fn messages(dirty: bool) -> Vec<(String, String)> {
    (0..100)
        .map(|n| {
            let id = format!("o-{n}");
            let at = format!("2026-03-{:02}T10:00:00.000Z", n % 28 + 1);
            let value = match n % 10 {
                3 if dirty => r#"{"order_id":"cut","#.to_string(),
                7 if dirty => json!({"order_id": null, "event_ts": at, "amount": 1.5, "schema_version": 1}).to_string(),
                _ => json!({"order_id": id, "event_ts": at, "amount": 1.5, "schema_version": 1}).to_string(),
            };
            (id, value)
        })
        .collect()
}

fn kafka_project(case: &Case) -> Project {
    let project = Project::example("orders");
    let contract = json!({
        "name": "orders",
        "ingest_type": "streaming",
        "source": { "format": "kafka", "kafka": {
            "topic": case.topic, "starting_offsets": "earliest", "max_offsets_per_trigger": 40 } },
        "destination_contract": "../../tables/bronze/orders_raw.json"
    });
    project.write("ingestion/streaming/orders.json", &contract.to_string());
    // Bronze refuses by a rule of its own, so that its stream has rejected rows too.
    if case.kind == "kafka" && case.rejected {
        let bronze = json!({
            "name": "bronze.orders_raw",
            "expectations": [{ "name": "whole", "condition": "payload LIKE '%}'" }]
        });
        project.write("tables/bronze/orders_raw.json", &bronze.to_string());
    }
    project
}

fn files_project(case: &Case) -> Project {
    let project = Project::new();
    for file in 0..3 {
        let mut lines = String::new();
        for line in 0..20 {
            let plays =
                if case.rejected && line % 7 == 3 { "\"many\"".to_string() } else { (file * 100 + line).to_string() };
            let _ = writeln!(lines, r#"{{"song":"song {line}","plays":{plays}}}"#);
        }
        let path = project.write(&format!("landing/{file}.json"), &lines);
        set_modified(&path, 1_767_225_600 + file);
    }
    let contract = json!({
        "name": "plays",
        "ingest_type": "streaming",
        "source": {
            "format": "json",
            "path": "{path.landing}",
            "schema": [{ "name": "song", "type": "string" }, { "name": "plays", "type": "long" }]
        },
        "options": { "maxFilesPerTrigger": 1 },
        "destination_contract": "../../tables/bronze/plays_raw.json"
    });
    project.write("ingestion/streaming/plays.json", &contract.to_string());
    project.write("tables/bronze/plays_raw.json", r#"{ "name": "bronze.plays_raw" }"#);
    project
}

/// Files of events, each later than the one before: kept by key, summed by group, and replaced by day. Streams side by
/// side cut batches as they come; the tables are the same.
fn medallion_project(case: &Case) -> Project {
    let project = files_project(case);
    for file in 0..3 {
        let mut lines = String::new();
        for line in 0..20 {
            let plays = if case.rejected && line % 7 == 3 { Value::Null } else { json!(file * 100 + line) };
            let event = json!({
                "song": format!("song {}", (line * 3 + file) % 17), "plays": plays, "at": file * 10 + line % 5,
                "day": format!("day {}", (file + line) % 4), "op": if line % 6 == 5 { "delete" } else { "put" }
            });
            let _ = writeln!(lines, "{event}");
        }
        let path = project.write(&format!("landing/{file}.json"), &lines);
        set_modified(&path, 1_767_225_600 + file);
    }
    let columns = [("song", "string"), ("plays", "long"), ("at", "int"), ("day", "string"), ("op", "string")];
    let columns: Vec<Value> = columns.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
    let contract = json!({
        "name": "plays",
        "ingest_type": "streaming",
        "source": { "format": "json", "path": "{path.landing}", "schema": columns },
        "options": { "maxFilesPerTrigger": 1 },
        "destination_contract": "../../tables/bronze/plays_raw.json"
    });
    project.write("ingestion/streaming/plays.json", &contract.to_string());
    let known = json!([{ "name": "known", "condition": "plays IS NOT NULL" }]);
    let state = json!({
        "name": "silver.state", "from": "bronze.plays_raw", "expectations": known,
        "write": { "mode": "upsert", "keys": ["song"], "sequence_by": ["at"], "delete_when": "op = 'delete'" }
    });
    // Below bronze, so that which rows are rejected does not depend on how batches were cut.
    let sums = json!({
        "name": "gold.sums", "from": "bronze.plays_raw", "expectations": known,
        "stages": [{ "aggregate": "aggregate", "options": { "measures": { "songs": "count(*)", "plays": "sum(plays)" } } }],
        "write": { "mode": "replace_groups", "group_by": ["day"] }
    });
    let songs = json!({
        "name": "gold.songs", "from": "silver.state",
        "stages": [{ "aggregate": "aggregate", "options": { "measures": { "songs": "count(*)", "plays": "sum(plays)" } } }],
        "write": { "mode": "replace_groups", "group_by": ["day"] }
    });
    let days = json!({
        "name": "silver.days", "from": "bronze.plays_raw", "expectations": known,
        "write": { "mode": "replace_partitions" }, "partition_by": ["day"]
    });
    for (path, table) in [("silver/state", state), ("gold/sums", sums), ("gold/songs", songs), ("silver/days", days)] {
        project.write(&format!("tables/{path}.json"), &table.to_string());
    }
    project
}

fn set_modified(path: &Path, seconds: u64) {
    let file = std::fs::File::options().append(true).open(path).expect("the file is there");
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).expect("its time can be set");
}

/// All rows of all tables, in one order; without what differs from run to run: how a table's stream cuts batches depends
/// on what its upstream had committed when it looked.
fn contents(project: &Project) -> BTreeMap<String, Vec<Value>> {
    let tables = project.tables();
    let names = [
        "bronze/orders_raw",
        "bronze/plays_raw",
        "silver/orders",
        "silver/state",
        "silver/days",
        "gold/sums",
        "gold/songs",
    ];
    let all = names.iter().flat_map(|name| [(*name).to_string(), format!("{name}_quarantine")]);
    all.filter(|name| tables.exists(name))
        .map(|name| {
            let of_files = ["plays", "state", "days"].iter().any(|part| name.contains(part));
            let columns = if name.ends_with("_quarantine") && of_files || name == "gold/sums_quarantine" {
                "* EXCLUDE (batch, batch_timestamp, file_path, input)"
            } else if name.ends_with("_quarantine") {
                "* EXCLUDE (batch, batch_timestamp, file_path)"
            } else if of_files {
                "* EXCLUDE (file_path)"
            } else {
                "*"
            };
            let rows = tables.query(&name, &format!("SELECT {columns} FROM rows ORDER BY ALL"));
            (name, rows.into_iter().map(Value::from).collect())
        })
        .collect()
}

/// Tables are equal as multisets of rows; shows the first rows that differ.
fn assert_same(found: &BTreeMap<String, Vec<Value>>, expected: &BTreeMap<String, Vec<Value>>, what: &str) {
    let tables = |all: &BTreeMap<String, Vec<Value>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(tables(found), tables(expected), "{what}");
    for (table, rows) in expected {
        let differ = found[table].iter().zip(rows).find(|(found, expected)| found != expected);
        assert_eq!((found[table].len(), differ), (rows.len(), None), "{what}: {table}");
    }
}

/// No offset, and no row of a file, stands twice in a table and its quarantine together.
fn no_place_twice(project: &Project, table: &str) {
    let tables = project.tables();
    let mut places = BTreeMap::<String, u32>::new();
    for name in [table.to_string(), format!("{table}_quarantine")] {
        // Rows of groups have no place.
        if tables.exists(&name) && name != "gold/sums" {
            let place =
                if table.contains("orders") { "topic, \"partition\", \"offset\"" } else { "file_path, file_row" };
            for row in tables.query(&name, &format!("SELECT {place} FROM rows")) {
                *places.entry(Value::from(row).to_string()).or_default() += 1;
            }
        }
    }
    let doubled: Vec<_> = places.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "{table}: {doubled:?}");
}
