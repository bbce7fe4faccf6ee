//! The WIT is a promise to every component that is out there: a change of it needs a new version.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

/// What the files say, without comments and layout: those may change at any time.
fn shape(files: &BTreeMap<String, String>) -> String {
    let lines = files.values().flat_map(|text| text.lines());
    let code = lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn version(shape: &str) -> &str {
    let package = shape.split("package crisol:stage@").nth(1).expect("the WIT names its package");
    package.split(';').next().unwrap()
}

fn digest(shape: &str) -> String {
    Sha256::digest(shape.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

fn files() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "wit"));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn a_version_of_the_wit_never_changes() {
    let shape = shape(&files());
    let (version, digest) = (version(&shape), digest(&shape));
    let recorded = std::fs::read_to_string(folder().join("DIGESTS")).unwrap();
    let recorded: BTreeMap<&str, &str> = recorded.lines().filter_map(|line| line.split_once(' ')).collect();
    match recorded.get(version) {
        Some(known) => assert_eq!(
            *known, digest,
            "the types or functions in wit/ changed, and crisol:stage@{version} is out there. Put them back, or give \
             the package a new version and add a line `VERSION DIGEST` to wit/DIGESTS; the host must then serve both"
        ),
        None => panic!("wit/DIGESTS has no line for this version; add: {version} {digest}"),
    }
}

#[test]
fn comments_and_layout_do_not_count_and_types_do() {
    let of = |text: &str| shape(&BTreeMap::from([("a.wit".to_string(), text.to_string())]));
    let plain = "package crisol:stage@0.1.0;\ninterface a { f: func(); }";
    assert_eq!(of(plain), of("package crisol:stage@0.1.0;\n/// New words.\ninterface a {\n  f: func(); // here\n}"));
    assert_ne!(of(plain), of("package crisol:stage@0.1.0;\ninterface a { f: func(a: u32); }"));
    assert_eq!(version(&of(plain)), "0.1.0");
}

#[test]
fn every_type_and_function_has_a_doc_comment() {
    for (file, text) in files() {
        let mut documented = false;
        for line in text.lines().map(str::trim) {
            let opens =
                ["record ", "type ", "resource ", "interface ", "world "].iter().any(|word| line.starts_with(word));
            let function = line.contains(": func(") || line.contains(": static func(");
            assert!(documented || !(opens || function), "wit/{file}: `{line}` has no doc comment");
            documented = line.starts_with("///");
        }
    }
}
