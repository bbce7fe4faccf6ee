//! `host history`: who made which version of a table from what.

use std::fs;

use crisol_tests::{Project, Topic, root};
use serde_json::{Value, json};

use crate::model::builds::sha256;

/// A project whose orders come from files, with a silver table.
fn orders(lines: &str) -> Project {
    let project = Project::lines();
    project.write("landing/1.txt", lines);
    let silver = json!({ "name": "silver.orders", "from": "bronze.lines", "stages": [{ "decode": "orders" }],
        "columns": [{ "name": "order_id", "type": "string" }] });
    project.write("tables/silver/orders.json", &silver.to_string());
    project
}

fn history(project: &Project, arguments: &[&str]) -> Value {
    let told = project.host(&[&["history"], arguments, &["-o", "json"]].concat()).succeed();
    serde_json::from_slice(&told.stdout).expect("JSON")
}

fn said(project: &Project, arguments: &[&str]) -> String {
    let told = project.host(&[&["history"], arguments].concat()).succeed();
    String::from_utf8_lossy(&told.stdout).into_owned()
}

fn order(number: u32, version: u32) -> String {
    let order = json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
        "schema_version": version });
    order.to_string()
}

/// One key of each commit.
fn each(history: &Value, key: &str) -> Vec<Value> {
    history["commits"].as_array().expect("commits").iter().map(|commit| commit[key].clone()).collect()
}

fn bundled_orders() -> String {
    sha256(&fs::read(root().join("plugins/orders.wasm")).expect("the bundled component"))
}

#[test]
fn each_batch_is_told_with_its_components_its_rows_and_what_it_read() {
    let project = orders(&format!("{}\n{}\nno order\n", order(1, 1), order(2, 1)));
    project.host(&["run"]).succeed();
    project.write("landing/2.txt", &order(3, 1));
    project.host(&["run"]).succeed();

    let silver = history(&project, &["silver.orders"]);
    assert_eq!(silver["schema"], "crisol.history/v1");
    assert_eq!(each(&silver, "version"), [2, 1, 0]);
    assert_eq!(each(&silver, "batch"), [json!(1), json!(0), json!(null)]);
    assert_eq!(each(&silver, "origin"), ["batch", "batch", "host"]);
    assert_eq!(each(&silver, "operation"), ["STREAMING UPDATE", "STREAMING UPDATE", "CREATE TABLE"]);
    let [second, first] = [0, 1].map(|at| silver["commits"][at].clone());
    let used = json!([{ "name": "orders", "version": "0.1.0", "digests": [bundled_orders()] }]);
    assert_eq!((&first["components"], &second["components"]), (&used, &used));
    assert_eq!((first["accounts"]["rows_in"].clone(), first["accounts"]["rows_written"].clone()), (json!(3), json!(2)));
    assert_eq!(first["accounts"]["rejected"], json!({ "corrupt_record": 1 }));
    assert_eq!(second["read"]["source"], "table");
    assert_eq!(first["read"]["until"], second["read"]["from"], "a batch goes on where the one before ended");
    let text = said(&project, &["silver.orders", "--limit", "2"]);
    for words in [
        "silver.orders at ".to_owned(),
        "version 2  2".to_owned(),
        "batch 0 of silver.orders".to_owned(),
        "rows: 3 in, 2 written, 1 rejected, 0 filtered".to_owned(),
        format!("components: orders 0.1.0 ({})", &bundled_orders()[..12]),
        " of the table above".to_owned(),
    ] {
        assert!(text.contains(&words), "`{words}` is missing in:\n{text}");
    }
    assert!(!text.contains("CREATE TABLE"), "{text}");

    let quarantine = history(&project, &["silver.orders", "--quarantine"]);
    assert_eq!(quarantine["quarantine"], true);
    assert_eq!(each(&quarantine, "batch"), [json!(0), json!(null)]);
    let bronze = history(&project, &["bronze.lines"]);
    let files = bronze["commits"][0]["read"]["files"][0].as_str().expect("a file").to_owned();
    assert!(files.starts_with("file:///") && files.ends_with("/landing/2.txt"), "{files}");
    assert!(said(&project, &["bronze.lines"]).contains("/landing/1.txt"));
}

#[test]
fn offsets_are_told_by_partition_without_a_gap() {
    let topic = Topic::create("history.offsets", 3);
    let brokers = topic.brokers().to_owned();
    let source = json!({ "topic": topic.name(), "starting_offsets": "earliest", "max_offsets_per_trigger": 20 });
    let project = Project::kafka(&brokers, &source);
    let messages: Vec<_> = (0..50).map(|n| (format!("k-{n}"), order(n, 1))).collect();
    topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    project.host(&["run"]).succeed();
    let told = history(&project, &["bronze.log"]);
    let mut next = std::collections::BTreeMap::<i64, i64>::new();
    let mut rows = 0;
    for commit in told["commits"].as_array().expect("commits").iter().rev().filter(|commit| commit["batch"].is_u64()) {
        let mut read = 0;
        for range in commit["read"]["partitions"].as_array().expect("partitions") {
            assert_eq!(range["topic"], topic.name());
            let [partition, from, until] = ["partition", "from", "until"].map(|key| range[key].as_i64().expect(key));
            assert_eq!(next.insert(partition, until).unwrap_or(0), from);
            read += until - from;
        }
        assert_eq!(commit["accounts"]["rows_in"], read);
        rows += read;
    }
    assert_eq!(rows, 50);
    let text = said(&project, &["bronze.log"]);
    assert!(text.contains(&format!("{}/0: 0..", topic.name())), "{text}");
}

