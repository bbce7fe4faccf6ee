//! Delta statistics of a file, from what Parquet kept of it (D-105).
//!
//! Bounds are bounds: rounded outwards or left out where JSON or Delta cannot say them exactly (texts longer than the
//! limit, microseconds, NaN, years beyond 9999). Decimals keep every digit.

use chrono::{DateTime, Datelike, NaiveDate};
use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

/// A text that could not be cut stays out of the log beyond this.
const TEXT_BYTES_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Value {
    Int(i64),
    Float(f64),
    Decimal {
        unscaled: i128,
        scale: u32,
    },
    /// Days since 1970.
    Date(i32),
    /// Microseconds since 1970.
    Timestamp {
        micros: i64,
        utc: bool,
    },
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Min,
    Max,
}

/// What is counted while rows are written, because Parquet does not keep it, per top-level column.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) nulls: u64,
    /// Parquet leaves NaN out of its bounds.
    pub(super) nan: bool,
}

/// A JSON object whose values may be objects.
#[derive(Debug, Default)]
struct Object(Vec<(String, Node)>);

#[derive(Debug)]
enum Node {
    Leaf(String),
    Object(Object),
}

/// The `stats` of an `add`.
pub(super) fn json(metadata: &ParquetMetaData, indexed: usize, seen: &[Seen]) -> String {
    let (mut min, mut max, mut nulls) = (Object::default(), Object::default(), Object::default());
    let schema = metadata.file_metadata().schema_descr();
    for leaf in 0..schema.num_columns().min(indexed) {
        let column = schema.column(leaf);
        // Nulls of values inside arrays and maps say nothing of the rows.
        if column.max_rep_level() > 0 {
            continue;
        }
        let path = column.path().parts();
        let (nested, seen) = (path.len() > 1, seen.get(schema.get_column_root_idx(leaf)));
        let own_count = seen.filter(|_| !nested).map(|seen| seen.nulls);
        if let Some(count) = own_count.or_else(|| null_count(metadata, leaf)) {
            nulls.set(path, count.to_string());
        }
        let float = matches!(column.physical_type(), Type::FLOAT | Type::DOUBLE);
        if float && (nested || seen.is_none_or(|seen| seen.nan)) {
            continue;
        }
        for (side, object) in [(Side::Min, &mut min), (Side::Max, &mut max)] {
            if let Some(text) = bound(metadata, leaf, &column, side).and_then(|value| value.json(side)) {
                object.set(path, text);
            }
        }
    }
    let rows = metadata.file_metadata().num_rows();
    format!(
        "{{\"numRecords\":{rows},\"minValues\":{},\"maxValues\":{},\"nullCount\":{}}}",
        min.json(),
        max.json(),
        nulls.json()
    )
}

fn null_count(metadata: &ParquetMetaData, leaf: usize) -> Option<u64> {
    metadata.row_groups().iter().map(|group| group.column(leaf).statistics()?.null_count_opt()).sum()
}

/// The bound over all row groups; `None` as soon as one has values and no bound.
fn bound(metadata: &ParquetMetaData, leaf: usize, column: &ColumnDescriptor, side: Side) -> Option<Value> {
    let mut bound: Option<Value> = None;
    for group in metadata.row_groups() {
        let chunk = group.column(leaf);
        let statistics = chunk.statistics()?;
        if statistics.null_count_opt() == u64::try_from(chunk.num_values()).ok() {
            continue;
        }
        let value = value(statistics, column, side)?;
        let keep = bound.as_ref().is_some_and(|b| if side == Side::Min { *b <= value } else { *b >= value });
        if !keep {
            bound = Some(value);
        }
    }
    bound
}

