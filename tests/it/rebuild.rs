//! A rebuild reaches the tables below, and can be cut short anywhere: nothing is doubled, nothing is lost.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use crisol_tests::Project;
use nix::sys::signal::Signal;
use serde_json::Value;

const TABLES: [&str; 3] = ["bronze/song_plays_raw", "silver/song_plays", "gold/song_plays"];
const REFUSED: [&str; 2] = ["silver/song_plays_quarantine", "gold/song_plays_quarantine"];

/// Files to bronze, silver and gold; silver and gold each refuse rows of their own.
fn project() -> Project {
    let project = Project::music_to_silver();
    let gold = r#"{ "name": "gold.song_plays", "from": "silver.song_plays",
        "expectations": [{ "name": "heard", "condition": "plays > 1" }] }"#;
    project.write("tables/gold/song_plays.json", gold);
    day(&project, 1);
    project
}

/// Five rows: one that silver refuses, one that gold refuses.
fn day(project: &Project, day: u32) {
    let row = |song: &str, plays: u32| {
        format!("{{\"country\":\"ES\",\"day\":\"2026-03-{day:02}\",\"song\":{song},\"plays\":{plays}}}\n")
    };
    let rows = [("\"a\"", 1), ("\"b\"", 2), ("\"c\"", 3), ("\"d\"", 4), ("null", 5)];
    let text: String = rows.iter().map(|(song, plays)| row(song, *plays)).collect();
    project.write(&format!("input/2026-03-{day:02}.json"), &text);
}

fn run(project: &Project, arguments: &[&str]) {
    project.host(&[&["run"], arguments].concat()).succeed();
}

/// Rows of each table and quarantine, for so many days.
fn holds(project: &Project, days: u64, what: &str) {
    let tables = project.tables();
    let found: Vec<u64> = TABLES.iter().chain(&REFUSED).map(|table| tables.count(table)).collect();
    assert_eq!(found, [5, 4, 3, 1, 1].map(|rows| rows * days), "{what}");
    let twice = "SELECT count(*) - count(DISTINCT (file_path, file_row)) FROM rows";
    for table in TABLES {
        assert_eq!(tables.value(table, twice), Value::from(0), "{what}: {table}");
    }
}

fn lose_checkpoint(project: &Project, stream: &str) {
    fs::remove_dir_all(project.checkpoint(stream)).unwrap_or_else(|error| panic!("{stream}: {error}"));
}

#[test]
fn a_rebuild_of_a_stream_rebuilds_those_below_it() {
    for lost in ["streaming/song_plays", "tables/silver.song_plays"] {
        let project = project();
        run(&project, &[]);
        day(&project, 2);
        run(&project, &[]);
        lose_checkpoint(&project, lost);
        project.host(&["run"]).fail_with(3);
        holds(&project, 2, "a refused run changes nothing");
        run(&project, &["--rebuild"]);
        holds(&project, 2, lost);
        day(&project, 3);
        run(&project, &[]);
        run(&project, &["--rebuild"]);
        holds(&project, 3, "it goes on, and another rebuild finds nothing to do");
    }
}

#[test]
fn another_checkpoint_suffix_rebuilds_those_below_it() {
    let project = project();
    run(&project, &[]);
    let file = project.path().join("ingestion/streaming/song_plays.json");
    let text = fs::read_to_string(&file).expect("the contract");
    fs::write(&file, text.replacen('{', "{ \"checkpoint_suffix\": \"_2\",", 1)).expect("it can be changed");
    project.host(&["run"]).fail_with(3);
    run(&project, &["--rebuild"]);
    holds(&project, 1, "another suffix");
}

#[test]
fn streams_that_a_rebuild_left_out_stop_and_say_what_to_do_until_they_are_rebuilt() {
    let project = project();
    run(&project, &[]);
    lose_checkpoint(&project, "streaming/song_plays");
    run(&project, &["song_plays", "--rebuild"]);
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("silver.song_plays") && said.contains("--rebuild"), "{said}");
    run(&project, &["silver.song_plays", "--rebuild"]);
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("gold.song_plays") && said.contains("--rebuild"), "{said}");
    run(&project, &["--rebuild"]);
    holds(&project, 1, "all are rebuilt");
}

