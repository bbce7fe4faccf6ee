//! Columns of any type, filled with what is rare: limits, no numbers, odd text, nulls at every level.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, ListArray, MapArray, PrimitiveArray,
    RecordBatch, RecordBatchOptions, StringArray, StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use crisol_ipc::types;

/// Midnight of the first day of the year 1, and the last microsecond of the year 9999, since 1970 UTC.
pub(super) const FIRST_US: i64 = -62_135_596_800_000_000;
pub(super) const LAST_US: i64 = 253_402_300_799_999_999;
/// Two days before, which has a text wherever on earth it is read.
const LAST_TEXT_US: i64 = LAST_US - 172_800_000_000;
/// The same days.
const FIRST_DAY: i32 = -719_162;
const LAST_DAY: i32 = 2_932_896;
/// Every so many rows there is a long text.
pub(super) const LONG_EVERY: usize = 29;
const LONG_BYTES: usize = 64 << 10;

/// Odd text: empty, a null character, emoji with joiners, marks that combine, right to left, what looks like markup.
pub(super) const TEXTS: [&str; 12] = [
    "",
    " ",
    "plain",
    "nul\u{0}in the middle",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}",
    "e\u{301}\u{327} \u{fdfa}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202e}\u{645}\u{631}\u{62d}\u{628}\u{627}",
    "quote \" backslash \\ tab \t line \n end \r",
    "\u{feff}mark \u{fffd} \u{10ffff}",
    "{\"a\": [1, null]}",
    "-0",
    "\u{6771}\u{4eac} pa\u{ed}s",
];

/// What the value of a row is made from; `None`: null.
type Seed = Option<usize>;

/// Which values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// All that are rare, but for long texts.
    Rare,
    /// With texts of 64 KiB.
    Long,
    /// Those that JSON can say: floats are finite, and times within what text has.
    Textual,
}

/// Rows of these columns. Every column goes through all its rare values, each from another one on, with a null now and then
/// where it may be null.
pub(super) fn rows(schema: &SchemaRef, count: usize, choice: Choice) -> Result<RecordBatch, ArrowError> {
    let column = |(at, field): (usize, &FieldRef)| {
        let seed = |row: usize| {
            let null = field.is_nullable() && (row * 31 + at * 7) % 11 == 3;
            (!null).then_some(row + at * 5)
        };
        values(field.data_type(), &(0..count).map(seed).collect::<Vec<_>>(), choice)
    };
    let columns = schema.fields().iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
    batch(schema, columns, count)
}

/// Rows that are null wherever they may be.
pub(super) fn nulls(schema: &SchemaRef, count: usize) -> Result<RecordBatch, ArrowError> {
    let column = |field: &FieldRef| match field.is_nullable() {
        true => Ok(new_null_array(field.data_type(), count)),
        false => values(field.data_type(), &vec![Some(2); count], Choice::Rare),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    batch(schema, columns, count)
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, count: usize) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(schema.fields().clone())), columns, &options)
}

