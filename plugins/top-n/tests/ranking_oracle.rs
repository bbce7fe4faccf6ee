//! Random groups against the definitions of the three functions: how many rows, or keys, stand before a row.

#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crisol_plugin_top_n::TopN;
use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::types::Int32Type;
use crisol_sdk::arrow::{Float64Array, Int64Array, StringArray};
use crisol_sdk::testing;
use proptest::prelude::*;

/// A row: its group, two columns with many ties, and an id of its own.
type Row = (i32, Option<f64>, Option<String>);

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(0.0), Just(-0.0), Just(1.5), Just(-3.0), Just(f64::INFINITY)]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..4, proptest::option::of(float()), proptest::option::of("[aBá]{0,2}"));
    proptest::collection::vec(row, 0..40).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        rows
    })
}

#[derive(Debug, Clone, Copy)]
struct By {
    descending: bool,
    nulls_first: Option<bool>,
}

impl By {
    fn text(self, column: &str) -> String {
        let nulls = self.nulls_first.map_or("", |first| if first { " nulls first" } else { " nulls last" });
        format!("\"{column} {}{nulls}\"", if self.descending { "desc" } else { "asc" })
    }

    fn compare<V>(self, a: Option<&V>, b: Option<&V>, compare: impl Fn(&V, &V) -> Ordering) -> Ordering {
        let nulls_first = self.nulls_first.unwrap_or(!self.descending);
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) if nulls_first => Ordering::Less,
            (Some(_), None) if !nulls_first => Ordering::Less,
            (None, Some(_)) | (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) if self.descending => compare(b, a),
            (Some(a), Some(b)) => compare(a, b),
        }
    }
}

fn by() -> impl Strategy<Value = By> {
    (any::<bool>(), any::<Option<bool>>()).prop_map(|(descending, nulls_first)| By { descending, nulls_first })
}

fn floats(a: &f64, b: &f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => {
            if a < b {
                Ordering::Less
            } else if a > b {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        }
    }
}

/// Positions of every row by the definitions: row_number (with the id last), rank, dense_rank.
fn positions(rows: &[Row], a: By, b: By) -> Vec<[i32; 3]> {
    let compare = |x: &Row, y: &Row| {
        a.compare(x.1.as_ref(), y.1.as_ref(), floats)
            .then_with(|| b.compare(x.2.as_ref(), y.2.as_ref(), |x, y| x.as_bytes().cmp(y.as_bytes())))
    };
    let position = |(at, row): (usize, &Row)| {
        let group = || rows.iter().enumerate().filter(|(_, other)| other.0 == row.0);
        let better: Vec<&Row> = group().map(|(_, other)| other).filter(|other| compare(other, row).is_lt()).collect();
        let tied = group().filter(|(other_at, other)| compare(other, row).is_eq() && *other_at < at).count();
        let mut distinct: Vec<&Row> = Vec::new();
        for other in &better {
            if !distinct.iter().any(|seen| compare(seen, other).is_eq()) {
                distinct.push(other);
            }
        }
        [better.len() + tied + 1, better.len() + 1, distinct.len() + 1].map(|position| position as i32)
    };
    rows.iter().enumerate().map(position).collect()
}

proptest! {
    #[test]
    fn w001_positions_are_those_of_the_definitions(rows in rows(), a in by(), b in by(), n in 1..5, filter in 0..3_usize) {
        let input = testing::input(&[
            ("a", Arc::new(rows.iter().map(|row| row.1).collect::<Float64Array>())),
            ("b", Arc::new(rows.iter().map(|row| row.2.as_deref()).collect::<StringArray>())),
            ("id", Arc::new((0..rows.len() as i64).map(Some).collect::<Int64Array>())),
        ]).unwrap();
        let function = ["row_number", "rank", "dense_rank"][filter];
        let groups: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let expected = positions(&rows, a, b);

        // Two functions share ties, the third needs the id: one run for each.
        for (names, id) in [(&["rank", "dense_rank"][..], ""), (&["row_number"], ", \"id\"")] {
            if !names.contains(&function) {
                continue;
            }
            let columns: Vec<String> = names.iter().map(|name| format!("\"{name}\": \"{name}\"")).collect();
            let options = format!(
                r#"{{"n": {n}, "function": "{function}", "order_by": [{}, {}{id}], "functions": {{{}}}}}"#,
                a.text("a"), b.text("b"), columns.join(", "),
            );
            let answer = testing::ranker::<TopN>(&options, &input, &groups).unwrap();
            let place = |name: &str| ["row_number", "rank", "dense_rank"].iter().position(|f| *f == name).unwrap();
            let wanted = expected.iter().enumerate().filter(|(_, all)| all[filter] <= n);
            let wanted: BTreeMap<i32, Vec<i32>> =
                wanted.map(|(row, all)| (row as i32, names.iter().map(|name| all[place(name)]).collect())).collect();
            let given: BTreeMap<i32, Vec<i32>> = answer.index.iter().enumerate().map(|(at, row)| {
                (*row, answer.rows.columns().iter().map(|c| c.as_primitive::<Int32Type>().value(at)).collect())
            }).collect();
            prop_assert_eq!(given, wanted);
        }
    }
}
