//! Which live files cannot hold any of a batch's keys. Without proof a file is read.

use std::collections::{HashMap, HashSet};

use arrow_array::types::{Date32Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, cast::AsArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType};
use serde_json::Value;

use super::LiveFile;

/// Texts of at least this many characters may be cut in the statistics of other writers, and a cut maximum proves nothing.
const CUT_CHARS: usize = 32;

/// A value whose order is that of its column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Number(i64),
    Text(String),
}

/// What a batch's keys span.
#[derive(Debug)]
pub(super) struct Span {
    /// Key columns with bounds: least and greatest value. `None`: a null, or a type without usable bounds.
    bounds: HashMap<String, Option<(Bound, Bound)>>,
    /// Partition columns of the key: the values present, in the protocol's text. `None`: of a type that engines write
    /// in several ways.
    partitions: HashMap<String, Option<HashSet<Option<String>>>>,
    /// No rows were added yet.
    empty: bool,
}

impl Span {
    pub(super) fn new(keys: &[String], partition_by: &[String]) -> Self {
        let (parts, plain): (Vec<_>, Vec<_>) = keys.iter().cloned().partition(|key| partition_by.contains(key));
        let partitions = parts.into_iter().map(|key| (key, Some(HashSet::new()))).collect();
        let mut span = Self { bounds: HashMap::new(), partitions, empty: true };
        span.bounds.extend(plain.into_iter().map(|key| (key, None)));
        span
    }

    /// Widens the span by the keys of some rows.
    pub(super) fn add(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let first = std::mem::replace(&mut self.empty, false);
        for (name, values) in &mut self.partitions {
            let Some(column) = rows.column_by_name(name) else { continue };
            match values {
                Some(values) if has_one_text(column.data_type()) => values.extend(texts(column)?),
                _ => *values = None,
            }
        }
        for (name, bounds) in &mut self.bounds {
            let Some(column) = rows.column_by_name(name) else { continue };
            let more = range(column);
            *bounds = match (bounds.take(), more) {
                (None, more) if first => more,
                (Some((least, greatest)), Some((low, high))) => Some((least.min(low), greatest.max(high))),
                _ => None,
            };
        }
        Ok(())
    }

    /// Whether a file may hold a key of the span.
    pub(super) fn may_be_in(&self, file: &LiveFile) -> bool {
        let partition = |(name, values): (&String, &Option<HashSet<Option<String>>>)| {
            let value = file.partition_values().get(name).map(|value| value.clone().filter(|text| !text.is_empty()));
            values.as_ref().zip(value).is_none_or(|(values, value)| values.contains(&value))
        };
        if !self.partitions.iter().all(partition) {
            return false;
        }
        let stats = file.stats.as_ref().and_then(|stats| serde_json::from_str::<Value>(stats).ok());
        let Some(stats) = stats else { return true };
        let side = |side: &str, name: &String| stats.get(side).and_then(|values| values.get(name)).and_then(bound);
        self.bounds.iter().all(|(name, span)| {
            let Some((least, greatest)) = span else { return true };
            let below =
                side("maxValues", name).is_some_and(|max| same_kind(&max, least) && max < *least && !is_cut(&max));
            let above = side("minValues", name).is_some_and(|min| same_kind(&min, greatest) && min > *greatest);
            !(below || above)
        })
    }
}

fn same_kind(a: &Bound, b: &Bound) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn is_cut(bound: &Bound) -> bool {
    matches!(bound, Bound::Text(text) if text.chars().count() >= CUT_CHARS)
}

fn bound(value: &Value) -> Option<Bound> {
    match value {
        Value::Number(number) => number.as_i64().map(Bound::Number),
        Value::String(text) => Some(Bound::Text(text.clone())),
        _ => None,
    }
}

/// Least and greatest value of a column without nulls; only of types whose statistics are exact and ordered alike.
fn range(column: &ArrayRef) -> Option<(Bound, Bound)> {
    if column.is_empty() || column.null_count() > 0 {
        return None;
    }
    match column.data_type() {
        DataType::Int8 => numbers::<Int8Type>(column),
        DataType::Int16 => numbers::<Int16Type>(column),
        DataType::Int32 => numbers::<Int32Type>(column),
        DataType::Int64 => numbers::<Int64Type>(column),
        DataType::Date32 => days(column),
        DataType::Utf8 => {
            let values = column.as_string::<i32>();
            let (least, greatest) = (values.iter().flatten().min()?, values.iter().flatten().max()?);
            Some((Bound::Text(least.into()), Bound::Text(greatest.into())))
        }
        _ => None,
    }
}

fn numbers<T: ArrowPrimitiveType>(column: &ArrayRef) -> Option<(Bound, Bound)>
where
    T::Native: Into<i64> + Ord,
{
    let values = column.as_primitive::<T>().values();
    let least: i64 = (*values.iter().min()?).into();
    let greatest: i64 = (*values.iter().max()?).into();
    Some((Bound::Number(least), Bound::Number(greatest)))
}

/// Statistics have dates as text, in order as long as the year has four digits.
fn days(column: &ArrayRef) -> Option<(Bound, Bound)> {
    let values = column.as_primitive::<Date32Type>().values();
    let text = |days: i32| {
        let date =
            chrono::NaiveDate::from_ymd_opt(1970, 1, 1)?.checked_add_signed(chrono::Duration::days(days.into()))?;
        let text = date.to_string();
        (text.len() == 10).then_some(Bound::Text(text))
    };
    Some((text(*values.iter().min()?)?, text(*values.iter().max()?)?))
}

/// Whether every engine writes a value of the type as the same text.
fn has_one_text(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Utf8 | DataType::Date32 | DataType::Boolean)
}

/// The values of a partition column, in the protocol's text.
fn texts(column: &ArrayRef) -> Result<HashSet<Option<String>>, ArrowError> {
    let options = FormatOptions::new();
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options)?;
    let text = |row| if column.is_null(row) { Ok(None) } else { formatter.value(row).try_to_string().map(Some) };
    (0..column.len()).map(text).collect()
}