fn values(data_type: &DataType, seeds: &[Seed], choice: Choice) -> Result<ArrayRef, ArrowError> {
    Ok(match data_type {
        DataType::Boolean => Arc::new(each(seeds, |seed| seed % 2 == 0).collect::<BooleanArray>()),
        DataType::Int8 => whole::<Int8Type>(seeds, i8::MIN, i8::MAX),
        DataType::Int16 => whole::<Int16Type>(seeds, i16::MIN, i16::MAX),
        DataType::Int32 => whole::<Int32Type>(seeds, i32::MIN, i32::MAX),
        DataType::Int64 => whole::<Int64Type>(seeds, i64::MIN, i64::MAX),
        DataType::Float32 => {
            Arc::new(each(seeds, |seed| single(seed, choice)).collect::<PrimitiveArray<Float32Type>>())
        }
        DataType::Float64 => {
            Arc::new(each(seeds, |seed| double(seed, choice)).collect::<PrimitiveArray<Float64Type>>())
        }
        DataType::Decimal128(precision, scale) => {
            let units = each(seeds, |seed| decimal(seed, *precision)).collect::<Decimal128Array>();
            Arc::new(units.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Date32 => {
            Arc::new(each(seeds, |seed| pick(seed, [FIRST_DAY, LAST_DAY, 0, -1, 19_000])).collect::<Date32Array>())
        }
        DataType::Timestamp(..) => {
            let last = if choice == Choice::Textual { LAST_TEXT_US } else { LAST_US };
            let times = each(seeds, |seed| pick(seed, [FIRST_US, last, 0, -1, 1_700_000_000_123_456]));
            Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone(types::UTC))
        }
        DataType::Utf8 => Arc::new(each(seeds, |seed| text(seed, choice)).collect::<StringArray>()),
        DataType::Binary => Arc::new(each(seeds, bytes).collect::<BinaryArray>()),
        DataType::List(element) => list(element, seeds, choice)?,
        DataType::Struct(fields) => structure(fields, seeds, choice)?,
        DataType::Map(entries, _) => map(entries, seeds, choice)?,
        other => return Err(ArrowError::NotYetImplemented(format!("values of type {other}"))),
    })
}

fn each<T>(seeds: &[Seed], value: impl Fn(usize) -> T) -> impl Iterator<Item = Option<T>> {
    seeds.iter().map(move |seed| seed.map(&value))
}

fn pick<T: Copy, const N: usize>(seed: usize, from: [T; N]) -> T {
    from[seed % N]
}

/// The limits, what is around zero, and ordinary numbers.
fn whole<T: arrow_array::ArrowPrimitiveType>(seeds: &[Seed], min: T::Native, max: T::Native) -> ArrayRef
where
    T::Native: TryFrom<i64>,
{
    let small = |number: usize| T::Native::try_from(number as i64 - 1).unwrap_or(max);
    let value = |seed: usize| match seed % 7 {
        0 => min,
        1 => max,
        2 => small(0),
        rest => small(rest - 2 + seed / 7 % 100),
    };
    Arc::new(each(seeds, value).collect::<PrimitiveArray<T>>())
}

fn single(seed: usize, choice: Choice) -> f32 {
    let from = if choice == Choice::Textual { seed % 5 + 3 } else { seed };
    pick(from, [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.1, f32::MAX, f32::MIN_POSITIVE, -1.5])
}

fn double(seed: usize, choice: Choice) -> f64 {
    let from = if choice == Choice::Textual { seed % 5 + 3 } else { seed };
    pick(from, [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.1, f64::MAX, f64::MIN_POSITIVE, -1.5])
}

/// Units of a decimal of so many digits.
fn decimal(seed: usize, precision: u8) -> i128 {
    let most = 10_i128.pow(u32::from(precision)) - 1;
    pick(seed, [most, -most, 0, 1, -1, 1_234_567 % (most + 1), most / 2])
}

fn text(seed: usize, choice: Choice) -> String {
    if choice == Choice::Long && seed % LONG_EVERY == LONG_EVERY - 1 {
        return "\u{e9}x".repeat(LONG_BYTES / 3) + "end";
    }
    pick(seed, TEXTS).to_string()
}

fn bytes(seed: usize) -> Vec<u8> {
    pick(seed, [&b""[..], b"\x00", b"\xff\xfe\xc3\x28", b"plain", &[0x80; 300]]).to_vec()
}

/// Seeds of the elements of lists of 0 to 3.
fn elements(seeds: &[Seed]) -> (OffsetBuffer<i32>, Vec<usize>) {
    let lengths: Vec<usize> = seeds.iter().map(|seed| seed.map_or(0, |seed| seed % 4)).collect();
    let seeds = seeds.iter().flatten().flat_map(|seed| (0..seed % 4).map(move |at| seed / 4 + at * 5));
    (OffsetBuffer::from_lengths(lengths), seeds.collect())
}

/// Of values within others: no long texts, or there are too many.
fn inner(choice: Choice) -> Choice {
    if choice == Choice::Long { Choice::Rare } else { choice }
}

fn sometimes_null(seed: usize) -> Seed {
    (seed % 9 != 4).then_some(seed)
}

fn list(element: &FieldRef, seeds: &[Seed], choice: Choice) -> Result<ArrayRef, ArrowError> {
    let (offsets, inside) = elements(seeds);
    let inside: Vec<Seed> = inside.into_iter().map(sometimes_null).collect();
    let elements = values(element.data_type(), &inside, inner(choice))?;
    Ok(Arc::new(ListArray::try_new(element.clone(), offsets, elements, validity(seeds))?))
}

fn structure(fields: &Fields, seeds: &[Seed], choice: Choice) -> Result<ArrayRef, ArrowError> {
    let child = |(at, field): (usize, &FieldRef)| {
        let inside: Vec<Seed> = seeds.iter().map(|seed| seed.and_then(|seed| sometimes_null(seed / 2 + at))).collect();
        values(field.data_type(), &inside, inner(choice))
    };
    let children = fields.iter().enumerate().map(child).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), children, validity(seeds), seeds.len())?))
}

