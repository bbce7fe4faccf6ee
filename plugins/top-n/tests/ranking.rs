//! Ranking by Spark's rules, through the messages that cross between host and component.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crisol_plugin_top_n::TopN;
use crisol_sdk::arrow::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array,
    Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use crisol_sdk::testing::{self, Answer, input};

fn rank(options: &str, columns: &[(&str, ArrayRef)], groups: &[i32]) -> Answer {
    testing::ranker::<TopN>(options, &input(columns).unwrap(), groups).unwrap()
}

fn refused(options: &str, columns: &[(&str, ArrayRef)]) -> String {
    let batch = input(columns).unwrap();
    testing::ranker::<TopN>(options, &batch, &vec![0; batch.num_rows()]).unwrap_err().to_string()
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// The rows of one group in the order of one column, ties in any order.
fn ordered(order: &str, column: ArrayRef) -> Vec<String> {
    let options = format!(r#"{{"n": 100, "function": "rank", "order_by": ["a {order}"]}}"#);
    let groups = vec![0; column.len()];
    rank(&options, &[("a", column)], &groups).table()
}

const ALL: &str = r#"{"n": 10, "function": "rank", "order_by": ["a desc", "id"],
    "functions": {"row_number": "number", "rank": "rank", "dense_rank": "dense"}}"#;

#[test]
fn w001_the_three_functions_over_ties_are_those_of_spark() {
    let options =
        r#"{"n": 10, "function": "rank", "order_by": ["a desc"], "functions": {"rank": "r", "dense_rank": "d"}}"#;
    let answer = rank(options, &[("a", ints(&[10, 10, 9]))], &[0, 0, 0]);
    assert_eq!(answer.table(), ["0: 1 | 1", "1: 1 | 1", "2: 3 | 2"]);
    let answer = rank(ALL, &[("a", ints(&[10, 10, 9])), ("id", ints(&[2, 1, 3]))], &[0, 0, 0]);
    assert_eq!(answer.table(), ["1: 1 | 1 | 1", "0: 2 | 2 | 2", "2: 3 | 3 | 3"]);
    assert!(answer.rows.schema().fields().iter().all(|field| !field.is_nullable()));
    let names: Vec<_> = answer.rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["number", "rank", "dense"]);
}

#[test]
fn w002_and_w003_nulls_are_peers_and_stand_where_the_order_says() {
    let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(2), None, Some(1), None]));
    for (order, expected) in [
        ("", ["1: 1", "3: 1", "2: 3", "0: 4"]),
        ("asc nulls first", ["1: 1", "3: 1", "2: 3", "0: 4"]),
        ("asc nulls last", ["2: 1", "0: 2", "1: 3", "3: 3"]),
        ("desc", ["0: 1", "2: 2", "1: 3", "3: 3"]),
        ("desc nulls last", ["0: 1", "2: 2", "1: 3", "3: 3"]),
        ("desc nulls first", ["1: 1", "3: 1", "0: 3", "2: 4"]),
    ] {
        assert_eq!(ordered(order, column.clone()), expected, "{order}");
    }
}

#[test]
fn w005_nan_is_the_greatest_and_its_own_peer_and_the_zeroes_are_peers() {
    let odd_nan = f64::from_bits(0xfff8_0000_0000_0001);
    let column: ArrayRef = Arc::new(Float64Array::from(vec![f64::INFINITY, odd_nan, -0.0, f64::NAN, 0.0, -1.0]));
    assert_eq!(ordered("desc", column.clone()), ["1: 1", "3: 1", "0: 3", "2: 4", "4: 4", "5: 6"]);
    assert_eq!(ordered("asc", column), ["5: 1", "2: 2", "4: 2", "0: 4", "1: 5", "3: 5"]);
    let column: ArrayRef = Arc::new(Float32Array::from(vec![0.0, f32::NAN, -0.0, -f32::NAN]));
    assert_eq!(ordered("desc", column), ["1: 1", "3: 1", "0: 3", "2: 3"]);
}

#[test]
fn w006_strings_are_ordered_by_bytes() {
    assert_eq!(ordered("", texts(&["á", "b", "a", "B", ""])), ["4: 1", "3: 2", "2: 3", "1: 4", "0: 5"]);
}

