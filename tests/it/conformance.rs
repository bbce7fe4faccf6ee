//! `host test --conformance`: good components pass, and each way to be wrong is found where it belongs.

use std::path::Path;
use std::process::Command;

use crisol_tests::{binary, guest, root};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What came of a component: the answer as JSON, and the exit code.
fn tried(component: &Path, samples: Option<&Value>) -> (Value, Option<i32>) {
    let folder = TempDir::new().expect("a temporary folder");
    let mut command = Command::new(binary("host"));
    command.args(["test", "--conformance", "-o", "json"]).arg(component);
    if let Some(samples) = samples {
        std::fs::write(folder.path().join("samples.json"), samples.to_string()).expect("samples");
        command.arg("--samples").arg(folder.path());
    }
    let output = command.output().expect("the host can be started");
    let answer = serde_json::from_slice(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    (answer.unwrap_or_else(|error| panic!("{error}: {said}")), output.status.code())
}

/// Cases that fail: their names, and what is said of each.
fn failures(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let cases = answer["cases"].as_array().expect("cases").iter();
    cases.filter(|case| case["state"] == "failed").map(|case| (text(&case["name"]), text(&case["error"]))).collect()
}

/// What fails with this option `fault`.
fn wrong(component: &str, fault: Option<&str>) -> Vec<(String, String)> {
    let options = fault.map_or(json!({}), |fault| json!({ "fault": fault }));
    let samples = json!([{
        "name": "two", "options": options, "input": { "id": "bigint", "name": "string", "other": "int" },
        "given": [{ "id": 1, "name": "a" }, { "id": 2, "name": "b" }], "expect": {},
    }]);
    let (answer, code) = tried(&guest(component), Some(&samples));
    let failures = failures(&answer);
    assert_eq!(code, Some(i32::from(!failures.is_empty())));
    assert_eq!(answer["failed"], failures.len());
    failures
}

#[track_caller]
fn assert_found(found: &[(String, String)], expected: &[(&str, &str)]) {
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{found:#?}");
    for ((name, said), (_, words)) in found.iter().zip(expected) {
        assert!(said.contains(words), "{name}: `{words}` is missing in `{said}`");
    }
}

#[test]
fn the_bundled_components_conform() {
    for name in ["json", "orders", "order-rules", "top-n", "aggregate"] {
        let (answer, code) = tried(&root().join("plugins").join(name).with_extension("wasm"), None);
        assert_eq!((failures(&answer), code), (Vec::new(), Some(0)), "{name}");
        assert_eq!((&answer["schema"], &answer["component"]), (&json!("crisol.conformance/v1"), &json!(name)));
        assert!(answer["cases"].as_array().is_some_and(|cases| cases.len() > 10), "{answer}");
    }
}

#[test]
fn the_conformance_stages_of_the_sdk_for_rust_conform() {
    let stages = std::fs::read_dir(root().join("tests/guests/conformance-rust/examples")).expect("stages").flatten();
    let mut found = 0;
    for stage in stages {
        let name = format!("conformance-{}", Path::new(&stage.file_name()).file_stem().unwrap().display());
        let (answer, code) = tried(&guest(&name), None);
        assert_eq!((failures(&answer), code), (Vec::new(), Some(0)), "{name}");
        let exact = |case: &Value| case["name"].as_str().is_some_and(|name| name.starts_with("exact: "));
        let cases = answer["cases"].as_array().expect("cases");
        assert!(cases.iter().filter(|case| exact(case)).count() > 5, "{name}: {answer}");
        found += 1;
    }
    assert_eq!(found, 7, "decoder, ranker, aggregator, and transformers and validators two ways");
}

#[test]
fn a_wrong_stage_over_rows_is_found_out() {
    assert_found(&wrong("wrong-rows", None), &[]);
    const LOST: &str = "is neither given nor rejected";
    assert_found(
        &wrong("wrong-rows", Some("loses")),
        &[
            ("one row", LOST),
            ("rows of nulls", LOST),
            ("extreme values, texts of 64 KiB", LOST),
            ("16,384 rows", LOST),
            ("rows of samples among extreme ones", LOST),
            ("rows cut into other messages", LOST),
            ("an instance that is kept gives what a new one gives", LOST),
        ],
    );
    let cut = "rows cut into other messages";
    assert_found(&wrong("wrong-rows", Some("counts")), &[(cut, "row 1, `id`: expected 2, got 3")]);
    let kept = "an instance that is kept gives what a new one gives";
    assert_found(&wrong("wrong-rows", Some("ages")), &[(kept, "row 0, `id`: expected 1, got 2")]);
    assert_found(
        &wrong("wrong-rows", Some("peeks")),
        &[("plan depends only on what is read", "(\"more\", \"bigint\", true)")],
    );
    assert_found(
        &wrong("wrong-rows", Some("hungers")),
        &[("a message without rows", "where are the rows?"), ("options that are none are refused as `options`", "")]
            [..1],
    );
}

#[test]
fn a_trap_on_a_rare_value_is_told_with_the_words_of_the_component() {
    const TRAPPED: &str = "it trapped: it panicked or aborted (`unreachable`); it said: ";
    let found = wrong("wrong-rows", Some("traps"));
    assert!(found.iter().any(|(name, _)| name == "extreme values, texts of 64 KiB"), "{found:?}");
    for (name, said) in found {
        assert!(said.contains(TRAPPED) && said.contains("an empty name brings bad luck"), "{name}: {said}");
    }
}

#[test]
fn a_wrong_stage_over_groups_is_found_out() {
    let options = (
        "options that are none are refused as `options`",
        "`{\"an option that there is not\": 1}` were taken, and not refused",
    );
    assert_found(&wrong("wrong-groups", None), &[options]);
    let apart = "each group in a session of its own";
    assert_found(&wrong("wrong-groups", Some("carries")), &[options, (apart, "row 1, `rows`: expected 3, got 2")]);
    let cut = "groups cut into other messages";
    assert_found(&wrong("wrong-groups", Some("forgets")), &[options, (cut, "row 4, `rows`: expected 5, got 4")]);
}

#[test]
fn a_false_conformance_stage_is_found_out_value_by_value() {
    let (answer, code) = tried(&guest("false-conformance"), None);
    assert_eq!(code, Some(1));
    let found = failures(&answer);
    let said = |name: &str| {
        let found = found.iter().find(|(found, _)| found == name);
        found.map_or_else(|| panic!("`{name}` holds: {found:#?}"), |(_, said)| said.as_str())
    };
    for (name, words) in [
        ("exact: a line for the log arrives, once, as info", "Level(Warn)"),
        ("exact: it fails in open", "it failed: refused: to fail in open"),
        ("exact: it traps, and its words arrive", "expected a trap; it failed: asked"),
        ("exact: options that do not fit are refused", "were taken, and not refused"),
        ("exact: rows of all types, options {}", "`s`: expected null, got \"\""),
        ("exact: rows of all types, options {\"reject_every\":1}", "row 0 rejected as `every` (row 1: "),
        ("exact: rows of all types, options {\"filter_every\":2}", "filtered as `skipped` (), got none"),
        ("exact: rows of all types, options {\"repeat\":3}", "expected that of row"),
        ("exact: rows of all types, options {\"stamp\":true}", "`ts`: expected \"2026-04-01T00:00:00.000001Z\""),
    ] {
        assert!(said(name).contains(words), "{name}: `{words}` is missing in `{}`", said(name));
    }
    assert!(!found.iter().any(|(name, _)| name == "exact: it fails in push"), "what is right is not told: {found:?}");
}
