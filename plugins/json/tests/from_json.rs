//! Every line of `spark/from_json.jsonl`, which Spark wrote: the same row, or a rejection where Spark marks. The
//! differences are listed here, one by one, and in the README.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use serde::Deserialize;
use support::row;

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "type")]
    data_type: String,
    payload: String,
    outcome: String,
    value: Option<String>,
}

/// What ours gives where Spark gives something else: type, payload, value or start of the reason.
const DIFFERENCES: &[(&str, &str, Result<&str, &str>)] = &[
    // Text of a value that is no string: as it stands, where Spark writes it anew.
    ("string", r#"{"a":1.50}"#, Ok("1.50")),
    ("string", r#"{"a":1e2}"#, Ok("1e2")),
    ("string", r#"{"a":1E5}"#, Ok("1E5")),
    ("string", r#"{"a":1.0e0}"#, Ok("1.0e0")),
    ("string", r#"{"a":-0}"#, Ok("-0")),
    ("string", r#"{"a":NaN}"#, Ok("NaN")),
    ("string", r#"{"a":-Infinity}"#, Ok("-Infinity")),
    ("string", r#"{"a":{ "x" : 1, "y":[1, 2] }}"#, Ok(r#"{ "x" : 1, "y":[1, 2] }"#)),
    ("string", r#"{"a":[ 1, "\u0041" ]}"#, Ok(r#"[ 1, "\u0041" ]"#)),
    // Half of a surrogate pair: Spark writes `?`.
    ("string", r#"{"a":"\ud83d"}"#, Err("a: half of a surrogate pair")),
    ("int", r#"{"b":"\ud83d","a":1}"#, Err("b: half of a surrogate pair")),
    // Spark wraps around.
    ("tinyint", r#"{"a":128}"#, Err("a: expected tinyint, found `128` (out of range)")),
    ("tinyint", r#"{"a":255}"#, Err("a: expected tinyint, found `255` (out of range)")),
    // Spark drops the commas, and so reads 12,30 as 1230.
    ("decimal(18,2)", r#"{"a":"12,30"}"#, Err("a: expected decimal(18,2), found `\"12,30\"`")),
    ("decimal(18,2)", r#"{"a":"1,234.50"}"#, Err("a: expected decimal(18,2), found `\"1,234.50\"`")),
    ("decimal(18,2)", r#"{"a":0e999999999999}"#, Ok("0.00")),
    // Years have four digits and no sign; 20240102 is the year 20240102 to Spark.
    ("date", r#"{"a":"20240102"}"#, Err("a: expected date")),
    ("date", r#"{"a":"12024-01-01"}"#, Err("a: expected date")),
    ("date", r#"{"a":"+2024-01-02"}"#, Err("a: expected date")),
    ("date", r#"{"a":"-0001-01-01"}"#, Err("a: expected date")),
    ("date", r#"{"a":"7"}"#, Err("a: expected date")),
    ("date", r#"{"a":"19000"}"#, Err("a: expected date")),
    ("date", r#"{"a":"2024-01-02Tjunk"}"#, Err("a: expected date")),
    ("timestamp", r#"{"a":"10000-01-01"}"#, Err("a: expected timestamp")),
    ("timestamp", r#"{"a":"+2024-01-01"}"#, Err("a: expected timestamp")),
    ("timestamp", r#"{"a":"-0001-01-01"}"#, Err("a: expected timestamp")),
    ("timestamp", r#"{"a":1704067200000}"#, Err("a: expected timestamp, found `1704067200000` (integers are seconds")),
    // Zones by name.
    ("timestamp", r#"{"a":"2024-01-01T00:00:00 Europe/Paris"}"#, Err("a: expected timestamp")),
    ("timestamp", r#"{"a":"2024-01-01T00:00:00EST"}"#, Err("a: expected timestamp")),
    // Names that are there twice (P-009).
    ("struct<x:int>", r#"{"a":{"x":1,"x":2}}"#, Err("a.x: the field is there twice")),
    ("map<string,int>", r#"{"a":{"x":1,"x":2}}"#, Err("a[\"x\"]: the key is there twice")),
    ("int", r#"{"a":1,"a":2}"#, Err("a: the field is there twice")),
    // Text after the object (P-008).
    ("int", r#"{"a":1} junk"#, Err("text after the object at byte 8: `junk`")),
    ("int", r#"{"a":1}{"a":2}"#, Err("text after the object at byte 7")),
    ("int", r#"{"a":1}}"#, Err("text after the object at byte 7")),
    // Payloads without anything (P-007).
    ("int", "", Err("empty payload")),
    ("int", "   ", Err("empty payload")),
    ("int", "\t\r\n", Err("empty payload")),
];

#[test]
fn p001_to_p017_rows_and_rejections_are_those_of_spark() {
    let mut differences = 0;
    for line in include_str!("spark/from_json.jsonl").lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        let ours = row(&[("a", &line.data_type)], line.payload.as_bytes()).map(|mut values| values.remove(0));
        let known = DIFFERENCES.iter().find(|(t, payload, _)| *t == line.data_type && *payload == line.payload);
        let agrees = match (&ours, line.outcome.as_str()) {
            (Ok(value), "row") => same(&line.data_type, value, line.value.as_deref().unwrap_or("null")),
            (Err(_), "marked") => true,
            _ => false,
        };
        match known {
            None => assert!(agrees, "{line:?}: ours is {ours:?}"),
            Some((_, _, expected)) => {
                differences += 1;
                assert!(!agrees, "no difference any more: {line:?}");
                match (&ours, expected) {
                    (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{line:?}"),
                    (Err(reason), Err(expected)) => {
                        assert!(reason.starts_with(&format!("corrupt_record: {expected}")), "{line:?}: {reason}");
                    }
                    _ => panic!("{line:?}: ours is {ours:?}, expected {expected:?}"),
                }
            }
        }
    }
    assert_eq!(differences, DIFFERENCES.len());
}

/// Equal texts; floats by value, since Java and Rust write them differently.
fn same(data_type: &str, ours: &str, spark: &str) -> bool {
    let number = |text: &str| {
        text.parse::<f64>().map(|value| if value.is_nan() { "NaN".to_string() } else { value.to_string() })
    };
    match data_type {
        "double" | "float" => number(ours) == number(spark),
        _ => ours == spark,
    }
}
