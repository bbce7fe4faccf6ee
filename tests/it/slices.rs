//! Slices of tables made anew: each table is what a plain computation of its own comes to, once, whatever happens.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use crisol_tests::{Host, Project, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_table", "commit_quarantine", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
const TABLES: [&str; 5] = ["silver/plays", "silver/heard", "silver/latest", "gold/days", "gold/latest_days"];

/// What a row of `silver.plays` is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// Doubles, and gives one song too late a time.
    Wrong,
    /// Trebles, and refuses every fifth number of plays.
    Right,
}

#[derive(Debug, Clone)]
struct Event {
    song: String,
    plays: Option<i64>,
    at: i64,
    day: String,
}

/// Events with the build that made their silver rows; the file and the row are their place.
#[derive(Debug, Default)]
struct Model {
    events: Vec<(Event, Build)>,
}

/// Plays as JSON lines to bronze; silver adds them; below it they are added, kept by song, and summed by day.
struct Plays {
    project: Project,
    files: Cell<usize>,
}

impl Build {
    fn contract(self) -> Value {
        let (score, seq, known) = match self {
            Self::Wrong => ("plays * 2", "`at` + CASE WHEN song = 'song 3' THEN 100 ELSE 0 END", "plays IS NOT NULL"),
            Self::Right => ("plays * 3", "`at`", "plays IS NOT NULL AND plays % 5 <> 0"),
        };
        let column = |name: &str, kind: &str| json!({ "name": name, "type": kind });
        let generated = |name: &str, of: &str| json!({ "name": name, "type": "long", "generated": of });
        json!({
            "name": "silver.plays", "from": "bronze.plays",
            "columns": [column("song", "string"), column("plays", "long"), column("day", "string"),
                generated("score", score), generated("seq", seq)],
            "expectations": [{ "name": "known", "condition": known }]
        })
    }

    fn score(self, event: &Event) -> i64 {
        event.plays.unwrap_or_default() * if self == Self::Wrong { 2 } else { 3 }
    }

    fn seq(self, event: &Event) -> i64 {
        event.at + if self == Self::Wrong && event.song == "song 3" { 100 } else { 0 }
    }

    fn accepts(self, event: &Event) -> bool {
        event.plays.is_some_and(|plays| self == Self::Wrong || plays % 5 != 0)
    }
}

impl Plays {
    fn new() -> Self {
        let project = Project::new();
        let columns = [("song", "string"), ("plays", "long"), ("at", "long"), ("day", "string")];
        let columns: Vec<Value> = columns.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
        let ingestion = json!({
            "name": "plays", "ingest_type": "streaming",
            "source": { "format": "json", "path": "{path.landing}", "schema": columns },
            "destination_contract": "../../tables/bronze/plays.json"
        });
        project.write("ingestion/streaming/plays.json", &ingestion.to_string());
        let sums = json!([{ "aggregate": "aggregate", "options": {
            "measures": { "songs": "count(*)", "score": "sum(score)" } } }]);
        let by_day = json!({ "mode": "replace_groups", "group_by": ["day"] });
        for (file, table) in [
            ("bronze/plays", json!({ "name": "bronze.plays" })),
            ("silver/plays", Build::Wrong.contract()),
            (
                "silver/heard",
                json!({ "name": "silver.heard", "from": "silver.plays",
                    "expectations": [{ "name": "heard", "condition": "score > 8" }] }),
            ),
            (
                "silver/latest",
                json!({ "name": "silver.latest", "from": "silver.plays",
                    "write": { "mode": "upsert", "keys": ["song"], "sequence_by": ["seq"],
                        "delete_when": "score >= 66" } }),
            ),
            ("gold/days", json!({ "name": "gold.days", "from": "silver.plays", "stages": sums, "write": by_day })),
            (
                "gold/latest_days",
                json!({ "name": "gold.latest_days", "from": "silver.latest", "stages": sums, "write": by_day }),
            ),
        ] {
            project.write(&format!("tables/{file}.json"), &table.to_string());
        }
        Self { project, files: Cell::new(0) }
    }

