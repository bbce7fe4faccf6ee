//! The input: orders as JSON, as columns, and in groups.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, Int32Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use crisol_sdk::types;

use crate::Error;

/// When all of it happens, in microseconds since 1970: 2026-03-14.
pub const NOW_US: i64 = 1_773_446_400_000_000;
/// Rows of a group.
const GROUP_ROWS: usize = 100;

/// Payloads of about 100 bytes, or 300 with nested fields.
pub fn payloads(rows: usize, nested: bool) -> Result<RecordBatch, Error> {
    let mut texts = Vec::with_capacity(rows);
    for row in 0..rows as u64 {
        let mut text = String::new();
        order(row, nested, &mut text)?;
        texts.push(text);
    }
    let texts = texts.iter().map(|text| text.as_bytes());
    batch([("payload", "binary", Arc::new(BinaryArray::from_iter_values(texts)) as ArrayRef)])
}

fn order(row: u64, nested: bool, to: &mut String) -> std::fmt::Result {
    let r = mix(row);
    let (month, day, hour) = (r % 12 + 1, r % 28 + 1, r % 24);
    let (minute, second, millis, cents) = ((r >> 8) % 60, (r >> 16) % 60, (r >> 20) % 1_000, r % 10_000_000);
    let (euros, cents, version) = (cents / 100, cents % 100, r % 2 + 1);
    write!(
        to,
        r#"{{"order_id":"ord-{row:010}","event_ts":"2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z","amount":{euros}.{cents:02},"schema_version":{version}"#
    )?;
    if nested {
        let (id, user) = (r % 1_000_000, (r >> 20) % 1_000_000);
        write!(
            to,
            r#","customer":{{"id":{id},"name":"Ada Lovelace","email":"user{user}@example.com","tier":"gold"}},"items":["#
        )?;
        for item in 0..2 {
            let q = mix(r + item);
            let (sku, quantity, cents) = (q % 100_000, q % 9 + 1, q % 10_000_000);
            let comma = if item > 0 { "," } else { "" };
            write!(
                to,
                r#"{comma}{{"sku":"SKU-{sku:05}","qty":{quantity},"price":{}.{:02}}}"#,
                cents / 100,
                cents % 100
            )?;
        }
        to.push(']');
    }
    to.push('}');
    Ok(())
}

/// Orders as columns; one in a hundred breaks a rule.
pub fn orders(rows: usize) -> Result<RecordBatch, Error> {
    let numbers = || (0..rows as u64).map(mix);
    let cents = numbers().map(|r| if r % 100 == 0 { 0 } else { i128::from(r % 10_000_000) + 1 });
    let moments = numbers().map(|r| NOW_US - (r % 1_000_000_000) as i64);
    let currencies = numbers().map(|r| ["EUR", "USD", "GBP"][(r >> 8) as usize % 3]);
    batch([
        ("event_ts", "timestamp", Arc::new(TimestampMicrosecondArray::from_iter_values(moments).with_timezone("UTC"))),
        ("amount", "decimal(18,2)", Arc::new(decimals(cents)?)),
        ("currency", "string", Arc::new(StringArray::from_iter_values(currencies))),
    ])
}

/// Orders of groups, from the order `first` on, with the columns that are read.
pub fn grouped(first: usize, rows: usize, reads: &[String]) -> Result<RecordBatch, Error> {
    let numbers = || (first as u64..(first + rows) as u64).map(|row| (row, mix(row)));
    let mut columns: Vec<(&str, &str, ArrayRef)> = Vec::new();
    for name in reads {
        columns.push(match name.as_str() {
            "amount" => {
                ("amount", "decimal(18,2)", Arc::new(decimals(numbers().map(|(_, r)| i128::from(r % 100_000)))?))
            }
            "order_id" => {
                let names = numbers().map(|(row, _)| format!("ord-{row:010}"));
                ("order_id", "string", Arc::new(StringArray::from_iter_values(names)))
            }
            other => return Err(format!("there is no column `{other}`").into()),
        });
    }
    let groups = numbers().map(|(row, _)| row as i32 / GROUP_ROWS as i32);
    let groups: PrimitiveArray<Int32Type> = Int32Array::from_iter_values(groups);
    let mut fields: Vec<Field> = fields(&columns)?;
    fields.push(Field::new(crisol_ipc::GROUP, arrow_schema::DataType::Int32, false));
    let mut arrays: Vec<ArrayRef> = columns.into_iter().map(|(_, _, array)| array).collect();
    arrays.push(Arc::new(groups));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn decimals(cents: impl Iterator<Item = i128>) -> Result<Decimal128Array, Error> {
    Ok(Decimal128Array::from_iter_values(cents).with_precision_and_scale(18, 2)?)
}

fn batch<const N: usize>(columns: [(&str, &str, ArrayRef); N]) -> Result<RecordBatch, Error> {
    let schema = Schema::new(fields(&columns)?);
    Ok(RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, _, array)| array).collect())?)
}

fn fields(columns: &[(&str, &str, ArrayRef)]) -> Result<Vec<Field>, Error> {
    let field = |(name, data_type, _): &(&str, &str, _)| Ok(Field::new(*name, types::parse(data_type)?, true));
    columns.iter().map(field).collect::<Result<_, String>>().map_err(Error::from)
}

/// Well-spread bits (splitmix64).
fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
