//! Any bytes: never a panic, every row accounted for; valid documents: the values that serde_json reads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::decode;

const COLUMNS: &[(&str, &str)] = &[
    ("s", "string"),
    ("i", "bigint"),
    ("d", "double"),
    ("b", "boolean"),
    ("n", "decimal(20,4)"),
    ("t", "timestamp"),
    ("y", "date"),
    ("x", "binary"),
    ("o", "struct<s:string,i:bigint,l:array<double>>"),
    ("l", "array<struct<s:string,m:map<string,bigint>>>"),
    ("m", "map<string,array<string>>"),
];

/// A value of the type of the column of that name, or null.
fn member(name: &'static str) -> BoxedStrategy<(String, Value)> {
    let text = || any::<String>().prop_map(Value::from);
    let long = || any::<i64>().prop_map(Value::from);
    let double = || any::<f64>().prop_filter("JSON has no others", |d| d.is_finite()).prop_map(Value::from);
    let list = |item: BoxedStrategy<Value>| prop::collection::vec(item, 0..4).prop_map(Value::from).boxed();
    let map = |item: BoxedStrategy<Value>| {
        prop::collection::btree_map(any::<String>(), item, 0..4)
            .prop_map(|m| Value::Object(m.into_iter().collect()))
            .boxed()
    };
    let value = match name {
        "s" => text().boxed(),
        "i" => long().boxed(),
        "d" => double().boxed(),
        "b" => any::<bool>().prop_map(Value::from).boxed(),
        "o" => (text(), long(), list(double().boxed())).prop_map(|(s, i, l)| json!({"s": s, "i": i, "l": l})).boxed(),
        "l" => list((text(), map(long().boxed())).prop_map(|(s, m)| json!({"m": m, "s": s})).boxed()),
        _ => map(list(text().boxed())),
    };
    prop_oneof![9 => value, 1 => Just(Value::Null)].prop_map(move |value| (name.to_string(), value)).boxed()
}

/// Members of the row in any order, some left out, with an unknown one between.
fn document() -> impl Strategy<Value = Map<String, Value>> {
    let members: Vec<_> = ["s", "i", "d", "b", "o", "l", "m"].into_iter().map(member).collect();
    (Just(()).prop_flat_map(move |()| members.clone()), any::<[bool; 7]>(), any::<String>()).prop_perturb(
        |(members, kept, unknown), mut random| {
            let mut members: Vec<_> =
                members.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(member, _)| member).collect();
            members.push((format!("unknown {unknown}"), json!([{"s": unknown}, 1.5e300, null])));
            for i in (1..members.len()).rev() {
                members.swap(i, random.random_range(0..=i));
            }
            members.into_iter().collect()
        },
    )
}

/// What the row holds, as JSON again; missing is null.
fn read_back(columns: &[arrow_array::ArrayRef], row: usize) -> Value {
    fn at(column: &arrow_array::ArrayRef, row: usize) -> Value {
        use arrow_schema::DataType;
        if column.is_null(row) {
            return Value::Null;
        }
        let all = |column: &arrow_array::ArrayRef| (0..column.len()).map(|i| at(column, i)).collect::<Vec<_>>();
        match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().value(row).into(),
            DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
            DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
            DataType::Boolean => column.as_boolean().value(row).into(),
            DataType::List(_) => all(&column.as_list::<i32>().value(row)).into(),
            DataType::Map(..) => {
                let entries = column.as_map().value(row);
                let keys = entries.column(0).as_string::<i32>().iter().map(|key| key.unwrap().to_string());
                Value::Object(keys.zip(all(entries.column(1))).collect())
            }
            DataType::Struct(fields) => {
                let column = column.as_struct();
                let values = column.columns().iter().map(|column| at(column, row));
                Value::Object(fields.iter().map(|field| field.name().clone()).zip(values).collect())
            }
            other => panic!("{other}"),
        }
    }
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_string());
    Value::Object(names.zip(columns.iter().map(|column| at(column, row))).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn valid_documents_give_the_values_that_serde_reads(documents in prop::collection::vec(document(), 1..5), pretty in any::<bool>()) {
        let write = if pretty { serde_json::to_vec_pretty } else { serde_json::to_vec };
        let payloads: Vec<Vec<u8>> = documents.iter().map(|document| write(document).unwrap()).collect();
        let payloads: Vec<Option<&[u8]>> = payloads.iter().map(|payload| Some(payload.as_slice())).collect();
        let output = decode(COLUMNS, &payloads);
        prop_assert_eq!(output.origin.len(), payloads.len());
        for (row, document) in documents.iter().enumerate() {
            let mut expected: Map<String, Value> = COLUMNS.iter().map(|(name, _)| ((*name).to_string(), Value::Null)).collect();
            expected.extend(document.clone().into_iter().filter(|(name, _)| !name.starts_with("unknown ")));
            prop_assert_eq!(read_back(&output.columns, row), Value::Object(expected));
        }
    }

    #[test]
    fn a_string_column_holds_the_text_of_any_value(document in document(), pretty in any::<bool>()) {
        let value = Value::Object(document);
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let output = decode(&[("s", "string")], &[Some(format!("{{\"s\": {text} }}").as_bytes())]);
        prop_assert_eq!(output.columns[0].as_string::<i32>().value(0), text);
    }

    #[test]
    fn mutated_documents_never_panic_and_every_row_is_accounted_for(
        documents in prop::collection::vec(document(), 1..5),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 0..4),
    ) {
        let mut payloads: Vec<Vec<u8>> = documents.iter().map(|document| serde_json::to_vec(document).unwrap()).collect();
        for (at, byte, what) in changes {
            let payload = &mut payloads[at.index(documents.len())];
            let at = at.index(payload.len().max(1));
            match what {
                0 => payload.truncate(at),
                1 => payload.insert(at.min(payload.len()), byte),
                _ => if let Some(old) = payload.get_mut(at) { *old = byte },
            }
        }
        account(&payloads)?;
    }

    #[test]
    fn any_bytes_never_panic(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..8)) {
        account(&payloads)?;
    }

    #[test]
    fn any_tokens_never_panic(payloads in prop::collection::vec(tokens(), 1..8)) {
        account(&payloads)?;
    }
}

/// Pieces of JSON in any order.
fn tokens() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"s\"",
        "'i'",
        "\"d\"",
        "\"b\"",
        "\"n\"",
        "\"t\"",
        "\"y\"",
        "\"x\"",
        "\"o\"",
        "\"l\"",
        "\"m\"",
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "1e400",
        "-",
        "NaN",
        "-Infinity",
        "+INF",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"2024-01-01\"",
        "\\",
        " ",
        "\n",
        "\u{feff}",
        "99999999999999999999",
        "\"QUJD\"",
        "{\"s\":",
        "{\"l\":[{\"m\":{\"k\":1}",
        "\"",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..16).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Each row is in the columns once or rejected once, in order.
fn account(payloads: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let payloads: Vec<Option<&[u8]>> = payloads.iter().map(|payload| Some(payload.as_slice())).collect();
    let output = decode(COLUMNS, &payloads);
    prop_assert!(output.origin.is_sorted_by(|a, b| a < b));
    let mut rows = output.origin.clone();
    rows.extend(support::reasons(output).iter().map(|(row, _)| *row));
    rows.sort_unstable();
    prop_assert_eq!(rows, (0..payloads.len() as i32).collect::<Vec<_>>());
    // A row alone is what it is among others.
    for payload in payloads {
        let alone = decode(COLUMNS, &[payload]);
        prop_assert_eq!(alone.origin.len() + alone.rejected.len(), 1);
    }
    Ok(())
}
