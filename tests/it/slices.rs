//! Slices of tables made anew: each table is what a plain computation of its own comes to, once, whatever happens.

mod crash;
mod plays;
mod random;

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use crisol_tests::{Project, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use self::plays::{Build, Model, Plays, wrong};

#[test]
fn a_day_that_is_made_anew_is_right_in_every_table_below_and_the_other_days_stay() {
    let (plays, mut model) = wrong(3);
    plays.holds(&model, "before");
    plays.build(Build::Right);
    let before = plays.versions();
    let tried = plays.rebuild("silver.plays", "day = 'd1'", &["--dry-run"]);
    assert_eq!(plays.versions(), before, "a dry run writes nothing");
    let held = plays.project.tables().value("silver/plays", "SELECT count(*) FROM rows WHERE day = 'd1'");
    assert_eq!(tried["held"]["rows"], held, "{tried}");
    assert_eq!(tried["held"]["files"], json!(3));

    let done = plays.rebuild("silver.plays", "day = 'd1'", &[]);
    model.rebuild(|event, _| event.day == "d1");
    assert_eq!(tried["accounts"], done["accounts"]);
    assert!(done["rows_removed"].as_u64() > done["rows_added"].as_u64(), "some are refused now: {done}");
    plays.run();
    plays.holds(&model, "a day");
    let log = plays.project.tables().log("silver/plays");
    let last = log["commits"].as_array().and_then(|commits| commits.last()).expect("a commit").clone();
    assert_eq!((&last["operation"], &last["crisol"]["rebuild"]), (&json!("REBUILD"), &json!("day = 'd1'")));

    let again = plays.rebuild("silver.plays", "day = 'd1'", &[]);
    assert_eq!((&again["rows_removed"], &again["rows_added"]), (&json!(0), &json!(0)), "twice is once");
    plays.run();
    plays.holds(&model, "twice");
    // The streams go on as before.
    plays.land(&mut model, Build::Right);
    plays.run();
    plays.holds(&model, "after");
}

#[test]
fn d031_rows_that_come_into_the_predicate_or_leave_it_are_replaced_too() {
    let (plays, mut model) = wrong(3);
    plays.build(Build::Right);
    for (predicate, least) in [("score >= 40", 40), ("score >= 12 AND score < 1000", 12)] {
        plays.rebuild("silver.plays", predicate, &[]);
        model.rebuild(|_, score| score >= least);
        plays.run();
        plays.holds(&model, predicate);
    }
    // And back, as far as rows can be told by what is there.
    plays.rebuild("silver.plays", "true", &[]);
    model.rebuild(|_, _| true);
    plays.run();
    plays.holds(&model, "all");
}

#[test]
fn several_rebuilds_that_wait_for_the_streams_below_are_followed_in_their_order() {
    for budget in ["0", "100000000"] {
        let (plays, mut model) = wrong(3);
        let settings = std::fs::read_to_string(plays.project.path().join("crisol.toml")).expect("settings");
        plays.project.write("crisol.toml", &format!("{settings}\n[handoff]\nbytes_max = {budget}\n"));
        plays.build(Build::Right);
        plays.rebuild("silver.plays", "day = 'd0'", &[]);
        plays.land(&mut model, Build::Right);
        plays.host(&["run", "-q", "silver.plays"]).succeed();
        plays.rebuild("silver.plays", "song = 'song 3'", &[]);
        model.rebuild(|event, _| event.day == "d0" || event.song == "song 3");
        plays.land(&mut model, Build::Right);
        plays.run();
        plays.holds(&model, budget);
    }
}

#[test]
fn keys_and_groups_are_made_anew_by_themselves() {
    let (plays, mut model) = wrong(3);
    // The rows of silver are right before the tables below follow, which read it again themselves.
    plays.build(Build::Right);
    plays.rebuild("silver.plays", "true", &[]);
    model.rebuild(|_, _| true);
    plays.run();
    let state = |project: &Project| {
        let sql = "SELECT song, score FROM rows ORDER BY ALL";
        project.tables().query("silver/latest", sql)
    };
    let before = state(&plays.project);
    // Another rule for what deletes a song: only the songs that are meant know it.
    let contract = |limit: i64| {
        json!({ "name": "silver.latest", "from": "silver.plays",
            "write": { "mode": "upsert", "keys": ["song"], "sequence_by": ["seq"],
                "delete_when": format!("score >= {limit}") } })
    };
    plays.project.write("tables/silver/latest.json", &contract(0).to_string());
    let gone = text(&before[0][0]);
    let done = plays.rebuild("silver.latest", &format!("song = '{gone}'"), &[]);
    assert_eq!((&done["rows_removed"], &done["rows_added"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(state(&plays.project), before[1..]);
    plays.project.write("tables/silver/latest.json", &contract(66).to_string());
    plays.rebuild("silver.latest", &format!("song = '{gone}'"), &[]);
    assert_eq!(state(&plays.project), before, "what was deleted wrongly comes back");
    plays.run();
    plays.holds(&model, "keys");

    let gold = |condition: &str| {
        json!({ "name": "gold.days", "from": "silver.plays",
            "expectations": [{ "name": "meant", "condition": condition }],
            "stages": [{ "aggregate": "aggregate", "options": {
                "measures": { "songs": "count(*)", "score": "sum(score)" } } }],
            "write": { "mode": "replace_groups", "group_by": ["day"] } })
    };
    plays.project.write("tables/gold/days.json", &gold("song <> 'song 1'").to_string());
    let refused = plays.project.tables().value("silver/plays", "SELECT count(*) FROM rows WHERE song = 'song 1'");
    let done = plays.rebuild("gold.days", "day = 'd2'", &[]);
    assert_eq!((&done["rows_removed"], &done["rows_added"]), (&json!(1), &json!(1)), "{done}");
    assert_eq!(json!(plays.project.tables().count("gold/days_quarantine")), refused, "what is refused is kept");
    plays.project.write("tables/gold/days.json", &gold("true").to_string());
    plays.rebuild("gold.days", "day >= 'd0'", &[]);
    assert_eq!(plays.project.tables().count("gold/days_quarantine"), 0, "all rows are in their groups");
    plays.holds(&model, "groups");
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

#[test]
fn d032_a_partition_is_made_anew_from_the_last_delivery_that_has_rows_of_it() {
    let plays = Plays::new();
    let days = |factor: i64, least: i64| {
        let column = |name: &str, kind: &str| json!({ "name": name, "type": kind });
        let worth = json!({ "name": "worth", "type": "long", "generated": format!("score * {factor}") });
        let days = json!({ "name": "silver.days", "from": "silver.plays",
            "columns": [column("song", "string"), column("day", "string"), worth],
            "expectations": [{ "name": "least", "condition": format!("score >= {least}") }],
            "write": { "mode": "replace_partitions" }, "partition_by": ["day"] });
        plays.project.write("tables/silver/days.json", &days.to_string());
    };
    days(1, 0);
    let mut model = Model::default();
    for _ in 0..3 {
        plays.land(&mut model, Build::Wrong);
        plays.run();
    }
    // Rows of a day as the last file gives them that has some of at least so much.
    let last = |day: &str, factor: i64, least: i64| -> Vec<Vec<Value>> {
        let of_file = |file: usize| -> Vec<Vec<Value>> {
            let events =
                model.events[file * 12..(file + 1) * 12].iter().map(|(event, build)| (event, build.score(event)));
            let meant = events.filter(|(event, score)| event.day == day && event.plays.is_some() && *score >= least);
            meant.map(|(event, score)| vec![json!(event.song), json!(day), json!(score * factor)]).collect()
        };
        (0..3).rev().map(of_file).find(|rows| !rows.is_empty()).unwrap_or_default()
    };
    let found = || {
        let rows = plays.project.tables().query("silver/days", "SELECT song, day, worth FROM rows");
        sorted(rows)
    };
    let expected = |rows: [Vec<Vec<Value>>; 3]| sorted(rows.concat());
    assert_eq!(found(), expected([last("d0", 1, 0), last("d1", 1, 0), last("d2", 1, 0)]));

    for least in [10, 44] {
        days(10, least);
        plays.rebuild("silver.days", "day = 'd1'", &[]);
        assert_eq!(found(), expected([last("d0", 1, 0), last("d1", 10, least), last("d2", 1, 0)]), "{least}");
        let refused = plays.project.tables().query("silver/days_quarantine", "SELECT file_path, file_row FROM rows");
        let places: std::collections::BTreeSet<String> = refused.iter().map(|place| format!("{place:?}")).collect();
        assert!(!refused.is_empty() && places.len() == refused.len(), "each once: {refused:?}");
        let again = plays.rebuild("silver.days", "day = 'd1'", &[]);
        assert_eq!((&again["rows_removed"], &again["rows_added"]), (&json!(0), &json!(0)), "twice is once");
    }
    days(10, 0);
    plays.rebuild("silver.days", "day >= 'd0'", &[]);
    assert_eq!(found(), expected([last("d0", 10, 0), last("d1", 10, 0), last("d2", 10, 0)]));
    assert_eq!(plays.project.tables().count("silver/days_quarantine"), 0, "what was refused passes");
    let said = plays.host(&["rebuild", "silver.days", "--where", "worth > 3"]).fail_with(3);
    assert!(said.contains("choose partitions by `day`"), "{said}");
}

fn sorted(mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    rows.sort_by_key(|row| Value::from(row.clone()).to_string());
    rows
}

#[test]
fn mistakes_are_told_before_anything_is_read() {
    let (plays, _) = wrong(3);
    let before = plays.versions();
    for (table, predicate, expected) in [
        ("silver.plays", "dya = 'd1'", "did you mean `day`?"),
        ("silver.plays", "score + 1", "not true or false"),
        ("silver.plays", "random() > 0.5", "random"),
        ("gold.days", "score > 3", "choose groups by `day`"),
        ("bronze.plays", "true", "rebuild a table below it"),
        ("silver.nothing", "true", "silver.plays"),
    ] {
        let said = plays.host(&["rebuild", table, "--where", predicate]).fail_with(3);
        assert!(said.contains(expected) && said.contains("hint:"), "{table}, {predicate}: {said}");
    }
    plays.host(&["rebuild", "silver.plays"]).fail_with(2);
    assert_eq!(plays.versions(), before);
}

#[test]
fn a_stream_that_cannot_follow_says_what_to_do() {
    let plays = Plays::new();
    let days = json!({ "name": "silver.days", "from": "silver.plays", "write": { "mode": "replace_partitions" },
        "partition_by": ["day"] });
    plays.project.write("tables/silver/days.json", &days.to_string());
    let mut model = Model::default();
    plays.land(&mut model, Build::Wrong);
    plays.run();
    plays.build(Build::Right);
    plays.rebuild("silver.plays", "day = 'd1'", &[]);
    model.rebuild(|event, _| event.day == "d1");
    let said = plays.host(&["run"]).fail_with(3);
    assert!(said.contains("silver.days") && said.contains("cannot follow") && said.contains("--rebuild"), "{said}");
    plays.holds(&model, "the others follow");
    assert!(said.contains("delete the checkpoint of the stream `silver.plays`"), "{said}");
    std::fs::remove_dir_all(plays.project.checkpoint("tables/silver.plays")).expect("a checkpoint");
    plays.host(&["run", "-q", "--rebuild"]).succeed();
    model.rebuild(|_, _| true);
    plays.holds(&model, "made again from the source");
    assert_eq!(plays.project.tables().count("silver/days"), plays.project.tables().count("silver/plays"));
}

#[test]
fn a_replay_and_a_rebuild_do_not_begin_before_the_other_is_done() {
    let (plays, mut model) = wrong(3);
    plays.build(Build::Right);
    let aborted = |arguments: &[&str], failpoint: &str| {
        let ended = plays.host(arguments).abort_at(failpoint, 0).run();
        assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{ended:?}");
    };
    aborted(&["rebuild", "silver.plays", "--where", "day = 'd1'"], "rebuild:silver.plays/commit_table/before");
    let said = plays.host(&["quarantine", "replay", "silver.plays"]).fail_with(3);
    assert!(said.contains("host rebuild silver.plays --where \"day = 'd1'\""), "{said}");
    plays.host(&["rebuild", "silver.plays", "--where", "day = 'd1'"]).succeed();
    aborted(&["quarantine", "replay", "silver.plays"], "replay:silver.plays/write_files/before");
    let said = plays.host(&["rebuild", "silver.plays", "--where", "day = 'd2'"]).fail_with(3);
    assert!(said.contains("host quarantine replay silver.plays"), "{said}");
    plays.host(&["quarantine", "replay", "silver.plays"]).succeed();
    plays.rebuild("silver.plays", "day = 'd2'", &[]);
    model.rebuild(|event, _| event.day != "d0");
    plays.run();
    plays.holds(&model, "both are done");
}

#[test]
fn a_condition_that_fails_for_a_row_stands_in_the_way_of_nothing() {
    let (plays, mut model) = wrong(3);
    plays.build(Build::Right);
    let fails = ["rebuild", "silver.plays", "--where", "1 / (score - score) > 1"];
    let said = plays.host(&fails).fail_with(1);
    assert!(said.contains("the condition `1 / (score - score) > 1` cannot be evaluated"), "{said}");
    assert!(!said.contains("0..0"), "{said}");
    plays.rebuild("silver.plays", "day = 'd0'", &[]);
    plays.host(&fails).fail_with(1);
    plays.host(&["quarantine", "replay", "silver.plays"]).succeed();
    model.rebuild(|event, _| event.day == "d0");

    // One that was bound and could not even fail is let go by the next.
    let ended = plays.host(&fails).abort_at("rebuild:silver.plays/log_range/after", 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{ended:?}");
    let said = plays.host(&["rebuild", "silver.plays", "--where", "day = 'd1'"]).fail_with(1);
    assert!(said.contains("1 / (score - score) > 1"), "{said}");
    plays.rebuild("silver.plays", "day = 'd1'", &[]);
    plays.rebuild("silver.plays", "day = 'd2'", &[]);
    model.rebuild(|_, _| true);
    plays.run();
    plays.holds(&model, "the other rebuilds went through");
}

#[test]
fn a_replay_that_was_cut_short_does_not_bring_back_what_a_rebuild_took_out() {
    let (plays, mut model) = wrong(3);
    let heard = json!({ "name": "silver.heard", "from": "silver.plays",
        "expectations": [{ "name": "heard", "condition": "score > 0" }] });
    plays.project.write("tables/silver/heard.json", &heard.to_string());
    let replay = ["quarantine", "replay", "silver.heard"];
    let ended = plays.host(&replay).abort_at("replay:silver.heard/commit_table/before", 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{ended:?}");
    plays.build(Build::Right);
    plays.rebuild("silver.plays", "day = 'd1'", &[]);
    model.rebuild(|event, _| event.day == "d1");
    plays.run();
    plays.host(&replay).succeed();
    let rows = |table: &str, of: &str| {
        let sql = format!("SELECT file_path, file_row{of} FROM rows ORDER BY ALL");
        plays.project.tables().query(table, &sql)
    };
    let above = plays
        .project
        .tables()
        .query("silver/plays", "SELECT file_path, file_row, score FROM rows WHERE score > 0 ORDER BY ALL");
    assert_eq!(rows("silver/heard", ", score"), above, "each once, as it is above");
    let silent = plays
        .project
        .tables()
        .query("silver/plays", "SELECT file_path, file_row FROM rows WHERE score <= 0 ORDER BY ALL");
    assert_eq!(rows("silver/heard_quarantine", ""), silent);
}

#[test]
fn a_rebuild_beside_a_running_host_loses_and_doubles_nothing() {
    let (plays, mut model) = wrong(3);
    plays.build(Build::Right);
    let run = plays.host(&["run", "-q", "--trigger", "continuous"]).start();
    for predicate in ["day = 'd0'", "day = 'd1'", "day = 'd2'"] {
        plays.land(&mut model, Build::Right);
        plays.rebuild("silver.plays", predicate, &[]);
        for (table, of) in [("silver.latest", "true"), ("gold.days", "true")] {
            // A stream that is busy is left alone, and says so.
            let ended = plays.host(&["rebuild", table, "--where", of]).run();
            assert!(matches!(ended.status.code(), Some(0 | 1)), "{ended:?}");
        }
    }
    let rows =
        || plays.project.tables().count("silver/plays") + plays.project.tables().count("silver/plays_quarantine");
    wait_until("all rows are somewhere", Duration::from_secs(60), || rows() == model.events.len() as u64);
    run.stop();
    assert!(run.end().status.success(), "the host ends well");
    plays.run();
    model.rebuild(|_, _| true);
    plays.holds(&model, "beside a running host");
}
