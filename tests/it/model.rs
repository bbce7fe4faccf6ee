//! Random sequences of messages (new, newer and older ones, deletions, schema versions that nobody serves yet, messages
//! on which the decoder traps, loops or runs out of memory), crashes, restarts, exchanged components, files that are no
//! component, limits and replays, against a model of the tables in memory.

pub(crate) mod builds;
mod events;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::Duration;

use crisol_tests::{Host, Project, Random, Topic, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use self::builds::Builds;
use self::events::{Event, Fault, Found, World};

const STREAMS: [&str; 5] =
    ["orders", "silver.orders", "silver.orders_current", "gold.top_orders", "gold.daily_revenue"];
const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_quarantine", "commit_table", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
/// What happens in a round, in any order.
const ACTIONS: [Action; 16] = [
    Action::Produce,
    Action::Produce,
    Action::Build,
    Action::Damage,
    Action::Limits,
    Action::Version,
    Action::Version,
    Action::Crash,
    Action::Crash,
    Action::Crash,
    Action::Replay,
    Action::CrashedReplay,
    Action::CrashedReplay,
    Action::Load,
    Action::Run,
    Action::Run,
];
const ROUNDS: usize = 2;
const EVENTS_PER_STEP_MAX: usize = 300;

#[derive(Debug, Clone, Copy)]
enum Action {
    Produce,
    /// Another build for versions 1 and 2.
    Build,
    /// A file that is no component comes, another or the same, or goes.
    Damage,
    /// Other limits from the next run on, enough for every honest message.
    Limits,
    /// A build for version 3 comes or goes.
    Version,
    Run,
    /// Messages, and a run that is ended at a step of the protocol.
    Crash,
    /// Messages and a new build while a host runs, which is then killed or stopped.
    Load,
    Replay,
    CrashedReplay,
}

/// A new event.
fn event(random: &mut Random, number: usize) -> Event {
    Event {
        number,
        order: random.below(400),
        second: (random.below(4) * 24 + random.below(24)) as u64 * 3_600,
        cents: 1 + random.below(50_000) as u64,
        version: random.one_of(&[1, 1, 1, 2, 2, 3, 3, 3, 9]),
        country: random.one_of(&[Some("ES"), Some("ES"), Some("MX"), None, Some("gone")]),
        fault: match random.below(400) {
            0..10 => Fault::Cut,
            10..20 => Fault::NoOrder,
            20..30 => Fault::NoVersion,
            30..36 => Fault::Trap,
            36..39 => Fault::Grow,
            39 => Fault::Loop,
            _ => Fault::None,
        },
    }
}

struct Lab {
    topic: Topic,
    project: Project,
    builds: Builds,
    limits: Vec<String>,
    world: World,
    random: Random,
}

#[test]
fn any_sequence_of_messages_crashes_builds_versions_and_replays_leaves_the_tables_of_the_model() {
    let mut lab = Lab::new();
    lab.act(Action::Produce);
    lab.act(Action::Run);
    for round in 1..=ROUNDS {
        for action in lab.random.shuffled(&ACTIONS) {
            println!("round {round}: {action:?}");
            lab.act(action);
        }
    }
    if !lab.builds.serves(&(3..=3)) {
        lab.builds.put(3..=3);
    }
    lab.act(Action::Run);
    lab.act(Action::Replay);
    lab.act(Action::Run);
    println!("{} messages, {} builds", lab.world.len(), lab.builds.count());
}

impl Lab {
    fn new() -> Self {
        let random = Random::new();
        let topic = Topic::create(&format!("model.{}", random.seed()), 2);
        let project = Project::orders_of(topic.name(), 200);
        change(&project, "silver/orders", |contract| {
            let columns = contract["columns"].as_array_mut().expect("columns");
            columns.push(json!({ "name": "build", "type": "string" }));
        });
        change(&project, "silver/orders_current", |contract| {
            contract["write"]["delete_when"] = json!("country = 'gone'");
        });
        let builds = Builds::new(project.path().join("plugins"));
        let mut lab = Self { topic, project, builds, limits: Vec::new(), world: World::default(), random };
        lab.limit();
        lab
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Produce => self.produce(),
            Action::Build => drop(self.builds.put(1..=2)),
            Action::Damage => self.builds.damage(&mut self.random),
            Action::Limits => self.limit(),
            Action::Version if self.builds.serves(&(3..=3)) => self.builds.remove(&(3..=3)),
            Action::Version => drop(self.builds.put(3..=3)),
            Action::Run => self.run(),
            Action::Crash => self.crash(),
            Action::Load => self.load(),
            Action::Replay => self.replay(),
            Action::CrashedReplay => self.crashed_replay(),
        }
    }

    fn host(&self, arguments: &[&str]) -> Host {
        let sets = self.limits.iter().flat_map(|limit| ["--set", limit.as_str()]);
        let arguments: Vec<&str> = arguments.iter().copied().chain(sets).collect();
        self.project.host(&arguments).env("KAFKA_BROKERS", self.topic.brokers()).plugins(self.builds.folder())
    }

    fn limit(&mut self) {
        let random = &mut self.random;
        let limits = [
            ("deadline_ms_max", random.one_of(&[300, 600, 900])),
            ("memory_bytes_max", random.one_of(&[32 << 20, 64 << 20])),
            ("output_rows_max", random.one_of(&[2_000, 50_000])),
            ("codes_max", random.one_of(&[5, 50])),
            ("total_memory_bytes_max", random.one_of(&[256 << 20, 1 << 30])),
        ];
        self.limits = limits.map(|(name, limit): (&str, u64)| format!("limits.{name}={limit}")).to_vec();
    }

    fn three(&self) -> bool {
        self.builds.serves(&(3..=3))
    }

    fn produce(&mut self) {
        let first = self.world.len();
        let events = 1 + self.random.below(EVENTS_PER_STEP_MAX);
        let events: Vec<Event> = (first..first + events).map(|number| event(&mut self.random, number)).collect();
        let messages: Vec<_> = events.iter().map(|event| (event.key(), event.value())).collect();
        self.topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        self.world.add(events);
    }

    fn run(&mut self) {
        self.world.run(self.three());
        self.host(&["run", "-q"]).succeed();
        self.check_all();
    }

    fn crash(&mut self) {
        self.produce();
        self.world.run(self.three());
        let [step, moment] = [self.random.one_of(&STEPS), self.random.one_of(&MOMENTS)];
        let failpoint = format!("{}/{step}/{moment}", self.random.one_of(&STREAMS));
        let passes = self.random.below(2) as u32;
        let ended = self.host(&["run", "-q"]).abort_at(&failpoint, passes).run();
        if ended_at(&failpoint, passes, &ended) {
            self.check_silver(false);
        } else {
            self.check_all();
        }
    }

    fn load(&mut self) {
        let run = self.host(&["run", "-q", "--trigger", "continuous"]).start();
        self.world.run(self.three());
        self.produce();
        self.world.run(self.three());
        let versions = if self.random.below(3) == 0 { 3..=3 } else { 1..=2 };
        let digest = self.builds.put(versions);
        self.world.run(self.three());
        let decisions = self.project.checkpoint("plugins.json");
        let serves = || {
            let text = fs::read(&decisions).unwrap_or_default();
            let decisions: Value = serde_json::from_slice(&text).unwrap_or_default();
            let mut refused = decisions["refused"].as_array().into_iter().flatten();
            let refusal = refused.find(|one| one["digest"] == digest.as_str());
            assert!(refusal.is_none(), "the build is refused: {refusal:?}");
            decisions["serving"].as_array().into_iter().flatten().any(|one| one["digest"] == digest.as_str())
        };
        wait_until("the build serves", Duration::from_secs(90), serves);
        self.produce();
        self.world.run(self.three());
        if self.random.below(2) == 0 {
            run.signal(Signal::SIGKILL);
            run.end();
        } else {
            run.stop();
            let ended = run.end();
            assert!(ended.status.success(), "{ended:?}");
        }
        self.check_silver(false);
    }

    fn replay(&mut self) {
        self.host(&["quarantine", "replay", "silver.orders"]).succeed();
        self.world.replay(self.three(), true);
        self.check_silver(false);
    }

    fn crashed_replay(&mut self) {
        let [step, moment] = [self.random.one_of(&STEPS), self.random.one_of(&MOMENTS)];
        let failpoint = format!("replay:silver.orders/{step}/{moment}");
        let ended = self.host(&["quarantine", "replay", "silver.orders"]).abort_at(&failpoint, 0).run();
        let done = !ended_at(&failpoint, 0, &ended);
        self.world.replay(self.three(), done);
        self.check_silver(false);
    }

    /// Compares silver and its quarantine with the model, and the marks of the rows with the builds of their commits.
    fn check_silver(&mut self, whole: bool) -> Vec<Event> {
        let columns = "customer_id, order_id, CAST(epoch(event_ts) AS BIGINT), CAST(amount * 100 AS BIGINT), \
                       schema_version, country, build, committed_in";
        let silver = format!("SELECT {columns} FROM committed");
        let refused = "SELECT code, decode(payload) FROM rows";
        let tables = self.project.tables();
        let rows = tables.queries(&[("silver/orders", silver.as_str()), ("silver/orders_quarantine", refused)]);
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let refused = rows[1].iter().map(|row| (Event::number_in(&text(&row[1])), text(&row[0])));
        let found = Found { silver: rows[0].iter().map(|row| events::row(row)).collect(), refused: refused.collect() };
        let silver = self.world.check(&found, whole);
        self.check_builds(&rows[0]);
        silver
    }

    /// Each row was decoded by a component that its commit names.
    fn check_builds(&self, rows: &[Vec<Value>]) {
        if rows.is_empty() {
            return;
        }
        let log = self.project.tables().log("silver/orders");
        for row in rows {
            let (version, mark) = (row[4].as_u64().expect("a version"), row[6].as_str().expect("a mark"));
            let commit = &log["commits"][row[7].as_u64().expect("a version") as usize]["crisol"]["components"];
            let named = commit.as_object().expect("components").iter().filter(|(name, _)| name.starts_with("orders@"));
            let digests: Vec<&str> =
                named.flat_map(|(_, digests)| digests.as_str().expect("text").split(',')).collect();
            assert!(self.builds.made(&digests, mark, version), "{row:?} and {commit}");
        }
    }

    /// Compares every table after a run that did all it had to.
    fn check_all(&mut self) {
        let silver = self.check_silver(true);
        let current = events::current(&silver);
        let rows = self.project.tables().queries(&[
            ("bronze/orders_raw", "SELECT count(*), count(DISTINCT (\"partition\", \"offset\")) FROM rows"),
            (
                "silver/orders_current",
                "SELECT customer_id, order_id, CAST(epoch(event_ts) AS BIGINT), CAST(amount * 100 AS BIGINT), \
                 schema_version, country FROM rows",
            ),
            ("gold/top_orders", "SELECT country, CAST(day AS VARCHAR), order_id, customer_id, position FROM rows"),
            (
                "gold/daily_revenue",
                "SELECT country, CAST(day AS VARCHAR), orders, CAST(revenue * 100 AS BIGINT), \
                 CAST(average * 1000000 AS BIGINT) FROM rows",
            ),
        ]);
        let messages = json!(self.world.len());
        assert_eq!(rows[0], [[messages.clone(), messages]], "bronze has every message once");
        let mut found: Vec<_> = rows[1].iter().map(|row| events::row(row)).collect();
        found.sort();
        let mut expected: Vec<_> = current.iter().map(Event::row).collect();
        expected.sort();
        assert_eq!(found, expected, "silver.orders_current");
        assert_eq!(once(&rows[2]), events::top(&current), "gold.top_orders");
        assert_eq!(once(&rows[3]), events::revenue(&current), "gold.daily_revenue");
    }
}

/// Rows as text, none of them twice.
fn once(rows: &[Vec<Value>]) -> BTreeSet<String> {
    let texts: BTreeSet<String> = rows.iter().map(|row| Value::from(row.clone()).to_string()).collect();
    assert_eq!(texts.len(), rows.len(), "no row is there twice");
    texts
}

/// Whether the failpoint was reached; a program that did not reach it did all it had to.
fn ended_at(failpoint: &str, passes: u32, ended: &Output) -> bool {
    let reached = ended.status.signal() == Some(Signal::SIGABRT as i32);
    println!("   {failpoint} after {passes}: {}", if reached { "ended there" } else { "not reached" });
    assert!(reached || ended.status.success(), "{ended:?}");
    reached
}

fn change(project: &Project, table: &str, change: impl FnOnce(&mut Value)) {
    let path = project.path().join(format!("tables/{table}.json"));
    let mut contract = serde_json::from_slice(&fs::read(&path).expect("a contract")).expect("JSON");
    change(&mut contract);
    fs::write(&path, contract.to_string()).expect("it can be written");
}
