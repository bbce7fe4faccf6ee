//! `available_now`: what is there at the start, in as many batches as the limits ask for, and no more.

use std::time::Duration;

use crisol_tests::{Project, Topic, wait_until};
use serde_json::json;

use crate::bronze::{end, numbered, of, offsets, places, progress, reading, run};

fn wait_for_first_batch(project: &Project) {
    let committed = project.checkpoint("streaming/log").join("commits/0");
    wait_until("the first batch is committed", Duration::from_secs(60), || committed.exists());
}

#[test]
fn k100_k101_a_run_ends_where_the_topic_ended_when_it_began() {
    let topic = Topic::create("available.end", 1);
    topic.send(numbered(0, 0..30));
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 1 }));
    let started = project.host(&["run", "-o", "json"]).start();
    wait_for_first_batch(&project);
    topic.send(numbered(0, 30..40));
    let output = started.end();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(progress(&output).len(), 30, "one offset a batch");
    assert_eq!(places(&project), offsets(0, 0..30), "later records wait");
    assert_eq!(run(&project).len(), 10);
    assert_eq!(places(&project), offsets(0, 0..40));
}

#[test]
fn k104_an_idle_topic_gives_no_batch() {
    let topic = Topic::create("available.idle", 2);
    let project = of(&topic);
    assert_eq!(run(&project), [0; 0]);
    topic.send(numbered(1, 0..1));
    assert_eq!(run(&project).len(), 1);
    assert_eq!(run(&project), [0; 0]);
}

#[test]
fn k102_t008_a_batch_that_was_bound_is_read_first_as_it_was_bound_though_the_topic_has_grown() {
    let topic = Topic::create("available.bound", 1);
    topic.send(numbered(0, 0..5));
    let project = of(&topic);
    let ended = project.host(&["run"]).abort_at("log/log_range/after", 0).run();
    assert!(!ended.status.success());
    topic.grow(3);
    topic.send(numbered(0, 5..7).chain(numbered(2, 0..4)));
    let batches = run(&project);
    assert_eq!(batches.len(), 2);
    let first = &batches[0]["sources"][0]["endOffset"][topic.name()];
    assert_eq!(first, &json!({ "0": 5 }), "the range that was bound");
    assert_eq!((end(&batches[1], &topic, 0), end(&batches[1], &topic, 2)), (7, 4));
    let mut expected = offsets(0, 0..7);
    expected.extend(offsets(2, 0..4));
    assert_eq!(places(&project), expected);
}

#[test]
fn k103_a_partition_that_vanishes_in_a_run_ends_it_and_a_later_run_can_go_on() {
    let topic = Topic::create("available.vanish", 1);
    topic.send(numbered(0, 0..500));
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 1 }));
    let started = project.host(&["run", "-o", "json"]).start();
    wait_for_first_batch(&project);
    topic.delete();
    let output = started.end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("available.vanish") && said.contains("gone"), "{said}");
    let rows = places(&project);
    assert_eq!(rows, offsets(0, 0..i64::try_from(rows.len()).expect("a count")), "what was read is whole");
}
