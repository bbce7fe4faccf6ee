//! What may happen to files and to tables of others while streams read them: nothing is lost or doubled in silence.

use std::fs;
use std::path::Path;

use crisol_tests::Project;
use serde_json::{Value, json};

const STEPS: [&str; 6] = ["plan", "log_range", "write_files", "log_outcome", "commit_table", "mark"];

/// Lines of text to bronze.
fn lines() -> Project {
    let project = Project::lines();
    fs::create_dir_all(project.path().join("landing")).expect("the landing folder");
    project
}

/// A table with a commit for each of these files.
fn written(names: &[&str]) -> Project {
    let project = lines();
    for name in names {
        add(&project, name);
    }
    project
}

fn add(project: &Project, name: &str) {
    project.write(&format!("landing/{name}.txt"), &format!("{name}1\n{name}2\n"));
    project.host(&["run"]).succeed();
}

/// A project that copies the table of another one, a file a batch.
fn reader(table: &Path) -> Project {
    let project = Project::new();
    let contract =
        json!({ "name": "silver.copy", "from": { "delta": table }, "options": { "max_files_per_trigger": 1 } });
    project.write("tables/silver/copy.json", &contract.to_string());
    project
}

/// Removes the file of a version as a `DELETE` of another engine would.
fn delete(table: &Path, version: u64) {
    let log = table.join("_delta_log");
    let entry = fs::read_to_string(log.join(format!("{version:020}.json"))).expect("the version");
    let adds = entry.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("add").cloned());
    let removes =
        adds.map(|add| json!({ "remove": { "path": add["path"], "deletionTimestamp": 1, "dataChange": true } }));
    let text: String = removes.map(|remove| format!("{remove}\n")).collect();
    commit(table, &text);
}

/// Writes the next version.
fn commit(table: &Path, actions: &str) {
    let log = table.join("_delta_log");
    let names = fs::read_dir(&log).expect("the log").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let next = names.filter(|name| name.len() == 25 && name.ends_with(".json")).count();
    fs::write(log.join(format!("{next:020}.json")), actions).expect("an entry");
}

fn copied(project: &Project) -> String {
    let sql = "SELECT coalesce(string_agg(payload, ' ' ORDER BY payload), '') FROM rows";
    project.tables().value("silver/copy", sql).as_str().unwrap_or_default().to_owned()
}

#[test]
fn d120_a_table_that_lost_rows_is_read_as_it_is_and_followed() {
    let writer = written(&["a", "b", "c"]);
    let table = writer.tables().path("bronze/lines");
    delete(&table, 1);
    let reader = reader(&table);
    reader.host(&["run"]).succeed();
    assert_eq!(copied(&reader), "b1 b2 c1 c2");
    add(&writer, "d");
    reader.host(&["run"]).succeed();
    assert_eq!(copied(&reader), "b1 b2 c1 c2 d1 d2");

    delete(&table, 2);
    let checkpoint = reader.checkpoint("tables/silver.copy");
    let said = reader.host(&["run"]).fail_with(3);
    let folder = checkpoint.display().to_string();
    for word in ["removes rows", &folder, "--rebuild", "--reread"] {
        assert!(said.contains(word), "`{word}` is missing in:\n{said}");
    }
    fs::remove_dir_all(&checkpoint).expect("the checkpoint");
    reader.host(&["run", "--rebuild"]).succeed();
    assert_eq!(copied(&reader), "c1 c2 d1 d2", "as the hint says");
    fs::remove_dir_all(&checkpoint).expect("the checkpoint");
    reader.host(&["run", "--reread"]).succeed();
    assert_eq!(copied(&reader), "c1 c1 c2 c2 d1 d1 d2 d2", "as the hint says");
}

#[test]
fn d120_a_crash_inside_the_snapshot_loses_and_doubles_nothing() {
    let writer = written(&["a", "b", "c"]);
    let table = writer.tables().path("bronze/lines");
    delete(&table, 1);
    for step in STEPS {
        for passes in 0..2 {
            let reader = reader(&table);
            let ended = reader.host(&["run"]).abort_at(&format!("silver.copy/{step}/after"), passes).run();
            assert!(!ended.status.success(), "{step}: it was ended");
            // The table goes on before the next start: the snapshot stays the one that was begun.
            commit(&table, r#"{"commitInfo":{"operation":"NOTHING"}}"#);
            reader.host(&["run"]).succeed();
            assert_eq!(copied(&reader), "b1 b2 c1 c2", "{step}, {passes}");
        }
    }
}

#[test]
fn a_planned_file_that_changed_is_read_as_it_is_and_named() {
    for (now, rows) in [("", 0), ("x\ny\nz\n", 3)] {
        let project = lines();
        let file = project.write("landing/a.txt", "a\nb\n");
        let ended = project.host(&["run"]).abort_at("lines/log_range/after", 0).run();
        assert!(!ended.status.success());
        fs::write(&file, now).expect("it can be changed");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::options().append(true).open(&file).expect("the file").set_modified(later).expect("a time");
        let output = project.host(&["run"]).succeed();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("a.txt` changed after it was planned: what it holds now is committed"), "{said}");
        assert_eq!(project.tables().count("bronze/lines"), rows);
    }
    let project = lines();
    project.write("landing/a.txt", "a\nb\n");
    project.host(&["run"]).abort_at("lines/log_range/after", 0).run();
    let output = project.host(&["run"]).succeed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("changed after"), "only what changed is named: {said}");
}

#[test]
fn a_planned_file_that_is_gone_can_be_gone_on_without() {
    let project = lines();
    let file = project.write("landing/a.txt", "a\nb\n");
    project.write("landing/b.txt", "c\n");
    project.host(&["run"]).abort_at("lines/log_range/after", 0).run();
    fs::remove_file(&file).expect("it is there");
    let said = project.host(&["run"]).fail_with(6);
    assert!(said.contains("a.txt` of a planned batch is gone") && said.contains("an empty one in its place"), "{said}");
    fs::write(&file, "").expect("an empty file");
    project.host(&["run"]).succeed();
    assert_eq!(project.tables().count("bronze/lines"), 1);
}

#[test]
fn a_file_that_cannot_be_read_says_what_to_do() {
    use std::os::unix::ffi::OsStrExt;
    let project = lines();
    let strange = project.path().join("landing").join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    fs::write(&strange, "a\n").expect("a file");
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("its name is not valid UTF-8") && said.contains("rename it, or move it away"), "{said}");
    let file = project.path().join("landing/a.txt");
    fs::rename(&strange, &file).expect("it can be renamed");
    let long = fs::File::options().append(true).open(&file).expect("the file");
    long.set_len((128 << 20) + 8).expect("a second line without an end");
    let said = project.host(&["run"]).fail_with(1);
    assert!(said.contains("row 1: a line of more than") && said.contains("an empty one to go on"), "{said}");
    fs::write(&file, "").expect("an empty file");
    project.host(&["run"]).succeed();
}
