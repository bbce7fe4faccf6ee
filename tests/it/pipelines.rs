//! Golden cases: each folder of `tests/pipelines` is a project that runs straight, and again from where it stopped.
//!
//! `expected/TABLE.sql` is asked of the table, `expected/TABLE.jsonl` is the answer; or `error.txt` has words that the
//! error must have, one a line.

use std::fs;
use std::path::Path;

use crisol_tests::{Project, root};
use serde_json::Value;

#[test]
fn every_case_gives_what_is_expected_and_nothing_more_when_run_again() {
    let cases = root().join("tests/pipelines");
    let mut ran = 0;
    for case in fs::read_dir(&cases).expect("the cases").flatten() {
        let folder = case.path();
        let project = Project::copy(&folder);
        if folder.join("error.txt").exists() {
            fails(&project, &folder);
        } else {
            for _ in 0..2 {
                project.host(&["run"]).succeed();
                compare(&project, &folder.join("expected"));
            }
        }
        ran += 1;
    }
    assert!(ran >= 3, "found {ran} cases in {}", cases.display());
}

fn fails(project: &Project, case: &Path) {
    let said = project.host(&["run"]).fail_with(1);
    for words in fs::read_to_string(case.join("error.txt")).expect("the words").lines() {
        assert!(said.contains(words), "{}: `{words}` is missing in:\n{said}", case.display());
    }
}

fn compare(project: &Project, expected: &Path) {
    let mut compared = 0;
    for entry in fs::read_dir(expected).unwrap_or_else(|error| panic!("{}: {error}", expected.display())).flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let table = path.file_stem().expect("a name").to_string_lossy().replace('.', "/");
        let sql = fs::read_to_string(&path).expect("a query");
        let answer = fs::read_to_string(path.with_extension("jsonl")).expect("an answer");
        let rows: Vec<Vec<Value>> =
            answer.lines().map(|line| serde_json::from_str(line).expect("a row in JSON")).collect();
        assert_eq!(project.tables().query(&table, &sql), rows, "{}", path.display());
        compared += 1;
    }
    assert!(compared > 0, "{} names no table", expected.display());
}
