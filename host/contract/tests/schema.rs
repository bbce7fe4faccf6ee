//! Schemas against contracts as people write them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use crisol_contract::{KeyFile, schema};
use serde_json::{Map, Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn assert_valid(file: KeyFile, document: &Value, place: &str) {
    let validator = jsonschema::draft202012::new(&schema(file)).expect("a schema");
    let errors: Vec<_> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{place}: {errors:#?}");
}

fn json_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            json_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            into.push(path);
        }
    }
}

/// A TOML text as an editor sees it: dotted names are tables.
fn toml(text: &str) -> Value {
    fn value(item: &toml_edit::Item) -> Value {
        match item {
            toml_edit::Item::Value(toml_edit::Value::String(text)) => json!(text.value()),
            toml_edit::Item::Value(toml_edit::Value::Integer(number)) => json!(number.value()),
            toml_edit::Item::Value(toml_edit::Value::Boolean(flag)) => json!(flag.value()),
            other => {
                let table = other.as_table_like().expect("a table, a text or a number");
                table.iter().map(|(name, below)| (name.to_owned(), value(below))).collect::<Map<_, _>>().into()
            }
        }
    }
    value(text.parse::<toml_edit::DocumentMut>().expect("TOML").as_item())
}

#[test]
fn every_project_of_the_repository_is_valid() {
    let (mut contracts, mut projects) = (0, 0);
    for folder in ["examples", "tests/pipelines"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let project = entry.unwrap().path();
            if let Ok(text) = std::fs::read_to_string(project.join("crisol.toml")) {
                assert_valid(KeyFile::Settings, &toml(&text), &project.display().to_string());
                projects += 1;
            }
            for (below, file) in [("ingestion", KeyFile::Ingestion), ("tables", KeyFile::Table)] {
                let mut files = Vec::new();
                json_files(&project.join(below), &mut files);
                for path in files {
                    let document = serde_json::from_slice(&std::fs::read(&path).unwrap()).expect("JSON");
                    assert_valid(file, &document, &path.display().to_string());
                    contracts += 1;
                }
            }
        }
    }
    assert!(contracts > 20 && projects >= 4, "{contracts} contracts of {projects} projects");
}

#[test]
fn every_contract_in_the_documentation_is_valid() {
    let mut seen = 0;
    let pages = std::fs::read_dir(root().join("docs")).unwrap().flatten().map(|entry| entry.path());
    for page in pages.chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let Ok(document @ Value::Object(_)) = serde_json::from_str::<Value>(block) else { continue };
            let has = |name: &str| document.get(name).is_some();
            // Samples of components, and parts of contracts, are something else.
            if !has("name") || has("given") || has("expect") {
                continue;
            }
            let file = if has("destination_contract") { KeyFile::Ingestion } else { KeyFile::Table };
            assert_valid(file, &document, &page.display().to_string());
            seen += 1;
        }
    }
    assert!(seen >= 5, "only {seen} contracts in the documentation");
}

#[test]
fn the_contracts_of_the_users_are_valid_byte_for_byte() {
    let eventos = r#"{ "name": "eventos_app", "ingest_type": "streaming", "load_type": "streaming", "trigger": "available_now",
        "source": { "format": "json", "path": "{path.landing}/eventos_app" },
        "destination_contract": "../../tables/bronze/eventos_raw.json" }"#;
    let sensores = r#"{ "name": "sensores", "ingest_type": "streaming",
        "source": { "format": "kafka", "kafka": { "topic": "planta.sensores", "starting_offsets": "earliest",
            "bootstrap_servers": "broker:9092" } },
        "metadata": { "add_kafka_metadata": true }, "destination_contract": "../../tables/bronze/sensores_raw.json" }"#;
    for contract in [eventos, sensores] {
        assert_valid(KeyFile::Ingestion, &serde_json::from_str(contract).unwrap(), contract);
    }
    assert_valid(KeyFile::Table, &json!({ "name": "bronze.eventos_raw" }), "a table");
}

#[test]
fn options_have_all_their_spellings() {
    let contract = |options: Value| json!({ "name": "o", "source": { "format": "kafka" }, "options": options, "destination_contract": "../b.json" });
    let options = json!({ "SubscribePattern": "a.*", "startingOffsets": "LATEST", "MAX_OFFSETS_PER_TRIGGER": "500",
        "kafkaConsumer.pollTimeoutMs": 5, "KAFKA.fetch.min.bytes": 10, "kafka.bootstrap.servers": "b:1" });
    assert_valid(KeyFile::Ingestion, &contract(options), "spellings");
    let unknown = contract(json!({ "startingOffset": "latest" }));
    assert!(!jsonschema::draft202012::is_valid(&schema(KeyFile::Ingestion), &unknown));
}

#[test]
fn a_stage_has_exactly_one_kind() {
    let table = |stage: Value| json!({ "name": "s", "from": "b", "stages": [stage] });
    let is_valid = |stage: Value| jsonschema::draft202012::is_valid(&schema(KeyFile::Table), &table(stage));
    assert!(is_valid(json!({ "decode": "orders@^1.2", "options": { "any": [1] } })));
    assert!(!is_valid(json!({ "options": {} })));
    assert!(!is_valid(json!({ "decode": "orders", "validate": "rules" })));
}

#[test]
fn the_schemas_are_those_of_the_draft() {
    for file in [KeyFile::Settings, KeyFile::Ingestion, KeyFile::Table] {
        assert!(jsonschema::meta::is_valid(&schema(file)), "{file:?}");
    }
}

/// What editors fetch is what the parser of this source takes. After a change of a key:
/// `host schema contract > schema/v1/contract.json`, and the same for `table` and `project`.
#[test]
fn the_published_schemas_are_those_of_the_parser() {
    for (name, file) in [("contract", KeyFile::Ingestion), ("table", KeyFile::Table), ("project", KeyFile::Settings)] {
        let path = root().join("schema/v1").join(name).with_extension("json");
        let published = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(
            published,
            format!("{:#}\n", schema(file)),
            "write it anew: `host schema {name} > {}`",
            path.display()
        );
    }
}
