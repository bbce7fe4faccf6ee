//! Offsets that compaction took away are holes and no loss.

use std::time::Duration;

use crisol_tests::{Record, Topic, wait_until};
use serde_json::json;

use crate::bronze::{end, places, progress, reading};

/// A topic that is compacted as soon as a segment is half a second old.
fn compacted(name: &str) -> Topic {
    let options = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "500"),
        ("min.cleanable.dirty.ratio", "0.001"),
        ("min.compaction.lag.ms", "0"),
    ];
    Topic::create_with(name, 1, &options)
}

/// Sends a record now and then, since a segment is closed by the next one, until compaction has left no offset below `below`.
fn compact(topic: &Topic, below: i64) {
    wait_until("compaction takes the old records away", Duration::from_secs(120), || {
        topic.send([Record::to(0).key("last").payload("x")]);
        std::thread::sleep(Duration::from_millis(300));
        topic.log().iter().all(|(_, offset)| *offset >= below)
    });
}

#[test]
fn k063_k064_holes_of_compaction_are_passed_over_also_at_the_end_of_a_range_that_was_bound_before() {
    let topic = compacted("compaction.holes");
    // The same ten keys again and again: of the first hundred records none is left.
    topic.send((0..110).map(|number| Record::to(0).key((number % 10).to_string()).payload(number.to_string())));
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 20 }));
    let ended = project.host(&["run"]).abort_at("log/log_range/after", 0).run();
    assert!(!ended.status.success(), "the range 0 to 20 is bound and not read");
    compact(&topic, 100);

    let before = topic.log();
    let output = project.host(&["run", "-o", "json"]).succeed();
    let after = topic.log();
    let batches = progress(&output);
    let rows = places(&project);
    assert!(rows.is_subset(&before), "{rows:?} {before:?}");
    assert!(rows.is_superset(&after), "{rows:?} {after:?}");
    assert_eq!((end(&batches[0], &topic, 0), &batches[0]["numInputRows"]), (20, &json!(0)), "a range of holes alone");
    assert_eq!(end(batches.last().expect("a batch"), &topic, 0), topic.ends(0).1);
}
