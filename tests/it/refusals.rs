//! What is wrong is refused before any row is read, with words that help; nothing that was committed is harmed.

use std::fs;

use crisol_tests::Project;
use serde_json::json;

/// A project of files that runs; the tests break one thing each.
fn project() -> Project {
    let project = Project::new();
    project.write("landing/a.json", "{\"id\":1}\n{\"id\":2}\n");
    project.write("ingestion/streaming/things.json", &ingestion().to_string());
    project.write("tables/bronze/things.json", r#"{ "name": "bronze.things" }"#);
    project.write("tables/silver/things.json", &silver().to_string());
    project
}

fn ingestion() -> serde_json::Value {
    json!({
        "name": "things",
        "ingest_type": "streaming",
        "source": { "format": "json", "path": "{path.landing}", "schema": [{ "name": "id", "type": "long" }] },
        "destination_contract": "../../tables/bronze/things.json"
    })
}

fn silver() -> serde_json::Value {
    json!({
        "name": "silver.things",
        "from": "bronze.things",
        "columns": [{ "name": "id", "type": "long", "nullable": false }]
    })
}

/// Changes the silver contract, and expects `host run` to refuse it with all these words.
fn refused(change: impl FnOnce(&mut serde_json::Value), words: &[&str]) {
    let project = project();
    let mut contract = silver();
    change(&mut contract);
    project.write("tables/silver/things.json", &contract.to_string());
    expect(&project, words);
}

fn expect(project: &Project, words: &[&str]) {
    let said = project.host(&["run"]).fail_with(3);
    for word in words {
        assert!(said.contains(word), "`{word}` is missing in:\n{said}");
    }
    assert!(!project.tables().exists("bronze/things"), "nothing is written");
    let checked = project.host(&["check"]).fail_with(1);
    assert!(checked.contains(words[0]), "{checked}");
}

#[test]
fn the_project_that_the_others_break_runs() {
    let project = project();
    project.host(&["check"]).succeed();
    project.host(&["run"]).succeed();
    assert_eq!(project.tables().count("silver/things"), 2);
}

#[test]
fn an_unknown_key_is_named_with_the_nearest() {
    refused(|contract| contract["expectatons"] = json!([]), &["expectatons", "expectations", "silver/things.json"]);
}

#[test]
fn a_wrong_type_is_named_with_its_place() {
    refused(|contract| contract["columns"] = json!("id"), &["columns", "1:"]);
}

#[test]
fn a_missing_component_is_named() {
    refused(|contract| contract["stages"] = json!([{ "decode": "ordres" }]), &["ordres", "orders", "stages[0]"]);
}

#[test]
fn a_component_of_another_kind_is_refused() {
    refused(|contract| contract["stages"] = json!([{ "decode": "order-rules" }]), &["order-rules", "validator"]);
}

#[test]
fn columns_that_a_component_needs_and_the_upstream_lacks_are_named() {
    refused(|contract| contract["stages"] = json!([{ "decode": "orders" }]), &["payload", "orders"]);
}

#[test]
fn a_column_that_comes_from_nowhere_is_named() {
    refused(|contract| contract["columns"] = json!([{ "name": "idd", "type": "long" }]), &["idd", "id"]);
}

#[test]
fn a_column_of_another_type_is_refused_naming_both() {
    refused(|contract| contract["columns"] = json!([{ "name": "id", "type": "string" }]), &["id", "string", "bigint"]);
}

#[test]
fn wrong_sql_is_refused_with_the_nearest_column() {
    refused(
        |contract| contract["expectations"] = json!([{ "name": "positive", "condition": "iid > 0" }]),
        &["expectations[0].condition", "iid", "`id`"],
    );
}

#[test]
fn what_components_and_sql_do_not_take_has_line_and_column() {
    let project = project();
    let contract = r#"{ "name": "silver.things", "from": "bronze.things",
  "stages": [ { "validate": "no-such" } ],
  "columns": [ { "name": "twice", "type": "long", "generated": "idd * 2" } ],
  "expectations": [
    { "name": "positive", "condition": "iid > 0" } ] }"#;
    project.write("tables/silver/things.json", contract);
    let places = ["2:29  `stages[0].validate`", "3:64  `columns[0].generated`", "5:40  `expectations[0].condition`"];
    expect(&project, &places);
    let output = project.host(&["check", "-o", "json"]).run();
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let keys: Vec<_> = object["errors"][2].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "message", "file", "line", "column", "key", "hint"]);
    let error = &object["errors"][2];
    assert_eq!((&error["line"], &error["column"], &error["code"]), (&json!(5), &json!(40), &json!("refused")));
    assert_eq!(error["file"], "tables/silver/things.json");
}

