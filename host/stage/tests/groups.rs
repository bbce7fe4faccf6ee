//! Stages over groups: what reaches them, what they give, and that memory and sessions do not change it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::{OnViolation, StageKind, TableContract, WriteMode};
use crisol_stage::{Chain, GroupCounts, GroupRun, StageError};
use futures::{StreamExt, TryStreamExt};
use proptest::prelude::*;
use support::*;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("g", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
        Field::new("note", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, false),
    ]))
}

type Row = (Option<&'static str>, Option<i64>);

fn rows(of: &[Row]) -> RecordBatch {
    let notes: Vec<String> = of.iter().map(|(g, n)| format!("{g:?} {n:?}")).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(of.iter().map(|(g, _)| *g).collect::<StringArray>()),
        Arc::new(of.iter().map(|(_, n)| *n).collect::<Int64Array>()),
        Arc::new(StringArray::from(notes)),
        Arc::new(Int64Array::from_iter_values(0..of.len() as i64)),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn groups(component: &str, kind: StageKind) -> TableContract {
    TableContract {
        stages: vec![stage(kind, component)],
        write: WriteMode::ReplaceGroups { group_by: vec!["g".into()] },
        ..contract()
    }
}

fn chain(contract: &TableContract) -> Chain {
    build(contract, input_of(&schema()))
}

/// All rows through chain, sort and component.
async fn compute(chain: &Chain, given: &[RecordBatch]) -> Result<(Vec<RecordBatch>, GroupCounts), StageError> {
    let grouping = chain.grouping().unwrap();
    let accepted: Vec<_> = given.iter().map(|rows| Ok(chain.process(rows, &CONTEXT).unwrap().accepted)).collect();
    let sorted = grouping.sorted(futures::stream::iter(accepted).boxed()).await?;
    let mut run = GroupRun::new(Arc::clone(grouping), CONTEXT.clone())?;
    let mut out = Vec::new();
    for rows in sorted.try_collect::<Vec<_>>().await? {
        out.extend(run.push(&rows)?);
    }
    let (rest, counts) = run.finish()?;
    out.extend(rest);
    Ok((out, counts))
}

fn sums_of(out: &[RecordBatch]) -> BTreeMap<Option<String>, i64> {
    let one = |rows: &RecordBatch| {
        texts(rows, "g").into_iter().zip(longs(rows, "total").into_iter().flatten()).collect::<Vec<_>>()
    };
    let all: Vec<_> = out.iter().flat_map(one).collect();
    let map: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(map.len(), all.len(), "one row for a group");
    map
}

#[tokio::test]
async fn a_ranking_gives_chosen_rows_their_columns_back() {
    let chain = chain(&groups("best", StageKind::Ranker));
    let given = rows(&[(Some("a"), Some(1)), (Some("b"), Some(9)), (Some("a"), Some(3)), (Some("a"), Some(2))]);
    let (out, counts) = compute(&chain, &[given]).await.unwrap();
    assert_eq!(names(&chain.table_schema()), ["g", "n", "note", "place"], "no provenance in tables of groups");
    assert_eq!(names(out[0].schema_ref()), ["g", "n", "note", "place", "_deleted"]);
    let notes = texts(&out[0], "note");
    assert_eq!(notes, [r#"Some("a") Some(3)"#, r#"Some("a") Some(2)"#, r#"Some("b") Some(9)"#].map(|t| Some(t.into())));
    assert_eq!(out[0].column_by_name("place").unwrap().as_primitive::<Int32Type>().values(), &[1, 2, 1]);
    assert_eq!(counts, GroupCounts { groups: 2, rows_in: 4, rows_out: 3, not_ranked: 1, empty: 0 });
}

#[tokio::test]
async fn an_aggregation_gives_group_columns_and_counts_groups_without_an_answer() {
    let chain = chain(&groups("sums", StageKind::Aggregator));
    let given =
        rows(&[(Some("a"), Some(1)), (Some("b"), None), (None, Some(7)), (Some("a"), Some(3)), (None, Some(1))]);
    let (out, counts) = compute(&chain, &[given]).await.unwrap();
    assert_eq!(names(&chain.table_schema()), ["g", "total"]);
    assert_eq!(sums_of(&out), BTreeMap::from([(Some("a".into()), 4), (None, 8)]), "p053: null is one group");
    assert_eq!(counts, GroupCounts { groups: 3, rows_in: 5, rows_out: 2, not_ranked: 0, empty: 1 });
}

#[tokio::test]
async fn expectations_filter_rows_before_the_stage() {
    let mut contract = groups("sums", StageKind::Aggregator);
    contract.expectations = vec![expectation("positive", "n > 0", OnViolation::Drop)];
    let chain = chain(&contract);
    let (out, _) = compute(&chain, &[rows(&[(Some("a"), Some(1)), (Some("a"), Some(-5))])]).await.unwrap();
    assert_eq!(sums_of(&out), BTreeMap::from([(Some("a".into()), 1)]));
}

#[tokio::test]
async fn p053_minus_zero_and_zero_are_one_group_and_so_is_nan() {
    let schema =
        Arc::new(Schema::new(vec![Field::new("g", DataType::Float64, true), Field::new("n", DataType::Int64, true)]));
    let odd_nan = f64::from_bits(f64::NAN.to_bits() | 1 | (1 << 63));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from(vec![0.0, f64::NAN, -0.0, odd_nan, 1.0])),
        Arc::new(Int64Array::from(vec![1, 10, 2, 20, 100])),
    ];
    let given = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let chain = build(&groups("sums", StageKind::Aggregator), input_of(&schema));
    let (out, counts) = compute(&chain, &[given]).await.unwrap();
    let keys = out[0].column_by_name("g").unwrap().as_primitive::<Float64Type>();
    let mut found: Vec<(String, i64)> =
        keys.values().iter().map(ToString::to_string).zip(longs(&out[0], "total").into_iter().flatten()).collect();
    found.sort();
    assert_eq!(found, [("0".to_string(), 3), ("1".to_string(), 100), ("NaN".to_string(), 30)]);
    assert_eq!(counts.groups, 3);
}

#[test]
fn touched_groups_are_named_once_and_choose_their_rows() {
    let chain = chain(&groups("sums", StageKind::Aggregator));
    let accepted = |of: &[Row]| chain.process(&rows(of), &CONTEXT).unwrap().accepted;
    let mut touched = chain.grouping().unwrap().touched().unwrap();
    assert!(touched.is_empty());
    touched.add(&accepted(&[(Some("b"), Some(1)), (None, None), (Some("b"), Some(2))])).unwrap();
    touched.add(&accepted(&[(Some("a"), Some(1)), (Some("b"), None)])).unwrap();
    assert_eq!(touched.len(), 3);
    let named = touched.named(2).unwrap();
    assert_eq!(named.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
    let keys: Vec<_> = named.iter().flat_map(|rows| texts(rows, "g")).collect();
    assert_eq!(keys, [None, Some("a".into()), Some("b".into())]);
    assert!(named.iter().all(|rows| rows["_deleted"].as_boolean().true_count() == rows.num_rows()));
    assert!(named.iter().all(|rows| rows["total"].null_count() == rows.num_rows()));
    let chosen = touched.select(&accepted(&[(Some("c"), Some(1)), (Some("a"), Some(2)), (None, Some(3))])).unwrap();
    assert_eq!(longs(&chosen, "n"), [Some(2), Some(3)]);
}

#[test]
fn rows_that_are_gone_touch_their_group_and_never_reach_quarantine() {
    let with_deleted = crisol_source_like(&schema());
    let mut contract = groups("sums", StageKind::Aggregator);
    contract.expectations = vec![
        expectation("known", "g IS NOT NULL", OnViolation::Quarantine),
        expectation("small", "n < 100", OnViolation::Fail),
    ];
    let chain = build(&contract, input_of(&with_deleted));
    let base = rows(&[(None, Some(1)), (None, Some(2)), (Some("a"), Some(3)), (Some("a"), Some(500))]);
    let deleted: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true, true]));
    let columns = base.columns().iter().cloned().chain([deleted]).collect();
    let output = chain.process(&RecordBatch::try_new(with_deleted, columns).unwrap(), &CONTEXT).unwrap();
    assert_eq!(output.rejected, [("expectation: known".to_string(), 1)]);
    assert_eq!(output.filtered, [("retracted".to_string(), 2)]);
    assert_eq!(texts(&output.accepted, "g"), [Some("a".into())]);
}

