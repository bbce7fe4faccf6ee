//! Columns of every scalar type as one of three: whole numbers, floats, bytes.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use crisol_sdk::Failure;
use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use crisol_sdk::arrow::{
    Array, ArrayRef, BinaryArray, BooleanArray, DataType, Float64Array, PrimitiveArray, StringArray,
};

/// How the values of a type are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Integers, decimals (their smallest units), dates, timestamps, booleans.
    Exact,
    /// Floats and doubles.
    Float,
    /// Strings and binaries.
    Bytes,
}

impl Class {
    /// `None` for types that have no order.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Float32 | DataType::Float64 => Some(Self::Float),
            DataType::Utf8 | DataType::Binary => Some(Self::Bytes),
            other if other.is_nested() => None,
            _ => Some(Self::Exact),
        }
    }
}

/// Sees the values of some rows that are not null, as whole numbers.
pub(crate) fn exact(column: &ArrayRef, rows: Range<usize>, mut see: impl FnMut(i128)) -> Result<(), Failure> {
    match column.data_type() {
        DataType::Int8 => primitive::<Int8Type>(column, rows, |v| see(v.into())),
        DataType::Int16 => primitive::<Int16Type>(column, rows, |v| see(v.into())),
        DataType::Int32 => primitive::<Int32Type>(column, rows, |v| see(v.into())),
        DataType::Int64 => primitive::<Int64Type>(column, rows, |v| see(v.into())),
        DataType::Date32 => primitive::<Date32Type>(column, rows, |v| see(v.into())),
        DataType::Timestamp(..) => primitive::<TimestampMicrosecondType>(column, rows, |v| see(v.into())),
        DataType::Decimal128(..) => primitive::<Decimal128Type>(column, rows, see),
        DataType::Boolean => {
            let values = column.as_boolean();
            valid(column, rows).for_each(|row| see(values.value(row).into()));
        }
        other => return Err(unknown(other)),
    }
    Ok(())
}

/// The values of some rows of a column of decimals, when none of the column is null.
pub(crate) fn decimals(column: &ArrayRef, rows: Range<usize>) -> Option<&[i128]> {
    column.as_primitive_opt::<Decimal128Type>().filter(|column| column.null_count() == 0)?.values().get(rows)
}

/// Whole numbers that are folded at once.
pub(crate) const SOME: usize = 8;

/// A fold of [`SOME`] values, when each has at most 60 bits, so that the sum of them all has no more than 64.
#[inline]
pub(crate) fn short_fold(values: &[i128], first: i64, fold: impl Fn(i64, i64) -> i64) -> Option<i64> {
    let values = values.first_chunk::<SOME>()?;
    let (mut folded, mut long) = (first, 0);
    for value in values {
        let low = *value as i64;
        // Zero when the 68 bits above the lowest 60 are all like the sign.
        long |= ((*value >> 64) as i64 ^ (low >> 63)) | ((low >> 60) ^ (low >> 63));
        folded = fold(folded, low);
    }
    (long == 0).then_some(folded)
}

/// The least value, or the greatest: how it compares to the others is `better`.
pub(crate) fn best(values: &[i128], better: Ordering) -> Option<i128> {
    let of_some = |some: &[i128]| {
        let short = if better == Ordering::Less {
            short_fold(some, i64::MAX, i64::min)
        } else {
            short_fold(some, i64::MIN, i64::max)
        };
        short.map(i128::from).or_else(|| choose(some.iter().copied(), better))
    };
    choose(values.chunks(SOME).filter_map(of_some), better)
}

fn choose(values: impl Iterator<Item = i128>, better: Ordering) -> Option<i128> {
    values.reduce(|best, value| if value.cmp(&best) == better { value } else { best })
}

/// Sees the values of some rows that are not null, as doubles.
pub(crate) fn floats(column: &ArrayRef, rows: Range<usize>, mut see: impl FnMut(f64)) -> Result<(), Failure> {
    match column.data_type() {
        DataType::Float32 => primitive::<Float32Type>(column, rows, |v| see(v.into())),
        DataType::Float64 => primitive::<Float64Type>(column, rows, see),
        other => return Err(unknown(other)),
    }
    Ok(())
}

