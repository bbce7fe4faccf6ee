//! Random groups against a plain computation of each measure.

#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crisol_plugin_aggregate::Aggregate;
use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::types::{Decimal128Type, Float64Type, Int64Type};
use crisol_sdk::arrow::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array, StringArray};
use crisol_sdk::testing;
use proptest::prelude::*;

type Grouped<V> = Vec<(i32, Option<V>)>;

fn grouped<V: Clone + std::fmt::Debug>(value: impl Strategy<Value = V>) -> impl Strategy<Value = Grouped<V>> {
    proptest::collection::vec((0..4, proptest::option::of(value)), 0..40).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        rows
    })
}

/// The values of each group that are not null.
fn by_group<V: Clone>(rows: &Grouped<V>) -> BTreeMap<i32, Vec<V>> {
    let mut groups: BTreeMap<i32, Vec<V>> = BTreeMap::new();
    for (group, value) in rows {
        groups.entry(*group).or_default().extend(value.clone());
    }
    groups
}

fn run<V>(measures: &[&str], rows: &Grouped<V>, column: ArrayRef) -> Result<(Vec<i32>, Vec<ArrayRef>), String> {
    let measures: Vec<String> = measures.iter().map(|measure| format!("\"{measure}\": \"{measure}\"")).collect();
    let options = format!("{{\"measures\": {{{}}}}}", measures.join(", "));
    let groups: Vec<i32> = rows.iter().map(|row| row.0).collect();
    let input = testing::input(&[("a", column)]).unwrap();
    let answer = testing::aggregator::<Aggregate>(&options, &input, &groups).map_err(|failure| failure.to_string())?;
    Ok((answer.index, answer.rows.columns().to_vec()))
}

fn ints(column: &ArrayRef) -> Vec<Option<i64>> {
    column.as_primitive::<Int64Type>().iter().collect()
}

proptest! {
    #[test]
    fn p052_integers(rows in grouped(prop_oneof![-3..3_i64, any::<i64>()])) {
        let column: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>());
        let groups = by_group(&rows);
        let sum = |values: &Vec<i64>| values.iter().map(|v| i128::from(*v)).sum::<i128>();
        let measures = ["count(a)", "count(distinct a)", "min(a)", "max(a)", "avg(a)", "sum(a)"];
        if groups.values().any(|values| i64::try_from(sum(values)).is_err()) {
            prop_assert!(run(&measures, &rows, column).unwrap_err().starts_with("overflow: measure `sum(a)`"));
            return Ok(());
        }
        let (index, columns) = run(&measures, &rows, column).unwrap();
        prop_assert_eq!(index, groups.keys().copied().collect::<Vec<_>>());
        let expected = |value: &dyn Fn(&Vec<i64>) -> Option<i64>| groups.values().map(value).collect::<Vec<_>>();
        prop_assert_eq!(ints(&columns[0]), expected(&|v| Some(v.len() as i64)));
        prop_assert_eq!(ints(&columns[1]), expected(&|v| Some(v.iter().collect::<BTreeSet<_>>().len() as i64)));
        prop_assert_eq!(ints(&columns[2]), expected(&|v| v.iter().min().copied()));
        prop_assert_eq!(ints(&columns[3]), expected(&|v| v.iter().max().copied()));
        let average = |v: &Vec<i64>| (!v.is_empty()).then(|| sum(v) as f64 / v.len() as f64);
        let averages: Vec<Option<f64>> = columns[4].as_primitive::<Float64Type>().iter().collect();
        prop_assert_eq!(averages, groups.values().map(average).collect::<Vec<_>>());
        prop_assert_eq!(ints(&columns[5]), expected(&|v| (!v.is_empty()).then(|| sum(v) as i64)));
    }

    #[test]
    fn p052_decimals(rows in grouped(-99_999_i128..=99_999)) {
        let column = rows.iter().map(|row| row.1).collect::<Decimal128Array>().with_precision_and_scale(5, 2).unwrap();
        let (_, columns) = run(&["sum(a)", "avg(a)", "max(a)"], &rows, Arc::new(column)).unwrap();
        let units = |column: &ArrayRef| column.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>();
        let groups = by_group(&rows);
        for (at, values) in groups.values().enumerate() {
            let (sum, count): (i128, i128) = (values.iter().sum(), values.len() as i128);
            prop_assert_eq!(units(&columns[0])[at], (count > 0).then_some(sum));
            prop_assert_eq!(units(&columns[2])[at], values.iter().max().copied());
            let average = units(&columns[1])[at];
            prop_assert_eq!(average.is_some(), count > 0);
            if let Some(average) = average {
                // The nearest; of two that are as near, the one away from zero.
                let (exact, given) = (sum * 10_000 * 2, average * count * 2);
                prop_assert!((given - exact).abs() <= count, "{} of {}", average, sum);
                prop_assert!((given - exact).abs() < count || given.abs() > exact.abs(), "{} of {}", average, sum);
            }
        }
    }

    #[test]
    fn p053_floats(rows in grouped(prop_oneof![
        Just(0.0), Just(-0.0), Just(f64::NAN), Just(-f64::NAN), Just(1.5), Just(f64::INFINITY), -1e300..1e300,
    ])) {
        let column: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Float64Array>());
        let measures = ["count(distinct a)", "sum(a)", "min(a)", "max(a)"];
        let (_, columns) = run(&measures, &rows, column).unwrap();
        let doubles = |column: &ArrayRef| column.as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => a == b || a.is_nan() && b.is_nan(),
            (a, b) => a.is_none() && b.is_none(),
        };
        let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
        for (at, values) in by_group(&rows).values().enumerate() {
            let mut distinct = values.clone();
            distinct.sort_by(order);
            distinct.dedup_by(|a, b| order(a, b) == Ordering::Equal);
            prop_assert_eq!(ints(&columns[0])[at], Some(distinct.len() as i64));
            let sum = (!values.is_empty()).then(|| values.iter().sum());
            prop_assert!(same(doubles(&columns[1])[at], sum));
            prop_assert!(same(doubles(&columns[2])[at], distinct.first().copied()));
            prop_assert!(same(doubles(&columns[3])[at], distinct.last().copied()));
        }
    }

    #[test]
    fn p052_strings(rows in grouped("[aBá]{0,3}")) {
        let column: ArrayRef = Arc::new(rows.iter().map(|row| row.1.as_deref()).collect::<StringArray>());
        let (_, columns) = run(&["count(distinct a)", "min(a)", "max(a)"], &rows, column).unwrap();
        for (at, values) in by_group(&rows).values().enumerate() {
            let distinct: BTreeSet<&[u8]> = values.iter().map(String::as_bytes).collect();
            prop_assert_eq!(ints(&columns[0])[at], Some(distinct.len() as i64));
            for (column, expected) in [(&columns[1], distinct.first()), (&columns[2], distinct.last())] {
                let texts = column.as_string::<i32>();
                prop_assert_eq!(texts.is_valid(at).then(|| texts.value(at).as_bytes()), expected.copied());
            }
        }
    }
}
