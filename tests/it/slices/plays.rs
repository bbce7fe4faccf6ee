//! Plays on their way through tables of every write mode, and a plain computation of what these hold.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;

use crisol_tests::{Host, Project};
use serde_json::{Value, json};

pub(super) const TABLES: [&str; 6] =
    ["silver/plays", "silver/heard", "silver/latest", "silver/mirror", "gold/days", "gold/latest_days"];

/// What a row of `silver.plays` is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Build {
    /// Doubles, and gives one song too late a time.
    Wrong,
    /// Trebles, and refuses every fifth number of plays.
    Right,
}

#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) song: String,
    pub(super) plays: Option<i64>,
    pub(super) at: i64,
    pub(super) day: String,
}

/// Events with the build that made their silver rows; the file and the row are their place.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) events: Vec<(Event, Build)>,
}

/// Plays as JSON lines to bronze; silver adds them; below it they are added, kept by song (twice, one below the other), and
/// summed by day.
pub(super) struct Plays {
    pub(super) project: Project,
    pub(super) files: Cell<usize>,
}

impl Build {
    pub(super) fn contract(self) -> Value {
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

    pub(super) fn score(self, event: &Event) -> i64 {
        event.plays.unwrap_or_default() * if self == Self::Wrong { 2 } else { 3 }
    }

    pub(super) fn seq(self, event: &Event) -> i64 {
        event.at + if self == Self::Wrong && event.song == "song 3" { 100 } else { 0 }
    }

    pub(super) fn accepts(self, event: &Event) -> bool {
        event.plays.is_some_and(|plays| self == Self::Wrong || plays % 5 != 0)
    }
}

impl Plays {
    pub(super) fn new() -> Self {
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
            (
                "silver/mirror",
                json!({ "name": "silver.mirror", "from": "silver.latest",
                    "write": { "mode": "upsert", "keys": ["song"], "sequence_by": ["seq"] } }),
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
    pub(super) fn land(&self, model: &mut Model, build: Build) {
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

    pub(super) fn build(&self, build: Build) {
        self.project.write("tables/silver/plays.json", &build.contract().to_string());
    }

    pub(super) fn host(&self, arguments: &[&str]) -> Host {
        self.project.host(arguments)
    }

    pub(super) fn run(&self) {
        self.host(&["run", "-q"]).succeed();
    }

    /// What `-o json` says of one rebuild.
    pub(super) fn rebuild(&self, table: &str, predicate: &str, more: &[&str]) -> Value {
        let arguments = [&["rebuild", table, "--where", predicate, "-o", "json"], more].concat();
        let output = self.host(&arguments).succeed();
        let text = String::from_utf8(output.stdout).expect("text");
        let told: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        told.into_iter().next().expect("one")
    }

    pub(super) fn versions(&self) -> Vec<Value> {
        let all = TABLES.iter().flat_map(|table| [(*table).to_owned(), format!("{table}_quarantine")]);
        let tables = self.project.tables();
        all.filter(|table| tables.exists(table)).map(|table| tables.log(&table)["versions"].clone()).collect()
    }

    /// Each table, and each quarantine, holds what the model comes to.
    pub(super) fn holds(&self, model: &Model, what: &str) {
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
pub(super) type Expected = (&'static str, &'static str, Vec<Vec<Value>>);

impl Model {
    /// The rows that a rebuild means are those of the right build from now on.
    pub(super) fn rebuild(&mut self, meant: impl Fn(&Event, i64) -> bool) {
        for (event, build) in &mut self.events {
            let holds = |build: Build| build.accepts(event) && meant(event, build.score(event));
            if holds(*build) || holds(Build::Right) {
                *build = Build::Right;
            }
        }
    }

    pub(super) fn tables(&self) -> Vec<Expected> {
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
        let songs = "SELECT song, score, seq FROM rows";
        let by_song =
            || latest().map(|(seq, _, event, score)| vec![json!(event.song), json!(score), json!(seq)]).collect();
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
            ("silver/latest", songs, by_song()),
            ("silver/mirror", songs, by_song()),
            ("gold/days", by_day, sums(days)),
            ("gold/latest_days", by_day, sums(latest_days)),
        ]
    }
}

/// So many files, each run to the end.
pub(super) fn wrong(files: usize) -> (Plays, Model) {
    let (plays, mut model) = (Plays::new(), Model::default());
    for _ in 0..files {
        plays.land(&mut model, Build::Wrong);
        plays.run();
    }
    (plays, model)
}
