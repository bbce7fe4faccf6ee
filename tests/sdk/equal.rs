//! The same stage in each language gives the same rows and the same rejections.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Decimal128Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use crisol_plugin::{Component, Engine, Limits, Rejected, RowOutput};
use crisol_tests::{Random, root};
use serde_json::{Value, json};

use crate::author::{built, plugins};

const ROWS: usize = 6_000;
const NOW_US: i64 = 1_773_446_400_000_000;

#[test]
fn a_decoder_gives_the_same_in_each_language() {
    let rows = payloads(&mut Random::new());
    // Words of a parser are its own.
    all_equal("orders", &json!({}), &rows, |language| language.starts_with("orders-"), |_| "");
}

#[test]
fn a_validator_gives_the_same_in_each_language() {
    let rows = orders(&mut Random::new());
    let options = json!({ "currencies": ["EUR", "USD"] });
    all_equal("order-rules", &options, &rows, |language| language.starts_with("order-rules-"), |text| text);
}

/// `compared` is what of the text of a rejection has to be the same.
fn all_equal(
    name: &str,
    options: &Value,
    rows: &RecordBatch,
    is_one: impl Fn(&str) -> bool,
    compared: impl Fn(&str) -> &str,
) {
    let wanted = answer(&root().join(format!("plugins/{name}.wasm")), options, rows);
    assert!(wanted.rejected.len() > ROWS / 50, "there is enough to reject: {}", wanted.rejected.len());
    let mut languages = 0;
    for plugin in plugins("plugins") {
        let folder = plugin.file_name().unwrap().to_string_lossy().into_owned();
        if !is_one(&folder) {
            continue;
        }
        languages += 1;
        let got = answer(&built(&plugin), options, rows);
        assert_eq!(got.origin, wanted.origin, "{folder}: rows that go on");
        assert_eq!(got.rows, wanted.rows, "{folder}");
        assert_eq!(fates(&got, &compared), fates(&wanted, &compared), "{folder}");
    }
    assert!(languages >= 3, "{name} is there in {languages} languages");
}

/// Row, fate, code and text.
fn fates<'a>(output: &'a RowOutput, compared: impl Fn(&str) -> &str) -> Vec<(u32, bool, &'a str, &'a str)> {
    let fate =
        |rejected: &'a Rejected| (rejected.row, rejected.filter, rejected.code.as_str(), compared(&rejected.text));
    output.rejected.iter().map(fate).collect()
}

fn answer(component: &Path, options: &Value, rows: &RecordBatch) -> RowOutput {
    let component = Arc::new(Component::load(component, &Engine::new().unwrap(), None).unwrap());
    let stage = component.row_stage(options.as_object().unwrap(), &rows.schema(), &Limits::default()).unwrap();
    let read: Vec<usize> = stage.reads().iter().map(|name| rows.schema().index_of(name).unwrap()).collect();
    stage.call(&rows.project(&read).unwrap(), NOW_US).unwrap()
}

/// Good messages, and each kind of fault.
fn payloads(random: &mut Random) -> RecordBatch {
    let texts = (0..ROWS).map(|row| match random.below(40) {
        0 => Some(r#"{"order_id":"#.to_string()),
        1 => Some(format!(r#"{{"order_id":"o-{row}","event_ts":"2026-03-14","schema_version":1}}"#)),
        2 => Some(format!(r#"{{"order_id":"o-{row}","event_ts":"yesterday","amount":1,"schema_version":1}}"#)),
        3 => Some(format!(r#"{{"order_id":"o-{row}","event_ts":"2026-03-14","amount":1,"schema_version":7}}"#)),
        4 => Some(format!(
            r#"{{"order_id":"o-{row}","order_id":"again","event_ts":"2026-03-14","amount":1,"schema_version":1}}"#
        )),
        5 => Some(format!(
            r#"{{"order_id":"o-{row}","event_ts":"2026-03-14","amount":12345678901234567.5,"schema_version":1}}"#
        )),
        6 => Some(format!(r#"{{"order_id":{row},"event_ts":"2026-03-14","amount":1,"schema_version":1}}"#)),
        7 => Some(format!(r#"{{"order_id":null,"event_ts":"2026-03-14","amount":1,"schema_version":1}}"#)),
        8 => Some("[1, 2]".into()),
        9 => Some(String::new()),
        10 => None,
        11 => Some(format!(r#"{{"order_id":"o-{row}","event_ts":"2026-03-14","amount":1,"schema_version":1}} more"#)),
        _ => Some(good(row, random)),
    });
    let texts: Vec<Option<String>> = texts.collect();
    let texts = BinaryArray::from_iter(texts.iter().map(|text| text.as_ref().map(String::as_bytes)));
    RecordBatch::try_from_iter_with_nullable([("payload", Arc::new(texts) as ArrayRef, true)]).unwrap()
}

fn good(row: usize, random: &mut Random) -> String {
    let names = ["plain", "ni\\u00f1o", "日本", "a\\\"quote\\\\", "😀", "tab\\t"];
    let amounts =
        ["1", "12.5", "\"7.555\"", "0.005", "-3.10", "1e2", "1234567890123456.78", "\"-0.005\"", "1.0E-1", "00000012"];
    let amount = amounts[random.below(amounts.len() - usize::from(row % 50 != 0))];
    let times = [
        "2026-03-14",
        "2026-03-14T09:26:53Z",
        "2026-03-14T09:26:53.589123+02:00",
        "2026-03-14T09:26:53",
        "1969-12-31T23:59:59.999999Z",
    ];
    let (name, time) = (random.one_of(&names), random.one_of(&times));
    let extra = random.one_of(&[
        "",
        r#","items":[{"sku":"a","qty":1}]"#,
        r#","country":"ES""#,
        r#","currency":null"#,
        r#","customer_id":"c\u00e9""#,
    ]);
    format!(
        r#"{{"schema_version":{},"order_id":"{name}-{row}" , "event_ts":"{time}","amount":{amount}{extra}}}"#,
        1 + row % 2
    )
}

fn orders(random: &mut Random) -> RecordBatch {
    let events: Vec<_> = (0..ROWS)
        .map(|_| {
            random.one_of(&[
                None,
                Some(NOW_US),
                Some(NOW_US + 86_400_000_001),
                Some(NOW_US + 86_401_000_000),
                Some(NOW_US + 86_400_589_000),
                Some(-1),
            ])
        })
        .collect();
    let amounts: Vec<_> =
        (0..ROWS).map(|_| random.one_of(&[None, Some(1_i128), Some(0), Some(-5), Some(10_i128.pow(18) - 1)])).collect();
    let currencies: Vec<_> =
        (0..ROWS).map(|_| random.one_of(&[None, Some("EUR"), Some("USD"), Some("PTS"), Some("€")])).collect();
    let amounts = Decimal128Array::from(amounts).with_precision_and_scale(18, 2).unwrap();
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("event_ts", Arc::new(TimestampMicrosecondArray::from(events).with_timezone("UTC")), true),
        ("amount", Arc::new(amounts), true),
        ("currency", Arc::new(StringArray::from(currencies)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}
