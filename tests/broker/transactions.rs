//! Records of transactions: committed, aborted, open, and the markers that no consumer sees.

use crisol_tests::Topic;
use serde_json::json;

use crate::bronze::{end, numbered, of, offsets, places, reading, run};

fn committed(topic: &Topic) -> crisol_tests::Project {
    reading(topic, json!({ "kafka.isolation.level": "read_committed" }))
}

#[test]
fn k060_by_default_records_of_open_and_aborted_transactions_are_read() {
    let topic = Topic::create("transactions.default", 1);
    topic.send(numbered(0, 0..3));
    topic.begin(numbered(0, 3..5)).abort();
    let open = topic.begin(numbered(0, 5..7));
    let project = of(&topic);
    let batches = run(&project);
    assert_eq!(places(&project), offsets(0, [0, 1, 2, 3, 4, 6, 7]), "5 is the marker");
    assert_eq!(end(&batches[0], &topic, 0), 8);
    open.commit();
}

#[test]
fn k061_k062_k063_k092_t001_t002_read_committed_ends_before_an_open_transaction_and_leaves_out_what_was_aborted() {
    let topic = Topic::create("transactions.open", 1);
    topic.send(numbered(0, 0..3));
    topic.begin(numbered(0, 3..5)).abort();
    topic.begin(numbered(0, 5..7)).commit();
    let open = topic.begin(numbered(0, 7..9));
    // Behind an open transaction nothing is stable.
    topic.send(numbered(0, 9..10));
    let project = committed(&topic);
    let batches = run(&project);
    assert_eq!(places(&project), offsets(0, [0, 1, 2, 6, 7]));
    assert_eq!(end(&batches[0], &topic, 0), 9, "the last stable offset");
    assert_eq!(run(&project), [0; 0], "nothing is stable that was not read");

    open.commit();
    let batches = run(&project);
    assert_eq!(places(&project), offsets(0, [0, 1, 2, 6, 7, 9, 10, 11]));
    assert_eq!(end(&batches[0], &topic, 0), 13, "behind the marker of the commit");
    assert_eq!(run(&project), [0; 0]);
}

#[test]
fn k062_a_batch_does_not_wait_for_a_transaction_that_is_open_in_one_of_two_partitions() {
    let topic = Topic::create("transactions.partitions", 2);
    topic.send(numbered(0, 0..2).chain(numbered(1, 0..2)));
    let open = topic.begin(numbered(0, 2..4));
    topic.send(numbered(1, 2..6));
    let project = committed(&topic);
    run(&project);
    let mut expected = offsets(0, 0..2);
    expected.extend(offsets(1, 0..6));
    assert_eq!(places(&project), expected);
    open.abort();
    let batches = run(&project);
    assert_eq!(places(&project), expected, "what was aborted is not read");
    assert_eq!((end(&batches[0], &topic, 0), end(&batches[0], &topic, 1)), (5, 6));
}

#[test]
fn k064_k104_t003_a_topic_whose_tail_no_consumer_sees_is_read_to_its_end() {
    for (name, visible) in [("transactions.tail", 4), ("transactions.invisible", 0)] {
        let topic = Topic::create(name, 1);
        topic.send(numbered(0, 0..visible));
        topic.begin(numbered(0, 0..3)).abort();
        topic.begin(numbered(0, 0..2)).abort();
        let project = committed(&topic);
        let batches = run(&project);
        assert_eq!(places(&project), offsets(0, 0..visible), "{name}");
        assert_eq!(end(&batches[0], &topic, 0), visible + 7, "{name}");
        assert_eq!(run(&project), [0; 0], "{name}: nothing waits");
    }
}

#[test]
fn k049_k063_k064_k101_t001_small_batches_go_on_over_markers_and_aborted_records() {
    let topic = Topic::create("transactions.batches", 1);
    let mut expected = Vec::new();
    let mut offset = 0;
    for turn in 0..6 {
        let transaction = topic.begin(numbered(0, 0..4));
        if turn % 2 == 0 {
            transaction.commit();
            expected.extend(offset..offset + 4);
        } else {
            transaction.abort();
        }
        offset += 5;
    }
    let project = reading(&topic, json!({ "kafka.isolation.level": "read_committed", "max_offsets_per_trigger": 3 }));
    let batches = run(&project);
    assert_eq!(batches.len(), 10, "30 offsets, three a batch, whatever is visible of them");
    assert_eq!(places(&project), offsets(0, expected));
    let empty = batches.iter().filter(|batch| batch["numInputRows"] == 0).count();
    assert!(empty > 0, "some batches hold no record at all");
}
