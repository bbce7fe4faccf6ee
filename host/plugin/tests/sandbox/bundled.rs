//! The bundled rankers and aggregators, as files: over the same boundary as any other component.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use crisol_plugin::{CallError, Component, GroupAnswer, GroupStage, Kind, Limits, PluginError};
use serde_json::{Value, json};

use crate::harness::*;

/// `top-n` and `aggregate`, as `scripts/plugins.sh` built them.
static BUNDLED: LazyLock<[Arc<Component>; 2]> = LazyLock::new(|| {
    ["top-n", "aggregate"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(format!("{name}.wasm"));
        let bytes =
            std::fs::read(path).unwrap_or_else(|_| panic!("plugins/{name}.wasm: `scripts/plugins.sh` builds it"));
        Arc::new(load(&bytes).unwrap())
    })
});

fn orders_schema() -> Schema {
    Schema::new(vec![
        Field::new("order_id", DataType::Utf8, false),
        Field::new("amount", DataType::Decimal128(18, 2), true),
        Field::new("country", DataType::Utf8, true),
    ])
}

fn stage(component: &Arc<Component>, options: &Value) -> Result<GroupStage, PluginError> {
    component.group_stage(options.as_object().unwrap(), &orders_schema(), &Limits::default())
}

/// Orders `o-FIRST`… of 100 a group; the amounts go up and down.
fn orders(stage: &GroupStage, first: usize, rows: usize) -> RecordBatch {
    let numbers = || first..first + rows;
    let columns = stage.reads().iter().map(|name| -> (&str, ArrayRef) {
        match name.as_str() {
            "order_id" => ("order_id", Arc::new(StringArray::from_iter_values(numbers().map(|n| format!("o-{n:06}"))))),
            _ => {
                let cents = numbers().map(|n| (n * 37 % 101) as i128).collect::<Vec<_>>();
                ("amount", Arc::new(Decimal128Array::from(cents).with_precision_and_scale(18, 2).unwrap()))
            }
        }
    });
    let groups: ArrayRef = Arc::new(Int32Array::from_iter_values(numbers().map(|n| n as i32 / 100)));
    RecordBatch::try_from_iter(columns.chain([("_group", groups)])).unwrap()
}

/// 30,000 orders in uneven pieces.
fn run(stage: &GroupStage) -> Vec<GroupAnswer> {
    let mut session = stage.session(NOW_US).unwrap();
    let mut answers = Vec::new();
    for (first, rows) in [(0, 16_384), (16_384, 1), (16_385, 9_999), (26_384, 3_616)] {
        answers.extend(session.push(&orders(stage, first, rows)).unwrap());
    }
    answers.extend(session.finish().unwrap());
    answers
}

#[test]
fn top_n_keeps_the_first_rows_of_each_group() {
    let [top_n, _] = &*BUNDLED;
    assert_eq!((top_n.name(), top_n.kind()), ("top-n", Kind::Ranker));
    let stage = stage(top_n, &json!({ "n": 3, "order_by": ["amount desc", "order_id"] })).unwrap();
    assert_eq!(stage.reads(), ["amount", "order_id"]);
    assert_eq!(stage.writes().field(0), &Field::new("position", DataType::Int32, false));
    let mut given = Vec::new();
    for answer in run(&stage) {
        let positions = answer.rows.column(0).as_primitive::<Int32Type>().values().to_vec();
        given.extend(answer.index.iter().map(|row| *row as usize).zip(positions));
    }
    let expected = (0..300).flat_map(|group| {
        let mut rows: Vec<usize> = (group * 100..group * 100 + 100).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row * 37 % 101), *row));
        rows.into_iter().take(3).zip(1..)
    });
    assert_eq!(given, expected.collect::<Vec<_>>());
}

#[test]
fn aggregate_gives_one_row_for_each_group() {
    let [_, aggregate] = &*BUNDLED;
    assert_eq!((aggregate.name(), aggregate.kind()), ("aggregate", Kind::Aggregator));
    let measures =
        json!({ "measures": { "orders": "count(*)", "revenue": "sum(amount)", "amounts": "count(distinct amount)" } });
    let stage = stage(aggregate, &measures).unwrap();
    assert_eq!(stage.reads(), ["amount"]);
    assert_eq!(stage.writes().field(1), &Field::new("revenue", DataType::Decimal128(28, 2), true));
    let mut given = Vec::new();
    for answer in run(&stage) {
        let counts = |column: usize| answer.rows.column(column).as_primitive::<Int64Type>().values().to_vec();
        let sums = answer.rows.column(1).as_primitive::<Decimal128Type>().values().to_vec();
        given.extend(answer.index.iter().copied().zip(counts(0)).zip(sums).zip(counts(2)));
    }
    let expected = (0..300_u32).map(|group| {
        let cents: Vec<i128> = (group * 100..group * 100 + 100).map(|n| i128::from(n * 37 % 101)).collect();
        (((group, 100), cents.iter().sum::<i128>()), 100)
    });
    assert_eq!(given, expected.collect::<Vec<_>>());
}

#[test]
fn options_are_refused_before_any_row_with_the_place_of_the_fault() {
    let [top_n, aggregate] = &*BUNDLED;
    let error = stage(top_n, &json!({ "n": 0, "order_by": [] })).unwrap_err();
    let PluginError::Options { problems, .. } = &error else { panic!("{error}") };
    assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["/n", "/order_by"]);
    let error = stage(top_n, &json!({ "n": 1, "order_by": ["amuont"] })).unwrap_err().to_string();
    assert!(error.contains("`order_by[0]`: no column `amuont`; there are: order_id, amount, country"), "{error}");
    let error = stage(aggregate, &json!({ "measures": { "revenue": "summ(amount)" } })).unwrap_err().to_string();
    assert!(error.contains("measure `revenue`: `summ(amount)`: `summ` is not a function"), "{error}");
}

#[test]
fn w007_an_order_that_is_not_total_stops_the_session() {
    let [top_n, _] = &*BUNDLED;
    let stage = stage(top_n, &json!({ "n": 1, "order_by": ["amount"] })).unwrap();
    let mut session = stage.session(NOW_US).unwrap();
    let tied: ArrayRef = Arc::new(Decimal128Array::from(vec![1, 1]).with_precision_and_scale(18, 2).unwrap());
    let groups: ArrayRef = Arc::new(Int32Array::from(vec![0, 0]));
    session.push(&RecordBatch::try_from_iter([("amount", tied), ("_group", groups)]).unwrap()).unwrap();
    let error = session.finish().unwrap_err();
    assert!(matches!(&error, CallError::Failure { code, .. } if code == "order_not_total"), "{error}");
    assert!(error.to_string().contains("two rows of a group tie in `amount`"), "{error}");
}

#[test]
fn p052_an_overflow_stops_the_session() {
    let [_, aggregate] = &*BUNDLED;
    let schema = Schema::new(vec![Field::new("plays", DataType::Int64, false)]);
    let options = json!({ "measures": { "plays": "sum(plays)" } });
    let stage = aggregate.group_stage(options.as_object().unwrap(), &schema, &Limits::default()).unwrap();
    let plays: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX, 1]));
    let groups: ArrayRef = Arc::new(Int32Array::from(vec![0, 0]));
    let mut session = stage.session(NOW_US).unwrap();
    session.push(&RecordBatch::try_from_iter([("plays", plays), ("_group", groups)]).unwrap()).unwrap();
    let error = session.finish().unwrap_err().to_string();
    assert!(error.starts_with("it failed: overflow: measure `plays`: "), "{error}");
}