#[test]
fn replays_rebuilds_compactions_and_other_writers_are_told_as_what_they_are() {
    let project = orders(&format!("{}\n{}\n", order(1, 1), order(2, 1)));
    let silver = project.path().join("tables/silver/orders.json");
    let text = fs::read_to_string(&silver).expect("the contract");
    let expected = |rule: &str| text.replace("\"columns\"", &format!("\"expectations\": [{rule}], \"columns\""));
    let rule = r#"{ "name": "one", "condition": "order_id = 'o-1'", "on_violation": "quarantine" }"#;
    fs::write(&silver, expected(rule)).expect("it can be written");
    project.host(&["run"]).succeed();
    fs::write(&silver, &text).expect("it can be written");
    project.host(&["quarantine", "replay", "silver.orders"]).succeed();
    fs::write(&silver, expected(&rule.replace("o-1", "o-2"))).expect("it can be written");
    project.host(&["rebuild", "silver.orders", "--where", "true"]).succeed();
    let log = project.tables().path("silver/orders").join("_delta_log");
    let foreign = r#"{"commitInfo":{"timestamp":1772359200000,"operation":"WRITE","engineInfo":"Apache-Spark/4.0.0"}}"#;
    let told = history(&project, &["silver.orders"]);
    // Before the first rebuild the table is told to tell its changes.
    assert_eq!(each(&told, "origin"), ["rebuild", "host", "replay", "batch", "host"], "{told}");
    assert_eq!(told["commits"][0]["rebuild"], "true");
    fs::write(log.join(format!("{:020}.json", 5)), foreign).expect("an entry can be written");
    let told = history(&project, &["silver.orders", "--limit", "1"]);
    assert_eq!(each(&told, "origin"), ["foreign"]);
    assert_eq!(each(&told, "time"), ["2026-03-01T10:00:00.000Z"]);
    let text = said(&project, &["silver.orders"]);
    for words in [
        "WRITE  (another writer: Apache-Spark/4.0.0)",
        "(replay of the quarantine)",
        "of the quarantine",
        "rebuilt: true",
    ] {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
    let quarantine = history(&project, &["silver.orders", "--quarantine"]);
    assert_eq!(each(&quarantine, "origin"), ["rebuild", "replay", "batch", "host"], "{quarantine}");
}

#[test]
fn what_is_gone_from_checkpoint_and_log_is_told_as_gone() {
    let project = orders(&order(1, 1));
    let ingestion = project.path().join("ingestion/streaming/lines.json");
    let text = fs::read_to_string(&ingestion).expect("the contract");
    let one_by_one = text.replacen('{', r#"{ "options": { "maxFilesPerTrigger": 1 }, "#, 1);
    fs::write(&ingestion, one_by_one).expect("it can be written");
    for file in 2..=12 {
        project.write(&format!("landing/{file}.txt"), &order(file, 1));
    }
    project.host(&["run"]).succeed();
    fs::remove_dir_all(project.checkpoint("streaming/lines/sources")).expect("entries can be removed");
    let text = said(&project, &["bronze.lines", "--limit", "1"]);
    assert!(text.contains("read: files of the entries 11..12, which the checkpoint does not have any more"), "{text}");
    fs::remove_dir_all(project.checkpoint("streaming")).expect("a checkpoint can be removed");
    let told = history(&project, &["bronze.lines", "--limit", "1"]);
    assert_eq!((each(&told, "origin"), each(&told, "batch")), (vec![json!("earlier_checkpoint")], vec![json!(11)]));
    assert!(!project.checkpoint("streaming").exists(), "looking makes none");
    let log = project.tables().path("bronze/lines").join("_delta_log");
    for version in 0..5 {
        fs::remove_file(log.join(format!("{version:020}.json"))).expect("an entry can be removed");
    }
    let told = history(&project, &["bronze.lines"]);
    assert_eq!((each(&told, "version").last(), &told["older_deleted"]), (Some(&json!(5)), &json!(true)));
    let text = said(&project, &["bronze.lines"]);
    assert!(text.ends_with("older commits are not in the table's log any more\n"), "{text}");
}

#[test]
fn a_table_that_is_not_there_has_no_history() {
    let project = orders(&order(1, 1));
    let said = project.host(&["history", "silver.order"]).fail_with(3);
    assert!(said.contains("no contract describes it") && said.contains("`silver.orders`"), "{said}");
    let said = project.host(&["history", "silver.orders"]).fail_with(3);
    assert!(said.contains("it does not exist yet"), "{said}");
    project.host(&["run"]).succeed();
    let said = project.host(&["history", "silver.orders", "--quarantine"]).fail_with(3);
    assert!(said.contains("no row was ever refused"), "{said}");
}
