//! What is encoded is decoded, and nothing else is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use batches::{ALL_TYPES, Dice, batch_of, random_batch};
use crisol_ipc::{
    Fate, IpcError, Limits, ROW, Rejected, Rejections, decode, encode, rejections_schema, schema_of, with_index,
};
use proptest::prelude::*;

fn decoded(bytes: Vec<u8>, schema: &SchemaRef) -> Result<RecordBatch, IpcError> {
    decode(bytes, schema, &Limits::default())
}

proptest! {
    #[test]
    fn any_batch_comes_back_also_sliced(seed: u64) {
        let mut dice = Dice(seed);
        let rows = dice.roll(50);
        let batch = random_batch(&mut dice, rows);
        let start = dice.roll(rows + 1);
        for batch in [batch.clone(), batch.slice(start, rows - start)] {
            let message = encode(&batch).unwrap();
            prop_assert_eq!(message.len() % 8, 0);
            prop_assert_eq!(decoded(message, &batch.schema()).unwrap(), batch);
        }
    }
}

#[test]
fn all_types_in_one_batch_and_no_rows_at_all() {
    for rows in [0, 1, 7, 1000] {
        let batch = batch_of(&ALL_TYPES, &mut Dice(3), rows);
        assert_eq!(decoded(encode(&batch).unwrap(), &batch.schema()).unwrap(), batch);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(12));
    let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    assert_eq!(decoded(encode(&none).unwrap(), &none.schema()).unwrap().num_rows(), 12);
}

#[test]
fn columns_share_the_memory_of_the_message() {
    let batch = batch_of(&["bigint", "decimal(18,2)"], &mut Dice(1), 1000);
    let message = encode(&batch).unwrap();
    let range = message.as_ptr_range();
    let decoded = decoded(message, &batch.schema()).unwrap();
    for column in decoded.columns() {
        let at = column.to_data().buffers()[0].as_ptr();
        assert!(range.contains(&at), "{} was copied", column.data_type());
    }
}

#[test]
fn a_message_at_any_address_is_read() {
    let batch = batch_of(&ALL_TYPES, &mut Dice(5), 20);
    let message = encode(&batch).unwrap();
    for shift in 0..16 {
        let mut bytes = vec![0; shift];
        bytes.extend_from_slice(&message);
        let bytes = arrow_buffer::Buffer::from(bytes).slice(shift);
        assert_eq!(decode(bytes, &batch.schema(), &Limits::default()).unwrap(), batch);
    }
}

#[test]
fn limits_hold() {
    let batch = batch_of(&["int"], &mut Dice(1), 100);
    let message = encode(&batch).unwrap();
    let bytes = message.len();
    let error = decode(message.clone(), &batch.schema(), &Limits { rows_max: 99, bytes_max: bytes }).unwrap_err();
    assert_eq!(error.to_string(), "the message has 100 rows, the limit is 99");
    let error = decode(message, &batch.schema(), &Limits { rows_max: 100, bytes_max: bytes - 1 }).unwrap_err();
    assert_eq!(error, IpcError::Limit { what: "bytes", found: bytes as u64, max: bytes as u64 - 1 });
}