#[test]
fn every_scalar_type_has_an_order() {
    let decimals = Decimal128Array::from(vec![150, -20_000, 99]).with_precision_and_scale(18, 2).unwrap();
    let moments = TimestampMicrosecondArray::from(vec![5, -5, 0]).with_timezone("UTC");
    let columns: [(ArrayRef, [&str; 3]); 5] = [
        (Arc::new(decimals), ["1: 1", "2: 2", "0: 3"]),
        (Arc::new(moments), ["1: 1", "2: 2", "0: 3"]),
        (Arc::new(Date32Array::from(vec![1, -1, 0])), ["1: 1", "2: 2", "0: 3"]),
        (Arc::new(BooleanArray::from(vec![true, false, true])), ["1: 1", "0: 2", "2: 2"]),
        (Arc::new(BinaryArray::from(vec![&b"\xff"[..], b"", b"a"])), ["1: 1", "2: 2", "0: 3"]),
    ];
    for (column, expected) in columns {
        assert_eq!(ordered("asc", column), expected);
    }
}

#[test]
fn w009_the_filter_applies_to_the_position() {
    let plays: ArrayRef = ints(&[9, 9, 8, 8, 7, 5]);
    let kept = |function: &str, order: &str| {
        let options = format!(r#"{{"n": 2, "function": "{function}", "order_by": [{order}]}}"#);
        let columns = [("plays", plays.clone()), ("song", texts(&["a", "b", "c", "d", "e", "f"]))];
        rank(&options, &columns, &[0; 6]).table()
    };
    assert_eq!(kept("row_number", r#""plays desc", "song""#), ["0: 1", "1: 2"]);
    assert_eq!(kept("rank", r#""plays desc""#), ["0: 1", "1: 1"]);
    assert_eq!(kept("dense_rank", r#""plays desc""#), ["0: 1", "1: 1", "2: 2", "3: 2"]);
}

#[test]
fn groups_are_ranked_each_for_itself_and_may_have_fewer_rows() {
    let answer = rank(r#"{"n": 2, "order_by": ["a desc"]}"#, &[("a", ints(&[1, 3, 2, 7, 5, 4]))], &[0, 0, 0, 4, 9, 9]);
    assert_eq!(answer.table(), ["1: 1", "2: 2", "3: 1", "4: 1", "5: 2"]);
}

#[test]
fn w007_an_order_with_ties_is_completed_by_provenance() {
    let columns = [
        ("a", ints(&[5, 5, 5, 5])),
        ("topic", texts(&["t", "t", "s", "t"])),
        ("partition", Arc::new(Int32Array::from(vec![1, 0, 7, 0])) as ArrayRef),
        ("offset", ints(&[3, 9, 8, 4])),
    ];
    let options = r#"{"n": 4, "order_by": ["a"]}"#;
    assert_eq!(rank(options, &columns, &[0; 4]).table(), ["2: 1", "3: 2", "1: 3", "0: 4"]);
    let files = [("a", ints(&[5, 5])), ("file_path", texts(&["f", "f"])), ("file_row", ints(&[2, 1]))];
    assert_eq!(rank(options, &files, &[0; 2]).table(), ["1: 1", "0: 2"]);
    assert!(refused(options, &columns[..3]).starts_with("order_not_total: "), "a part of it tells no rows apart");
}

#[test]
fn w007_row_number_without_a_total_order_is_refused() {
    let columns = [("amount", ints(&[9, 8, 8])), ("id", texts(&["a", "b", "b"]))];
    let expected = "order_not_total: two rows of a group tie in `amount` desc, `id`, so `row_number` is not determined; \
                    add columns to `order_by` until no two rows tie";
    assert_eq!(refused(r#"{"n": 3, "order_by": ["amount desc", "id"]}"#, &columns), expected);
    assert_eq!(refused(r#"{"n": 1, "order_by": ["amount desc", "id"]}"#, &columns), expected, "ties below `n` count");
    let both = r#"{"n": 3, "function": "rank", "order_by": ["amount desc", "id"], "functions": {"rank": "r", "row_number": "n"}}"#;
    assert_eq!(refused(both, &columns), expected, "whatever the filter is");
    let rank_only = r#"{"n": 3, "function": "rank", "order_by": ["amount desc", "id"]}"#;
    assert_eq!(rank(rank_only, &columns, &[0; 3]).table(), ["0: 1", "1: 2", "2: 2"]);
    let apart = rank(r#"{"n": 1, "order_by": ["amount desc", "id"]}"#, &columns, &[0, 1, 2]);
    assert_eq!(apart.table(), ["0: 1", "1: 1", "2: 1"], "rows of two groups are no peers");
}

#[test]
fn w008_options_that_do_not_fit_are_named() {
    let columns = [("a", ints(&[1])), ("position", ints(&[1]))];
    for (options, expected) in [
        (r#"{"n": 1, "order_by": []}"#, "`order_by` is empty; without an order no row comes before another"),
        (r#"{"n": 0, "order_by": ["a"]}"#, "`n` is 0; it must be at least 1"),
        (r#"{"n": 1, "order_by": ["a"]}"#, "the input has a column `position` already; name another for `row_number`"),
        (
            r#"{"n": 1, "order_by": ["a", "b"], "position": "p"}"#,
            "`order_by[1]`: no column `b`; there are: a, position",
        ),
        (r#"{"n": 1, "order_by": ["a", "a desc"], "position": "p"}"#, "`order_by[1]`: column `a` is there twice"),
        (
            r#"{"n": 1, "order_by": ["a down"], "position": "p"}"#,
            "`order_by[0]`: `a down` is not `COLUMN [asc|desc] [nulls first|nulls last]`",
        ),
        (
            r#"{"n": 1, "order_by": ["a"], "position": "p", "functions": {"rank": "r"}}"#,
            "`position` and `functions` both name columns; give one of them",
        ),
        (
            r#"{"n": 1, "order_by": ["a"], "functions": {"rank": "r"}}"#,
            "`functions` has no `row_number`, whose positions are compared with `n`; add it, or name another in `function`",
        ),
        (
            r#"{"n": 1, "order_by": ["a"], "functions": {"row_number": "r", "rank": "r"}}"#,
            "`functions` has the column `r` twice",
        ),
    ] {
        assert_eq!(refused(options, &columns), format!("options: {expected}"));
    }
    assert!(refused(r#"{"n": 1, "order_by": ["a"], "limit": 3}"#, &columns).contains("unknown field `limit`"));
    assert!(
        refused(r#"{"n": 1, "function": "ntile", "order_by": ["a"]}"#, &columns).contains("unknown variant `ntile`")
    );
}

#[test]
fn only_what_the_order_needs_is_read() {
    use crisol_sdk::columns::Ranker;
    use crisol_sdk::{Column, types};

    let column = |name: &str, data_type: &str| Column::new(name, types::parse(data_type).unwrap());
    let input = [
        column("tags", "array<string>"),
        column("a", "int"),
        column("topic", "string"),
        column("partition", "int"),
        column("offset", "bigint"),
    ];
    let plan = |text: &str, input: &[Column]| TopN::plan(&serde_json::from_str(text).unwrap(), input);
    let total = r#"{"n": 1, "order_by": ["offset desc", "a"]}"#;
    let planned = plan(total, &input).unwrap();
    assert_eq!(planned.reads, ["offset", "a", "topic", "partition"]);
    assert_eq!(plan(total, &input[1..]).unwrap(), planned, "the same when the input is only what it reads");
    let with_ties = plan(r#"{"n": 1, "function": "rank", "order_by": ["a"]}"#, &input).unwrap();
    assert_eq!(with_ties.reads, ["a"]);
    let error = plan(r#"{"n": 1, "order_by": ["tags"]}"#, &input).unwrap_err();
    assert_eq!(error.text, "`order_by[0]`: column `tags` is array<string>, which has no order");
}

#[test]
fn the_schema_of_the_options_is_json() {
    use crisol_sdk::columns::Ranker;

    let about = testing::description(&TopN::ABOUT, "ranker").unwrap();
    assert_eq!(about["name"], "top-n");
    assert_eq!(about["options"]["properties"]["position"]["default"], "position");
}

#[test]
fn no_rows_give_none() {
    let none = RecordBatch::new_empty(input(&[("a", ints(&[]))]).unwrap().schema());
    let answer = testing::ranker::<TopN>(r#"{"n": 1, "order_by": ["a"]}"#, &none, &[]).unwrap();
    assert!(answer.index.is_empty());
}
