//! A start at a point in time.

use std::collections::BTreeSet;

use crisol_tests::{Record, Topic};
use serde_json::{Value, json};

use crate::bronze::{numbered, offsets, places, reading, run};

/// A topic of two partitions: offsets 0, 1, 2 at 1, 2 and 3 seconds, and offsets 0, 1 at 1.5 and 2.5 seconds.
fn timed(name: &str) -> Topic {
    let topic = Topic::create(name, 2);
    let at = |partition: i32, times: &[i64]| -> Vec<Record> {
        times.iter().map(|ms| Record::to(partition).payload("x").at(*ms)).collect()
    };
    topic.send([at(0, &[1_000, 2_000, 3_000]), at(1, &[1_500, 2_500])].concat());
    topic
}

fn read(topic: &Topic, options: Value) -> BTreeSet<(i32, i64)> {
    let project = reading(topic, options);
    run(&project);
    places(&project)
}

fn both(first: impl IntoIterator<Item = i64>, second: impl IntoIterator<Item = i64>) -> BTreeSet<(i32, i64)> {
    offsets(0, first).into_iter().chain(offsets(1, second)).collect()
}

#[test]
fn k028_each_partition_begins_at_its_first_record_that_is_as_young() {
    let topic = timed("timestamps.one");
    assert_eq!(read(&topic, json!({ "starting_offsets": null, "starting_timestamp": 2_000 })), both(1..3, 1..2));
    assert_eq!(read(&topic, json!({ "starting_offsets": null, "starting_timestamp": "1501" })), both(1..3, 1..2));
    let each =
        json!({ "starting_offsets": null, "starting_offsets_by_timestamp": { topic.name(): { "0": 2_001, "1": 0 } } });
    assert_eq!(read(&topic, each), both(2..3, 0..2));
}

#[test]
fn k021_of_several_starts_one_timestamp_counts_first_then_those_of_partitions() {
    let topic = timed("timestamps.several");
    let each = json!({ topic.name(): { "0": 3_000, "1": 2_500 } });
    let all = json!({ "starting_timestamp": 2_000, "starting_offsets_by_timestamp": each });
    assert_eq!(read(&topic, all), both(1..3, 1..2));
    assert_eq!(read(&topic, json!({ "starting_offsets_by_timestamp": each })), both(2..3, 1..2));
}

#[test]
fn k029_a_partition_without_a_record_as_young_is_refused_or_begins_at_its_end() {
    let topic = timed("timestamps.late");
    let options = json!({ "starting_offsets": null, "starting_timestamp": 2_700 });
    let project = reading(&topic, options);
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("topic `timestamps.late` partition 1") && said.contains("2700"), "{said}");

    let latest = json!({ "starting_offsets": null, "starting_timestamp": 2_700,
        "starting_offsets_by_timestamp_strategy": "latest" });
    let project = reading(&topic, latest);
    run(&project);
    assert_eq!(places(&project), offsets(0, 2..3));
    topic.send(numbered(1, 2..3));
    run(&project);
    assert_eq!(places(&project), both(2..3, 2..3), "from its end on it is read");
}

#[test]
fn k028_the_time_is_the_brokers_where_the_topic_says_so() {
    let topic = Topic::create_with("timestamps.appended", 1, &[("message.timestamp.type", "LogAppendTime")]);
    // By the producer's time all of them would be too old.
    topic.send((0..3).map(|_| Record::to(0).payload("x").at(1_000)));
    let options = json!({ "starting_offsets": null, "starting_timestamp": 1_600_000_000_000_i64 });
    assert_eq!(read(&topic, options), offsets(0, 0..3));
}
