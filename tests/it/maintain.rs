//! `host maintain`: small files put together, beside a running host, and nobody below sees it.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use crisol_tests::{Project, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const TABLES: [&str; 3] = ["bronze/song_plays_raw", "silver/song_plays", "gold/song_plays"];
const REFUSED: [&str; 2] = ["silver/song_plays_quarantine", "gold/song_plays_quarantine"];

/// Files to bronze, silver and gold, all by appends; silver and gold each refuse rows of their own.
fn project() -> Project {
    let project = Project::example("music");
    fs::remove_dir_all(project.path().join("tables/gold")).expect("it is there");
    fs::remove_dir_all(project.path().join("input")).expect("it is there");
    let columns = r#""columns": [{ "name": "country", "type": "string", "nullable": false },
        { "name": "song", "type": "string", "nullable": false }, { "name": "plays", "type": "long" }]"#;
    let silver = format!(
        r#"{{ "name": "silver.song_plays", "from": "bronze.song_plays_raw", {columns},
        "partition_by": ["country"] }}"#
    );
    project.write("tables/silver/song_plays.json", &silver);
    let gold = r#"{ "name": "gold.song_plays", "from": "silver.song_plays",
        "expectations": [{ "name": "heard", "condition": "plays > 1" }] }"#;
    project.write("tables/gold/song_plays.json", gold);
    project
}

/// Five rows: one that silver refuses, one that gold refuses.
fn day(project: &Project, day: u32) {
    let row = |country: &str, song: &str, plays: u32| json!({"country": country, "day": format!("2026-03-{day:02}"), "song": song, "plays": plays});
    let mut rows = [row("ES", "a", 1), row("ES", "b", 2), row("FR", "c", 3), row("FR", "d", 4), row("FR", "", 5)];
    rows[4]["song"] = Value::Null;
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    project.write(&format!("input/.2026-03-{day:02}.json"), &text);
    let input = project.path().join("input");
    fs::rename(input.join(format!(".2026-03-{day:02}.json")), input.join(format!("2026-03-{day:02}.json")))
        .expect("it can be renamed");
}

/// So many days, a run each.
fn with_days(days: u32) -> Project {
    let project = project();
    for number in 1..=days {
        day(&project, number);
        project.host(&["run", "-q"]).succeed();
    }
    project
}

/// What `host maintain` says of its tables.
fn maintain(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.host(&[&["maintain", "-q", "-o", "json"], arguments].concat()).succeed();
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["schema"], "crisol.maintain/v1");
    said["tables"].as_array().expect("tables").clone()
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

fn versions(project: &Project) -> Vec<Value> {
    TABLES.iter().chain(&REFUSED).map(|table| project.tables().log(table)["versions"].clone()).collect()
}

#[test]
fn d125_all_tables_and_quarantines_are_compacted_and_the_streams_below_see_nothing() {
    let project = with_days(4);
    let said = maintain(&project, &[]);
    let files = |table: &Value| (table["files_before"].clone(), table["files_after"].clone());
    let by_name = |name: &str, quarantine: bool| {
        let table = said.iter().find(|table| table["table"] == name && table["quarantine"] == quarantine);
        files(table.unwrap_or_else(|| panic!("{name}: {said:?}")))
    };
    assert_eq!(by_name("bronze.song_plays_raw", false), (json!(4), json!(1)));
    assert_eq!(by_name("silver.song_plays", false), (json!(8), json!(2)), "a file for each country");
    assert_eq!(by_name("silver.song_plays", true), (json!(4), json!(1)));
    assert_eq!(by_name("gold.song_plays", false), (json!(4), json!(1)));
    assert_eq!(said.len(), 5, "bronze refused nothing");
    holds(&project, 4, "after it");
    let before = versions(&project);
    project.host(&["run", "-q"]).succeed();
    assert_eq!(versions(&project), before, "a run with nothing to do commits nothing");
    day(&project, 5);
    project.host(&["run", "-q"]).succeed();
    holds(&project, 5, "a day later");
    assert!(maintain(&project, &[]).iter().all(|table| table["files_after"].as_u64() <= Some(2)));
    holds(&project, 5, "after another one");
}

