//! Codecs, large messages and many partitions.

use std::collections::BTreeSet;

use crisol_tests::{Record, Topic};
use serde_json::json;

use crate::bronze::{TABLE, numbered, of, places, run};

#[test]
fn every_codec_of_kafka_is_read() {
    let topic = Topic::create("sizes.codecs", 1);
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    for codec in codecs {
        let records = (0..300).map(|number| Record::to(0).key(codec).payload(format!("{codec} {number} ").repeat(40)));
        topic.send_with(&[("compression.type", codec), ("linger.ms", "100")], records);
    }
    let project = of(&topic);
    run(&project);
    let whole = "SELECT message_key, count(*) FROM rows \
                 WHERE payload = repeat(concat(message_key, ' ', \"offset\" % 300, ' '), 40) GROUP BY ALL";
    let counts: BTreeSet<String> =
        project.tables().query(TABLE, whole).iter().map(|row| json!(row).to_string()).collect();
    assert_eq!(counts, codecs.iter().map(|codec| json!([codec, 300]).to_string()).collect());
}

#[test]
fn messages_of_10_mb_are_read_whole() {
    const BYTES: usize = 10_000_000;
    let topic = Topic::create_with("sizes.large", 2, &[("max.message.bytes", "10485760")]);
    let large = |partition: i32, letter: char| {
        let text = letter.to_string().repeat(BYTES);
        Record::to(partition).key(letter.to_string()).payload(text)
    };
    let records = [large(0, 'a'), large(1, 'b'), Record::to(0).key("s").payload("small"), large(0, 'c')];
    topic.send_with(&[("message.max.bytes", "10485760")], records);
    let project = of(&topic);
    run(&project);
    let sql =
        "SELECT message_key, length(payload), payload = repeat(message_key, length(payload)) FROM rows ORDER BY 1";
    let said = project.tables().query(TABLE, sql);
    let expected = json!([["a", BYTES, true], ["b", BYTES, true], ["c", BYTES, true], ["s", 5, false]]);
    assert_eq!(json!(said), expected);
}

#[test]
fn a_topic_of_1000_partitions_is_read_whole() {
    const PARTITIONS: i32 = 1_000;
    let topic = Topic::create("sizes.partitions", PARTITIONS);
    topic.send((0..PARTITIONS).flat_map(|partition| numbered(partition, 0..3)));
    let project = of(&topic);
    let mut run = project.host(&["run"]).start();
    let status = format!("/proc/{}/status", run.pid());
    let mut peak = String::new();
    while !run.has_ended() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        if let Some(line) = text.lines().find(|line| line.starts_with("VmHWM:")) {
            peak = line.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = run.end();
    assert!(output.status.success(), "{output:?}");
    println!("peak resident memory with {PARTITIONS} partitions: {peak}");
    assert_eq!(places(&project), (0..PARTITIONS).flat_map(|partition| (0..3).map(move |at| (partition, at))).collect());
}