#[test]
fn a_decoder_that_no_contract_names_is_missed_where_the_format_stands() {
    let project = project();
    let empty = project.path().join("none");
    fs::create_dir(&empty).expect("a folder");
    let said = project.host(&["run"]).plugins(&empty).fail_with(3);
    assert!(said.contains("problem in ingestion/streaming/things.json"), "{said}");
    assert!(said.contains("`source.format`: no component `json`"), "{said}");
}

#[test]
fn only_run_names_the_check() {
    let project = project();
    project.write("tables/silver/things.json", r#"{ "name": "silver.things", "from": "bronze.thigns" }"#);
    assert!(project.host(&["run"]).fail_with(3).contains("\nhint: `host check` checks"));
    for (command, code) in [(&["check"][..], 1), (&["status"], 3)] {
        let said = project.host(command).fail_with(code);
        assert!(said.contains("bronze.thigns") && !said.contains("`host check`"), "{said}");
    }
}

#[test]
fn options_that_the_kafka_client_refuses_are_found_without_a_broker() {
    let project = Project::example("sensores");
    let settings = project.path().join("crisol.toml");
    let text =
        fs::read_to_string(&settings).expect("the settings").replace("[kafka]\n", "[kafka]\n\"fetch.min.bites\" = 1\n");
    fs::write(&settings, &text).expect("the settings can be changed");
    let line = text.lines().position(|line| line.contains("fetch.min.bites")).expect("it is set") + 1;
    for (command, code) in [("check", 1), ("run", 3)] {
        let said = project.host(&[command]).env("KAFKA_BROKERS", "127.0.0.1:1").fail_with(code);
        for words in
            ["in crisol.toml", &format!("{line}:21  `kafka.fetch.min.bites`"), "No such configuration property"]
        {
            assert!(said.contains(words), "`{words}` is missing in:\n{said}");
        }
    }
}

#[test]
fn paths_that_cannot_be_used_are_refused() {
    let project = project();
    let file = project.path().join("crisol.toml/x");
    for key in ["path.tables", "path.checkpoint", "path.landing"] {
        let said = project.host(&["run", "--set", &format!("{key}={}", file.display())]).fail_with(3);
        assert!(said.contains("crisol.toml"), "{key}: {said}");
    }
    let said = project.host(&["run"]).plugins(&file).fail_with(3);
    assert!(said.contains("--plugins"), "{said}");
}

#[test]
fn options_that_a_component_does_not_take_are_refused() {
    refused(
        |contract| {
            contract["stages"] = json!([{ "decode": "json", "options": { "columms": [] } }]);
        },
        &["columms"],
    );
}

#[test]
fn all_problems_of_all_files_are_told_at_once() {
    let project = project();
    project.write("tables/silver/things.json", r#"{ "name": "silver.things", "from": "bronze.thigns", "x": 1 }"#);
    project.write("ingestion/streaming/things.json", &ingestion().to_string().replace("\"json\"", "\"jsn\""));
    expect(&project, &["bronze.thigns", "`x`", "jsn"]);
}

#[test]
fn a_missing_destination_is_named() {
    let project = project();
    fs::remove_file(project.path().join("tables/bronze/things.json")).expect("the contract is there");
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("tables/bronze/things.json"), "{said}");
}

#[test]
fn no_project_no_stream_and_no_table_are_said_plainly() {
    let empty = Project::new();
    fs::remove_file(empty.path().join("crisol.toml")).expect("the settings are there");
    assert!(empty.host(&["run"]).fail_with(3).contains("is not a project"));
    let project = project();
    assert!(project.host(&["run", "thing"]).fail_with(3).contains("`things`"));
    assert!(project.host(&["show", "silver.thing"]).fail_with(3).contains("`silver.things`"));
    assert!(project.host(&["show", "silver.things"]).fail_with(3).contains("does not exist yet"));
    assert!(project.host(&["run", "--triger", "x"]).fail_with(2).contains("--trigger"));
}

#[test]
fn a_path_that_holds_another_table_is_refused_and_not_touched() {
    let project = project();
    project.host(&["run"]).succeed();
    let log = project.tables().log("bronze/things").to_string();
    let mut contract = silver();
    contract["path"] = json!("data/tables/bronze/things");
    contract["name"] = json!("silver.others");
    fs::remove_file(project.path().join("tables/silver/things.json")).expect("the contract is there");
    fs::remove_file(project.path().join("tables/bronze/things.json")).expect("the contract is there");
    fs::remove_dir_all(project.path().join("ingestion")).expect("the contracts are there");
    contract["from"] = json!({ "delta": "data/tables/silver/things" });
    contract["columns"] =
        json!([{ "name": "id", "type": "long" }, { "name": "twice", "type": "long", "generated": "id * 2" }]);
    project.write("tables/others.json", &contract.to_string());
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("silver.others") && said.contains("twice"), "{said}");
    assert_eq!(project.tables().log("bronze/things").to_string(), log);
}

