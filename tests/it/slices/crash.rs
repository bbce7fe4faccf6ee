//! Rebuilds, and streams that follow one, ended at every step and started again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::plays::{Build, Model, Plays, TABLES, wrong};

const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_table", "commit_quarantine", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
/// The tables that a rebuild is asked of, and what it means.
const REBUILDS: [(&str, &str); 4] = [
    ("silver.plays", "day = 'd1'"),
    ("silver.latest", "song < 'song 4'"),
    ("gold.days", "day <> 'd0'"),
    ("silver.days", "day <> 'd0'"),
];

#[test]
fn a_rebuild_ended_at_any_step_and_started_again_loses_and_doubles_nothing() {
    let mut matrix = String::new();
    for (table, predicate) in REBUILDS {
        let expected = {
            let plays = changed(table);
            plays.rebuild(table, predicate, &[]);
            plays.run();
            contents(&plays)
        };
        assert!(expected.keys().any(|table| table.ends_with("_quarantine")), "some rows are refused");
        for step in STEPS {
            let _ = write!(matrix, "{table:14} {step:18}");
            for moment in MOMENTS {
                rebuild_cell(table, predicate, &format!("{step}/{moment}"), &expected);
                let _ = write!(matrix, " {moment}: ok;");
            }
            matrix.push('\n');
        }
    }
    println!("step of a rebuild, ended once at each and started again:\n{matrix}");
}

/// The table is rebuilt with contracts that refuse some rows and give others, so that every step has something to do.
fn rebuild_cell(table: &str, predicate: &str, at: &str, expected: &BTreeMap<String, BTreeSet<String>>) {
    let rebuild = ["rebuild", table, "--where", predicate];
    let plays = changed(table);
    let failpoint = format!("rebuild:{table}/{at}");
    let ended = plays.host(&rebuild).abort_at(&failpoint, 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint} is reached: {ended:?}");
    plays.host(&rebuild).succeed();
    assert_eq!(plays.rebuild(table, predicate, &[])["rows_removed"], json!(0), "{failpoint}: nothing is left to do");
    plays.run();
    assert_eq!(contents(&plays), *expected, "{failpoint}");
}

fn changed(table: &str) -> Plays {
    let (plays, mut model) = (Plays::new(), Model::default());
    if table == "silver.days" {
        let days = json!({ "name": "silver.days", "from": "silver.plays", "partition_by": ["day"],
            "write": { "mode": "replace_partitions" } });
        plays.project.write("tables/silver/days.json", &days.to_string());
    }
    plays.land(&mut model, Build::Wrong);
    plays.land(&mut model, Build::Wrong);
    plays.run();
    let file = format!("tables/{}.json", table.replace('.', "/"));
    let path = plays.project.path().join(&file);
    let mut contract: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a contract")).expect("JSON");
    if table == "silver.plays" {
        contract = Build::Right.contract();
    } else {
        contract["expectations"] = json!([{ "name": "few", "condition": "score < 30" }]);
    }
    plays.project.write(&file, &contract.to_string());
    plays
}

/// All rows of all tables and quarantines but what differs from run to run.
fn contents(plays: &Plays) -> BTreeMap<String, BTreeSet<String>> {
    let tables = plays.project.tables();
    let all =
        TABLES.iter().chain(&["silver/days"]).flat_map(|table| [(*table).to_owned(), format!("{table}_quarantine")]);
    let present = all.filter(|table| tables.exists(table));
    let rows = |table: &String| {
        let columns = match table.as_str() {
            quarantine if quarantine.ends_with("_quarantine") => "stage, code, right(file_path, 8), file_row",
            "gold/days" | "gold/latest_days" => "*",
            _ => "* EXCLUDE (file_path), right(file_path, 8)",
        };
        let rows = tables.query(table, &format!("SELECT {columns} FROM rows"));
        let distinct: BTreeSet<String> = rows.iter().map(|row| Value::from(row.clone()).to_string()).collect();
        assert_eq!(distinct.len(), rows.len(), "{table}: no row is there twice");
        distinct
    };
    present.map(|table| (table.clone(), rows(&table))).filter(|(_, rows)| !rows.is_empty()).collect()
}

#[test]
fn a_stream_that_is_ended_at_any_step_while_it_follows_a_rebuild_loses_and_doubles_nothing() {
    let mut matrix = String::new();
    for stream in ["silver.heard", "silver.latest", "gold.days"] {
        for step in STEPS {
            let _ = write!(matrix, "{stream:14} {step:18}");
            for moment in MOMENTS {
                if stream != "silver.heard" && step == "commit_quarantine" {
                    let _ = write!(matrix, " {moment}: no such step, it has no quarantine;");
                    continue;
                }
                let (plays, mut model) = wrong(1);
                plays.build(Build::Right);
                plays.rebuild("silver.plays", "day = 'd1'", &[]);
                model.rebuild(|event, _| event.day == "d1");
                let failpoint = format!("{stream}/{step}/{moment}");
                let ended = plays.host(&["run"]).abort_at(&failpoint, 0).run();
                assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint}: {ended:?}");
                plays.run();
                plays.holds(&model, &failpoint);
                let _ = write!(matrix, " {moment}: ok;");
            }
            matrix.push('\n');
        }
    }
    println!("step of a stream that follows a rebuild, ended once at each and started again:\n{matrix}");
}
