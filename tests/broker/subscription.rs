//! Which topics and partitions are read, and what happens as they come and go.

use std::collections::BTreeSet;
use std::time::Duration;

use crisol_tests::{Project, Secure, Topic, wait_until};
use serde_json::json;

use crate::bronze::{TABLE, change, numbered, of, of_topics, offsets, places, reading, run};

fn topics(project: &Project) -> BTreeSet<String> {
    of_topics(project).into_iter().map(|(topic, ..)| topic).collect()
}

fn names(topics: &[&Topic]) -> BTreeSet<String> {
    topics.iter().map(|topic| topic.name().to_owned()).collect()
}

#[test]
fn k001_k003_k006_t011_lists_patterns_and_assignments_read_what_they_name() {
    let first = Topic::create("names.one", 2);
    let second = Topic::create("names.two", 1);
    let other = Topic::create("my-names.one", 1);
    for topic in [&first, &second, &other] {
        topic.send(numbered(0, 0..2));
    }
    first.send(numbered(1, 0..3));

    let list = reading(&first, json!({ "topic": " names.one ,, names.two," }));
    run(&list);
    assert_eq!(topics(&list), names(&[&first, &second]));
    let pattern = reading(&first, json!({ "topic": null, "topic_pattern": "names[.].*" }));
    run(&pattern);
    assert_eq!(topics(&pattern), names(&[&first, &second]), "the whole name must match");
    let search = json!({ "topic": null, "topic_pattern": "names[.]o", "topic_pattern_match": "search" });
    let search = reading(&first, search);
    run(&search);
    assert_eq!(topics(&search), names(&[&first, &other]), "Spark's search, by name");
    let assigned = reading(&first, json!({ "topic": null, "assign": { "names.one": [1] } }));
    run(&assigned);
    assert_eq!(places(&assigned), offsets(1, 0..3));
}

#[test]
fn k007_topics_that_kafka_keeps_for_itself_are_left_out() {
    let topic = Topic::create("subscription.internal", 1);
    // The first transaction makes `__transaction_state`.
    topic.begin(numbered(0, 0..2)).commit();
    for source in [
        json!({ "topic": null, "topic_pattern": "__transaction_state|__consumer_offsets|subscription[.]internal" }),
        json!({ "topic": ["__transaction_state", "subscription.internal"] }),
    ] {
        let project = reading(&topic, source);
        run(&project);
        assert_eq!(topics(&project), names(&[&topic]));
    }
}

#[test]
fn k008_k009_t010_what_is_missing_is_refused_by_name_and_never_made() {
    // This broker makes a topic for whoever asks for one in the way of a producer.
    let secure = Secure::given();
    let brokers = secure.address("plaintext");
    let there = Topic::create_at(brokers, "secure.subscription", 2, &[]);
    for (source, words) in [
        (json!({ "topic": "secure.missing" }), ["topic `secure.missing` does not exist", "never created"]),
        (json!({ "assign": { "secure.missing": [0] } }), ["topic `secure.missing` does not exist", "never created"]),
        (
            json!({ "assign": { "secure.subscription": [1, 2, 5] } }),
            ["topic `secure.subscription` has no partition 2, 5", "0 to 1"],
        ),
    ] {
        let said = Project::kafka(brokers, &source).host(&["run"]).fail_with(3);
        for word in words {
            assert!(said.contains(word), "`{word}` is missing in:\n{said}");
        }
    }
    let all = Project::kafka(
        brokers,
        &json!({ "topic_pattern": "secure[.]missing|secure[.]subscription",
        "starting_offsets": "earliest" }),
    );
    there.send(numbered(0, 0..1));
    run(&all);
    assert_eq!(topics(&all), names(&[&there]), "no one has made the other");
}

#[test]
fn k010_partitions_and_topics_that_come_while_the_stream_runs_are_read_from_their_earliest_offset() {
    let topic = Topic::create("subscription.growth.a", 1);
    topic.send(numbered(0, 0..5));
    let source = json!({ "topic": null, "topic_pattern": "subscription[.]growth[.].*", "starting_offsets": "latest" });
    let project = reading(&topic, source);
    let started = project.host(&["run", "--trigger", "continuous"]).start();
    let begun = project.checkpoint("streaming/log").join("sources/0/0");
    wait_until("the stream stands at the latest offsets", Duration::from_secs(60), || begun.exists());

    topic.grow(3);
    topic.send(numbered(0, 5..6).chain(numbered(1, 0..4)).chain(numbered(2, 0..3)));
    let later = Topic::create("subscription.growth.b", 1);
    later.send(numbered(0, 0..2));
    wait_until("all that is new is read", Duration::from_secs(90), || project.tables().count(TABLE) >= 10);
    started.stop();
    let output = started.end();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let rows = of_topics(&project);
    let of = |topic: &Topic, partition, offset: std::ops::Range<i64>| {
        let name = topic.name().to_owned();
        offset.map(move |offset| (name.clone(), partition, offset)).collect::<Vec<_>>()
    };
    let expected = [of(&topic, 0, 5..6), of(&topic, 1, 0..4), of(&topic, 2, 0..3), of(&later, 0, 0..2)].concat();
    assert_eq!(rows, expected.into_iter().collect());
}

#[test]
fn k013_topics_that_the_contract_no_longer_names_are_told_and_more_topics_are_taken() {
    let first = Topic::create("subscription.moved.a", 1);
    let second = Topic::create("subscription.moved.b", 1);
    first.send(numbered(0, 0..2));
    second.send(numbered(0, 0..2));
    let project = of(&first);
    run(&project);
    change(&project, json!({ "topic": second.name() }));
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("no longer reads: subscription.moved.a"), "{said}");
    assert_eq!(topics(&project), names(&[&first]));
    change(&project, json!({ "topic": [first.name(), second.name()] }));
    run(&project);
    assert_eq!(topics(&project), names(&[&first, &second]));
}

#[test]
fn a_pattern_that_matches_no_topic_says_so() {
    let brokers = crisol_tests::given("CRISOL_TEST_KAFKA");
    let project =
        Project::kafka(&brokers, &json!({ "topic_pattern": "no[.]such[.]topic", "starting_offsets": "earliest" }));
    let output = project.host(&["run"]).succeed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no topic matches SubscribePattern[no[.]such[.]topic]"), "{said}");
}
