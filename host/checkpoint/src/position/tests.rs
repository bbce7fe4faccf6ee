//! Tests of Spark's texts of positions.

use super::*;

fn kafka(partitions: &[(&str, i32, i64)]) -> Position {
    Position::Kafka(partitions.iter().map(|(t, p, o)| ((*t).to_owned(), *p, *o)).collect())
}

fn table(version: i64, index: i64) -> Position {
    Position::Table(TablePosition {
        reservoir_id: "a-b-c".to_owned(),
        reservoir_version: version,
        index,
        snapshot: false,
    })
}

#[test]
fn c006_kafka_positions_are_sparks_text() {
    let text = r#"{"orders.v1":{"0":123,"1":0,"10":5},"payments":{"0":9}}"#;
    let position = kafka(&[("orders.v1", 0, 123), ("orders.v1", 1, 0), ("orders.v1", 10, 5), ("payments", 0, 9)]);
    assert_eq!(position.to_string(), text);
    assert_eq!(Position::parse(text).unwrap(), position);
    // Spark writes the partitions of a topic in whatever order its map has.
    assert_eq!(Position::parse(r#" { "payments": {"0": 9}, "orders.v1": {"10":5,"1":0,"0":123}} "#).unwrap(), position);
}

#[test]
fn c005_positions_of_files_are_sparks_text() {
    let position = Position::Files(FilesPosition { log_offset: 4 });
    assert_eq!(position.to_string(), r#"{"logOffset":4}"#);
    assert_eq!(Position::parse(r#"{"logOffset":4}"#).unwrap(), position);
    assert_eq!(Position::parse(r#"{"logOffset":-1}"#).unwrap(), Position::Files(FilesPosition { log_offset: -1 }));
}

#[test]
fn d129_positions_of_tables_are_sparks_text() {
    let text = r#"{"sourceVersion":1,"reservoirId":"a-b-c","reservoirVersion":12,"index":3,"isStartingVersion":false}"#;
    assert_eq!(table(12, 3).to_string(), text);
    assert_eq!(Position::parse(text).unwrap(), table(12, 3));
    let text = text.replace("false", "true");
    let Position::Table(inside) = Position::parse(&text).unwrap() else { panic!("a table's position") };
    assert!(inside.snapshot, "D-120: inside the first snapshot");
    assert_eq!(Position::Table(inside).to_string(), text);
}

#[test]
fn a_topic_may_have_the_name_of_a_key() {
    let position = kafka(&[("logOffset", 0, 1)]);
    assert_eq!(Position::parse(&position.to_string()).unwrap(), position);
}

#[test]
fn what_is_no_position_is_refused_and_named() {
    let cases = [
        ("", "EOF"),
        ("123", "a number is no JSON object"),
        ("[]", "a list is no JSON object"),
        (r#"{"t":1}"#, "`t` has a number, not an object of partitions"),
        (r#"{"t":{"0":"1"}}"#, r#"topic `t`, partition 0: `"1"` is no offset"#),
        (r#"{"t":{"0":-2}}"#, "topic `t`, partition 0: `-2` is no offset"),
        (r#"{"t":{"0":1.5}}"#, "`1.5` is no offset"),
        (r#"{"t":{"00":1}}"#, "topic `t`: `00` is no partition number"),
        (r#"{"t":{"-1":1}}"#, "`-1` is no partition number"),
        (r#"{"t":{"+1":1}}"#, "`+1` is no partition number"),
        (r#"{"t":{"4294967296":1}}"#, "`4294967296` is no partition number"),
        (r#"{"t":{"0":9223372036854775808}}"#, "is no offset"),
        (r#"{"t":{"0":1,"0":2}}"#, "key `0` stands twice"),
        (r#"{"t":{},"t":{}}"#, "key `t` stands twice"),
        (r#"{"t":{"0":1}} x"#, "trailing characters"),
        (r#"{"logOffset":1,"more":2}"#, "`more` is unknown here"),
        (r#"{"logOffset":-2}"#, "`logOffset` is `-2`, not a number from -1"),
        (r#"{"logOffset":1.0}"#, "`logOffset` is `1.0`"),
        (r#"{"sourceVersion":1,"reservoirId":"a"}"#, "`isStartingVersion` is missing"),
        (r#"{"reservoirId":"a"}"#, "`sourceVersion` is missing"),
        (r#"{"sourceVersion":1}"#, "`isStartingVersion` is missing"),
        (
            r#"{"sourceVersion":3,"reservoirId":"a","reservoirVersion":1,"index":0,"isStartingVersion":false}"#,
            "`sourceVersion` is 3, this host reads 1",
        ),
        (
            r#"{"sourceVersion":1,"reservoirId":"a","reservoirVersion":1,"index":0,"isStartingVersion":1}"#,
            "`isStartingVersion` is `1`, no truth value",
        ),
        (
            r#"{"sourceVersion":1,"reservoirId":"a","reservoirVersion":1,"index":-1,"isStartingVersion":false}"#,
            "`index` is `-1`, not a number from 0",
        ),
        (
            r#"{"sourceVersion":1,"reservoirId":7,"reservoirVersion":1,"index":0,"isStartingVersion":false}"#,
            "`reservoirId` is no text",
        ),
    ];
    for (text, expected) in cases {
        let error = Position::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn long_texts_are_shortened_in_messages() {
    let error = Position::parse(&"é".repeat(10_000)).unwrap_err().to_string();
    assert!(error.chars().count() < 400, "{error}");
    assert!(error.contains(&format!("`{}…`", "é".repeat(120))), "{error}");
    let error = Position::parse("no JSON").unwrap_err().to_string();
    assert!(error.starts_with("`no JSON` is no position"), "{error}");
}

#[test]
fn kinds_are_told() {
    assert_eq!(kafka(&[]).kind(), Kind::Kafka);
    assert_eq!(table(0, 0).kind(), Kind::Table);
    assert_eq!(Position::Files(FilesPosition { log_offset: 0 }).kind(), Kind::Files);
    assert_eq!(kafka(&[]).kind().to_string(), "Kafka");
}
