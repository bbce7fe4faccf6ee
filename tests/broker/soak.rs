//! A stream under steady load while its broker is ended and started, its topic grows and the host itself is killed.
//!
//! `make soak` runs it for 20 minutes, `make test` for two. The order of what happens follows from the seed that it prints.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crisol_tests::{Broker, Project, Random, Record, Run, Topic};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bronze::{QUARANTINE, TABLE};

const PARTITIONS_MAX: i32 = 12;
/// Records that are sent at once, and how often.
const BURST: i64 = 200;
const BURSTS_EVERY: Duration = Duration::from_millis(100);
/// One record in so many is no text.
const REFUSED_EVERY: i64 = 50;

#[test]
fn soak_bronze_and_quarantine_hold_each_offset_of_the_log_once() {
    let minutes = std::env::var("CRISOL_SOAK_MINUTES").ok().and_then(|text| text.parse::<f64>().ok()).unwrap_or(2.0);
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut random = Random::new();
    let broker = Broker::start();
    let topic = Topic::create_at(broker.brokers(), "soak", 2, &[]);
    let source = json!({ "topic": "soak", "starting_offsets": "earliest" });
    let project = Project::kafka(broker.brokers(), &source);
    let partitions = AtomicI32::new(2);
    let done = AtomicBool::new(false);
    let troubles = Troubles { topic: &topic, broker: &broker, project: &project, partitions: &partitions };
    std::thread::scope(|scope| {
        let producing = scope.spawn(|| produce(&topic, &partitions, &done));
        let stop = Stop(&done);
        let mut host = troubles.start();
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1_000 + random.below(5_000) as u64));
            assert!(!host.has_ended(), "the host ended by itself:\n{}", troubles.log());
            host = troubles.one(&mut random, host);
        }
        drop(stop);
        producing.join().expect("all records are sent");
        host.stop();
        let output = host.end();
        assert!(output.status.success(), "{output:?}");
    });
    project.host(&["run"]).succeed();
    compare(&topic, &project);
}

/// Stops the producer, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends records at a steady rate until told to stop. What the broker does not take at once is sent again.
fn produce(topic: &Topic, partitions: &AtomicI32, done: &AtomicBool) {
    let options = [
        ("enable.idempotence", "true"),
        ("message.timeout.ms", "0"),
        ("topic.metadata.refresh.interval.ms", "300"),
        ("queue.buffering.max.messages", "1000000"),
    ];
    let mut next = 0;
    let records = std::iter::from_fn(|| {
        if next % BURST == 0 {
            std::thread::sleep(BURSTS_EVERY);
            if done.load(Ordering::Relaxed) {
                return None;
            }
        }
        next += 1;
        let partition = i32::try_from(next % i64::from(partitions.load(Ordering::Relaxed))).expect("a partition");
        let record = Record::to(partition).key(next.to_string());
        Some(if next % REFUSED_EVERY == 0 {
            record.payload(*b"\xff\xfe")
        } else {
            record.payload(format!("record {next}"))
        })
    });
    topic.send_with(&options, records);
}

/// What may happen to a stream.
struct Troubles<'a> {
    topic: &'a Topic,
    broker: &'a Broker,
    project: &'a Project,
    partitions: &'a AtomicI32,
}

impl Troubles<'_> {
    fn start(&self) -> Run {
        // Nobody reads a pipe as long as it runs.
        let into = format!("exec \"$@\" >>{} 2>&1", self.project.path().join("host.log").display());
        self.project.host(&["run", "--trigger", "1 second"]).in_bash(&into).start()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.project.path().join("host.log")).unwrap_or_default()
    }

    fn one(&self, random: &mut Random, host: Run) -> Run {
        match random.below(6) {
            0 | 1 => {
                println!("the broker is ended and started");
                self.broker.kill();
                std::thread::sleep(Duration::from_millis(random.below(4_000) as u64));
                self.broker.restart();
            }
            2 if self.partitions.load(Ordering::Relaxed) < PARTITIONS_MAX => {
                let partitions = self.partitions.load(Ordering::Relaxed) + 1;
                println!("the topic grows to {partitions} partitions");
                self.topic.grow(partitions);
                self.partitions.store(partitions, Ordering::Relaxed);
            }
            _ => {
                println!("the host is killed and started");
                host.signal(Signal::SIGKILL);
                host.end();
                return self.start();
            }
        }
        host
    }
}

fn compare(topic: &Topic, project: &Project) {
    let sql = "SELECT \"partition\", \"offset\" FROM rows";
    let tables = project.tables().queries(&[(TABLE, sql), (QUARANTINE, sql)]);
    let [accepted, refused] = tables.as_slice() else { panic!("two tables") };
    let place = |row: &Vec<Value>| (row[0].as_i64().unwrap() as i32, row[1].as_i64().unwrap());
    let rows: BTreeSet<(i32, i64)> = accepted.iter().chain(refused).map(place).collect();
    let log = topic.log();
    println!("{} records, {} accepted, {} refused", log.len(), accepted.len(), refused.len());
    let lost: Vec<_> = log.difference(&rows).take(5).collect();
    let invented: Vec<_> = rows.difference(&log).take(5).collect();
    assert!(lost.is_empty() && invented.is_empty(), "lost: {lost:?}…, not in the log: {invented:?}…");
    assert_eq!(rows.len(), accepted.len() + refused.len(), "each once");
    assert!(!accepted.is_empty() && !refused.is_empty());
}
