//! Decoders of messages with fields of all types that JSON has.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use crisol_plugin::{Rejected, RowOutput, RowStage, sample_value};
use serde_json::{Map, Value, json};

use super::{NOW_US, input, table, told};
use crate::Kind;
use crate::conformance::given::limits;
use crate::conformance::rows::many;
use crate::conformance::values::{self, Choice};
use crate::conformance::{Suite, compare};

/// What is no message of such rows.
const CORRUPT: [Option<&str>; 31] = [
    None,
    Some(""),
    Some("  \n"),
    Some("{"),
    Some("[]"),
    Some("7"),
    Some("null"),
    Some("{} {}"),
    Some(r#"{"i32": 1,}"#),
    Some(r#"{"i32": 01}"#),
    Some(r#"{"extra": tru}"#),
    Some(r#"{"b": 1}"#),
    Some(r#"{"b": "true"}"#),
    Some(r#"{"i8": 128}"#),
    Some(r#"{"i16": -32769}"#),
    Some(r#"{"i32": "7"}"#),
    Some(r#"{"i32": 1.5}"#),
    Some(r#"{"i64": 9223372036854775808}"#),
    Some(r#"{"f64": "7"}"#),
    Some(r#"{"d9": "a lot"}"#),
    Some(r#"{"d9": 10000000}"#),
    Some(r#"{"s": 7}"#),
    Some(r#"{"i32": 1, "s": "a", "i32": 1}"#),
    Some(r#"{"day": "2026-02-30"}"#),
    Some(r#"{"day": 7}"#),
    Some(r#"{"ts": "yesterday"}"#),
    Some(r#"{"ints": {}}"#),
    Some(r#"{"ints": [1, "2"]}"#),
    Some(r#"{"st": []}"#),
    Some(r#"{"m": {"a": "x"}}"#),
    Some(r#"{"m": {"a": 1, "a": 2}}"#),
];

/// A message, the column that it fills, and the value as a sample writes it.
fn read_as() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (r#"{"d9": 1.005}"#, "d9", json!("1.01")),
        (r#"{"d9": -1.005}"#, "d9", json!("-1.01")),
        (r#"{"d9": 1.00499}"#, "d9", json!("1.00")),
        (r#"{"d9": "12.5"}"#, "d9", json!("12.50")),
        (r#"{"d9": 1e2}"#, "d9", json!("100.00")),
        (r#"{"d38": 0.1}"#, "d38", json!("0.1000000000")),
        (r#"{"i64": 9007199254740993}"#, "i64", json!(9_007_199_254_740_993_i64)),
        (r#"{"f64": 7}"#, "f64", json!(7.0)),
        (r#"{"f64": -0.0}"#, "f64", json!(-0.0)),
        (r#"{"f32": 0.1}"#, "f32", json!(0.1)),
        (r#"{"s": "\u00e9\ud83d\ude00\u0000\/"}"#, "s", json!("\u{e9}\u{1f600}\0/")),
        (r#"{"\u0073": "by its escaped name"}"#, "s", json!("by its escaped name")),
        (r#"{"s": null}"#, "s", Value::Null),
        (r#" { "S" : "another field" } "#, "s", Value::Null),
        (r#"{"extra": {"s": [1, {"s": "in another"}]}, "s": "x"}"#, "s", json!("x")),
        (r#"{"ts": "2026-03-14"}"#, "ts", json!("2026-03-14T00:00:00Z")),
        (r#"{"ts": "2026-03-14T10:00:00"}"#, "ts", json!("2026-03-14T10:00:00Z")),
        (r#"{"ts": "2026-03-14T10:00:00.123456+01:30"}"#, "ts", json!("2026-03-14T08:30:00.123456Z")),
        (r#"{"day": "2024-02-29"}"#, "day", json!("2024-02-29")),
        (r#"{"ints": [1, null]}"#, "ints", json!([1, null])),
        (r#"{"ints": []}"#, "ints", json!([])),
        (r#"{"st": {"b": "x", "other": 1}}"#, "st", json!({ "a": null, "b": "x" })),
        (r#"{"m": {}}"#, "m", json!({})),
    ]
}

impl Suite {
    pub(super) fn decoded(&mut self) {
        let stage = match self.component.row_stage(&Map::new(), &input(Kind::Decoder), &limits()) {
            Ok(stage) => stage,
            Err(error) => return self.holds("exact: it can be set up", || Err(error.to_string())),
        };
        self.holds("exact: fields of all types become columns", || all_types(&stage));
        self.holds("exact: what is no such row is a `corrupt_record`", || corrupt(&stage));
        for (message, column, expected) in read_as() {
            self.holds(&format!("exact: {message}"), || read(&stage, message, column, &expected));
        }
    }
}

fn all_types(stage: &RowStage) -> Result<(), String> {
    let schema = table::textual();
    let rare = values::rows(&schema, 97, Choice::Textual).map_err(told)?;
    let nulls = values::nulls(&schema, 3).map_err(told)?;
    let long = values::rows(&schema, 5, Choice::Textual).map_err(told)?;
    for rows in [rare.slice(0, 0), rare.slice(3, 1), nulls, long, rare.clone(), many(&rare).map_err(told)?] {
        let messages = (0..rows.num_rows()).map(|row| Some(message(&rows, row)));
        let origin = (0..rows.num_rows() as u32).collect();
        let given = payloads(messages.collect())?;
        let expected = RowOutput { rows: Some(rows), origin, rejected: Vec::new() };
        let new = stage.session(NOW_US).push(&given).map_err(told)?;
        compare::outputs(&expected, &new)?;
        let kept = stage.call(&given, NOW_US).map_err(told)?;
        compare::outputs(&expected, &kept).map_err(|what| format!("in an instance that is kept: {what}"))?;
    }
    Ok(())
}

fn payloads(messages: Vec<Option<String>>) -> Result<RecordBatch, String> {
    RecordBatch::try_new(input(Kind::Decoder), vec![Arc::new(StringArray::from(messages))]).map_err(told)
}

/// A row as JSON. Every second one has its fields the other way round, decimals as numbers, a field that nobody knows, and
/// leaves out what is null.
fn message(rows: &RecordBatch, row: usize) -> String {
    let odd = row % 2 == 1;
    let mut fields: Vec<String> = Vec::new();
    for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        if odd && column.is_null(row) {
            continue;
        }
        let mut value = sample_value(column.as_ref(), row).to_string();
        if odd && matches!(field.data_type(), DataType::Decimal128(..)) {
            value = value.trim_matches('"').to_string();
        }
        fields.push(format!("\"{}\":{value}", field.name()));
    }
    if odd {
        fields.push(r#""extra": {"b": [null, 1e400, {}]}"#.to_string());
        fields.reverse();
    }
    let mut text = String::from("{");
    let _ = write!(text, "{}", fields.join(if odd { " ,\n" } else { "," }));
    text + "}"
}

/// Among good ones.
fn corrupt(stage: &RowStage) -> Result<(), String> {
    let good = |message: &Option<&str>| [message.map(ToString::to_string), Some("{}".to_string())];
    let given = payloads(CORRUPT.iter().flat_map(good).collect())?;
    let output = stage.session(NOW_US).push(&given).map_err(told)?;
    for (at, message) in CORRUPT.iter().enumerate() {
        let row = 2 * at as u32;
        let shown = message.unwrap_or("null");
        match output.rejected.iter().find(|rejected| rejected.row == row) {
            Some(Rejected { filter: false, code, .. }) if code == "corrupt_record" => {}
            Some(Rejected { code, .. }) => return Err(format!("{shown}: expected `corrupt_record`, got `{code}`")),
            None => return Err(format!("{shown}: expected `corrupt_record`, the row came out")),
        }
    }
    let odd: Vec<u32> = (0..CORRUPT.len() as u32).map(|at| 2 * at + 1).collect();
    if output.origin == odd { Ok(()) } else { Err(format!("of good rows beside bad ones came {:?}", output.origin)) }
}

fn read(stage: &RowStage, message: &str, column: &str, expected: &Value) -> Result<(), String> {
    let output = stage.session(NOW_US).push(&payloads(vec![Some(message.to_string())])?).map_err(told)?;
    if let [Rejected { code, text, .. }] = &output.rejected[..] {
        return Err(format!("expected `{column}` to be {expected}, it was rejected as `{code}` ({text})"));
    }
    let values = output.rows.as_ref().and_then(|rows| rows.column_by_name(column));
    let got = values.map_or(Value::Null, |values| sample_value(values.as_ref(), 0));
    // As they are written: `-0.0` is another float than `0.0`.
    let (got, expected) = (got.to_string(), expected.to_string());
    if got == expected { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}
