//! Aggregation by Spark's rules, through the messages that cross between host and component.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crisol_plugin_aggregate::Aggregate;
use crisol_sdk::arrow::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use crisol_sdk::testing::{self, Answer, input};
use crisol_sdk::types;

fn options(measures: &[(&str, &str)]) -> String {
    let measures: Vec<String> = measures.iter().map(|(name, text)| format!("\"{name}\": \"{text}\"")).collect();
    format!("{{\"measures\": {{{}}}}}", measures.join(", "))
}

fn aggregate(measures: &[(&str, &str)], columns: &[(&str, ArrayRef)], groups: &[i32]) -> Answer {
    testing::aggregator::<Aggregate>(&options(measures), &input(columns).unwrap(), groups).unwrap()
}

/// These measures of one column, in one group.
fn of(column: ArrayRef, measures: &[&str]) -> String {
    let measures: Vec<(&str, &str)> = measures.iter().map(|measure| (*measure, *measure)).collect();
    let groups = vec![0; column.len()];
    aggregate(&measures, &[("a", column)], &groups).table().remove(0)
}

fn failure(measures: &[(&str, &str)], column: ArrayRef) -> String {
    let groups = vec![0; column.len()];
    let input = input(&[("a", column)]).unwrap();
    testing::aggregator::<Aggregate>(&options(measures), &input, &groups).unwrap_err().to_string()
}

fn ints(values: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn floats(values: &[Option<f64>]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn decimals(precision: u8, scale: i8, values: &[Option<i128>]) -> ArrayRef {
    Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, scale).unwrap())
}

const NUMBERS: [&str; 6] = ["count(a)", "count(distinct a)", "sum(a)", "avg(a)", "min(a)", "max(a)"];

#[test]
fn each_group_gives_one_row_with_the_measures_in_their_order() {
    let columns = [
        (
            "customer_id",
            Arc::new(StringArray::from(vec![Some("x"), None, Some("y"), Some("x"), Some("y")])) as ArrayRef,
        ),
        ("amount", decimals(18, 2, &[Some(1050), Some(1), None, Some(-50), Some(7)])),
    ];
    let measures = [
        ("orders", "count(*)"),
        ("revenue", "sum(amount)"),
        ("average", "avg(amount)"),
        ("customers", "count(distinct customer_id)"),
        ("named", "count(customer_id)"),
    ];
    let answer = aggregate(&measures, &columns, &[0, 0, 0, 7, 7]);
    assert_eq!(answer.table(), ["0: 3 | 10.51 | 5.255000 | 2 | 2", "7: 2 | -0.43 | -0.215000 | 2 | 2"]);
    let schema = answer.rows.schema();
    let shown: Vec<String> = schema
        .fields()
        .iter()
        .map(|f| {
            format!("{} {}{}", f.name(), types::name(f.data_type()).unwrap(), if f.is_nullable() { "" } else { "!" })
        })
        .collect();
    let expected =
        ["orders bigint!", "revenue decimal(28,2)", "average decimal(22,6)", "customers bigint!", "named bigint!"];
    assert_eq!(shown, expected);
}

#[test]
fn p052_only_nulls_give_null_and_count_zero() {
    assert_eq!(of(ints(&[None, None]), &NUMBERS), "0: 0 | 0 | null | null | null | null");
    assert_eq!(of(floats(&[None]), &NUMBERS), "0: 0 | 0 | null | null | null | null");
    assert_eq!(of(decimals(10, 2, &[None]), &NUMBERS), "0: 0 | 0 | null | null | null | null");
    let text: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
    assert_eq!(of(text, &["count(a)", "min(a)", "max(a)", "count(*)"]), "0: 0 | null | null | 1");
}

#[test]
fn p052_integers_sum_to_bigint_and_average_to_double() {
    let bytes: ArrayRef = Arc::new(Int8Array::from(vec![127, 127, -1]));
    assert_eq!(of(bytes, &NUMBERS), "0: 3 | 2 | 253 | 84.33333333333333 | -1 | 127");
    assert_eq!(of(ints(&[Some(1), None, Some(2)]), &NUMBERS), "0: 2 | 2 | 3 | 1.5 | 1 | 2");
}

#[test]
fn p052_a_bigint_sum_that_overflows_is_a_failure() {
    let expected = "overflow: measure `total`: the result of a group of 2 values does not fit bigint";
    assert_eq!(failure(&[("total", "sum(a)")], ints(&[Some(i64::MAX), Some(1)])), expected);
    assert_eq!(failure(&[("total", "sum(a)")], ints(&[Some(i64::MIN), Some(-1)])), expected);
    // The order of rows does not matter, only the sum.
    let back = ints(&[Some(i64::MAX), Some(1), Some(-1), None]);
    assert_eq!(of(back.clone(), &["sum(a)"]), "0: 9223372036854775807");
    assert_eq!(of(back, &["avg(a)"]), "0: 3.0744573456182584e18");
}

#[test]
fn p052_decimals_sum_and_average_exactly() {
    let cents = decimals(18, 2, &[Some(1), Some(1), Some(0)]);
    assert_eq!(of(cents, &["sum(a)", "avg(a)"]), "0: 0.02 | 0.006667");
    assert_eq!(of(decimals(3, 0, &[Some(-1), Some(-1), Some(0)]), &["avg(a)"]), "0: -0.6667");
    // Half a unit of the last place goes away from zero.
    let wide = decimals(38, 38, &[Some(1), Some(0)]);
    assert_eq!(of(wide, &["avg(a)"]), "0: 0.00000000000000000000000000000000000001");
    let wide = decimals(38, 38, &[Some(-1), Some(0)]);
    assert_eq!(of(wide, &["avg(a)"]), "0: -0.00000000000000000000000000000000000001");
}

