//! A broker that is not there, restarted or frozen: the stream recovers by itself.

use std::path::PathBuf;
use std::time::Duration;

use crisol_tests::{Broker, Host, Project, Record, Run, Topic, wait_until};
use serde_json::json;

use crate::bronze::{LONG, TABLE, long, offsets, places, reading};

const MINUTES: Duration = Duration::from_secs(120);

/// A continuous run whose log can be read while it runs.
struct Watched {
    run: Run,
    log: PathBuf,
}

impl Watched {
    fn start(project: &Project) -> Self {
        Self::start_with(project, |host| host)
    }

    fn start_with(project: &Project, environment: impl FnOnce(Host) -> Host) -> Self {
        let log = project.path().join("host.log");
        let into = format!("exec \"$@\" 2>{}", log.display());
        let host = environment(project.host(&["run", "--trigger", "continuous"]));
        Self { run: host.in_bash(&into).start(), log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn wait_for(&mut self, word: &str) {
        let (run, log) = (&mut self.run, &self.log);
        wait_until(&format!("it says `{word}`"), MINUTES, || {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            assert!(!run.has_ended(), "it has ended:\n{said}");
            said.contains(word)
        });
    }

    /// Waits for all rows, and stops it.
    fn reads(self, project: &Project, rows: u64) {
        let done = || project.tables().count(TABLE) >= rows;
        wait_until("all is read", MINUTES, done);
        self.run.stop();
        let log = self.log();
        let output = self.run.end();
        assert_eq!(output.status.code(), Some(0), "{log}");
        assert!(log.contains("going on"), "{log}");
    }
}

/// Options with which a client soon notices that nobody answers.
fn impatient() -> serde_json::Value {
    json!({
        "fetch_offset_num_retries": 1, "fetch_offset_retry_interval_ms": 50, "poll_timeout_ms": 4000,
        "kafka.socket.timeout.ms": 3000
    })
}

fn wait_for_first_range(project: &Project) {
    let bound = project.checkpoint("streaming/log").join("offsets/0");
    wait_until("a batch is under way", MINUTES, || bound.exists());
}

#[test]
fn t009_a_broker_that_is_not_there_is_waited_for_and_a_run_with_an_end_gives_up() {
    let broker = Broker::start();
    let topic = Topic::create_at(broker.brokers(), "trouble.absent", 1, &[]);
    topic.send((0..5).map(|_| Record::to(0).payload("x")));
    broker.kill();
    let project = reading(&topic, impatient());
    let said = project.host(&["run"]).fail_with(1);
    assert!(said.contains(broker.brokers()) && said.to_lowercase().contains("refused"), "{said}");

    let mut watched = Watched::start(&project);
    watched.wait_for("waiting for the source: ");
    broker.restart();
    watched.reads(&project, 5);
    assert_eq!(places(&project), offsets(0, 0..5));
}

#[test]
fn k068_k070_t006_a_broker_that_is_ended_in_a_batch_and_comes_back_loses_and_doubles_nothing() {
    let broker = Broker::start();
    let topic = long(broker.brokers(), "trouble.restart");
    let project = reading(&topic, impatient());
    let mut watched = Watched::start(&project);
    wait_for_first_range(&project);
    broker.kill();
    // The first batch may have been read whole: then it is the question for the next that waits.
    watched.wait_for("waiting for the source: ");
    broker.restart();
    topic.send((0..5).map(|_| Record::to(0).payload("later")));
    watched.reads(&project, LONG as u64 + 5);
    assert_eq!(places(&project), offsets(0, 0..LONG + 5));
}

#[test]
fn k069_a_frozen_broker_is_waited_for_and_a_run_with_an_end_gives_up_and_can_be_made_again() {
    let broker = Broker::start();
    let topic = long(broker.brokers(), "trouble.frozen");
    let ends = reading(&topic, impatient());
    let goes_on = reading(&topic, impatient());
    let run = ends.host(&["run"]).start();
    let mut watched = Watched::start(&goes_on);
    wait_for_first_range(&ends);
    wait_for_first_range(&goes_on);
    broker.freeze();
    watched.wait_for("waiting for the source: ");
    let output = run.end();
    let begun = reading(&topic, impatient()).host(&["run"]).fail_with(1);
    assert!(begun.contains(broker.brokers()), "a run that begins now gives up, too: {begun}");
    broker.thaw();
    let said = String::from_utf8_lossy(&output.stderr);
    // What was read before the broker froze may have been all.
    assert!(output.status.success() || said.contains(broker.brokers()), "{said}");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    ends.host(&["run"]).succeed();
    watched.reads(&goes_on, LONG as u64);
    for project in [&ends, &goes_on] {
        assert_eq!(places(project), offsets(0, 0..LONG));
    }
}

#[test]
fn a_secured_broker_that_goes_and_comes_back_is_not_taken_for_one_that_refuses() {
    let (broker, secure) = Broker::secured();
    let topic = Topic::create_at(broker.brokers(), "secure.trouble", 1, &[]);
    topic.send((0..3).map(|_| Record::to(0).payload("x")));
    let mut source = impatient();
    for (name, value) in [
        ("topic", topic.name()),
        ("starting_offsets", "earliest"),
        ("kafka.security.protocol", "SASL_SSL"),
        ("kafka.ssl.ca.location", &secure.file("ca.pem")),
        ("kafka.sasl.mechanism", "SCRAM-SHA-512"),
        ("kafka.sasl.username", "reader"),
        ("kafka.sasl.password", "${env:READER}"),
    ] {
        source[name] = json!(value);
    }
    let project = Project::kafka(secure.address("sasl_ssl"), &source);
    let mut watched = Watched::start_with(&project, |host| host.env("READER", secure.password("reader")));
    wait_until("the first records are read", MINUTES, || project.tables().count(TABLE) == 3);
    broker.kill();
    watched.wait_for("waiting for the source: ");
    broker.restart();
    topic.send((0..5).map(|_| Record::to(0).payload("later")));
    watched.reads(&project, 8);
    assert_eq!(places(&project), offsets(0, 0..8));
}