#[test]
fn a_broker_that_is_not_there_is_an_error_within_its_deadline() {
    let project = Project::example("sensores");
    let contract = project.path().join("ingestion/streaming/sensores.json");
    let text = fs::read_to_string(&contract).expect("the contract");
    let patient = "\"poll_timeout_ms\": 2000, \"starting_offsets\"";
    fs::write(&contract, text.replace("\"starting_offsets\"", patient)).expect("the contract can be changed");
    let began = std::time::Instant::now();
    let said = project.host(&["run"]).env("KAFKA_BROKERS", "127.0.0.1:1").fail_with(1);
    assert!(said.contains("127.0.0.1:1"), "{said}");
    assert!(began.elapsed().as_secs() < 90, "it took {:?}", began.elapsed());
}

#[test]
fn a_missing_topic_is_named_and_not_made() {
    let project = Project::example("sensores");
    let contract = project.path().join("ingestion/streaming/sensores.json");
    let text = fs::read_to_string(&contract).expect("the contract").replace("planta.sensores", "no.such.topic");
    fs::write(&contract, text).expect("the contract can be changed");
    let brokers = crisol_tests::given("CRISOL_TEST_KAFKA");
    for _ in 0..2 {
        let said = project.host(&["run"]).env("KAFKA_BROKERS", &brokers).fail_with(3);
        assert!(said.contains("no.such.topic"), "{said}");
    }
}

#[test]
fn json_errors_are_objects_with_code_file_line_and_key() {
    let project = project();
    project.write("tables/silver/things.json", r#"{ "name": "silver.things", "from": "bronze.things", "x": 1 }"#);
    let output = project.host(&["check", "-o", "json"]).run();
    assert_eq!(output.status.code(), Some(1));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let error = &object["errors"][0];
    assert_eq!(error["code"], "unknown_key");
    assert_eq!(error["key"], "x");
    assert_eq!(error["line"], 1);
    assert!(error["file"].as_str().is_some_and(|file| file.ends_with("tables/silver/things.json")), "{error}");
}
