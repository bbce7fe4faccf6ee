//! Rows among rows: numbers and order hold, and a refused row leaves no trace in the columns.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, StringArray};
use crisol_plugin_json::{Decoder, Json};
use crisol_sdk::{Fate, testing};
use serde_json::json;
use support::{decode, fields, reasons, row, value};

const ORDER: &[(&str, &str)] = &[
    ("id", "string"),
    ("customer", "struct<id:int,tags:array<string>>"),
    ("items", "array<struct<sku:string,qty:int,price:decimal(10,2)>>"),
    ("labels", "map<string,array<int>>"),
    ("flag", "boolean"),
    ("data", "binary"),
];

const GOOD: [&str; 3] = [
    r#"{"id":"a","customer":{"id":1,"tags":["x","y"]},"items":[{"sku":"s","qty":2,"price":1.5}],"labels":{"k":[1,2]},"flag":true,"data":"QUJD"}"#,
    r#"{}"#,
    r#"{"data":"","flag":false,"labels":{"p":null,"q":[null]},"items":[null,{"qty":1},{}],"customer":{"tags":[]},"id":"é\n"}"#,
];

const GOOD_VALUES: [&str; 3] = [
    "a | {1, [x, y]} | [{s, 2, 1.50}] | {k -> [1, 2]} | true | 414243",
    "null | null | null | null | null | null",
    "é\n | {null, []} | [null, {null, 1, null}, {null, null, null}] | {p -> null, q -> [null]} | false | ",
];

