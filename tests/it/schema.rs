//! Schemas as the real binary writes them, and where the examples name them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crisol_tests::{binary, root};
use serde_json::Value;

#[test]
fn what_is_written_is_what_is_published() {
    for name in ["contract", "table", "project"] {
        let output = Command::new(binary("host")).args(["schema", name]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let published = root().join("schema/v1").join(name).with_extension("json");
        assert!(
            fs::read(&published).unwrap() == output.stdout,
            "{}: `host schema {name}` writes it anew",
            published.display()
        );
    }
    let output = Command::new(binary("host")).args(["schema", "other"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Contracts below a folder.
fn contracts(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            contracts(&path, into);
        } else {
            into.push(path);
        }
    }
}

#[test]
fn the_examples_name_the_schemas_of_this_repository() {
    let mut named = 0;
    for example in ["orders", "music"] {
        let project = root().join("examples").join(example);
        for (folder, schema) in [("ingestion", "contract.json"), ("tables", "table.json")] {
            let mut files = Vec::new();
            contracts(&project.join(folder), &mut files);
            for file in files {
                let contract: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
                let path = file.parent().unwrap().join(contract["$schema"].as_str().unwrap());
                let published = root().join("schema/v1").join(schema).canonicalize().unwrap();
                assert_eq!(path.canonicalize().unwrap(), published, "{}", file.display());
                named += 1;
            }
        }
    }
    assert!(named >= 8, "only {named} contracts");
}
