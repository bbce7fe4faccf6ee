//! Batches of all contract types from a seed.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema};
use crisol_ipc::types;

/// Random numbers from a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        (self.word() % below.max(1) as u64) as usize
    }

    pub(crate) fn word(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

pub(crate) const ALL_TYPES: [&str; 15] = [
    "string",
    "binary",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(18,2)",
    "date",
    "timestamp",
    "array<string>",
    "map<string,array<decimal(38,4)>>",
    "struct<sku:string,qty:int,inner:struct<a:boolean,b:array<struct<c:timestamp>>>>",
];

/// A batch of columns of random types, some of them not null, `rows` rows.
pub(crate) fn random_batch(dice: &mut Dice, rows: usize) -> RecordBatch {
    let names: Vec<&str> = (0..1 + dice.roll(5)).map(|_| ALL_TYPES[dice.roll(ALL_TYPES.len())]).collect();
    batch_of(&names, dice, rows)
}

pub(crate) fn batch_of(type_names: &[&str], dice: &mut Dice, rows: usize) -> RecordBatch {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (i, name) in type_names.iter().enumerate() {
        let data_type = types::parse(name).unwrap();
        let nullable = dice.roll(3) > 0;
        columns.push(array(&data_type, rows, nullable, dice));
        fields.push(Field::new(format!("c{i}"), data_type, nullable));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).unwrap()
}

fn nulls(length: usize, nullable: bool, dice: &mut Dice) -> Option<NullBuffer> {
    (nullable && dice.roll(3) > 0).then(|| (0..length).map(|_| dice.roll(4) > 0).collect::<Vec<bool>>().into())
}

fn text(dice: &mut Dice) -> String {
    ["", "a", "ñandú", "o-000000001", "日本", "x".repeat(40).as_str()][dice.roll(6)].to_string()
}

macro_rules! primitive {
    ($array:ty, $length:expr, $nulls:expr, $value:expr) => {{
        let nulls = $nulls;
        let values: Vec<_> = (0..$length).map(|_| $value).collect();
        Arc::new(<$array>::new(values.into(), nulls))
    }};
}

pub(crate) fn array(data_type: &DataType, length: usize, nullable: bool, dice: &mut Dice) -> ArrayRef {
    let valid = nulls(length, nullable, dice);
    match data_type {
        DataType::Boolean => {
            Arc::new(BooleanArray::new((0..length).map(|_| dice.roll(2) == 0).collect::<Vec<bool>>().into(), valid))
        }
        DataType::Int8 => primitive!(Int8Array, length, valid, dice.word() as i8),
        DataType::Int16 => primitive!(Int16Array, length, valid, dice.word() as i16),
        DataType::Int32 => primitive!(Int32Array, length, valid, dice.word() as i32),
        DataType::Int64 => primitive!(Int64Array, length, valid, dice.word() as i64),
        DataType::Float32 => primitive!(Float32Array, length, valid, dice.word() as f32),
        DataType::Float64 => primitive!(Float64Array, length, valid, dice.word() as f64),
        DataType::Date32 => primitive!(Date32Array, length, valid, dice.word() as i16 as i32),
        DataType::Timestamp(..) => {
            let values: Vec<i64> = (0..length).map(|_| dice.word() as i32 as i64).collect();
            Arc::new(TimestampMicrosecondArray::new(values.into(), valid).with_timezone("UTC"))
        }
        DataType::Decimal128(p, s) => {
            let values: Vec<i128> = (0..length).map(|_| dice.word() as i32 as i128).collect();
            Arc::new(Decimal128Array::new(values.into(), valid).with_precision_and_scale(*p, *s).unwrap())
        }
        DataType::Utf8 => {
            let values: Vec<String> = (0..length).map(|_| text(dice)).collect();
            let (offsets, values, _) = StringArray::from(values).into_parts();
            Arc::new(StringArray::new(offsets, values, valid))
        }
        DataType::Binary => {
            let values: Vec<Vec<u8>> = (0..length).map(|_| vec![0xff; dice.roll(9)]).collect();
            let (offsets, values, _) = BinaryArray::from_iter_values(values).into_parts();
            Arc::new(BinaryArray::new(offsets, values, valid))
        }
        DataType::List(child) => {
            let (offsets, total) = offsets(length, dice);
            let values = array(child.data_type(), total, child.is_nullable(), dice);
            Arc::new(ListArray::new(Arc::clone(child), offsets, values, valid))
        }
        DataType::Map(entries, _) => {
            let (offsets, total) = offsets(length, dice);
            let values = array(entries.data_type(), total, false, dice);
            let values = values.as_any().downcast_ref::<StructArray>().unwrap().clone();
            Arc::new(MapArray::new(Arc::clone(entries), offsets, values, valid, false))
        }
        DataType::Struct(fields) => {
            let children = fields.iter().map(|f| array(f.data_type(), length, f.is_nullable(), dice)).collect();
            Arc::new(StructArray::new(fields.clone(), children, valid))
        }
        other => panic!("no array of {other}"),
    }
}

fn offsets(length: usize, dice: &mut Dice) -> (OffsetBuffer<i32>, usize) {
    let lengths: Vec<usize> = (0..length).map(|_| dice.roll(4)).collect();
    let total = lengths.iter().sum();
    (OffsetBuffer::from_lengths(lengths), total)
}
