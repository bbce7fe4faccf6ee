//! The commands of an author.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crisol_tests::{binary, root};
use serde_json::Value;

/// Languages besides Rust, whose plugins the tests of `it` build.
pub(crate) const LANGUAGES: [&str; 4] = ["python", "javascript", "typescript", "go"];

/// `host` in a folder.
pub(crate) fn host(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary("host")).args(arguments).current_dir(folder).output().expect("the host can be started")
}

/// What it says when it succeeds.
pub(crate) fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = host(folder, arguments);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {arguments:?}: {said}", folder.display());
    said
}

/// The plugins in the folders of a folder that have a `plugin.toml`, by name; at least one.
pub(crate) fn plugins(folder: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join(folder)).expect("a folder of plugins").flatten().map(|entry| entry.path());
    let mut found: Vec<_> = folders.filter(|folder| folder.join("plugin.toml").is_file()).collect();
    found.sort();
    assert!(!found.is_empty(), "{folder} has no plugins");
    found
}

/// Builds a plugin; gives its component.
pub(crate) fn built(plugin: &Path) -> PathBuf {
    let output = host(plugin, &["build", "-o", "json"]);
    assert!(output.status.success(), "{}: {}", plugin.display(), String::from_utf8_lossy(&output.stderr));
    let built: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    plugin.join(built["path"].as_str().expect("a path"))
}
