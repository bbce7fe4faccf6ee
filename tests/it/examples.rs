//! The examples, as a newcomer runs them, on Apache Kafka and on files, compared with a computation of their own.

use std::fs;

use crisol_tests::{Project, Topic, generate};
use serde_json::Value;

#[test]
fn orders_of_apache_kafka_become_typed_silver_and_every_row_is_accounted_for() {
    let topic = Topic::create("orders.v1", 4);
    let lines = generate("orders", 200_000);
    topic.produce_lines(&lines);
    let project = Project::example("orders");
    let input = project.write("orders.tsv", &lines);
    let output = project.host(&["run", "-o", "json"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
    project.tables().as_expected("orders", &input);

    let accounts = accounts(&output.stdout);
    let silver = accounts.iter().find(|stream| stream["stream"] == "silver.orders").expect("silver is in the accounts");
    let (rows_in, accepted) = (silver["accounts"]["rows_in"].as_u64(), silver["accounts"]["rows_accepted"].as_u64());
    let rejected: u64 =
        silver["accounts"]["rejected"].as_object().expect("reasons").values().filter_map(Value::as_u64).sum();
    assert_eq!(rows_in, Some(200_000));
    assert_eq!(accepted.map(|rows| rows + rejected), Some(200_000));
    assert_eq!(project.tables().count("bronze/orders_raw"), 200_000);

    let again = project.host(&["run"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
    assert!(again.status.success());
    assert_eq!(project.tables().count("bronze/orders_raw"), 200_000, "a second run reads only what is new");
}

#[test]
fn plays_of_files_become_partitioned_silver() {
    let project = Project::example("music");
    fs::remove_file(project.path().join("input/2026-03-01.json")).expect("the example's own input");
    let input = project.write("input/plays.json", &generate("music", 60_000));
    project.host(&["run"]).succeed();
    project.tables().as_expected("music", &input);
}

#[test]
fn eventos_takes_its_columns_from_the_files_once_and_a_second_run_reads_what_is_new() {
    let project = Project::example("eventos");
    project.host(&["run"]).succeed();
    assert_eq!(project.tables().count("bronze/eventos_raw"), 3);
    fs::copy(project.path().join("later/2026-03-02.json"), project.path().join("input/eventos_app/2026-03-02.json"))
        .expect("a file can be copied");
    project.host(&["run"]).succeed();
    let ids = project.tables().query("bronze/eventos_raw", "SELECT id FROM rows ORDER BY id");
    assert_eq!(ids, [1, 2, 3, 4, 6].map(|id| vec![Value::from(id)]));
    let refused = project.tables().query("bronze/eventos_raw_quarantine", "SELECT code, file_row, text FROM rows");
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0][0], "corrupt_record");
    assert_eq!(refused[0][1], 1);
    assert!(refused[0][2].as_str().is_some_and(|text| text.contains("id") && text.contains("five")), "{refused:?}");
}

#[test]
fn sensores_reads_the_broker_of_its_environment_and_a_suffix_begins_anew() {
    let topic = Topic::create("planta.sensores", 2);
    let project = Project::example("sensores");
    let lines = fs::read_to_string(project.path().join("input/sensores.tsv")).expect("the example's input");
    topic.produce_lines(&lines);
    project.host(&["run"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
    let keys = project.tables().query("bronze/sensores_raw", "SELECT message_key FROM rows ORDER BY 1");
    assert_eq!(keys, ["s-01", "s-01", "s-02", "s-03"].map(|key| vec![Value::from(key)]));
    assert!(project.checkpoint("streaming/sensores").join("commits/0").is_file());

    let contract = project.path().join("ingestion/streaming/sensores.json");
    let text = fs::read_to_string(&contract).expect("the contract");
    let suffixed = text.replacen("\"ingest_type\"", "\"checkpoint_suffix\": \"_v2\",\n  \"ingest_type\"", 1);
    fs::write(&contract, suffixed).expect("the contract can be changed");
    let said = project.host(&["run"]).env("KAFKA_BROKERS", topic.brokers()).fail_with(3);
    assert!(said.contains("--reread") && said.contains("--rebuild"), "{said}");
    project.host(&["run", "--reread"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
    assert_eq!(project.tables().count("bronze/sensores_raw"), 8);
    assert!(project.checkpoint("streaming/sensores_v2").join("commits/0").is_file());
}

fn accounts(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stdout);
    let line = text.lines().find(|line| line.contains("crisol.accounts/v1")).expect("accounts are printed");
    let object: Value = serde_json::from_str(line).expect("JSON");
    object["streams"].as_array().expect("streams").clone()
}
