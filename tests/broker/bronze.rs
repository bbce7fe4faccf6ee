//! What `bronze.log` of a project holds, and what a run of the host told of its batches.

use std::collections::BTreeSet;
use std::process::Output;

use crisol_tests::{Project, Record, Topic};
use serde_json::{Value, json};

pub(crate) const TABLE: &str = "bronze/log";
pub(crate) const QUARANTINE: &str = "bronze/log_quarantine";

/// A project that reads a topic from its earliest offset.
pub(crate) fn of(topic: &Topic) -> Project {
    reading(topic, json!({}))
}

/// A project that reads a topic from its earliest offset, with these options besides.
pub(crate) fn reading(topic: &Topic, options: Value) -> Project {
    let mut source = json!({ "topic": topic.name(), "starting_offsets": "earliest" });
    merge(&mut source, options);
    Project::kafka(topic.brokers(), &source)
}

/// Changes options of `source.kafka`; null takes one out.
pub(crate) fn change(project: &Project, options: Value) {
    let file = project.path().join("ingestion/streaming/log.json");
    let text = std::fs::read_to_string(file).expect("the contract");
    let mut contract: Value = serde_json::from_str(&text).expect("JSON");
    merge(&mut contract["source"]["kafka"], options);
    project.write("ingestion/streaming/log.json", &contract.to_string());
}

fn merge(source: &mut Value, options: Value) {
    let source = source.as_object_mut().expect("an object");
    for (name, value) in options.as_object().expect("an object") {
        match value {
            Value::Null => drop(source.remove(name)),
            value => drop(source.insert(name.clone(), value.clone())),
        }
    }
}

/// Partition and offset of each row of all topics together; none is there twice.
pub(crate) fn places(project: &Project) -> BTreeSet<(i32, i64)> {
    of_topics(project).into_iter().map(|(_, partition, offset)| (partition, offset)).collect()
}

/// Topic, partition and offset of each row; none is there twice.
pub(crate) fn of_topics(project: &Project) -> BTreeSet<(String, i32, i64)> {
    if !project.tables().exists(TABLE) {
        return BTreeSet::new();
    }
    let rows = project.tables().query(TABLE, "SELECT topic, \"partition\", \"offset\" FROM rows");
    let place = |row: &Vec<Value>| {
        let partition = row[1].as_i64().and_then(|partition| i32::try_from(partition).ok());
        (
            row[0].as_str().expect("a topic").to_owned(),
            partition.expect("a partition"),
            row[2].as_i64().expect("an offset"),
        )
    };
    let places: BTreeSet<_> = rows.iter().map(place).collect();
    assert_eq!(places.len(), rows.len(), "a record is there twice");
    places
}

/// Offsets of one partition.
pub(crate) fn offsets(partition: i32, offsets: impl IntoIterator<Item = i64>) -> BTreeSet<(i32, i64)> {
    offsets.into_iter().map(|offset| (partition, offset)).collect()
}

/// Records `from..until` of a partition, whose payload is their number.
pub(crate) fn numbered(partition: i32, numbers: std::ops::Range<i64>) -> impl Iterator<Item = Record> {
    numbers.map(move |number| Record::to(partition).key(number.to_string()).payload(number.to_string()))
}

/// Records of [`long`].
pub(crate) const LONG: i64 = 200_000;

/// A topic that takes a while to read.
pub(crate) fn long(brokers: &str, name: &str) -> Topic {
    let topic = Topic::create_at(brokers, name, 1, &[]);
    let filler = "x".repeat(300);
    topic.send((0..LONG).map(|number| Record::to(0).payload(format!("{number} {filler}"))));
    topic
}

/// `host run -o json`, which must succeed: the progress of each batch.
pub(crate) fn run(project: &Project) -> Vec<Value> {
    progress(&project.host(&["run", "-o", "json"]).succeed())
}

/// The progress of each batch in the output of `host run -o json`.
pub(crate) fn progress(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON Lines"));
    lines.filter(|line| line.get("batchId").is_some()).collect()
}

/// Where a batch ended in a partition, exclusive.
pub(crate) fn end(batch: &Value, topic: &Topic, partition: i32) -> i64 {
    let end = &batch["sources"][0]["endOffset"][topic.name()][partition.to_string()];
    end.as_i64().unwrap_or_else(|| panic!("no end of partition {partition}: {batch}"))
}