fn crisol_source_like(schema: &SchemaRef) -> SchemaRef {
    let deleted = Arc::new(Field::new("_deleted", DataType::Boolean, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([deleted]).collect::<Vec<_>>()))
}

#[tokio::test]
async fn what_a_component_gets_wrong_names_it_and_its_groups() {
    for (component, expected) in [
        ("liar", "it answered for a row or group that it was not given"),
        ("broken", "unreachable executed (in groups (g a) to (g b))"),
    ] {
        let chain = chain(&groups(component, StageKind::Ranker));
        let error = compute(&chain, &[rows(&[(Some("a"), Some(1)), (Some("b"), Some(2))])]).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("stage `rank {component}`: component `{component}@1.0.0` (native)")),
            "{text}"
        );
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn what_fails_only_because_it_has_worked_before_is_done_afresh() {
    // Several calls to a session: in the first, in a later one, and at the end.
    for guilty in [0, 20_000, 39_999, usize::MAX] {
        let given: Vec<Row> = (0..40_000)
            .map(|row| (Some(["a", "b", "c"][row / 15_000]), Some(if row == guilty { 13 } else { (row % 10) as i64 })))
            .collect();
        let given = [rows(&given)];
        let aging = compute(&chain(&groups("aging", StageKind::Aggregator)), &given).await.unwrap();
        let young = compute(&chain(&groups("sums", StageKind::Aggregator)), &given).await.unwrap();
        assert_eq!(aging, young, "{guilty}");
    }
}