/// Sees the values of some rows that are not null, as bytes.
pub(crate) fn bytes(column: &ArrayRef, rows: Range<usize>, mut see: impl FnMut(&[u8])) -> Result<(), Failure> {
    match column.data_type() {
        DataType::Utf8 => {
            let values = column.as_string::<i32>();
            valid(column, rows).for_each(|row| see(values.value(row).as_bytes()));
        }
        DataType::Binary => {
            let values = column.as_binary::<i32>();
            valid(column, rows).for_each(|row| see(values.value(row)));
        }
        other => return Err(unknown(other)),
    }
    Ok(())
}

/// Rows that are not null.
pub(crate) fn valid(column: &ArrayRef, rows: Range<usize>) -> impl Iterator<Item = usize> {
    rows.filter(move |row| column.is_valid(*row))
}

fn primitive<T: ArrowPrimitiveType>(column: &ArrayRef, rows: Range<usize>, mut see: impl FnMut(T::Native)) {
    let values = column.as_primitive::<T>().values();
    if column.null_count() == 0 {
        values[rows].iter().for_each(|value| see(*value));
    } else {
        valid(column, rows).for_each(|row| see(values[row]));
    }
}

/// SQL's order of floats: NaN is the greatest and equals itself, −0.0 equals 0.0.
pub(crate) fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A column of whole numbers that fit its type.
pub(crate) fn exact_column(data_type: &DataType, values: Vec<Option<i128>>) -> Result<ArrayRef, Failure> {
    Ok(match data_type {
        DataType::Int8 => narrowed::<Int8Type>(data_type, values)?,
        DataType::Int16 => narrowed::<Int16Type>(data_type, values)?,
        DataType::Int32 => narrowed::<Int32Type>(data_type, values)?,
        DataType::Int64 => narrowed::<Int64Type>(data_type, values)?,
        DataType::Date32 => narrowed::<Date32Type>(data_type, values)?,
        DataType::Timestamp(..) => narrowed::<TimestampMicrosecondType>(data_type, values)?,
        DataType::Decimal128(..) => narrowed::<Decimal128Type>(data_type, values)?,
        DataType::Boolean => {
            let values: BooleanArray = values.into_iter().map(|value| value.map(|value| value != 0)).collect();
            Arc::new(values)
        }
        other => return Err(unknown(other)),
    })
}

fn narrowed<T>(data_type: &DataType, values: Vec<Option<i128>>) -> Result<ArrayRef, Failure>
where
    T: ArrowPrimitiveType<Native: TryFrom<i128>>,
{
    let narrow = |value: i128| T::Native::try_from(value).map_err(|_| Failure::bug(format!("{value} as {data_type}")));
    let values: Result<PrimitiveArray<T>, Failure> =
        values.into_iter().map(|value| value.map(narrow).transpose()).collect();
    Ok(Arc::new(values?.with_data_type(data_type.clone())))
}

/// A column of floats or doubles.
pub(crate) fn float_column(data_type: &DataType, values: Vec<Option<f64>>) -> ArrayRef {
    let values = Float64Array::from(values);
    match data_type {
        DataType::Float32 => Arc::new(values.unary::<_, Float32Type>(|value| value as f32)),
        _ => Arc::new(values),
    }
}

/// A column of strings or binaries.
pub(crate) fn bytes_column(data_type: &DataType, values: &[Option<Box<[u8]>>]) -> Result<ArrayRef, Failure> {
    if *data_type == DataType::Binary {
        return Ok(Arc::new(values.iter().map(Option::as_deref).collect::<BinaryArray>()));
    }
    let texts = values.iter().map(|value| value.as_deref().map(std::str::from_utf8).transpose());
    let values: Result<StringArray, _> = texts.collect();
    Ok(Arc::new(values.map_err(Failure::bug)?))
}

fn unknown(data_type: &DataType) -> Failure {
    Failure::bug(format!("a column of type {data_type} came where none should"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_many_is_the_best_of_each() {
        let edges = [0, 1, -1, 1 << 60, -(1 << 60) - 1, (1 << 63) - 1, 1 << 63, i128::MAX, i128::MIN];
        for first in edges {
            for second in edges {
                for length in [0, 1, 7, 8, 9, 16, 21] {
                    let values: Vec<i128> = (0..length).map(|i| if i % 5 == 3 { first } else { second }).collect();
                    assert_eq!(best(&values, Ordering::Less), values.iter().min().copied(), "{values:?}");
                    assert_eq!(best(&values, Ordering::Greater), values.iter().max().copied(), "{values:?}");
                }
            }
        }
    }
}