#[test]
fn a_table_made_anew_with_another_column_rebuilds_those_below_it() {
    let project = project();
    let gold = r#"{ "name": "gold.song_plays", "from": "silver.song_plays",
        "columns": [{ "name": "song", "type": "string" }, { "name": "plays", "type": "long" }],
        "expectations": [{ "name": "heard", "condition": "plays > 1" }] }"#;
    project.write("tables/gold/song_plays.json", gold);
    run(&project, &[]);
    let file = project.path().join("tables/silver/song_plays.json");
    let column = r#"{ "name": "twice", "type": "long", "generated": "plays * 2" }, { "name": "artist","#;
    let text = fs::read_to_string(&file).expect("the contract");
    let changed = text.replacen(r#"{ "name": "artist","#, column, 1);
    assert_ne!(changed, text);
    fs::write(&file, changed).expect("it can be changed");
    let said = project.host(&["run"]).fail_with(3);
    assert!(
        said.contains("column `twice long` is new, the table has none") && said.contains("set the table"),
        "{said}"
    );
    holds(&project, 1, "a refused run changes nothing");
    lose_checkpoint(&project, "tables/silver.song_plays");
    for table in [TABLES[1], REFUSED[0]] {
        let path = project.tables().path(table);
        fs::rename(&path, path.with_extension("aside")).expect("it can be set aside");
    }
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("gold.song_plays") && said.contains("--rebuild"), "{said}");
    run(&project, &["--rebuild"]);
    holds(&project, 1, "with another column");
    assert_eq!(project.tables().value(TABLES[1], "SELECT sum(twice) FROM rows"), Value::from(20));
}

#[test]
fn rows_that_someone_else_removed_are_no_rebuild() {
    let project = project();
    run(&project, &[]);
    let log = project.tables().path(TABLES[0]).join("_delta_log");
    let entry = fs::read_to_string(log.join("00000000000000000001.json")).expect("the commit of batch 0");
    let add = entry.lines().find(|line| line.starts_with("{\"add\"")).expect("a file");
    let path = serde_json::from_str::<Value>(add).expect("JSON")["add"]["path"].clone();
    day(&project, 2);
    run(&project, &[]);
    let remove = serde_json::json!({ "remove": { "path": path, "deletionTimestamp": 1, "dataChange": true } });
    fs::write(log.join("00000000000000000003.json"), format!("{remove}\n")).expect("an entry");
    let said = project.host(&["run", "--rebuild"]).fail_with(3);
    assert_eq!(project.tables().count(TABLES[1]), 8, "what cannot be read again is not taken out");
    assert!(said.contains("delete the checkpoint of the stream `song_plays` and run with `--rebuild`"), "{said}");
    lose_checkpoint(&project, "streaming/song_plays");
    run(&project, &["--rebuild"]);
    holds(&project, 2, "as the hint says");
}

#[test]
fn a_rebuild_that_is_killed_at_any_moment_is_taken_up_by_the_next() {
    let project = project();
    day(&project, 2);
    run(&project, &[]);
    lose_checkpoint(&project, "streaming/song_plays");
    let mut kills = 0;
    for step in 0..40 {
        let run = project.host(&["run", "--rebuild"]).start();
        std::thread::sleep(Duration::from_millis(40 + 15 * step));
        run.signal(Signal::SIGKILL);
        let ended = run.end();
        if ended.status.signal() != Some(Signal::SIGKILL as i32) {
            assert!(ended.status.success(), "{ended:?}");
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "{kills} kills");
    run(&project, &["--rebuild"]);
    holds(&project, 2, &format!("after {kills} kills"));
    run(&project, &[]);
    holds(&project, 2, "and stays so");
}