#[test]
fn envelopes_that_do_not_hold_are_refused_with_the_reason() {
    let batch = batch_of(&["int", "string"], &mut Dice(1), 10);
    let message = encode(&batch).unwrap();
    let schema = batch.schema();
    let mut stream = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let extended = [message.clone(), vec![0; 8]].concat();
    let cut = message[..message.len() - 1].to_vec();
    let end = vec![0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    for (bytes, part) in [
        (vec![], "0 bytes are there"),
        (vec![0; 64], "continuation marker"),
        (end, "end-of-stream marker"),
        (vec![0xff; 64], "its header cannot have -1 bytes"),
        (stream, "it is a Schema, not a RecordBatch"),
        (extended, "its body should have"),
        (cut, "its body should have"),
        (message[..40].to_vec(), "the header alone takes"),
        ([&message[..8], vec![0x55; message.len() - 8].as_slice()].concat(), "its header is damaged"),
    ] {
        let error = decoded(bytes, &schema).unwrap_err();
        assert!(matches!(error, IpcError::Frame(_)) && error.to_string().contains(part), "{part}: {error}");
    }
}

#[test]
fn another_schema_than_agreed_is_refused() {
    let batch = batch_of(&["int", "bigint"], &mut Dice(2), 10);
    let message = encode(&batch).unwrap();
    for (columns, part) in [
        (vec![("a", "int", true)], "asks for 1 field nodes and 2 buffers, 2 and 4 are there"),
        (vec![("a", "int", true), ("b", "decimal(9,0)", true)], "column `b` (decimal(9,0)): its values take 160 bytes"),
        (vec![("a", "int", true), ("b", "string", true)], "asks for 2 field nodes and 5 buffers"),
    ] {
        let error = decoded(message.clone(), &schema_of(columns).unwrap()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn nulls_where_the_schema_allows_none_are_refused() {
    let nullable = schema_of([("a", "int", true)]).unwrap();
    let strict = schema_of([("a", "int", false)]).unwrap();
    let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let message = encode(&RecordBatch::try_new(nullable, vec![column]).unwrap()).unwrap();
    let error = decoded(message, &strict).unwrap_err();
    assert!(error.to_string().contains("non-nullable"), "{error}");
}

#[test]
fn decimals_with_too_many_digits_are_refused_unless_null() {
    let wide = schema_of([("d", "decimal(10,2)", true)]).unwrap();
    let narrow = schema_of([("d", "decimal(4,2)", true)]).unwrap();
    let column = |values: Vec<Option<i128>>| {
        let array = Decimal128Array::from(values).with_precision_and_scale(10, 2).unwrap();
        encode(&RecordBatch::try_new(Arc::clone(&wide), vec![Arc::new(array)]).unwrap()).unwrap()
    };
    assert!(decoded(column(vec![Some(9_999), Some(-9_999), None]), &narrow).is_ok());
    let error = decoded(column(vec![Some(1), Some(10_000)]), &narrow).unwrap_err();
    assert!(error.to_string().contains("the value in row 1 has more than 4 digits"), "{error}");
    let array = Decimal128Array::new(vec![10_000].into(), Some(vec![false].into()));
    let array = array.with_precision_and_scale(10, 2).unwrap();
    let message = encode(&RecordBatch::try_new(Arc::clone(&wide), vec![Arc::new(array)]).unwrap()).unwrap();
    assert!(decoded(message, &narrow).is_ok());
}

#[test]
fn types_that_contracts_do_not_have_do_not_cross() {
    let schema = Arc::new(Schema::new(vec![Field::new("u", DataType::UInt8, true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(UInt8Array::from(vec![1]))]).unwrap();
    assert!(matches!(encode(&batch), Err(IpcError::Type { .. })));
    assert!(matches!(decoded(vec![], &schema), Err(IpcError::Type { .. })));
}

#[test]
fn rejections_come_back() {
    let mut rejections = Rejections::default();
    assert!(Rejections::default().finish().unwrap().is_none());
    rejections.push(3, Fate::Quarantine, "corrupt_record", "amount: \"mucho\" is no decimal(18,2)");
    rejections.push(1, Fate::Filter, "test_order", "");
    assert_eq!(rejections.len(), 2);
    let batch = rejections.finish().unwrap().unwrap();
    let batch = decoded(encode(&batch).unwrap(), &rejections_schema()).unwrap();
    let rows = Rejections::read(&batch).unwrap();
    assert_eq!(rows[1], Rejected { row: 1, kind: Fate::Filter, code: "test_order".into(), text: String::new() });
    assert_eq!((rows[0].row, rows[0].kind, rows[0].code.as_str()), (3, Fate::Quarantine, "corrupt_record"));
    assert!(Rejections::read(&batch.project(&[0, 1]).unwrap()).is_err());
}

#[test]
fn schemas_from_text() {
    let schema = schema_of([("order_id", "string", true), ("amount", "decimal(18,2)", false)]).unwrap();
    let schema = with_index(&schema, ROW);
    assert_eq!(schema.field(2), &Field::new("_row", DataType::Int32, false));
    assert_eq!(
        schema_of([("a", "strng", true)]).unwrap_err(),
        "column `a`: `strng` is not a type; did you mean `string`?"
    );
    assert_eq!(schema_of([("a", "int", true), ("a", "int", true)]).unwrap_err(), "column `a` is there twice");
}

#[test]
fn no_value_is_lost_from_a_wide_string_column() {
    let values: Vec<Option<String>> = (0..20_000).map(|i| (i % 9 > 0).then(|| format!("o-{i:09}"))).collect();
    let schema = schema_of([("s", "string", true)]).unwrap();
    let batch = RecordBatch::try_new(schema, vec![Arc::new(StringArray::from(values))]).unwrap();
    let back = decoded(encode(&batch).unwrap(), &batch.schema()).unwrap();
    assert_eq!(back.column(0).as_string::<i32>().value(19_999), "o-000019999");
    assert_eq!(back, batch);
}