    /// Lands the next file of events, and gives them to the model.
    fn land(&self, model: &mut Model, build: Build) {
        let file = self.files.replace(self.files.get() + 1);
        let mut lines = String::new();
        for row in 0..12 {
            let n = file * 12 + row;
            let event = Event {
                song: format!("song {}", n * 5 % 7),
                plays: (n % 11 != 10).then(|| (n * 7 % 24) as i64),
                at: (n * 3 % 20) as i64,
                day: format!("d{}", n % 3),
            };
            let line = json!({ "song": event.song, "plays": event.plays, "at": event.at, "day": event.day });
            let _ = writeln!(lines, "{line}");
            model.events.push((event, build));
        }
        self.project.write(&format!("landing/{file:03}.json"), &lines);
    }

    fn build(&self, build: Build) {
        self.project.write("tables/silver/plays.json", &build.contract().to_string());
    }

    fn host(&self, arguments: &[&str]) -> Host {
        self.project.host(arguments)
    }

    fn run(&self) {
        self.host(&["run", "-q"]).succeed();
    }

    /// What `-o json` says of one rebuild.
    fn rebuild(&self, table: &str, predicate: &str, more: &[&str]) -> Value {
        let arguments = [&["rebuild", table, "--where", predicate, "-o", "json"], more].concat();
        let output = self.host(&arguments).succeed();
        let text = String::from_utf8(output.stdout).expect("text");
        let told: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        told.into_iter().next().expect("one")
    }

    fn versions(&self) -> Vec<Value> {
        let all = TABLES.iter().flat_map(|table| [(*table).to_owned(), format!("{table}_quarantine")]);
        let tables = self.project.tables();
        all.filter(|table| tables.exists(table)).map(|table| tables.log(&table)["versions"].clone()).collect()
    }

    /// Each table, and each quarantine, holds what the model comes to.
    fn holds(&self, model: &Model, what: &str) {
        for (table, sql, expected) in model.tables() {
            let tables = self.project.tables();
            let mut found: Vec<Vec<Value>> = if tables.exists(table) { tables.query(table, sql) } else { Vec::new() };
            found.sort_by_key(|row| Value::from(row.clone()).to_string());
            let mut expected = expected;
            expected.sort_by_key(|row| Value::from(row.clone()).to_string());
            assert_eq!(found, expected, "{what}: {table}");
        }
    }
}

/// A table, what is asked of it, and the answer.
type Expected = (&'static str, &'static str, Vec<Vec<Value>>);

impl Model {
    /// The rows that a rebuild means are those of the right build from now on.
    fn rebuild(&mut self, meant: impl Fn(&Event, i64) -> bool) {
        for (event, build) in &mut self.events {
            let holds = |build: Build| build.accepts(event) && meant(event, build.score(event));
            if holds(*build) || holds(Build::Right) {
                *build = Build::Right;
            }
        }
    }

    fn tables(&self) -> Vec<Expected> {
        let place = |n: usize| json!(format!("{:03}:{}", n / 12, n % 12));
        let all = || self.events.iter().enumerate();
        let silver = || all().filter(|(_, (event, build))| build.accepts(event));
        let row = |n: usize, event: &Event, build: Build| {
            vec![place(n), json!(event.song), json!(build.score(event)), json!(build.seq(event))]
        };
        let mut newest: BTreeMap<&str, (i64, usize, &Event, i64)> = BTreeMap::new();
        for (n, (event, build)) in silver() {
            let now = (build.seq(event), n, event, build.score(event));
            let known = newest.entry(&event.song).or_insert(now);
            if (now.0, now.1) >= (known.0, known.1) {
                *known = now;
            }
        }
        let latest = || newest.values().filter(|(.., score)| *score < 66);
        let mut days: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
        for (_, (event, build)) in silver() {
            let day = days.entry(&event.day).or_default();
            *day = (day.0 + 1, day.1 + build.score(event));
        }
        let mut latest_days: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
        for (.., event, score) in latest() {
            let day = latest_days.entry(&event.day).or_default();
            *day = (day.0 + 1, day.1 + score);
        }
        let sums = |days: BTreeMap<&str, (u64, i64)>| -> Vec<Vec<Value>> {
            days.into_iter().map(|(day, (songs, score))| vec![json!(day), json!(songs), json!(score)]).collect()
        };
        let refused = "SELECT right(file_path, 8)[1:3] || ':' || file_row FROM rows";
        let rows = "SELECT right(file_path, 8)[1:3] || ':' || file_row, song, score, seq FROM rows";
        let by_day = "SELECT day, songs, score FROM rows";
        let heard = |build: &Build, event: &Event| build.score(event) > 8;
        vec![
            ("silver/plays", rows, silver().map(|(n, (event, build))| row(n, event, *build)).collect()),
            (
                "silver/plays_quarantine",
                refused,
                all().filter(|(_, (event, build))| !build.accepts(event)).map(|(n, _)| vec![place(n)]).collect(),
            ),
            (
                "silver/heard",
                rows,
                silver().filter(|(_, (e, build))| heard(build, e)).map(|(n, (e, build))| row(n, e, *build)).collect(),
            ),
            (
                "silver/heard_quarantine",
                refused,
                silver().filter(|(_, (e, build))| !heard(build, e)).map(|(n, _)| vec![place(n)]).collect(),
            ),
            (
                "silver/latest",
                "SELECT song, score, seq FROM rows",
                latest().map(|(seq, _, event, score)| vec![json!(event.song), json!(score), json!(seq)]).collect(),
            ),
            ("gold/days", by_day, sums(days)),
            ("gold/latest_days", by_day, sums(latest_days)),
        ]
    }
}

