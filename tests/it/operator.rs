//! What a person at a terminal sees: errors said once, tables that fit, bars that go away, help that tells all.

use std::fs;
use std::process::Output;

use crisol_tests::Project;
use serde_json::{Value, json};

/// One line that is JSON, one that is text, one that is neither.
fn lines() -> Project {
    let project = Project::lines();
    let landing = project.write("landing/a.txt", "");
    fs::write(landing, b"{\"id\":1}\nno json: \xc3\xb1\n\xff\xfe\n").expect("the file can be written");
    let columns = json!([{ "name": "id", "type": "long", "nullable": false }]);
    let silver =
        json!({ "name": "silver.lines", "from": "bronze.lines", "stages": [{ "decode": "json" }], "columns": columns });
    project.write("tables/silver/lines.json", &silver.to_string());
    project
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn brokers_are_needed_only_by_what_reads_from_them() {
    let project = Project::example("sensores");
    let host = |arguments: &[&str]| project.host(arguments).env("KAFKA_BROKERS", "");
    host(&["status"]).succeed();
    host(&["plugins"]).succeed();
    assert!(host(&["show", "bronze.sensores_raw"]).fail_with(3).contains("does not exist yet"));
    assert!(host(&["check"]).fail_with(1).contains("KAFKA_BROKERS"));
    assert!(host(&["run"]).fail_with(3).contains("KAFKA_BROKERS"));
}

#[test]
fn a_path_needs_its_variable_also_where_nothing_is_read() {
    let project = lines();
    let settings = project.path().join("crisol.toml");
    let text = fs::read_to_string(&settings).expect("the settings").replace("data/tables", "${env:NO_SUCH_VARIABLE}");
    fs::write(&settings, text).expect("they can be changed");
    assert!(project.host(&["status"]).fail_with(3).contains("NO_SUCH_VARIABLE"));
}

#[test]
fn a_quarantine_shows_reasons_and_payloads_that_can_be_read() {
    let project = lines();
    project.host(&["run"]).succeed();
    let show = |table, more: &[&str]| project.host(&[&["show", table, "--quarantine"], more].concat());
    let bytes = said(&show("bronze.lines", &[]).succeed());
    assert!(bytes.contains("0xfffe"), "{bytes}");
    let shown = said(&show("silver.lines", &[]).succeed());
    assert!(shown.contains(" no json: ñ "), "{shown}");
    let heading = shown.lines().find(|line| line.contains("payload")).expect("headings");
    assert!(heading.trim_start_matches(['│', ' ']).starts_with("code"), "{shown}");
    assert!(!heading.contains("topic"), "no row has one:\n{shown}");

    let narrow = said(&show("silver.lines", &[]).on_terminal(90).succeed());
    let table: Vec<_> = narrow.lines().filter(|line| line.starts_with(['┌', '│', '╞', '└'])).collect();
    assert_eq!(table.len(), 5, "a line a row:\n{narrow}");
    assert!(table.iter().all(|line| line.trim_end().chars().count() <= 90), "{narrow}");
    assert!(narrow.contains('…') && narrow.contains("no room for: "), "{narrow}");

    for (table, payload) in [("silver.lines", "no json: ñ"), ("bronze.lines", "0xfffe")] {
        let row: Value = serde_json::from_str(&said(&show(table, &["-o", "json"]).succeed())).expect("one row as JSON");
        assert_eq!(row["payload"], payload);
        assert_eq!(row["batch"], 0, "all columns are there: {row}");
        assert_eq!(row["component_digest"].as_str().map_or(64, str::len), 64, "nothing is cut: {row}");
    }
}

#[test]
fn a_table_that_is_missing_is_refused_before_anything_is_made() {
    let project = lines();
    project.host(&["run"]).succeed();
    project.write("landing/b.txt", "{\"id\":2}\n");
    let words = project.host(&["run", "--set", "path.tables=elsewhere"]).fail_with(3);
    for word in ["bronze.lines", "elsewhere/bronze/lines", "path.tables", "data/checkpoints/streaming/lines"] {
        assert!(words.contains(word), "`{word}` is missing in:\n{words}");
    }
    assert!(!project.path().join("elsewhere").exists(), "nothing is made");

    // One table of two: nothing is made or read for the other either.
    fs::remove_dir_all(project.path().join("data/tables/silver/lines")).expect("the table is there");
    let words = project.host(&["run", "--rebuild"]).fail_with(3);
    assert!(words.contains("silver.lines"), "{words}");
    assert_eq!(project.tables().count("bronze/lines"), 2);
    assert!(!project.tables().exists("silver/lines"));

    fs::remove_dir_all(project.checkpoint("tables/silver.lines")).expect("the checkpoint is there");
    let quarantine = project.path().join("data/tables/silver/lines_quarantine");
    fs::remove_dir_all(quarantine).expect("the quarantine is there");
    project.host(&["run"]).succeed();
    assert_eq!((project.tables().count("bronze/lines"), project.tables().count("silver/lines")), (3, 2));
}

#[test]
fn a_start_that_is_refused_leaves_no_table_behind() {
    let project = lines();
    project.host(&["run"]).succeed();
    // The stream below has a table full of rows and no checkpoint; the one above is new.
    fs::remove_dir_all(project.path().join("data/checkpoints")).expect("the checkpoints are there");
    fs::remove_dir_all(project.path().join("data/tables/bronze")).expect("the table is there");
    assert!(project.host(&["run"]).fail_with(3).contains("silver.lines"));
    assert!(!project.tables().exists("bronze/lines"));
}

#[test]
fn a_relative_path_of_set_counts_from_the_project() {
    let project = lines();
    project.host(&["run", "--set", "path.tables=elsewhere"]).succeed();
    assert!(project.path().join("elsewhere/bronze/lines/_delta_log").is_dir());
}

#[test]
fn an_error_says_everything_once() {
    let project = lines();
    project.write("file", "");
    let cases = [
        (&["run", "--set", "path.checkpoint=file"][..], "the checkpoint in", "file` is a file, not a folder"),
        (&["run", "--set", "path.tables=file"][..], "table `bronze.lines`", "file` is a file, not a folder"),
    ];
    for (arguments, first, second) in cases {
        let words = project.host(arguments).fail_with(3);
        assert!(words.contains(first) && words.contains(second), "{words}");
        once(&words);
    }
}

#[test]
fn a_damaged_log_is_named_without_a_backtrace() {
    let project = lines();
    project.host(&["run"]).succeed();
    project.write("data/tables/silver/lines/_delta_log/00000000000000000001.json", "{\"commitInfo");
    for arguments in [&["run"][..], &["status"], &["show", "silver.lines"]] {
        let words = project.host(arguments).env("RUST_BACKTRACE", "1").fail_with(1);
        assert!(words.contains("silver/lines/_delta_log/00000000000000000001.json` in its log is damaged"), "{words}");
        assert!(!words.contains("::"), "a backtrace:\n{words}");
        once(&words);
    }
}

/// No cause repeats what stands above it.
fn once(words: &str) {
    let (above, causes) = words.split_once("Caused by:\n").unwrap_or_else(|| panic!("no causes:\n{words}"));
    let mut seen = above.to_string();
    for cause in causes.lines().map(str::trim).take_while(|line| !line.is_empty()) {
        assert!(!seen.contains(cause), "`{cause}` stands twice in:\n{words}");
        seen.push_str(cause);
    }
}

#[test]
fn a_terminal_shows_bars_while_it_runs_and_the_accounts_alone_at_the_end() {
    let project = lines();
    let screen = said(&project.host(&["run"]).on_terminal(100).succeed());
    for word in ["rows/s", "no commit yet", "batch 0 is version 1"] {
        assert!(screen.contains(word), "`{word}` is missing in:\n{screen:?}");
    }
    let (_, left) = screen.rsplit_once("\u{1b}[2K").unwrap_or_else(|| panic!("nothing is wiped:\n{screen:?}"));
    assert!(left.contains("┌") && left.contains("silver.lines"), "{left:?}");
    assert!(!left.contains("rows/s"), "bars are left:\n{left:?}");
    assert!(left.lines().all(|line| line.trim_end().chars().count() <= 106), "{left:?}");
}
