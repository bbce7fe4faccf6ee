//! The table of Spark's options in `docs/kafka.md` against what the parser does with each, and against its own lists.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;

use crisol_contract::{Code, KeyFile, keys, refused_kafka_options};
use support::{Project, kafka, kafka_topic};

const PAGE: &str = include_str!("../../../docs/kafka.md");

/// Option and verdict of each row of the table.
fn rows() -> Vec<(&'static str, &'static str)> {
    let table = PAGE.split("| option of Spark | here | |").nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.split('|').map(str::trim).skip(1);
        (cells.next().unwrap().trim_matches('`'), cells.next().unwrap())
    })
    .collect()
}

/// A value that fits an option where it is taken at all, and what must stand beside it.
fn with(option: &str) -> Project {
    let own = |value: &str| kafka(&format!(r#", "{option}": {value}"#));
    let beside = |value: &str| kafka_topic(&format!(r#", "{option}": {value}"#));
    match option {
        "subscribe" | "subscribePattern" => own(r#""orders""#),
        "assign" => own(r#"{"orders": [0]}"#),
        "startingOffsets" => beside(r#""earliest""#),
        "startingOffsetsByTimestamp" => beside(r#"{"orders.v1": {"0": 5}}"#),
        "startingOffsetsByTimestampStrategy" => beside(r#""latest", "startingTimestamp": 5"#),
        "kafka.sasl.mechanism" => beside(r#""PLAIN""#),
        "failOnDataLoss" => beside(r#""false""#),
        "maxTriggerDelay" => beside(r#""1m", "minOffsetsPerTrigger": 5"#),
        "kafka.sasl.jaas.config" => {
            beside(r#""x.PlainLoginModule required username=\"u\" password=\"${env:P}\";""#).env("P", "secret")
        }
        "kafka.bootstrap.servers" => Project::new()
            .ingestion(
                "o.json",
                r#"{ "name": "o", "source": { "format": "kafka", "kafka": { "topic": "t", "kafka.bootstrap.servers": "b:1" } },
                     "destination_contract": "../../tables/b.json" }"#,
            )
            .table("b.json", r#"{ "name": "b" }"#),
        _ => beside(r#""${env:P}""#).env("P", "5"),
    }
}

#[test]
fn each_option_of_the_table_is_taken_or_refused_as_it_says() {
    for (option, verdict) in rows() {
        match (with(option).resolve(), verdict) {
            (Ok(_), "same" | "different") => {}
            (Err(problems), "refused") => {
                let refused = problems.as_slice().iter().find(|problem| problem.code == Code::Refused);
                let refused = refused.unwrap_or_else(|| panic!("`{option}`: {problems}"));
                assert!(refused.key.as_ref().is_some_and(|key| key.ends_with(option)), "`{option}`: {problems}");
            }
            (Ok(_), verdict) => panic!("`{option}` is {verdict}, and taken"),
            (Err(problems), verdict) => panic!("`{option}` is {verdict}: {problems}"),
        }
    }
}

#[test]
fn every_option_of_spark_that_the_parser_knows_stands_in_the_table() {
    let plain = |name: &str| name.replace(['.', '_'], "").to_lowercase();
    let listed: BTreeSet<String> = rows().into_iter().map(|(option, _)| plain(option)).collect();
    let kafka = keys().iter().filter(|key| key.file == KeyFile::Ingestion && key.path.starts_with("source.kafka."));
    let known = kafka.map(|key| if key.path == "source.kafka.assign" { "assign" } else { key.spark });
    for option in known.filter(|option| !option.is_empty()).chain(refused_kafka_options()) {
        assert!(listed.contains(&plain(option)), "docs/kafka.md does not say what becomes of `{option}`");
    }
}
