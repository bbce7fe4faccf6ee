//! From columns to JSON values: each value as a sample writes it.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, StructArray};
use arrow_cast::base64::{BASE64_STANDARD, Engine as _};
use arrow_schema::DataType;
use jiff::ToSpan as _;
use serde_json::{Value, json};

use super::Object;

/// A value of a column as a sample writes it. Types that cannot cross into a component give null.
pub fn value(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => Value::from(array.as_boolean().value(row)),
        DataType::Int8 => Value::from(native::<Int8Type>(array, row)),
        DataType::Int16 => Value::from(native::<Int16Type>(array, row)),
        DataType::Int32 => Value::from(native::<Int32Type>(array, row)),
        DataType::Int64 => Value::from(native::<Int64Type>(array, row)),
        DataType::Float32 => single(native::<Float32Type>(array, row)),
        DataType::Float64 => float(native::<Float64Type>(array, row)),
        DataType::Decimal128(..) => Value::from(array.as_primitive::<Decimal128Type>().value_as_string(row)),
        DataType::Date32 => date(native::<Date32Type>(array, row)),
        DataType::Timestamp(..) => timestamp(native::<TimestampMicrosecondType>(array, row)),
        DataType::Utf8 => Value::from(array.as_string::<i32>().value(row)),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::List(_) => list(array.as_list::<i32>().value(row).as_ref()),
        DataType::Struct(_) => Value::Object(structure(array.as_struct(), row)),
        DataType::Map(..) => Value::Object(map(&array.as_map().value(row))),
        _ => Value::Null,
    }
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

/// The shortest digits that are this float, which are not those of the same number in double precision.
fn single(number: f32) -> Value {
    float(if number.is_finite() { number.to_string().parse().unwrap_or(f64::from(number)) } else { number.into() })
}