/// Each fails at another depth, after other columns of the row have been written.
const BAD: [(&str, &str); 12] = [
    (r#"{"id":"b","flag":1}"#, "flag: expected boolean, found `1`"),
    (r#"{"id":"b","customer":{"tags":["p","q",3],"id":"x"}}"#, "customer.id: expected int, found `\"x\"`"),
    (
        r#"{"items":[{"sku":"t","qty":1},{"sku":"u","price":1},{"sku":"v","qty":1.5}]}"#,
        "items[2].qty: expected int, found `1.5`",
    ),
    (r#"{"labels":{"k":[1],"m":[2,"z"]}}"#, "labels[\"m\"][1]: expected int, found `\"z\"`"),
    (r#"{"labels":{"k":[1],"\u006b":[2]}}"#, "labels[\"k\"]: the key is there twice"),
    (r#"{"items":[{"sku":"t","sku":"u"}]}"#, "items[0].sku: the field is there twice"),
    (r#"{"id":"b","data":"QUJ"}"#, "data: expected binary, found `\"QUJ\"` (not base 64)"),
    (r#"{"id":"b","data":"QUJD","flag":true"#, "not JSON: expected `,` or `}` at byte 35, found the end of the text"),
    (
        r#"{"id":"b","customer":{"id":1},"other":[1,{"deep":tru}]}"#,
        "other: not JSON: expected a value at byte 49, found `tru}]}`",
    ),
    (r#"{"id":"unterminated"#, "id: not JSON: expected the end of a string at byte 19, found the end of the text"),
    (r#"{"id":"b"} x"#, "text after the object at byte 11: `x`"),
    (
        r#"{"items":{"sku":"t"}}"#,
        "items: expected array<struct<sku:string,qty:int,price:decimal(10,2)>>, found `{\"sku\":\"t\"}`",
    ),
];

fn line(columns: &[ArrayRef], row: usize) -> String {
    columns.iter().map(|column| value(column, row)).collect::<Vec<_>>().join(" | ")
}

#[test]
fn p004_refused_rows_among_good_ones_leave_no_trace() {
    let mut payloads: Vec<Option<&[u8]>> = Vec::new();
    let (mut origin, mut rejected, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (bad, reason)) in BAD.iter().enumerate() {
        rejected.push((payloads.len() as i32, format!("corrupt_record: {reason}")));
        payloads.push(Some(bad.as_bytes()));
        if i % 3 == 1 {
            rejected.push((payloads.len() as i32, "null_payload: `payload` is null".to_string()));
            payloads.push(None);
        }
        origin.push(payloads.len() as i32);
        payloads.push(Some(GOOD[i % 3].as_bytes()));
        values.push(GOOD_VALUES[i % 3]);
    }
    let output = decode(ORDER, &payloads);
    assert_eq!(output.origin, origin);
    let lines: Vec<_> = (0..origin.len()).map(|row| line(&output.columns, row)).collect();
    assert_eq!(lines, values);
    assert_eq!(reasons(output), rejected);
}

#[test]
fn the_same_rows_cross_to_the_host() {
    let columns: Vec<_> = ORDER.iter().map(|(name, data_type)| json!({"name": name, "type": data_type})).collect();
    let bad = BAD.map(|(payload, _)| payload);
    let payloads: Vec<Option<&str>> =
        [Some(GOOD[0]), None].into_iter().chain(bad.map(Some)).chain([Some(GOOD[1]), Some(GOOD[2])]).collect();
    for payload in [
        Arc::new(StringArray::from(payloads.clone())) as ArrayRef,
        Arc::new(BinaryArray::from(payloads.iter().map(|p| p.map(str::as_bytes)).collect::<Vec<_>>())),
    ] {
        let offset: ArrayRef = Arc::new(Int64Array::from_iter_values(0..payload.len() as i64));
        let input = testing::input(&[("offset", offset), ("payload", payload)]).unwrap();
        let outcome = testing::stage::<Json>(&json!({"columns": columns}).to_string(), &input).unwrap();
        assert_eq!(outcome.origin, [0, 14, 15]);
        let lines: Vec<_> = (0..3).map(|row| line(outcome.rows.columns(), row)).collect();
        assert_eq!(lines, GOOD_VALUES);
        assert_eq!(outcome.rejected.iter().map(|r| r.row).collect::<Vec<_>>(), (1..14).collect::<Vec<_>>());
        assert!(outcome.rejected.iter().all(|r| r.kind == Fate::Quarantine));
    }
}

#[test]
fn nothing_is_kept_from_one_push_to_the_next() {
    let mut decoder = Decoder::new("payload", &fields(ORDER)).unwrap();
    let good: ArrayRef = Arc::new(StringArray::from(GOOD.to_vec()));
    let bad: ArrayRef = Arc::new(StringArray::from(BAD.map(|(payload, _)| payload).to_vec()));
    let first = decoder.decode(&good).unwrap();
    let refused = decoder.decode(&bad).unwrap();
    let second = decoder.decode(&good).unwrap();
    assert_eq!((refused.origin.len(), refused.rejected.len()), (0, BAD.len()));
    assert!(refused.columns.iter().all(|column| column.is_empty()));
    assert_eq!((first.columns, first.origin), (second.columns, second.origin));
}

#[test]
fn no_rows_give_no_rows() {
    let output = decode(ORDER, &[]);
    assert!(output.origin.is_empty() && output.rejected.is_empty());
}

#[test]
fn p007_blank_and_null_payloads_are_told_apart() {
    let output = decode(&[("a", "int")], &[None, Some(b""), Some(b" \t\r\n")]);
    let expected =
        ["null_payload: `payload` is null", "corrupt_record: empty payload", "corrupt_record: empty payload"];
    let reasons = reasons(output);
    assert_eq!(reasons.iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn p051_invalid_utf8_is_refused_and_its_neighbours_are_not() {
    let payloads: [Option<&[u8]>; 6] = [
        Some(b"{\"a\":\"ok\"}"),
        Some(b"{\"a\":\"\xff\"}"),
        Some(b"{\"b\":\"\xed\xa0\x80\",\"a\":\"x\"}"),
        // A character cut in two: together they are UTF-8, each alone is not.
        Some(b"{\"a\":\"\xc3"),
        Some(b"\xa9\"}"),
        Some("{\"a\":\"é\"}".as_bytes()),
    ];
    let output = decode(&[("a", "string")], &payloads);
    assert_eq!(output.origin, [0, 5]);
    assert_eq!(output.columns[0].as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["ok", "é"]);
    let expected = [(1, 6), (2, 6), (3, 6), (4, 0)];
    assert_eq!(reasons(output), expected.map(|(row, at)| (row, format!("corrupt_record: invalid UTF-8 at byte {at}"))));
    // Cut in two, with nothing else wrong.
    let output = decode(&[("a", "string")], &payloads[3..5]);
    assert_eq!(output.rejected.len(), 2);
}

#[test]
fn p010_names_match_exactly_and_in_any_order() {
    let columns = [("order_id", "int"), ("ORDER_ID", "int"), ("a.b", "int"), ("é", "int"), ("", "int")];
    let values = row(&columns, r#"{"":5,"\u00e9":4,"x":{"order_id":9},"a.b":3,"Order_id":8,"order_id":1}"#.as_bytes());
    assert_eq!(values.unwrap(), ["1", "null", "3", "4", "5"]);
    // Names that JSON writes with escapes, and white space around the colon.
    let columns = [("a\"b", "int"), ("c\\d", "int"), ("e", "int")];
    let values = row(
        &columns,
        br#"{"a\"b" : 1 , "c\\d":2,
 'e' :3 }"#,
    );
    assert_eq!(values.unwrap(), ["1", "2", "3"]);
}

#[test]
fn many_columns_are_found_in_any_order() {
    let names: Vec<String> = (0..200).map(|i| format!("c{i}")).collect();
    let columns: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "int")).collect();
    let members: Vec<String> =
        (0..200).rev().filter(|i| i % 3 != 0).map(|i| format!("\"c{i}\":{i},\"d{i}\":0")).collect();
    let values = row(&columns, format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
    for (i, value) in values.iter().enumerate() {
        assert_eq!(value, &if i % 3 == 0 { "null".to_string() } else { i.to_string() });
    }
    let twice = format!("{{\"c7\":1,{}}}", members.join(","));
    assert_eq!(row(&columns, twice.as_bytes()).unwrap_err(), "corrupt_record: c7: the field is there twice");
}

#[test]
fn p009_keys_of_large_maps_are_compared_too() {
    let members: Vec<String> = (0..1000).map(|i| format!("\"k{i}\":{i}")).collect();
    let good = format!("{{\"m\":{{{}}}}}", members.join(","));
    assert!(row(&[("m", "map<string,int>")], good.as_bytes()).is_ok());
    let bad = format!("{{\"m\":{{{},\"k500\":1}}}}", members.join(","));
    let reason = row(&[("m", "map<string,int>")], bad.as_bytes()).unwrap_err();
    assert_eq!(reason, "corrupt_record: m[\"k500\"]: the key is there twice");
}

#[test]
fn nesting_is_limited_in_known_and_unknown_fields() {
    let nested = |name: &str, depth: usize| format!("{{\"{name}\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    for name in ["a", "unknown"] {
        assert!(row(&[("a", "string")], nested(name, 127).as_bytes()).is_ok());
        for depth in [128, 1_000_000] {
            let reason = row(&[("a", "string")], nested(name, depth).as_bytes()).unwrap_err();
            assert!(
                reason.starts_with(&format!("corrupt_record: {name}: nested deeper than 128 levels at byte ")),
                "{reason}"
            );
        }
    }
}

#[test]
fn offending_values_are_cut() {
    let long = "x".repeat(100_000);
    let reason = row(&[("a", "int")], format!("{{\"a\":\"{long}\"}}").as_bytes()).unwrap_err();
    assert_eq!(reason, format!("corrupt_record: a: expected int, found `\"{}…`", &long[..59]));
    for payload in [
        format!("{{\"{long}\":}}"),
        format!("{{\"a\":1}}{long}"),
        format!("{{\"a\":1{long}"),
        format!("[\"{long}\"]"),
        long.clone(),
    ] {
        let reason = row(&[("a", "int")], payload.as_bytes()).unwrap_err();
        assert!(reason.len() < 250, "{reason}");
    }
}

#[test]
fn p016_a_byte_order_mark_is_named() {
    let reason = row(&[("a", "int")], "\u{feff}{\"a\":1}".as_bytes()).unwrap_err();
    assert_eq!(reason, "corrupt_record: not JSON: a byte order mark before the object");
}

#[test]
fn p017_a_root_that_is_no_object_is_named() {
    for root in ["[{\"a\":1}]", "null", "1", "\"x\"", "[]"] {
        let reason = row(&[("a", "int")], root.as_bytes()).unwrap_err();
        assert_eq!(reason, format!("corrupt_record: expected an object, found `{root}`"));
    }
}
