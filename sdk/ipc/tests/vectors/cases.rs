//! Small batches: each type, nulls at each level, no rows.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::*;
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use crisol_ipc::{Fate, Rejections, schema_of, types};

/// Each with the name of its files.
pub(crate) fn cases() -> Vec<(&'static str, RecordBatch)> {
    vec![
        ("boolean", one("boolean", BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))),
        ("tinyint", one("tinyint", Int8Array::from(vec![Some(i8::MIN), None, Some(i8::MAX)]))),
        ("smallint", one("smallint", Int16Array::from(vec![Some(i16::MIN), None, Some(i16::MAX)]))),
        ("int", one("int", Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)]))),
        ("bigint", one("bigint", Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]))),
        ("float", one("float", Float32Array::from(vec![Some(-0.5), None, Some(f32::INFINITY)]))),
        ("double", one("double", Float64Array::from(vec![Some(-0.5), None, Some(f64::NEG_INFINITY)]))),
        ("decimal", one("decimal(38,4)", decimals())),
        ("string", one("string", StringArray::from(vec![Some("a"), None, Some(""), Some("日本 😀")]))),
        ("binary", one("binary", BinaryArray::from(vec![Some(&[0xff, 0][..]), None, Some(&[][..])]))),
        ("date", one("date", Date32Array::from(vec![Some(-1), None, Some(20_543)]))),
        ("timestamp", one("timestamp", timestamps())),
        ("array", one("array<int>", lists())),
        ("struct", one("struct<a:int,b:string>", structs(types::parse("struct<a:int,b:string>").unwrap()))),
        ("map", one("map<string,bigint>", maps())),
        ("nested", one("array<struct<a:int,b:string>>", nested())),
        ("no-nulls", batch(&[("i", "int", false)], vec![Arc::new(Int32Array::from(vec![1, 2, 3]))])),
        ("no-rows", batch(&[("s", "string", true)], vec![Arc::new(StringArray::new_null(0))])),
        ("rows-and-index", with_row()),
        ("rejections", rejections()),
    ]
}

fn batch(columns: &[(&str, &str, bool)], arrays: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(schema_of(columns.iter().copied()).unwrap(), arrays).unwrap()
}

fn one(type_name: &str, array: impl Array + 'static) -> RecordBatch {
    batch(&[("c", type_name, true)], vec![Arc::new(array)])
}

fn decimals() -> Decimal128Array {
    let values = vec![Some(-12_500), None, Some(10_i128.pow(38) - 1)];
    Decimal128Array::from(values).with_precision_and_scale(38, 4).unwrap()
}

fn timestamps() -> TimestampMicrosecondArray {
    let values = vec![Some(-1), None, Some(1_775_001_600_000_001)];
    TimestampMicrosecondArray::from(values).with_timezone(types::UTC)
}

fn lists() -> ListArray {
    let element = Field::new(types::ELEMENT, DataType::Int32, true);
    let mut builder = ListBuilder::new(Int32Builder::new()).with_field(element);
    builder.append_value([Some(1), None]);
    builder.append_null();
    builder.append(true);
    builder.append_value([Some(3)]);
    builder.finish()
}

fn structs(data_type: DataType) -> StructArray {
    let DataType::Struct(fields) = data_type else { panic!("{data_type} is no struct") };
    let a: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(0), None]));
    let b: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), Some("y"), None, None]));
    // The third is null as a whole.
    StructArray::new(fields, vec![a, b], Some(NullBuffer::from(vec![true, true, false, true])))
}

fn maps() -> MapArray {
    let names = MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), Int64Builder::new());
    builder.keys().append_value("a");
    builder.values().append_value(1);
    builder.keys().append_value("b");
    builder.values().append_null();
    builder.append(true).unwrap();
    builder.append(false).unwrap();
    builder.append(true).unwrap();
    builder.finish()
}

fn nested() -> ListArray {
    let DataType::List(element) = types::parse("array<struct<a:int,b:string>>").unwrap() else { panic!("no list") };
    let values = structs(element.data_type().clone());
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([2, 0, 0, 2]);
    ListArray::new(element, offsets, Arc::new(values), Some(NullBuffer::from(vec![true, false, true, true])))
}

/// What a decoder gives: a column, and the row that each row came from.
fn with_row() -> RecordBatch {
    let texts = StringArray::from(vec![Some("first"), Some("first, once more"), None]);
    let columns: Vec<ArrayRef> = vec![Arc::new(texts), Arc::new(Int32Array::from(vec![0, 0, 2]))];
    batch(&[("s", "string", true), ("_row", "int", false)], columns)
}

fn rejections() -> RecordBatch {
    let mut rejections = Rejections::default();
    rejections.push(1, Fate::Quarantine, "no_sku", "the sku is empty");
    rejections.push(3, Fate::Filter, "skipped", "");
    rejections.finish().unwrap().unwrap()
}
