use std::borrow::Cow;

use proptest::prelude::*;

use super::{Fault, Quick, Reader};
use crate::{Date, Decimal, JsonRecord, Text, Timestamp, record};

mod nested;

record! {
    struct All<'a> {
        text: Option<Text<'a>>,
        flag: Option<bool>,
        small: Option<i8>,
        int: Option<i32>,
        long: Option<i64>,
        double: Option<f64>,
        price: Option<Decimal<18, 2>>,
        at: Option<Timestamp>,
        day: Option<Date>,
        r#type: Option<Text<'a>>,
    }
}

record! {
    struct Strict {
        id: i64,
        size: Option<i32>,
    }
}

/// The short way alone.
fn quickly<'a, R: JsonRecord<'a>>(text: &'a str) -> Option<R> {
    let mut quick = Quick::new(text);
    R::quickly(&mut quick).filter(|_| quick.at_end())
}

/// The long way alone.
fn strictly<'a, R: JsonRecord<'a>>(text: &'a str) -> Result<R, Fault> {
    R::strictly(&mut Reader::new(text))
}

fn fault(text: &str) -> String {
    match All::from_json(text) {
        Ok(record) => panic!("{text} gave {record:?}"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn each_type_is_read_in_any_order_and_other_fields_are_skipped() {
    let all = All::from_json(
        r#" {"type":"t","at":"2026-03-14T09:26:53.589Z","x":{"y":[1,{"z":"}"}]},"text":"ñ","flag":true,
            "small":-7,"int":12,"long":9007199254740993,"double":1.5,"price":1234567890123456.78,"day":"2026-03-14"} "#,
    )
    .unwrap();
    assert_eq!(all.text.as_deref(), Some("ñ"));
    assert!(matches!(all.text, Some(Cow::Borrowed(_))));
    assert_eq!((all.flag, all.small, all.int, all.double), (Some(true), Some(-7), Some(12), Some(1.5)));
    assert_eq!(all.long, Some(9_007_199_254_740_993));
    assert_eq!(all.price.unwrap().units(), 123_456_789_012_345_678);
    assert_eq!(all.at.unwrap().to_string(), "2026-03-14T09:26:53.589000Z");
    assert_eq!(all.day.unwrap().to_string(), "2026-03-14");
    assert_eq!(all.r#type.as_deref(), Some("t"));
}

#[test]
fn absent_and_null_are_the_same() {
    let none = All::from_json("{}").unwrap();
    assert_eq!(none, All::from_json(r#"{"text":null,"price":null}"#).unwrap());
    assert_eq!(none.text, None);
}

#[test]
fn strings_with_escapes_are_unescaped_also_in_names() {
    let all = All::from_json(r#"{"te\u0078t":"a\"b\\\u00e9\ud83d\ude00"}"#).unwrap();
    assert_eq!(all.text.as_deref(), Some("a\"b\\é😀"));
    assert_eq!(fault(r#"{"text":"a","te\u0078t":"b"}"#), "`text`: it is there twice");
}

#[test]
fn a_value_of_another_type_names_field_and_cause() {
    for (text, expected) in [
        (r#"{"int":"7"}"#, "`int`: \"7\" is not an int"),
        (r#"{"int":1.5}"#, "`int`: 1.5 is not an int"),
        (r#"{"int":3000000000}"#, "`int`: 3000000000 is not an int"),
        (r#"{"flag":1}"#, "`flag`: 1 is not a boolean"),
        (r#"{"text":{"a":1}}"#, "`text`: {\"a\":1} is not a string"),
        (r#"{"price":"mucho"}"#, "`price`: \"mucho\" is not a decimal(18,2)"),
        (r#"{"price":12345678901234567.0}"#, "`price`: 12345678901234567.0 is not a decimal(18,2)"),
        (r#"{"price":[]}"#, "`price`: [] is not a decimal(18,2)"),
        (r#"{"at":"ayer"}"#, "`at`: \"ayer\" is not a timestamp"),
        (r#"{"at":1773480413}"#, "`at`: 1773480413 is not a timestamp"),
        (r#"{"day":"2026-02-30"}"#, "`day`: \"2026-02-30\" is not a date"),
    ] {
        assert_eq!(fault(text), expected);
    }
    let long = format!(r#"{{"int":"{}"}}"#, "ñ".repeat(500));
    assert!(fault(&long).len() < 200);
}

#[test]
fn what_is_no_json_object_is_a_fault_with_its_place() {
    for (text, part) in [
        ("", "the message is empty"),
        (" \n", "the message is empty"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("7", "not a JSON object"),
        ("{", "EOF while parsing an object at character 2"),
        (r#"{"text":"ab"#, "EOF while parsing a string"),
        (r#"{"int":1,}"#, "trailing comma"),
        (r#"{"int":01}"#, "invalid number"),
        (r#"{"int":1} x"#, "trailing characters at character 11"),
        (r#"{"int":1}{"int":2}"#, "trailing characters"),
        (r#"{"ñ":1,"int":1 "#, "at character 16"),
        ("{'int':1}", "key must be a string"),
        (r#"{"double":NaN}"#, "`double`: not a JSON object: expected value"),
        (r#"{"text":"\ud800"}"#, "unexpected end of hex escape"),
        (r#"{"text":"\ud800\u0041"}"#, "surrogate"),
        ("{\"text\":\"a\nb\"}", "control character"),
        ("\u{feff}{}", "not a JSON object"),
    ] {
        let fault = fault(text);
        assert!(fault.contains(part), "{text}: {fault}");
    }
    assert!(All::from_json(&format!(r#"{{"x":{}1}}"#, "[".repeat(100_000))).is_err());
}

#[test]
fn a_field_that_may_not_be_null_is_wanted() {
    assert_eq!(Strict::from_json(r#"{"id":1}"#).unwrap(), Strict { id: 1, size: None });
    for text in ["{}", r#"{"id":null}"#] {
        let fault = Strict::from_json(text).unwrap_err();
        assert!(fault.null, "{fault}");
        assert_eq!(fault.to_string(), "`id`: it is null or absent");
    }
}

#[test]
fn plain_messages_take_the_short_way() {
    for text in [
        r#"{"text":"ñandú, a text longer than eight bytes","int":-7,"price":12.50,"flag":false,"at":"2026-03-14","x":null}"#,
        " { \"long\" : 0 , \"other\" : 1.5 } \n",
        "{}",
        r#"{"x":{},"y":[],"z":[{"a":[1,"b",{}],"text":"in another"},null],"int":1}"#,
        " { \"x\" : { \"a\" : [ 1 , [ ] ] , \"b\" : { } } , \"long\" : 0 } \n",
    ] {
        assert_eq!(quickly::<All<'_>>(text), strictly(text).ok());
        assert!(quickly::<All<'_>>(text).is_some(), "{text}");
    }
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(40), "]".repeat(40));
    for text in [r#"{"text":"a\n"}"#, r#"{"price":1e2}"#, r#"{"x":["\n"]}"#, &deep] {
        assert!(quickly::<All<'_>>(text).is_none() && All::from_json(text).is_ok(), "{text}");
    }
}

/// A message of which one or two places were changed.
fn damaged(message: &str, seed: [u16; 6], pieces: &[usize]) -> String {
    let odd = [
        "\"",
        "\\",
        "{",
        "}",
        ",",
        ":",
        "0",
        "-",
        ".",
        "e",
        "\u{1}",
        "null",
        " ",
        "\"int\":1,",
        "ñ",
        "[",
        "]",
        "9999999999",
    ];
    let mut text = message.to_string();
    for (piece, at) in pieces.iter().zip(seed) {
        let at = text.floor_char_boundary(usize::from(at) % (text.len() + 1));
        let end = text.ceil_char_boundary((at + usize::from(seed[5]) % 3).min(text.len()));
        text.replace_range(at..end, odd[*piece]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_short_way_never_accepts_what_the_long_way_refuses(seed: [u16; 6], pieces in proptest::collection::vec(0usize..18, 0..3)) {
        let plain = r#"{"text":"a longer text ñ","flag":true,"x":{"a":[1,-2.5,{}],"b":"c"},"int":-12,"y":[[],{"d":null}],"double":0.5,"price":12.50,"at":"2026-03-14T09:26:53Z"}"#;
        let text = damaged(plain, seed, &pieces);
        if let Some(record) = quickly::<All<'_>>(&text) {
            prop_assert_eq!(Ok(record), strictly(&text), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\[\\]\":,a-f0-9\\\\. ñ]{0,40}") {
        let _ = All::from_json(&text);
    }
}
