//! The table of keys against the parser, and against the reference.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;

use crisol_contract::{KeyFile, Problem, keys, schema};
use serde_json::{Map, Value, json};
use support::{Project, SETTINGS};

/// Puts `value` at a path of the table of keys, on top of what is there.
fn put(root: &mut Value, path: &str, value: Value) {
    if let Some((source, option)) = path.split_once(".kafka.kafka.") {
        put(root, &format!("{source}.kafka"), json!({ format!("kafka.{}", option.replace('*', "some")): value }));
        return;
    }
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let (name, is_list) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
    let name = if name == "*" { "some" } else { name };
    if !root.is_object() {
        *root = Value::Object(Map::new());
    }
    let mut slot = root.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
    if is_list {
        if !slot.is_array() {
            *slot = json!([{}]);
        }
        slot = &mut slot[0];
    }
    match rest {
        Some(rest) => put(slot, rest, value),
        None => *slot = value,
    }
}

fn document(file: KeyFile, path: &str) -> Value {
    match file {
        KeyFile::Settings => json!({}),
        KeyFile::Ingestion
            if path.starts_with("source.path") || path.starts_with("source.schema") || path.starts_with("options.") =>
        {
            json!({"name": "i", "source": {"format": "json", "path": "{path.landing}/i"}, "destination_contract": "../../tables/b.json"})
        }
        KeyFile::Ingestion => {
            let kafka = json!({"topic": "t", "bootstrap_servers": "b:1"});
            json!({"name": "i", "source": {"format": "kafka", "kafka": kafka}, "destination_contract": "../../tables/b.json"})
        }
        KeyFile::Table if path.starts_with("write.") && path.ends_with("group_by") => {
            json!({"name": "s", "from": "b", "write": {"mode": "replace_groups"}})
        }
        KeyFile::Table if path.starts_with("write.") => json!({"name": "s", "from": "b", "write": {"mode": "upsert"}}),
        KeyFile::Table => json!({"name": "s", "from": "b"}),
    }
}

/// The project in which one file is `document`.
fn project(file: KeyFile, document: &Value) -> Project {
    let ingestion = r#"{"name": "i", "source": {"format": "text", "path": "{path.landing}/i"}, "destination_contract": "../../tables/b.json"}"#;
    let project = Project::new().table("b.json", r#"{"name": "b"}"#);
    match file {
        KeyFile::Settings => {
            let toml = if document["path"].is_null() { SETTINGS } else { "" };
            let mut text = toml.to_owned();
            for (name, value) in document.as_object().unwrap() {
                text.insert_str(0, &format!("{name} = {}\n", inline(value)));
            }
            project.settings(&text).ingestion("i.json", ingestion)
        }
        KeyFile::Ingestion => project.ingestion("i.json", &document.to_string()),
        KeyFile::Table => project.ingestion("i.json", ingestion).table("s.json", &document.to_string()),
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let inner: Vec<_> = map.iter().map(|(name, value)| format!("{name} = {}", inline(value))).collect();
            format!("{{ {} }}", inner.join(", "))
        }
        other => other.to_string(),
    }
}

fn problems(file: KeyFile, document: &Value) -> Vec<Problem> {
    project(file, document).resolve().err().map(|problems| problems.as_slice().to_vec()).unwrap_or_default()
}

fn shown(path: &str) -> String {
    path.replace("[]", "[0]").replace('*', "some")
}

/// Every key is really read: a value of the wrong type is refused, with the key's own path and a position.
#[test]
fn every_key_refuses_a_value_of_the_wrong_type() {
    for key in keys().iter().filter(|key| key.path != "options.*") {
        let mut document = document(key.file, key.path);
        put(&mut document, key.path, json!([[[]]]));
        let found = problems(key.file, &document);
        let path = shown(key.path);
        let own = found.iter().find(|problem| problem.key.as_ref().is_some_and(|key| key.starts_with(&path)));
        let own = own.unwrap_or_else(|| panic!("{path} is not read: {found:#?}"));
        assert!(own.line.is_some() && own.column.is_some(), "{own:?}");
    }
}

/// The same for what holds keys: objects and lists.
#[test]
fn every_object_and_list_refuses_a_value_of_the_wrong_type() {
    for key in keys() {
        let mut path = key.path;
        while let Some((above, _)) = path.rsplit_once('.') {
            path = above;
            if path.starts_with("kafka.") {
                continue;
            }
            for above in [path, path.trim_end_matches("[]")] {
                let mut document = document(key.file, above);
                put(&mut document, above, json!(1.5));
                let found = problems(key.file, &document);
                let shown = shown(above);
                let own = found.iter().any(|problem| problem.key.as_ref().is_some_and(|key| key.starts_with(&shown)));
                assert!(own, "{shown} in {document}: {found:#?}");
            }
        }
    }
}