#[test]
fn p052_a_decimal_that_overflows_is_a_failure() {
    let nines = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
    let expected = "overflow: measure `m`: the result of a group of 2 values does not fit decimal(38,0)";
    assert_eq!(failure(&[("m", "sum(a)")], decimals(38, 0, &[Some(nines), Some(1)])), expected);
    assert_eq!(failure(&[("m", "sum(a)")], decimals(38, 0, &[Some(-nines), Some(-nines)])), expected);
    assert_eq!(of(decimals(38, 0, &[Some(nines), Some(1), Some(-1)]), &["sum(a)"]), format!("0: {nines}"));
    let expected = "overflow: measure `m`: the result of a group of 1 values does not fit decimal(38,4)";
    assert_eq!(failure(&[("m", "avg(a)")], decimals(38, 0, &[Some(nines)])), expected);
}

#[test]
fn p053_nan_is_one_value_and_the_greatest_and_the_zeroes_are_one() {
    let odd_nan = f64::from_bits(0xfff8_0000_0000_0001);
    let column = floats(&[Some(0.0), Some(f64::NAN), Some(-0.0), Some(odd_nan), Some(f64::INFINITY), None]);
    assert_eq!(of(column, &["count(distinct a)", "min(a)", "max(a)", "sum(a)"]), "0: 3 | 0.0 | NaN | NaN");
    assert_eq!(of(floats(&[Some(f64::NAN), Some(f64::INFINITY)]), &["min(a)", "max(a)"]), "0: inf | NaN");
    assert_eq!(of(floats(&[Some(f64::NAN)]), &["min(a)", "max(a)"]), "0: NaN | NaN");
    let column: ArrayRef = Arc::new(Float32Array::from(vec![0.5, -0.0, 0.0]));
    assert_eq!(of(column, &NUMBERS), "0: 3 | 2 | 0.5 | 0.16666666666666666 | -0.0 | 0.5");
}

#[test]
fn extremes_keep_every_scalar_type() {
    let extremes = ["min(a)", "max(a)", "count(distinct a)"];
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("á"), Some("B"), Some("b")]));
    assert_eq!(of(text, &extremes), "0: B | á | 3");
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff\x00"[..], b"\xff", b"a"]));
    assert_eq!(of(bytes, &extremes), "0: 61 | ff00 | 3");
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]));
    assert_eq!(of(flags, &extremes), "0: false | true | 2");
    let days: ArrayRef = Arc::new(Date32Array::from(vec![20_000, -1, 20_000]));
    assert_eq!(of(days, &extremes), "0: 1969-12-31 | 2024-10-04 | 2");
    let moments: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1, -1]).with_timezone("UTC"));
    assert_eq!(of(moments, &extremes), "0: 1969-12-31T23:59:59.999999Z | 1970-01-01T00:00:00.000001Z | 2");
    let amounts = decimals(18, 2, &[Some(150), Some(-1), Some(150)]);
    assert_eq!(of(amounts, &extremes), "0: -0.01 | 1.50 | 2");
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![3, 1, 2]));
    assert_eq!(of(numbers, &extremes), "0: 1 | 3 | 3");
}

#[test]
fn rows_can_be_counted_without_reading_a_column() {
    let answer = aggregate(&[("rows", "count(*)")], &[("a", ints(&[None, None, None]))], &[2, 2, 5]);
    assert_eq!(answer.table(), ["2: 2", "5: 1"]);
    let none = RecordBatch::new_empty(input(&[("a", ints(&[]))]).unwrap().schema());
    assert!(testing::aggregator::<Aggregate>(&options(&[("n", "count(*)")]), &none, &[]).unwrap().index.is_empty());
}

#[test]
fn all_measures_that_are_wrong_are_named_when_planning() {
    let measures = [("good", "sum(a)"), ("typo", "summ(a)"), ("gone", "max(b)")];
    let text = failure(&measures, ints(&[Some(1)]));
    assert!(text.starts_with("options: measure `typo`: `summ(a)`: `summ` is not a function; there are "), "{text}");
    assert!(text.ends_with("; measure `gone`: no column `b`; there are: a"), "{text}");
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let text = failure(&[("m", "sum(a)")], flags);
    assert_eq!(text, "options: measure `m`: `sum(a)` takes numbers, the column is boolean");
    let input = input(&[("a", ints(&[]))]).unwrap();
    let refused = |options: &str| testing::aggregator::<Aggregate>(options, &input, &[]).unwrap_err().to_string();
    assert_eq!(refused(r#"{"measures": {}}"#), "options: `measures` is empty; there is nothing to make");
    let expected = "options: measure `n`: 3 is not a string such as \"sum(amount)\"";
    assert_eq!(refused(r#"{"measures": {"n": 3}}"#), expected);
    assert!(refused("{}").contains("missing field `measures`"));
}

#[test]
fn columns_are_read_once_in_the_order_of_their_first_use() {
    use crisol_sdk::Column;
    use crisol_sdk::columns::Aggregator;

    let column = |name: &str, data_type: &str| Column::new(name, types::parse(data_type).unwrap());
    let input = [column("tags", "array<string>"), column("a", "int"), column("b", "double")];
    let measures = options(&[("n", "count(*)"), ("x", "sum(b)"), ("y", "avg(b)"), ("z", "max(a)")]);
    let plan = |input: &[Column]| Aggregate::plan(&serde_json::from_str(&measures).unwrap(), input).unwrap();
    assert_eq!(plan(&input).reads, ["b", "a"]);
    assert_eq!(plan(&input[1..]), plan(&input), "the same when the input is only what it reads");
    let about = testing::description(&Aggregate::ABOUT, "aggregator").unwrap();
    assert_eq!(about["options"]["required"][0], "measures");
}
