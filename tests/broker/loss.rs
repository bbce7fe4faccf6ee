//! Records that are gone before they were read: the stream stops and says what is lost, or goes on and counts it.

use crisol_tests::{Project, Topic};
use serde_json::{Value, json};

use crate::bronze::{change, end, numbered, of, of_topics, offsets, places, reading, run};

/// Runs a project that must stop for data loss; what it said has these words.
fn stops(project: &Project, words: &[&str]) {
    let said = project.host(&["run"]).fail_with(6);
    for word in words {
        assert!(said.contains(word), "`{word}` is missing in:\n{said}");
    }
}

/// Runs a project that goes on without what is lost; gives what it warned of.
fn goes_on(project: &Project) -> String {
    change(project, json!({ "fail_on_data_loss": false }));
    let output = project.host(&["run"]).succeed();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn k065_k066_t005_records_deleted_below_the_checkpoint_stop_the_stream_or_are_passed_over_and_counted() {
    let topic = Topic::create("loss.records", 2);
    topic.send(numbered(0, 0..10).chain(numbered(1, 0..5)));
    let project = of(&topic);
    run(&project);
    topic.send(numbered(0, 10..20));
    topic.delete_records(0, 15);
    stops(
        &project,
        &[
            "topic `loss.records` partition 0",
            "offsets 10 to 20 should be read",
            "the earliest that the broker still has is 15",
            "fail_on_data_loss: false",
        ],
    );
    let mut expected = offsets(0, 0..10);
    expected.extend(offsets(1, 0..5));
    assert_eq!(places(&project), expected, "nothing was written");

    let said = goes_on(&project);
    assert!(said.contains("partition 0") && said.contains("5 offsets are passed over"), "{said}");
    expected.extend(offsets(0, 15..20));
    assert_eq!(places(&project), expected);
    change(&project, json!({ "fail_on_data_loss": true }));
    assert_eq!(run(&project), [0; 0], "what was accepted stops nothing later");
}

#[test]
fn k065_k066_t004_records_deleted_out_of_a_range_that_was_bound_are_loss_and_nothing_is_read_beyond_it() {
    let topic = Topic::create("loss.bound", 1);
    topic.send(numbered(0, 0..20));
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 10 }));
    let ended = project.host(&["run"]).abort_at("log/log_range/after", 0).run();
    assert!(!ended.status.success(), "the range 0 to 10 is bound");
    topic.delete_records(0, 7);
    stops(&project, &["offsets 0 to 10 should be read", "still has is 7"]);
    change(&project, json!({ "fail_on_data_loss": false }));
    let batches = run(&project);
    assert_eq!(batches[0]["numInputRows"], 3, "the first range is clamped to what is left of it");
    assert_eq!(end(&batches[0], &topic, 0), 10);
    assert_eq!(places(&project), offsets(0, 7..20));
}

#[test]
fn k066_k072_a_range_of_which_nothing_is_left_is_an_empty_batch_and_the_stream_goes_on() {
    let topic = Topic::create("loss.all", 1);
    topic.send(numbered(0, 0..10));
    let project = of(&topic);
    run(&project);
    topic.send(numbered(0, 10..20));
    topic.delete_records(0, 20);
    stops(&project, &["offsets 10 to 20 should be read", "still has is 20"]);
    change(&project, json!({ "fail_on_data_loss": false }));
    let batches = run(&project);
    assert_eq!((&batches[0]["numInputRows"], end(&batches[0], &topic, 0)), (&json!(0), 20));
    topic.send(numbered(0, 20..23));
    run(&project);
    let mut expected = offsets(0, 0..10);
    expected.extend(offsets(0, 20..23));
    assert_eq!(places(&project), expected);
}

/// Two topics are read, one is deleted.
fn one_of_two_is_deleted(name: &str, source: impl Fn(&str, &str) -> Value) {
    let kept = Topic::create(&format!("loss.{name}.kept"), 1);
    let gone = Topic::create(&format!("loss.{name}.gone"), 1);
    let project = reading(&kept, source(kept.name(), gone.name()));
    [&kept, &gone].iter().for_each(|topic| topic.send(numbered(0, 0..4)));
    run(&project);
    gone.delete();
    kept.send(numbered(0, 4..6));
    let lost = format!("topic `{}` partition 0, read up to offset 4, is gone", gone.name());
    stops(&project, &[&lost, "fail_on_data_loss"]);
    let said = goes_on(&project);
    assert!(said.contains(&lost), "{said}");
    let rows = of_topics(&project);
    assert_eq!(rows.iter().filter(|(topic, ..)| topic == kept.name()).count(), 6);
    assert_eq!(rows.iter().filter(|(topic, ..)| topic == gone.name()).count(), 4);
    change(&project, json!({ "fail_on_data_loss": true }));
    kept.send(numbered(0, 6..7));
    let batches = run(&project);
    assert_eq!(batches[0]["sources"][0]["endOffset"], json!({ kept.name(): { "0": 7 } }), "it has left the positions");
}

#[test]
fn k012_a_deleted_topic_of_a_pattern_is_loss_and_the_others_are_read_on() {
    one_of_two_is_deleted("matched", |_, _| json!({ "topic": null, "topic_pattern": "loss[.]matched[.].*" }));
}

#[test]
fn k012_a_deleted_topic_of_a_list_is_loss_and_the_others_are_read_on() {
    one_of_two_is_deleted("listed", |kept, gone| json!({ "topic": [kept, gone] }));
}

#[test]
fn k012_a_deleted_topic_of_an_assignment_is_loss_and_the_others_are_read_on() {
    one_of_two_is_deleted("assigned", |kept, gone| json!({ "topic": null, "assign": { kept: [0], gone: [0] } }));
}

#[test]
fn k012_the_only_topic_deleted_is_loss_and_no_mistake_in_the_contract() {
    let topic = Topic::create("loss.only", 1);
    topic.send(numbered(0, 0..4));
    let project = of(&topic);
    run(&project);
    topic.delete();
    stops(&project, &["topic `loss.only` partition 0, read up to offset 4, is gone"]);
}

#[test]
fn k067_a_topic_made_anew_is_loss_and_never_read_again_from_a_lower_offset() {
    let topic = Topic::create("loss.anew", 1);
    topic.send(numbered(0, 0..10));
    let project = of(&topic);
    run(&project);
    topic.delete();
    let anew = Topic::create("loss.anew", 1);
    anew.send(numbered(0, 0..3));
    stops(
        &project,
        &["topic `loss.anew` partition 0: offset was changed from 10 to 3", "checkpoint_suffix", "--reread"],
    );

    let said = goes_on(&project);
    assert!(said.contains("records from offset 0 to 10 are not read"), "{said}");
    assert_eq!(places(&project), offsets(0, 0..10), "nothing is read again");
    anew.send(numbered(0, 3..12));
    run(&project);
    assert_eq!(places(&project), offsets(0, 0..12), "from the old position on it is read");
}

#[test]
fn k011_a_new_partition_that_has_lost_records_is_loss_and_read_from_its_earliest() {
    let topic = Topic::create("loss.new", 1);
    topic.send(numbered(0, 0..2));
    let project = of(&topic);
    run(&project);
    topic.grow(2);
    topic.send(numbered(1, 0..8));
    topic.delete_records(1, 6);
    stops(&project, &["topic `loss.new` partition 1", "offsets 0 to 8", "still has is 6"]);
    let said = goes_on(&project);
    assert!(said.contains("6 offsets are passed over"), "{said}");
    let mut expected = offsets(0, 0..2);
    expected.extend(offsets(1, 6..8));
    assert_eq!(places(&project), expected);
}
