//! Components of earlier times, kept as files: the host of today runs them as ever.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crisol_tests::{binary, root};
use serde_json::Value;

const BYTES_MAX: u64 = 3 << 20;

fn folder() -> PathBuf {
    root().join("tests/fixtures/components")
}

/// Every file, by its name in `DIGESTS`.
fn components() -> BTreeMap<String, PathBuf> {
    let versions = fs::read_dir(folder()).expect("the fixtures").map(|entry| entry.expect("an entry").path());
    let files = versions.filter(|path| path.is_dir()).flat_map(|version| {
        let name = version.file_name().expect("a name").to_string_lossy().into_owned();
        let files = fs::read_dir(version).expect("a version").map(|entry| entry.expect("an entry").path());
        files.map(move |file| (format!("{name}/{}", file.file_name().expect("a name").to_string_lossy()), file))
    });
    files.collect()
}

/// What `host` answers as JSON.
fn answer(arguments: &[&str], component: &PathBuf) -> Value {
    let output = Command::new(binary("host")).args(arguments).arg(component).args(["-o", "json"]).output();
    let output = output.expect("the host can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(output.status.code(), Some(0), "{}: {answer:#}", component.display());
    answer
}

#[test]
fn kept_components_are_the_files_that_they_were() {
    let digests = fs::read_to_string(folder().join("DIGESTS")).expect("DIGESTS");
    let kept: BTreeMap<&str, &str> =
        digests.lines().filter_map(|line| line.split_once("  ").map(|(digest, name)| (name, digest))).collect();
    let components = components();
    assert_eq!(kept.keys().copied().collect::<Vec<_>>(), components.keys().collect::<Vec<_>>());
    assert!(components.len() >= 4);
    for (name, file) in &components {
        let inspected = answer(&["inspect"], file);
        assert_eq!(inspected["component"]["digest"], kept[name.as_str()], "{name} was changed");
        assert!(fs::metadata(file).expect("a file").len() <= BYTES_MAX, "{name} is too large to be kept");
    }
}

#[test]
fn kept_components_do_what_their_samples_say() {
    for (name, file) in components() {
        let tested = answer(&["test"], &file);
        let samples = tested["samples"].as_array().expect("samples");
        assert!(!samples.is_empty() && samples.iter().all(|sample| sample["state"] == "ok"), "{name}: {tested:#}");
    }
}

#[test]
fn kept_components_conform() {
    for (name, file) in components() {
        let tried = answer(&["test", "--conformance"], &file);
        assert!(tried["failed"] == 0 && tried["cases"].as_array().is_some_and(|cases| cases.len() > 10), "{name}");
    }
}