/// Beside every key a misspelt one is refused by its path.
#[test]
fn every_place_refuses_an_unknown_key() {
    for key in keys().iter().filter(|key| !key.path.contains('*')) {
        let misspelt = format!("{}x", key.path);
        let mut document = document(key.file, key.path);
        put(&mut document, &misspelt, json!(1));
        let found = problems(key.file, &document);
        let path = shown(&misspelt);
        let own = found.iter().find(|problem| problem.key.as_deref() == Some(&path));
        let own = own.unwrap_or_else(|| panic!("{path} is accepted: {found:#?}"));
        assert!(own.message.starts_with("unknown key"), "{own:?}");
        assert!(!is_valid(key.file, &document), "the schema accepts {path} in {document}");
    }
}

fn is_valid(file: KeyFile, document: &Value) -> bool {
    jsonschema::draft202012::is_valid(&schema(file), document)
}

/// Paths of the names that a schema proposes.
fn proposed(schema: &Value, path: &str, into: &mut BTreeSet<String>) {
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        into.insert(path.clone());
        proposed(below, &path, into);
    }
    for choice in schema["anyOf"].as_array().into_iter().flatten() {
        proposed(choice, path, into);
    }
    proposed_items(schema, path, into);
}

fn proposed_items(schema: &Value, path: &str, into: &mut BTreeSet<String>) {
    if schema["items"].is_object() {
        proposed(&schema["items"], &format!("{path}[]"), into);
    }
}

/// A schema has each key of the parser, Spark's names beside ours, and no other.
#[test]
fn the_schemas_have_every_key_and_no_other() {
    for file in [KeyFile::Settings, KeyFile::Ingestion, KeyFile::Table] {
        let mut found = BTreeSet::new();
        proposed(&schema(file), "", &mut found);
        let mut expected = BTreeSet::new();
        for key in keys().iter().filter(|key| key.file == file) {
            let parent = key.path.rsplit_once('.').map_or("", |(parent, _)| parent);
            let spark = (!key.spark.is_empty()).then(|| format!("{parent}.{}", key.spark));
            for path in spark.into_iter().chain([key.path.to_owned()]).filter(|path| !path.contains('*')) {
                // Options of Kafka may stand in `options`, too.
                if let Some(option) = path.strip_prefix("source.kafka.") {
                    expected.insert(format!("options.{option}"));
                }
                expected.insert(path);
            }
            let objects = key.path.match_indices('.').map(|(at, _)| key.path[..at].trim_end_matches("[]").to_owned());
            expected.extend(objects.filter(|path| path != "source.kafka.kafka" && !path.contains('*')));
        }
        assert_eq!(found, expected, "{file:?}");
    }
}

/// An editor marks nothing that a start takes.
#[test]
fn the_schemas_are_never_stricter_than_the_parser() {
    let values = [
        json!(true),
        json!(1),
        json!(0),
        json!(1.5),
        json!("x"),
        json!(""),
        json!("1"),
        json!("true"),
        json!("${env:N:-1}"),
        json!("10 seconds"),
        json!("earliest"),
        json!("KAFKA"),
        json!("{\"t\": {\"0\": 1}}"),
        json!([]),
        json!({}),
        json!(["x"]),
        json!({"t": {"0": 1}}),
        json!({"delta": "x"}),
        json!({"every": "1 second"}),
        json!(null),
    ];
    let mut accepted = 0;
    for key in keys().iter().filter(|key| key.path != "options.*") {
        for value in &values {
            let mut document = document(key.file, key.path);
            put(&mut document, key.path, value.clone());
            if problems(key.file, &document).is_empty() {
                assert!(is_valid(key.file, &document), "the schema refuses {document}");
                accepted += 1;
            }
        }
    }
    assert!(accepted > 150, "only {accepted} documents were accepted");
}

/// A value of a type that no key takes is refused by both.
#[test]
fn the_schemas_refuse_values_of_the_wrong_type() {
    for key in keys().iter().filter(|key| key.path != "options.*") {
        let mut document = document(key.file, key.path);
        put(&mut document, key.path, json!([[[]]]));
        assert!(!is_valid(key.file, &document), "the schema accepts {document}");
    }
}

/// `docs/contracts.md` lists exactly the keys of the parser, with the same words.
#[test]
fn the_reference_lists_every_key_and_no_other() {
    let page = include_str!("../../../docs/contracts.md");
    for (file, heading) in [
        (KeyFile::Settings, "## crisol.toml"),
        (KeyFile::Ingestion, "## Ingestion contracts"),
        (KeyFile::Table, "## Table contracts"),
    ] {
        let section = page.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n## ").next().unwrap();
        let found: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
        let expected: Vec<String> = keys().iter().filter(|key| key.file == file).map(row).collect();
        assert_eq!(
            found.join("\n"),
            expected.join("\n"),
            "rows under {heading} should be:\n\n{}\n",
            expected.join("\n")
        );
    }
}

fn row(key: &crisol_contract::Key) -> String {
    let spark = if key.spark.is_empty() { String::new() } else { format!(" (`{}`)", key.spark) };
    format!("| `{}`{spark} | {} | {} |", key.path, key.takes, key.meaning)
}
