//! From JSON values to columns. Our own, since arrow-json rounds decimals, cuts fractions off whole numbers, and knows
//! neither bytes as text nor floats that are no number.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, ListArray, MapArray, PrimitiveArray,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::base64::{BASE64_STANDARD, Engine as _};
use arrow_cast::parse::parse_decimal;
use arrow_schema::{DataType, FieldRef, Fields};
use crisol_ipc::types;
use serde_json::Value;

use super::Object;
use crate::columns::nearest;
use crate::text::printable;

const BASE64: &str = "base64";
const JSON: &str = "json";
const SHOWN_BYTES_MAX: usize = 200;
static NULL: Value = Value::Null;

/// A column of these values.
///
/// # Errors
/// The first value that does not fit, and how it is written.
pub(super) fn column(data_type: &DataType, values: &[&Value]) -> Result<ArrayRef, String> {
    Ok(match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from(each(data_type, values, Value::as_bool)?)),
        DataType::Int8 => primitive::<Int8Type>(data_type, values, whole)?,
        DataType::Int16 => primitive::<Int16Type>(data_type, values, whole)?,
        DataType::Int32 => primitive::<Int32Type>(data_type, values, whole)?,
        DataType::Int64 => primitive::<Int64Type>(data_type, values, whole)?,
        DataType::Float32 => primitive::<Float32Type>(data_type, values, |value| Some(float(value)? as f32))?,
        DataType::Float64 => primitive::<Float64Type>(data_type, values, float)?,
        DataType::Date32 => Arc::new(Date32Array::from(each(data_type, values, date)?)),
        DataType::Timestamp(..) => {
            Arc::new(TimestampMicrosecondArray::from(each(data_type, values, timestamp)?).with_timezone(types::UTC))
        }
        DataType::Decimal128(precision, scale) => {
            let decimals = each(data_type, values, |value| decimal(value, *precision, *scale))?;
            let decimals = Decimal128Array::from(decimals).with_precision_and_scale(*precision, *scale);
            Arc::new(decimals.map_err(|error| error.to_string())?)
        }
        DataType::Utf8 => Arc::new(StringArray::from(each(data_type, values, text)?)),
        DataType::Binary => Arc::new(BinaryArray::from_iter(each(data_type, values, bytes)?)),
        DataType::List(element) => list(data_type, element, values)?,
        DataType::Struct(fields) => structure(data_type, fields, values)?,
        DataType::Map(entries, _) => map(data_type, entries, values)?,
        other => return Err(format!("a column of type {other} cannot be given to a component")),
    })
}

/// The type of values for which a sample names none; `None` when they do not tell.
pub(super) fn inferred(values: &[&Value]) -> Option<DataType> {
    let mut found: Option<DataType> = None;
    for value in values.iter().filter(|value| !value.is_null()) {
        let data_type = match value {
            Value::Bool(_) => DataType::Boolean,
            Value::Number(number) if number.is_i64() => DataType::Int64,
            Value::Number(_) => DataType::Float64,
            Value::String(_) => DataType::Utf8,
            Value::Object(object) if marked(object, JSON).is_some() => DataType::Utf8,
            Value::Object(object) if marked(object, BASE64).is_some() => DataType::Binary,
            _ => return None,
        };
        found = Some(match found {
            None => data_type,
            Some(before) => common(before, data_type)?,
        });
    }
    Some(found.unwrap_or(DataType::Utf8))
}

fn common(one: DataType, other: DataType) -> Option<DataType> {
    match (one, other) {
        (one, other) if one == other => Some(one),
        (DataType::Utf8, DataType::Binary) | (DataType::Binary, DataType::Utf8) => Some(DataType::Binary),
        (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => Some(DataType::Float64),
        _ => None,
    }
}

fn each<'a, T>(
    data_type: &DataType,
    values: &[&'a Value],
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<Vec<Option<T>>, String> {
    let one = |value: &&'a Value| match value {
        Value::Null => Ok(None),
        value => read(value).map(Some).ok_or_else(|| misfit(value, data_type)),
    };
    values.iter().map(one).collect()
}

fn misfit(value: &Value, data_type: &DataType) -> String {
    let name = types::name(data_type).unwrap_or_else(|| data_type.to_string());
    let hint = match data_type {
        DataType::Decimal128(..) => ": a text, `\"12.50\"`, or a whole number",
        DataType::Timestamp(..) => ": a text, `\"2026-04-01T00:00:00Z\"`",
        DataType::Date32 => ": a text, `\"2026-04-01\"`",
        DataType::Float32 | DataType::Float64 => ": a number, `\"NaN\"`, `\"Infinity\"` or `\"-Infinity\"`",
        DataType::Utf8 => ": a text, or `{\"json\": …}`",
        DataType::Binary => ": a text, `{\"base64\": \"…\"}` or `{\"json\": …}`",
        _ => "",
    };
    format!("{} is no {name}{hint}", printable(&value.to_string(), SHOWN_BYTES_MAX))
}

fn primitive<T: ArrowPrimitiveType>(
    data_type: &DataType,
    values: &[&Value],
    read: impl Fn(&Value) -> Option<T::Native>,
) -> Result<ArrayRef, String> {
    Ok(Arc::new(PrimitiveArray::<T>::from_iter(each(data_type, values, read)?)))
}

fn whole<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    value.as_i64().and_then(|number| T::try_from(number).ok())
}