#[test]
fn d125_tables_whose_rows_change_are_compacted_and_groups_below_are_not_made_anew() {
    let project = Project::example("music");
    let silver = r#"{ "name": "silver.song_plays", "from": "bronze.song_plays_raw",
        "columns": [{ "name": "country", "type": "string", "nullable": false },
            { "name": "day", "type": "date", "nullable": false },
            { "name": "song", "type": "string", "nullable": false }, { "name": "plays", "type": "long" }],
        "write": { "mode": "upsert", "keys": ["country", "day", "song"], "sequence_by": ["plays"] } }"#;
    project.write("tables/silver/song_plays.json", silver);
    fs::remove_dir_all(project.path().join("input")).expect("it is there");
    for number in 1..=3 {
        day(&project, number);
        project.host(&["run", "-q"]).succeed();
    }
    let versions =
        || ["silver/song_plays", "gold/top3_songs"].map(|table| project.tables().log(table)["versions"].clone());
    let said = maintain(&project, &["silver.song_plays"]);
    assert_eq!((&said[0]["files_before"], &said[0]["files_after"]), (&json!(3), &json!(1)));
    let compacted = versions();
    project.host(&["run", "-q"]).succeed();
    assert_eq!(versions(), compacted, "a run with nothing to do commits nothing");
    // A row that lies in the compacted file changes, and one goes with its old place in the ranking.
    let row = json!({"country": "FR", "day": "2026-03-01", "song": "c", "plays": 30});
    project.write("input/late.json", &format!("{row}\n"));
    project.host(&["run", "-q"]).succeed();
    let first = "SELECT song, plays FROM rows WHERE country = 'FR' AND day = '2026-03-01' ORDER BY position";
    let found = project.tables().query("gold/top3_songs", first);
    assert_eq!(found, [vec![json!("c"), json!(30)], vec![json!("d"), json!(4)]]);
    assert_eq!(project.tables().count("silver/song_plays"), 12);
    assert_eq!(project.tables().count("gold/top3_songs"), 12);
}

#[test]
fn a_dry_run_writes_nothing_and_only_tables_named_are_touched() {
    let project = with_days(2);
    let before = versions(&project);
    let said = maintain(&project, &["--dry-run", "bronze.song_plays_raw"]);
    assert_eq!(said.len(), 1);
    assert_eq!((&said[0]["files_after"], &said[0]["bytes_after"]), (&json!(1), &Value::Null));
    let shown = project.host(&["maintain", "--dry-run"]).succeed();
    let shown = String::from_utf8(shown.stdout).expect("text");
    assert!(shown.contains("silver.song_plays (quarantine)") && shown.contains("nothing was written"), "{shown}");
    assert_eq!(versions(&project), before);
    maintain(&project, &["gold.song_plays"]);
    let after = versions(&project);
    let moved: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before != after).collect();
    assert_eq!(moved, [false, false, true, false, true], "gold and its quarantine");
    let said = project.host(&["maintain", "gold.songs"]).fail_with(3);
    assert!(said.contains("no contract describes it") && said.contains("`gold.song_plays`"), "{said}");
}

#[test]
fn one_damaged_table_does_not_keep_the_others_from_it() {
    let project = with_days(2);
    let log = project.tables().path(TABLES[0]).join("_delta_log/00000000000000000001.json");
    fs::write(&log, "{\"add\":").expect("it can be damaged");
    let said = project.host(&["maintain"]).fail_with(1);
    assert!(said.contains("00000000000000000001.json") && said.contains("gold.song_plays"), "{said}");
    assert_eq!(project.tables().log(TABLES[2])["versions"], 4);
}

#[test]
fn a_rebuild_after_a_compaction_doubles_and_loses_nothing() {
    for lost in ["streaming/song_plays", "tables/silver.song_plays"] {
        let project = with_days(3);
        maintain(&project, &[]);
        fs::remove_dir_all(project.checkpoint(lost)).expect("a checkpoint");
        project.host(&["run", "-q"]).fail_with(3);
        project.host(&["run", "-q", "--rebuild"]).succeed();
        holds(&project, 3, lost);
        maintain(&project, &[]);
        day(&project, 4);
        project.host(&["run", "-q"]).succeed();
        holds(&project, 4, "it goes on");
    }
}

#[test]
fn t121_beside_a_running_host_and_another_compaction_nothing_is_doubled_or_lost() {
    let project = project();
    day(&project, 1);
    let run = project.host(&["run", "-q", "--trigger", "continuous"]).start();
    let tables = project.tables();
    for number in 2..=9 {
        day(&project, number);
        let gold = "the day is in gold";
        wait_until(gold, Duration::from_secs(60), || tables.exists(TABLES[2]) && tables.exists(REFUSED[1]));
        let other = project.host(&["maintain", "-q"]).start();
        maintain(&project, &[]);
        assert!(other.end().status.success());
    }
    wait_until("all days are in gold", Duration::from_secs(60), || tables.count(TABLES[2]) == 27);
    run.stop();
    assert!(run.end().status.success());
    holds(&project, 9, "after all days");
    project.host(&["run", "-q"]).succeed();
    maintain(&project, &[]);
    holds(&project, 9, "and stays so");
}

#[test]
fn a_compaction_that_is_killed_at_any_moment_leaves_every_row_once() {
    let project = with_days(6);
    let mut kills = 0;
    for step in 0..12 {
        let run = project.host(&["maintain", "-q"]).start();
        std::thread::sleep(Duration::from_millis(20 + 15 * step));
        run.signal(Signal::SIGKILL);
        let ended = run.end();
        let bronze = project.tables().count(TABLES[0]);
        assert_eq!(bronze, 30, "after {kills} kills");
        if ended.status.signal() != Some(Signal::SIGKILL as i32) {
            assert!(ended.status.success(), "{ended:?}");
            break;
        }
        kills += 1;
    }
    assert!(kills > 0, "it was never killed");
    holds(&project, 6, &format!("after {kills} kills"));
    maintain(&project, &[]);
    project.host(&["run", "-q"]).succeed();
    holds(&project, 6, "in the end");
}