/// Three files, run to the end.
fn wrong() -> (Plays, Model) {
    let (plays, mut model) = (Plays::new(), Model::default());
    for _ in 0..3 {
        plays.land(&mut model, Build::Wrong);
        plays.run();
    }
    plays.holds(&model, "before");
    (plays, model)
}

#[test]
fn a_day_that_is_made_anew_is_right_in_every_table_below_and_the_other_days_stay() {
    let (plays, mut model) = wrong();
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
fn rows_that_come_into_the_predicate_or_leave_it_are_replaced_too() {
    let (plays, mut model) = wrong();
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
        let (plays, mut model) = wrong();
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
    let (plays, mut model) = wrong();
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
fn mistakes_are_told_before_anything_is_read() {
    let (plays, _) = wrong();
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
    std::fs::remove_dir_all(plays.project.checkpoint("tables/silver.days")).expect("a checkpoint");
    plays.host(&["run", "--rebuild"]).fail_with(3);
}

#[test]
fn a_replay_and_a_rebuild_do_not_begin_before_the_other_is_done() {
    let (plays, mut model) = wrong();
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

/// The tables that a rebuild is asked of, and what it means.
const REBUILDS: [(&str, &str); 3] =
    [("silver.plays", "day = 'd1'"), ("silver.latest", "song < 'song 4'"), ("gold.days", "day <> 'd0'")];

#[test]
fn a_rebuild_ended_at_any_step_and_started_again_loses_and_doubles_nothing() {
    let mut matrix = String::new();
    for (table, predicate) in REBUILDS {
        for step in STEPS {
            let _ = write!(matrix, "{table:14} {step:18}");
            for moment in MOMENTS {
                rebuild_cell(table, predicate, &format!("{step}/{moment}"));
                let _ = write!(matrix, " {moment}: ok;");
            }
            matrix.push('\n');
        }
    }
    println!("step of a rebuild, ended once at each and started again:\n{matrix}");
}

/// The table is rebuilt with contracts that refuse some rows and give others, so that every step has something to do.
fn rebuild_cell(table: &str, predicate: &str, at: &str) {
    let rebuild = ["rebuild", table, "--where", predicate];
    let expected = {
        let plays = changed(table);
        plays.host(&rebuild).succeed();
        plays.run();
        contents(&plays)
    };
    let plays = changed(table);
    let failpoint = format!("rebuild:{table}/{at}");
    let ended = plays.host(&rebuild).abort_at(&failpoint, 0).run();
    assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint} is reached: {ended:?}");
    plays.host(&rebuild).succeed();
    assert_eq!(plays.rebuild(table, predicate, &[])["rows_removed"], json!(0), "{failpoint}: nothing is left to do");
    plays.run();
    assert_eq!(contents(&plays), expected, "{failpoint}");
}

fn changed(table: &str) -> Plays {
    let (plays, mut model) = (Plays::new(), Model::default());
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
    let all = TABLES.iter().flat_map(|table| [(*table).to_owned(), format!("{table}_quarantine")]);
    let present = all.filter(|table| tables.exists(table));
    let rows = |table: &String| {
        let columns = match table.as_str() {
            quarantine if quarantine.ends_with("_quarantine") => "stage, code, right(file_path, 8), file_row",
            "gold/days" | "gold/latest_days" => "*",
            _ => "* EXCLUDE (file_path, file_modified), right(file_path, 8)",
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
                let (plays, mut model) = wrong();
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

#[test]
fn a_rebuild_beside_a_running_host_loses_and_doubles_nothing() {
    let (plays, mut model) = wrong();
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
