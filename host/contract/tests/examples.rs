//! The projects under `examples/` resolve, without a word of warning.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::{Path, PathBuf};

use support::Project;

fn read(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => read(&path, into),
            false if path.extension().is_some_and(|extension| extension == "json") => into.push(path),
            false => {}
        }
    }
}

fn project(folder: &Path) -> Project {
    let texts = |name: &str| {
        let mut paths = Vec::new();
        read(&folder.join(name), &mut paths);
        let text = |path: PathBuf| {
            let shown = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            (shown, std::fs::read_to_string(path).unwrap())
        };
        paths.into_iter().map(text).collect()
    };
    Project {
        settings: Some(std::fs::read_to_string(folder.join("crisol.toml")).unwrap()),
        ingestion: texts("ingestion"),
        tables: texts("tables"),
        ..Project::default()
    }
    .env("KAFKA_BROKERS", "localhost:9092")
}

#[test]
fn every_example_resolves() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.join("crisol.toml").exists() {
            continue;
        }
        let resolved = project(&folder).good();
        assert!(resolved.warnings.is_empty(), "{}: {:?}", folder.display(), resolved.warnings);
        assert!(!resolved.project.ingestions.is_empty() && !resolved.project.tables.is_empty());
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} examples");
}
