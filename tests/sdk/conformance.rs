//! Each SDK does what the protocol asks: its conformance stages, and the bundled plugins in that language.

use std::fs;

use crisol_tests::root;
use serde_json::Value;

use crate::author::{built, host, plugins, succeed};

/// Imports that a component of a language may have, as far as they are not of the host's own package.
const WASI_FREE: [&str; 3] = ["-c", "-go", "-python"];

#[test]
fn the_plugins_of_each_language_hold_their_samples_and_conform() {
    for plugin in plugins("plugins") {
        let said = succeed(&plugin, &["test"]);
        assert!(said.contains("samples hold") && !said.contains("no samples"), "{said}");
        succeed(&plugin, &["test", ".", "--conformance"]);
    }
}

#[test]
fn the_conformance_stages_of_each_sdk_conform() {
    let guests = fs::read_dir(root().join("tests/guests")).unwrap().flatten();
    let mut languages = 0;
    for language in guests.filter(|entry| entry.file_name().to_string_lossy().starts_with("conformance-")) {
        let folder = format!("tests/guests/{}", language.file_name().to_string_lossy());
        if folder.ends_with("-rust") {
            // They are built with the workspace, and run with the tests of `it`.
            continue;
        }
        languages += 1;
        for stage in plugins(&folder) {
            succeed(&stage, &["test", ".", "--conformance"]);
        }
    }
    assert!(languages >= 4, "Python, JavaScript, Go and C have stages: {languages}");
}

#[test]
fn components_that_can_do_without_wasi_have_none_of_it() {
    for plugin in plugins("plugins") {
        let name = plugin.file_name().unwrap().to_string_lossy().into_owned();
        if !WASI_FREE.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let component = built(&plugin).display().to_string();
        let inspected: Value =
            serde_json::from_slice(&host(&plugin, &["inspect", &component, "-o", "json"]).stdout).unwrap();
        let imports = inspected["component"]["imports"].as_array().unwrap();
        assert!(
            imports.iter().all(|import| import.as_str().unwrap().starts_with("crisol:stage/")),
            "{name}: {imports:?}"
        );
    }
}
