//! What is no order is rejected with a stable code and a text that names field and cause.

#![allow(clippy::unwrap_used)]

use crisol_plugin_orders::Orders;
use crisol_sdk::testing::{decode_bytes, decode_texts};

const ORDER: &str = r#"{"order_id":"o-1","event_ts":"2026-03-14T09:26:53.589Z","amount":12.50,"schema_version":1}"#;

fn reason(message: &str) -> String {
    let outcome = decode_texts::<Orders>("{}", &[message]).unwrap();
    assert_eq!(outcome.rows.num_rows(), 0, "{message}");
    outcome.reasons().remove(0)
}

#[test]
fn messages_that_are_no_json_object_are_corrupt() {
    for (message, cause) in [
        (&ORDER[..ORDER.len() / 2], "EOF while parsing a string"),
        (&format!("{ORDER} junk"), "trailing characters"),
        ("", "the message is empty"),
        ("[]", "not a JSON object"),
        ("\u{feff}{}", "not a JSON object"),
    ] {
        let reason = reason(message);
        assert!(reason.starts_with("0 corrupt_record: ") && reason.contains(cause), "{message}: {reason}");
    }
}

#[test]
fn wrong_values_name_field_and_cause() {
    for (from, to, expected) in [
        ("12.50", "\"mucho\"", "0 corrupt_record: `amount`: \"mucho\" is not a decimal(18,2)"),
        ("2026-03-14T09:26:53.589Z", "ayer", "0 corrupt_record: `event_ts`: \"ayer\" is not a timestamp"),
        ("\"o-1\"", "null", "0 not_null: order_id: `order_id`: it is null or absent"),
        ("\"amount\":12.50,", "", "0 not_null: amount: `amount`: it is null or absent"),
        (":1}", ":9}", "0 unsupported_schema_version: version 9; 1 and 2 are known"),
        (":1}", ":1.0}", "0 corrupt_record: `schema_version`: 1.0 is not an int"),
        (":1}", ":1,\"order_id\":\"o-2\"}", "0 corrupt_record: `order_id`: it is there twice"),
    ] {
        assert_eq!(reason(&ORDER.replace(from, to)), expected);
    }
}

#[test]
fn binary_payloads_are_read_and_what_is_no_text_is_corrupt() {
    let outcome =
        decode_bytes::<Orders>("{}", &[Some(ORDER.as_bytes()), Some(b"{\"order_id\":\"\xff\"}"), None]).unwrap();
    assert_eq!(outcome.table(), ["o-1 | 2026-03-14T09:26:53.589Z | 12.50 | 1 | null | null | null"]);
    assert_eq!(outcome.origin, [0]);
    let expected = ["1 corrupt_record: invalid UTF-8 at byte 14", "2 corrupt_record: `payload` is null"];
    assert_eq!(outcome.reasons(), expected);
}