fn float(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

/// Days since 1970.
fn date(value: &Value) -> Option<i32> {
    let epoch = jiff::civil::date(1970, 1, 1);
    match value.as_str() {
        Some(text) => Some(text.parse::<jiff::civil::Date>().ok()?.since(epoch).ok()?.get_days()),
        None => whole(value),
    }
}

/// Microseconds since 1970.
fn timestamp(value: &Value) -> Option<i64> {
    let Some(text) = value.as_str() else { return value.as_i64() };
    let nanos = match text.parse::<jiff::Timestamp>() {
        Ok(time) => time.as_nanosecond(),
        // The last hours of the year 9999 are no instant of jiff, which has room for offsets there.
        Err(_) => {
            let time: jiff::civil::DateTime = text.strip_suffix('Z')?.parse().ok()?;
            time.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0)).as_nanos()
        }
    };
    i64::try_from(nanos / 1_000).ok().filter(|_| nanos % 1_000 == 0)
}

/// Exact: neither rounded nor through a float.
fn decimal(value: &Value, precision: u8, scale: i8) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        _ => return None,
    };
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let (units, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let exact =
        !units.is_empty() && plain(units) && plain(fraction) && fraction.len() <= usize::try_from(scale).ok()?;
    exact.then(|| parse_decimal::<Decimal128Type>(&text, precision, scale).ok()).flatten()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => marked(object, JSON).map(Value::to_string),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    let encoded = value.as_object().and_then(|object| marked(object, BASE64));
    match encoded {
        Some(encoded) => BASE64_STANDARD.decode(encoded.as_str()?).ok(),
        None => text(value).map(String::into_bytes),
    }
}

/// The value of an object that has this key alone.
fn marked<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|_| object.len() == 1)
}

fn list(data_type: &DataType, element: &FieldRef, values: &[&Value]) -> Result<ArrayRef, String> {
    let lists = each(data_type, values, Value::as_array)?;
    let elements: Vec<&Value> = lists.iter().flatten().flat_map(|list| list.iter()).collect();
    let offsets = OffsetBuffer::from_lengths(lists.iter().map(|list| list.map_or(0, Vec::len)));
    let elements = column(element.data_type(), &elements)?;
    let list = ListArray::try_new(Arc::clone(element), offsets, elements, nulls(&lists));
    Ok(Arc::new(list.map_err(|error| error.to_string())?))
}

fn structure(data_type: &DataType, fields: &Fields, values: &[&Value]) -> Result<ArrayRef, String> {
    let objects = each(data_type, values, Value::as_object)?;
    let names = || fields.iter().map(|field| field.name().as_str());
    if let Some(unknown) = objects.iter().flatten().flat_map(|o| o.keys()).find(|key| !names().any(|n| n == *key)) {
        let hint = nearest(unknown, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("there is no field `{}`{hint}", printable(unknown, SHOWN_BYTES_MAX)));
    }
    let child = |field: &FieldRef| {
        let values = objects.iter().map(|object| object.and_then(|object| object.get(field.name())).unwrap_or(&NULL));
        column(field.data_type(), &values.collect::<Vec<_>>())
    };
    let children = fields.iter().map(child).collect::<Result<Vec<_>, _>>()?;
    let structure = StructArray::try_new(fields.clone(), children, nulls(&objects));
    Ok(Arc::new(structure.map_err(|error| error.to_string())?))
}

/// An object; keys that are no text stand there as their JSON.
fn map(data_type: &DataType, entries: &FieldRef, values: &[&Value]) -> Result<ArrayRef, String> {
    let objects = each(data_type, values, Value::as_object)?;
    let DataType::Struct(fields) = entries.data_type() else { return Err(misfit(&NULL, data_type)) };
    let [key, value] = fields.as_ref() else { return Err(misfit(&NULL, data_type)) };
    let offsets = OffsetBuffer::from_lengths(objects.iter().map(|object| object.map_or(0, Object::len)));
    let pairs = objects.iter().flatten().flat_map(|object| object.iter());
    let (keys, values): (Vec<Value>, Vec<&Value>) =
        pairs.map(|(name, value)| (map_key(name, key.data_type()), value)).unzip();
    let keys = column(key.data_type(), &keys.iter().collect::<Vec<_>>())?;
    let columns = vec![keys, column(value.data_type(), &values)?];
    let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(|error| error.to_string())?;
    let map = MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls(&objects), false);
    Ok(Arc::new(map.map_err(|error| error.to_string())?))
}

fn map_key(name: &str, data_type: &DataType) -> Value {
    use DataType::{Binary, Date32, Decimal128, Timestamp, Utf8};
    match data_type {
        Utf8 | Binary | Date32 | Timestamp(..) | Decimal128(..) => Value::from(name),
        _ => serde_json::from_str(name).unwrap_or_else(|_| Value::from(name)),
    }
}

fn nulls<T>(values: &[Option<T>]) -> Option<NullBuffer> {
    Some(values.iter().map(Option::is_some).collect())
}
