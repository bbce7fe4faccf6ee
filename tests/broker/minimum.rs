//! Batches that wait until enough has come.

use std::time::Duration;

use crisol_tests::{Project, Run, Topic, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bronze::{TABLE, numbered, offsets, places, progress, reading};

/// The rows of each batch of a continuous run: when it has read `first` rows `then` happens, with `rows` in all it ends.
fn batches(project: &Project, first: u64, then: impl FnOnce(&Run), rows: u64) -> Vec<Value> {
    let run = project.host(&["run", "-o", "json", "--trigger", "continuous"]).start();
    let count = || project.tables().count(TABLE);
    wait_until("the first rows are read", Duration::from_secs(60), || count() >= first);
    then(&run);
    wait_until("all rows are read", Duration::from_secs(60), || count() >= rows);
    run.stop();
    let output = run.end();
    assert!(output.status.success(), "{output:?}");
    progress(&output).iter().map(|batch| batch["numInputRows"].clone()).collect()
}

#[test]
fn k044_k045_the_first_batch_comes_at_once_and_the_next_when_the_minimum_is_reached() {
    let topic = Topic::create("minimum.offsets", 1);
    topic.send(numbered(0, 0..3));
    let project = reading(&topic, json!({ "min_offsets_per_trigger": 10, "max_trigger_delay": "1h" }));
    let one_by_one = |_: &Run| {
        for number in 3..13 {
            topic.send(numbered(0, number..number + 1));
            // Long enough for a batch of those that are there, if one were made.
            std::thread::sleep(Duration::from_millis(250));
        }
    };
    assert_eq!(batches(&project, 3, one_by_one, 13), [3, 10]);
    assert_eq!(places(&project), offsets(0, 0..13));
}

#[test]
fn k044_less_than_the_minimum_waits_no_longer_than_the_delay() {
    let topic = Topic::create("minimum.delay", 1);
    topic.send(numbered(0, 0..3));
    let project = reading(&topic, json!({ "min_offsets_per_trigger": 1000, "max_trigger_delay": "2s" }));
    let rows = batches(&project, 3, |_| topic.send(numbered(0, 3..5)), 5);
    assert_eq!(rows[0], 3);
    assert_eq!(rows.iter().filter_map(Value::as_u64).sum::<u64>(), 5);
}

#[test]
fn k047_the_minimum_is_looked_at_first_and_the_maximum_cuts_the_batch() {
    let topic = Topic::create("minimum.both", 1);
    topic.send(numbered(0, 0..13));
    let options = json!({ "min_offsets_per_trigger": 5, "max_offsets_per_trigger": 6, "max_trigger_delay": "1h" });
    let project = reading(&topic, options);
    // After two batches of six one offset is left, which waits for four more.
    assert_eq!(batches(&project, 12, |_| topic.send(numbered(0, 13..17)), 17), [6, 6, 5]);
}

#[test]
fn k046_a_new_partition_counts_from_its_earliest_offset() {
    let topic = Topic::create("minimum.new", 1);
    topic.send(numbered(0, 0..3));
    let options = json!({ "min_offsets_per_trigger": 10, "max_trigger_delay": "1h", "fail_on_data_loss": false });
    let project = reading(&topic, options);
    let grow = |host: &Run| {
        // The host sees the partition when most of it is gone.
        host.signal(Signal::SIGSTOP);
        topic.grow(2);
        topic.send(numbered(1, 0..40));
        topic.delete_records(1, 38);
        host.signal(Signal::SIGCONT);
        std::thread::sleep(Duration::from_secs(1));
        topic.send(numbered(0, 3..11));
    };
    assert_eq!(batches(&project, 3, grow, 13), [3, 10]);
}