fn value(statistics: &Statistics, column: &ColumnDescriptor, side: Side) -> Option<Value> {
    let logical = column.logical_type_ref();
    macro_rules! side {
        ($statistics:expr) => {
            *if side == Side::Min { $statistics.min_opt() } else { $statistics.max_opt() }?
        };
    }
    let decimal = |unscaled: i128| match logical {
        Some(LogicalType::Decimal(decimal)) => {
            Some(Value::Decimal { unscaled, scale: u32::try_from(decimal.scale).ok()? })
        }
        _ => None,
    };
    match (statistics, logical) {
        (Statistics::Int32(s), Some(LogicalType::Date)) => Some(Value::Date(side!(s))),
        (Statistics::Int32(s), Some(LogicalType::Decimal(_))) => decimal(side!(s).into()),
        (Statistics::Int32(s), _) => Some(Value::Int(side!(s).into())),
        (Statistics::Int64(s), Some(LogicalType::Timestamp(timestamp))) => (timestamp.unit == TimeUnit::MICROS)
            .then(|| Some(Value::Timestamp { micros: side!(s), utc: timestamp.is_adjusted_to_u_t_c }))
            .flatten(),
        (Statistics::Int64(s), Some(LogicalType::Decimal(_))) => decimal(side!(s).into()),
        (Statistics::Int64(s), _) => Some(Value::Int(side!(s))),
        (Statistics::Float(s), _) => Some(Value::Float(side!(s).into())),
        (Statistics::Double(s), _) => Some(Value::Float(side!(s))),
        (Statistics::ByteArray(_), Some(LogicalType::String)) => {
            let text = std::str::from_utf8(bytes(statistics, side)?).ok()?;
            (text.len() <= TEXT_BYTES_MAX).then(|| Value::Text(text.to_string()))
        }
        (Statistics::FixedLenByteArray(_), Some(LogicalType::Decimal(_))) => {
            decimal(big_endian(bytes(statistics, side)?)?)
        }
        _ => None,
    }
}

fn bytes(statistics: &Statistics, side: Side) -> Option<&[u8]> {
    if side == Side::Min { statistics.min_bytes_opt() } else { statistics.max_bytes_opt() }
}

fn big_endian(bytes: &[u8]) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let sign = if bytes.first().is_some_and(|b| b & 0x80 != 0) { -1 } else { 0 };
    Some(bytes.iter().fold(sign, |value, byte| (value << 8) | i128::from(*byte)))
}

impl Value {
    fn json(&self, side: Side) -> Option<String> {
        match self {
            Self::Int(value) => Some(value.to_string()),
            Self::Float(value) => value.is_finite().then(|| serde_json::to_string(value).ok()).flatten(),
            Self::Decimal { unscaled, scale } => Some(decimal_text(*unscaled, *scale)),
            Self::Date(days) => {
                let date = NaiveDate::from_epoch_days(*days)?;
                has_four_digits(date.year()).then(|| format!("\"{}\"", date.format("%Y-%m-%d")))
            }
            Self::Timestamp { micros, utc } => {
                // Delta has milliseconds here: down for the minimum, up for the maximum.
                let millis = micros.div_euclid(1_000);
                let more = side == Side::Max && micros.rem_euclid(1_000) > 0;
                let time = DateTime::from_timestamp_millis(millis + i64::from(more))?;
                let zone = if *utc { "Z" } else { "" };
                has_four_digits(time.year()).then(|| format!("\"{}{zone}\"", time.format("%Y-%m-%dT%H:%M:%S%.3f")))
            }
            Self::Text(text) => serde_json::to_string(text).ok(),
        }
    }
}

fn has_four_digits(year: i32) -> bool {
    (0..=9999).contains(&year)
}

fn decimal_text(unscaled: i128, scale: u32) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = usize::try_from(scale).unwrap_or_default();
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

impl Object {
    /// Sets the value at a path of names.
    fn set(&mut self, path: &[String], json: String) {
        let Some((name, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            self.0.push((name.clone(), Node::Leaf(json)));
            return;
        }
        if !matches!(self.0.last(), Some((last, Node::Object(_))) if last == name) {
            self.0.push((name.clone(), Node::Object(Object::default())));
        }
        if let Some((_, Node::Object(object))) = self.0.last_mut() {
            object.set(rest, json);
        }
    }

    fn json(&self) -> String {
        let members = self.0.iter().map(|(name, node)| {
            let value = match node {
                Node::Leaf(json) => json.clone(),
                Node::Object(object) => object.json(),
            };
            format!("{}:{value}", serde_json::Value::String(name.clone()))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