fn float(number: f64) -> Value {
    if number.is_nan() {
        Value::from("NaN")
    } else if number.is_infinite() {
        Value::from(if number > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        Value::from(number)
    }
}

/// Outside of the years that have text, the days.
fn date(days: i32) -> Value {
    let date = jiff::civil::date(1970, 1, 1).checked_add(i64::from(days).days());
    date.map_or_else(|_| Value::from(days), |date| Value::from(date.to_string()))
}

/// Outside of the years that have text, the microseconds.
fn timestamp(microseconds: i64) -> Value {
    let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
    let time = epoch.checked_add(jiff::SignedDuration::from_micros(microseconds));
    time.map_or_else(|_| Value::from(microseconds), |time| Value::from(format!("{time}Z")))
}

fn bytes(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(|_| json!({ "base64": BASE64_STANDARD.encode(bytes) }), Value::from)
}

fn list(elements: &dyn Array) -> Value {
    (0..elements.len()).map(|at| value(elements, at)).collect()
}

fn structure(array: &StructArray, row: usize) -> Object {
    let named = array.fields().iter().zip(array.columns());
    named.map(|(field, column)| (field.name().clone(), value(column.as_ref(), row))).collect()
}

fn map(entries: &StructArray) -> Object {
    let [keys, values] = entries.columns() else { return Object::new() };
    let key = |at: usize| match value(keys.as_ref(), at) {
        Value::String(text) => text,
        other => other.to_string(),
    };
    (0..entries.len()).map(|at| (key(at), value(values.as_ref(), at))).collect()
}

#[cfg(test)]
mod tests {
    use crisol_ipc::types;

    use super::*;
    use crate::samples::decode::{column, inferred};

    /// What is read of a value, as it would be written.
    fn through(data_type: &str, written: Value) -> Result<Value, String> {
        column(&types::parse(data_type).unwrap(), &[&written]).map(|array| value(array.as_ref(), 0))
    }

    #[track_caller]
    fn assert_same(data_type: &str, written: Value) {
        assert_eq!(through(data_type, written.clone()), Ok(written));
    }

    #[test]
    fn values_of_every_type_are_read_as_they_are_written() {
        for (data_type, written) in [
            ("boolean", json!(true)),
            ("tinyint", json!(-128)),
            ("smallint", json!(32_767)),
            ("int", json!(-2_147_483_648_i64)),
            ("bigint", json!(9_007_199_254_740_993_i64)),
            ("bigint", json!(i64::MIN)),
            ("float", json!(0.1)),
            ("double", json!(1e300)),
            ("double", json!("NaN")),
            ("float", json!("-Infinity")),
            ("decimal(18,2)", json!("12.50")),
            ("decimal(38,19)", json!("-0.1234567890123456789")),
            ("date", json!("2026-03-14")),
            ("date", json!("0001-01-01")),
            ("timestamp", json!("2026-03-14T09:26:53.589Z")),
            ("timestamp", json!("9999-12-31T23:59:59.999999Z")),
            ("timestamp", json!("0001-01-01T00:00:00Z")),
            ("timestamp", json!("1969-12-31T23:59:59.999999Z")),
            ("timestamp", json!(i64::MAX)),
            ("string", json!("país\u{1f600}\n")),
            ("binary", json!("text")),
            ("binary", json!({ "base64": "/w==" })),
            ("array<int>", json!([1, null, 3])),
            ("struct<a:int,b:array<string>>", json!({ "a": 1, "b": [] })),
            ("map<string,decimal(4,1)>", json!({ "a": "1.5", "b": null })),
            ("map<int,boolean>", json!({ "-7": true })),
            ("map<date,int>", json!({ "2026-03-14": 1 })),
        ] {
            assert_same(data_type, written);
            assert_same(data_type, Value::Null);
        }
    }

    #[test]
    fn what_means_the_same_becomes_the_same() {
        assert_eq!(through("decimal(18,2)", json!(7)), Ok(json!("7.00")));
        assert_eq!(through("timestamp", json!("2026-03-14T10:00:00+01:00")), Ok(json!("2026-03-14T09:00:00Z")));
        assert_eq!(through("double", json!(7)), Ok(json!(7.0)));
        assert_eq!(through("struct<a:int,b:int>", json!({ "b": 1 })), Ok(json!({ "a": null, "b": 1 })));
        assert_eq!(through("binary", json!({ "base64": "YQ==" })), Ok(json!("a")));
        assert_eq!(through("string", json!({ "json": { "b": 1, "a": [null] } })), Ok(json!(r#"{"b":1,"a":[null]}"#)));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_rounded() {
        for (data_type, written) in [
            ("boolean", json!("true")),
            ("tinyint", json!(128)),
            ("int", json!(1.5)),
            ("int", json!("1")),
            ("bigint", json!(u64::MAX)),
            ("double", json!("nan")),
            ("decimal(18,2)", json!("12.505")),
            ("decimal(18,2)", json!(12.5)),
            ("decimal(3,2)", json!("10.00")),
            ("decimal(3,2)", json!("")),
            ("date", json!("14/03/2026")),
            ("timestamp", json!("2026-03-14T00:00:00.0000001Z")),
            ("string", json!({ "json": 1, "base64": "" })),
            ("binary", json!({ "base64": "?" })),
            ("array<int>", json!({})),
            ("struct<a:int>", json!({ "b": 1 })),
            ("map<int,int>", json!({ "a": 1 })),
        ] {
            assert!(through(data_type, written.clone()).is_err(), "{data_type}: {written}");
        }
        assert_eq!(
            through("decimal(18,2)", json!(12.5)).unwrap_err(),
            r#"12.5 is no decimal(18,2): a text, `"12.50"`, or a whole number"#
        );
        let error = through("struct<sku:int>", json!({ "skuu": 1 })).unwrap_err();
        assert_eq!(error, "there is no field `skuu`; did you mean `sku`?");
    }

    #[test]
    fn types_are_taken_from_values_where_they_tell() {
        let of = |values: Value| inferred(&values.as_array().unwrap().iter().collect::<Vec<_>>());
        assert_eq!(of(json!(["a", null, { "json": {} }])), Some(DataType::Utf8));
        assert_eq!(of(json!(["a", { "base64": "" }])), Some(DataType::Binary));
        assert_eq!(of(json!([1, 2])), Some(DataType::Int64));
        assert_eq!(of(json!([1, 2.5])), Some(DataType::Float64));
        assert_eq!(of(json!([true])), Some(DataType::Boolean));
        assert_eq!(of(json!([null])), Some(DataType::Utf8));
        for values in [json!([1, "a"]), json!([[1]]), json!([{ "a": 1 }])] {
            assert_eq!(of(values.clone()), None, "{values}");
        }
    }
}