#[tokio::test]
async fn the_group_on_which_a_component_fails_is_named() {
    let chain = chain(&groups("allergic", StageKind::Ranker));
    let given: Vec<_> =
        ["a", "b", "c", "d", "e"].iter().enumerate().map(|(at, g)| (Some(*g), Some(at as i64))).collect();
    let guilty = [(Some("c"), Some(13)), (Some("d"), Some(5))];
    let error = compute(&chain, &[rows(&given), rows(&guilty)]).await.unwrap_err().to_string();
    assert!(error.contains("it trapped: thirteen (in the group (g c))"), "{error}");
}

#[tokio::test]
async fn rows_beyond_memory_and_sessions_give_the_same_groups() {
    let chain = chain(&groups("sums", StageKind::Aggregator));
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    // Wide notes do not reach the sort; a group of this many rows is more than one session and one call.
    let chunk = |seed: usize| {
        rows(&(0..16_000).map(|at| (Some(names[(at * 31 + seed) % 7]), Some(at as i64))).collect::<Vec<Row>>())
    };
    let given: Vec<RecordBatch> = (0..40).map(chunk).collect();
    let mut expected = BTreeMap::new();
    for rows in &given {
        for (g, n) in texts(rows, "g").into_iter().zip(longs(rows, "n")) {
            *expected.entry(g).or_insert(0) += n.unwrap();
        }
    }
    let (out, counts) = compute(&chain, &given).await.unwrap();
    assert_eq!(sums_of(&out), expected);
    assert_eq!((counts.groups, counts.rows_in), (7, 40 * 16_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_cut_of_the_rows_gives_the_same_sums(
        of in proptest::collection::vec((proptest::option::of(0..4usize), proptest::option::of(-50..50i64)), 0..200),
        cuts in proptest::collection::vec(1..60usize, 1..6),
    ) {
        const NAMES: [&str; 4] = ["", "a", "b", "ab"];
        let of: Vec<Row> = of.into_iter().map(|(g, n)| (g.map(|g| NAMES[g]), n)).collect();
        let (mut given, mut from) = (Vec::new(), 0);
        for cut in cuts.iter().cycle() {
            if from >= of.len() { break; }
            let to = (from + cut).min(of.len());
            given.push(rows(&of[from..to]));
            from = to;
        }
        let mut expected: BTreeMap<Option<String>, Option<i64>> = BTreeMap::new();
        for (g, n) in &of {
            let sum = expected.entry(g.map(String::from)).or_default();
            *sum = match (*sum, n) { (sum, None) => sum, (sum, Some(n)) => Some(sum.unwrap_or(0) + n) };
        }
        let expected: BTreeMap<_, _> = expected.into_iter().filter_map(|(g, sum)| Some((g, sum?))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (out, counts) = runtime.block_on(compute(&chain(&groups("sums", StageKind::Aggregator)), &given)).unwrap();
        prop_assert_eq!(sums_of(&out), expected);
        prop_assert_eq!(counts.rows_in, of.len() as u64);
    }
}