/// Keys of one map differ, and are never null.
fn map(entries: &FieldRef, seeds: &[Seed], choice: Choice) -> Result<ArrayRef, ArrowError> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(ArrowError::SchemaError("a map has entries".into()));
    };
    let (offsets, inside) = elements(seeds);
    // Successive seeds give different texts and numbers, for as many as a map has here.
    let places = (0..).zip(offsets.windows(2)).flat_map(|(row, ends)| (ends[0]..ends[1]).map(move |_| row));
    let keys: Vec<Seed> = places.zip(0..).map(|(row, at): (usize, usize)| Some(row * 4 + at)).collect();
    let held: Vec<Seed> = inside.into_iter().map(sometimes_null).collect();
    let [key, value] = fields.as_ref() else { return Err(ArrowError::SchemaError("a map has two children".into())) };
    let columns =
        vec![values(key.data_type(), &keys, inner(choice))?, values(value.data_type(), &held, inner(choice))?];
    let pairs = StructArray::try_new(fields.clone(), columns, None)?;
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, pairs, validity(seeds), false)?))
}

fn validity(seeds: &[Seed]) -> Option<NullBuffer> {
    Some(seeds.iter().map(Option::is_some).collect())
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    #[test]
    fn every_type_has_its_limits_and_nulls() {
        let columns =
            [("i", "bigint"), ("d", "decimal(38,10)"), ("s", "string"), ("f", "double"), ("m", "map<string,int>")];
        let columns = columns.map(|(name, data_type)| (name, data_type, true));
        let schema = crisol_ipc::schema_of(columns).unwrap();
        let rows = rows(&schema, 200, Choice::Long).unwrap();
        let shown = |column: usize| -> Vec<String> {
            (0..200).map(|row| crisol_plugin::sample_value(rows.column(column), row).to_string()).collect()
        };
        assert!(shown(0).contains(&i64::MIN.to_string()) && shown(0).contains(&i64::MAX.to_string()));
        assert!(shown(1).contains(&format!("\"{}.9999999999\"", "9".repeat(28))), "{:?}", shown(1));
        assert!(shown(2).iter().any(|text| text.len() > LONG_BYTES));
        for text in TEXTS {
            assert!(shown(2).contains(&serde_json::Value::from(text).to_string()), "{text:?}");
        }
        assert!(["\"NaN\"", "\"Infinity\"", "-0.0"].iter().all(|wanted| shown(3).contains(&(*wanted).to_string())));
        assert!(rows.columns().iter().all(|column| column.null_count() > 0));
    }

    #[test]
    fn what_may_not_be_null_is_not() {
        let schema = crisol_ipc::schema_of([("a", "int", false), ("b", "string", true)]).unwrap();
        let nulls = nulls(&schema, 3).unwrap();
        assert_eq!((nulls.column(0).null_count(), nulls.column(1).null_count()), (0, 3));
        assert_eq!(rows(&schema, 100, Choice::Rare).unwrap().column(0).null_count(), 0);
    }
}
