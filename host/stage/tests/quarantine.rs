//! Quarantine rows keep the input whole and say who refused it, and why (E-031).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BinaryArray, Decimal128Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use crisol_contract::StageKind;
use crisol_stage::quarantine_schema;
use support::*;

#[test]
fn e031_a_refused_message_keeps_bytes_place_and_reason() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers")];
    let output = run(&contract, &messages(&[b"1", b"oops", b"\xff\x00"])).unwrap();
    let refused = output.quarantined.unwrap();
    assert_eq!(refused.schema(), quarantine_schema());
    assert_eq!(texts(&refused, "stream"), vec![Some("silver.orders".to_owned()); 2]);
    assert_eq!(longs(&refused, "batch"), [Some(3), Some(3)]);
    let timestamps = refused.column_by_name("batch_timestamp").unwrap().as_primitive::<TimestampMicrosecondType>();
    assert_eq!(timestamps.value(0), 1_000_000);
    assert_eq!(texts(&refused, "stage"), [Some("decode numbers".into()), Some("utf8".into())]);
    assert_eq!(texts(&refused, "component"), [Some("numbers".into()), None]);
    assert_eq!(texts(&refused, "component_version"), [Some("0.0.0".into()), None]);
    assert_eq!(texts(&refused, "component_digest"), [Some("native".into()), None]);
    assert_eq!(texts(&refused, "code"), [Some("corrupt_record".into()), Some("invalid_utf8".into())]);
    assert_eq!(texts(&refused, "text")[1].as_deref(), Some("column `payload` is not UTF-8 at byte 0"));
    let payload = refused.column_by_name("payload").unwrap().as_binary::<i32>();
    assert_eq!((payload.value(0), payload.value(1)), (b"oops".as_slice(), b"\xff\x00".as_slice()));
    assert_eq!(texts(&refused, "input")[0].as_deref(), Some(r#"{"message_key":"azE="}"#));
    assert_eq!(texts(&refused, "topic"), vec![Some("orders".to_owned()); 2]);
    assert_eq!(refused.column_by_name("partition").unwrap().as_primitive::<Int32Type>().value(1), 0);
    assert_eq!(longs(&refused, "offset"), [Some(101), Some(102)]);
    assert!(refused.column_by_name("file_path").unwrap().is_null(0));
    assert_eq!(longs(&refused, "file_row"), [None, None]);
}

/// Typed rows of a file: no payload, all columns in `input`.
fn typed() -> RecordBatch {
    let headers = StructArray::from(vec![
        (Arc::new(Field::new("key", DataType::Utf8, true)), Arc::new(StringArray::from(vec!["h", "h"])) as ArrayRef),
        (
            Arc::new(Field::new("value", DataType::Binary, true)),
            Arc::new(BinaryArray::from(vec![Some(b"\xff".as_slice()), None])) as ArrayRef,
        ),
    ]);
    let fields: Fields = headers.fields().clone();
    let amount = Decimal128Array::from(vec![1050, -5]).with_precision_and_scale(18, 2).unwrap();
    RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(Int64Array::from(vec![Some(500), None])) as ArrayRef, true),
        ("amount", Arc::new(amount), true),
        ("name", Arc::new(StringArray::from(vec![Some("a \"quoted\"\nline"), None])), true),
        ("header", Arc::new(StructArray::new(fields, headers.columns().to_vec(), None)), true),
        ("file_path", Arc::new(StringArray::from(vec!["f.json", "f.json"])), false),
        ("file_row", Arc::new(Int64Array::from(vec![7, 8])), false),
    ])
    .unwrap()
}

#[test]
fn e031_typed_rows_are_kept_as_one_json_object() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Validator, "small")];
    let refused = run(&contract, &typed()).unwrap().quarantined.unwrap();
    assert_eq!(
        texts(&refused, "input"),
        [Some(
            r#"{"n":500,"amount":10.50,"name":"a \"quoted\"\nline","header":{"key":"h","value":"/w=="}}"#.to_owned()
        )]
    );
    assert!(refused.column_by_name("payload").unwrap().is_null(0));
    assert_eq!(texts(&refused, "file_path"), [Some("f.json".to_owned())]);
    assert_eq!(longs(&refused, "file_row"), [Some(7)]);
    assert_eq!(texts(&refused, "topic"), [None]);
}

#[test]
fn e031_the_schema_is_final() {
    let columns: Vec<String> = quarantine_schema()
        .fields()
        .iter()
        .map(|f| {
            format!(
                "{} {}{}",
                f.name(),
                crisol_ipc::types::name(f.data_type()).unwrap(),
                if f.is_nullable() { "" } else { " not null" }
            )
        })
        .collect();
    assert_eq!(
        columns,
        [
            "stream string not null",
            "batch bigint not null",
            "batch_timestamp timestamp not null",
            "stage string not null",
            "component string",
            "component_version string",
            "component_digest string",
            "code string not null",
            "text string",
            "payload binary",
            "input string",
            "topic string",
            "partition int",
            "offset bigint",
            "file_path string",
            "file_row bigint",
        ]
    );
}
