//! Where a new checkpoint begins, and that nothing moves it afterwards.

use crisol_tests::{Project, Record, Topic};
use serde_json::{Value, json};

use crate::bronze::{change, end, numbered, of, offsets, places, reading, run};

#[test]
fn k020_without_a_word_a_stream_begins_at_the_latest_offsets() {
    let topic = Topic::create("positions.latest", 2);
    topic.send(numbered(0, 0..3).chain(numbered(1, 0..1)));
    let project = reading(&topic, json!({ "starting_offsets": null }));
    assert_eq!(run(&project), [0; 0]);
    topic.send(numbered(0, 3..5));
    run(&project);
    assert_eq!(places(&project), offsets(0, 3..5));
}

#[test]
fn k022_offsets_of_each_partition_minus_one_is_latest_and_minus_two_earliest() {
    let topic = Topic::create("positions.exact", 3);
    topic.send((0..3).flat_map(|partition| numbered(partition, 0..4)));
    topic.delete_records(2, 1);
    let starting = json!({ topic.name(): { "0": 2, "1": -1, "2": -2 } });
    let project = reading(&topic, json!({ "starting_offsets": starting }));
    run(&project);
    let mut expected = offsets(0, 2..4);
    expected.extend(offsets(2, 1..4));
    assert_eq!(places(&project), expected);
}

#[test]
fn k023_offsets_that_do_not_name_every_partition_are_refused() {
    let topic = Topic::create("positions.some", 2);
    let project = reading(&topic, json!({ "starting_offsets": { topic.name(): { "0": 0, "4": 0 } } }));
    let said = project.host(&["run"]).fail_with(3);
    for places in ["positions.some-0, positions.some-4", "positions.some-0, positions.some-1"] {
        assert!(said.contains(places), "`{places}` is missing in:\n{said}");
    }
}

#[test]
fn k031_k032_t017_where_a_stream_begins_is_kept_before_its_first_batch_and_no_option_moves_it() {
    let topic = Topic::create("positions.kept", 1);
    topic.send(numbered(0, 0..3));
    let project = reading(&topic, json!({ "starting_offsets": "latest" }));
    let ended = project.host(&["run"]).abort_at("log/plan/before", 0).run();
    assert!(!ended.status.success(), "it was ended before it planned");
    topic.send(numbered(0, 3..5));
    change(&project, json!({ "starting_offsets": "earliest" }));
    run(&project);
    assert_eq!(places(&project), offsets(0, 3..5));
}

#[test]
fn k033_t018_checkpoint_and_progress_say_the_next_offset_to_read() {
    let topic = Topic::create("positions.next", 1);
    topic.send(numbered(0, 0..5));
    let project = of(&topic);
    let batches = run(&project);
    assert_eq!(end(&batches[0], &topic, 0), 5);
    let checkpoint = project.checkpoint("streaming/log");
    let text = std::fs::read_to_string(checkpoint.join("offsets/0")).expect("the range of batch 0");
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("offsets");
    assert_eq!(last, json!({ topic.name(): { "0": 5 } }));
}

#[test]
fn k048_a_limit_that_was_changed_between_runs_is_taken() {
    let topic = Topic::create("positions.limit", 1);
    topic.send(numbered(0, 0..12));
    let project = reading(&topic, json!({ "max_offsets_per_trigger": 6 }));
    let ended = project.host(&["run"]).abort_at("log/mark/after", 0).run();
    assert!(!ended.status.success(), "it was ended after its first batch");
    change(&project, json!({ "max_offsets_per_trigger": 2 }));
    let batches: Vec<Value> = run(&project).iter().map(|batch| batch["numInputRows"].clone()).collect();
    assert_eq!(batches, [2, 2, 2]);
    assert_eq!(places(&project), offsets(0, 0..12));
}

/// Lag of a batch in Spark's words: least, most, mean.
fn behind(batch: &Value) -> [&str; 3] {
    let metrics = &batch["sources"][0]["metrics"];
    ["minOffsetsBehindLatest", "maxOffsetsBehindLatest", "avgOffsetsBehindLatest"]
        .map(|name| metrics[name].as_str().unwrap_or_else(|| panic!("no {name} in {batch}")))
}

#[test]
fn k110_k114_progress_says_how_far_behind_a_batch_ends_and_what_is_read() {
    let topic = Topic::create("positions.lag", 2);
    topic.send(numbered(0, 0..10).chain(numbered(1, 0..2)));
    let batches = run(&reading(&topic, json!({ "max_offsets_per_trigger": 4 })));
    assert_eq!(behind(&batches[0]), ["1", "7", "4"]);
    assert_eq!(behind(batches.last().expect("a batch")), ["0", "0", "0"]);
    assert_eq!(batches[0]["sources"][0]["description"], "KafkaV2[Subscribe[positions.lag]]");
}

#[test]
fn k113_progress_says_for_each_partition_how_far_behind_it_is_so_that_a_hot_one_shows() {
    let topic = Topic::create("positions.hot", 3);
    let sized = |partition, records| (0..records).map(move |_| Record::to(partition).payload("x".repeat(100)));
    topic.send(sized(0, 90).chain(sized(1, 9)));
    let batches = run(&reading(&topic, json!({ "max_offsets_per_trigger": 11 })));
    let lag = batches[0]["host"]["lag"].as_array().expect("a lag of each partition").clone();
    let of = |name: &str| lag.iter().map(|partition| partition[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("partition"), [0, 1, 2]);
    assert_eq!(of("records"), [80, 8, 0]);
    assert_eq!(of("bytes"), [8_000, 800, 0], "records times their mean size");
    assert!(lag.iter().all(|partition| partition["seconds"].as_f64().is_some_and(|age| age >= 0.0)), "{lag:?}");
    assert_eq!(batches[0]["sources"][0]["metrics"]["estimatedTotalBytesBehindLatest"], "8800");
}

#[test]
fn k111_an_open_transaction_is_no_lag() {
    let topic = Topic::create("positions.open", 1);
    topic.send(numbered(0, 0..3));
    let open = topic.begin(numbered(0, 3..9));
    let project: Project = reading(&topic, json!({ "kafka.isolation.level": "read_committed" }));
    let batches = run(&project);
    assert_eq!(behind(&batches[0]), ["0", "0", "0"]);
    open.abort();
}

#[test]
fn an_offset_beyond_the_end_is_refused_and_can_be_corrected() {
    let topic = Topic::create("positions.beyond", 1);
    topic.send(numbered(0, 0..10));
    let project = reading(&topic, json!({ "starting_offsets": { topic.name(): { "0": 999 } } }));
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("partition 0: offset 999 lies beyond the end, which is 10"), "{said}");
    change(&project, json!({ "starting_offsets": { topic.name(): { "0": 9 } } }));
    run(&project);
    assert_eq!(places(&project), offsets(0, 9..10));
}
