//! Quarantine rows keep the input whole and say who refused it, and why (E-031).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BinaryArray, Decimal128Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use crisol_contract::StageKind;
use crisol_stage::{quarantine_schema, restored_rows};
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
fn e031_what_is_kept_gives_the_input_rows_back() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers")];
    let input = messages(&[b"1", b"oops", b"\xff\x00"]);
    let output = run(&contract, &input).unwrap();
    assert_eq!(output.refused, [1, 2]);
    let restored = restored_rows(&output.quarantined.unwrap(), &input.schema()).unwrap();
    assert_eq!(restored, input.slice(1, 2));

    contract.stages = vec![stage(StageKind::Validator, "small")];
    let output = run(&contract, &typed()).unwrap();
    let restored = restored_rows(&output.quarantined.unwrap(), &typed().schema()).unwrap();
    assert_eq!(restored, typed().slice(0, 1));
}

#[test]
fn e031_times_days_maps_and_lists_come_back_as_they_were() {
    use arrow_array::builder::{BinaryBuilder, ListBuilder, MapBuilder, StringBuilder};
    use arrow_array::{BooleanArray, Date32Array, Float64Array, Int64Array, TimestampMicrosecondArray};
    let mut map = MapBuilder::new(None, StringBuilder::new(), BinaryBuilder::new());
    map.keys().append_value("k");
    map.values().append_value(b"\x00\xfe");
    map.append(true).unwrap();
    let mut list = ListBuilder::new(BinaryBuilder::new());
    list.values().append_value(b"\xff");
    list.append(true);
    let at = TimestampMicrosecondArray::from(vec![1_772_359_200_123_456]);
    let input = RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(Int64Array::from(vec![500])) as ArrayRef, true),
        ("at", Arc::new(at.clone().with_timezone("UTC")), true),
        ("local", Arc::new(at), true),
        ("day", Arc::new(Date32Array::from(vec![20_513])), true),
        ("ratio", Arc::new(Float64Array::from(vec![0.1 + 0.2])), true),
        ("big", Arc::new(Int64Array::from(vec![i64::MAX])), true),
        ("yes", Arc::new(BooleanArray::from(vec![true])), true),
        ("map", Arc::new(map.finish()), true),
        ("list", Arc::new(list.finish()), true),
    ])
    .unwrap();
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Validator, "small")];
    let refused = run(&contract, &input).unwrap().quarantined.unwrap();
    assert_eq!(restored_rows(&refused, &input.schema()).unwrap(), input);
}

#[test]
fn a_column_that_came_later_is_null_and_one_that_no_longer_fits_is_an_error() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Validator, "small")];
    let refused = run(&contract, &typed()).unwrap().quarantined.unwrap();
    let with =
        |name: &str, data_type: DataType| Arc::new(arrow_schema::Schema::new(vec![Field::new(name, data_type, true)]));
    let later = restored_rows(&refused, &with("later", DataType::Utf8)).unwrap();
    assert_eq!(later.column(0).null_count(), 1);
    assert!(restored_rows(&refused, &with("name", DataType::Int64)).is_err());
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
