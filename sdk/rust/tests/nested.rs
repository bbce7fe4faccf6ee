//! Lists, maps and records in rows, through the messages that cross between host and component.

#![allow(missing_docs, missing_debug_implementations, clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use crisol_sdk::arrow::{Array, ArrayRef, DataType, ListArray, RecordBatch, StructArray, new_null_array};
use crisol_sdk::value::Value;
use crisol_sdk::{
    About, Batch, Bytes, Decimal, Failure, Map, NoOptions, Rejection, Text, Timestamp, Transformer, columns, record,
    testing,
};

record! {
    pub struct Item<'a> {
        pub sku: Text<'a>,
        pub price: Option<Decimal<18, 2>>,
    }
}

record! {
    pub struct Basket<'a> {
        pub id: i64,
        pub items: Vec<Item<'a>>,
        pub marks: Option<Vec<Option<i32>>>,
        pub stock: Map<Text<'a>, Option<Vec<Timestamp>>>,
        pub best: Option<Item<'a>>,
        pub parts: Vec<Bytes<'a>>,
    }
}

/// Gives what it gets.
pub struct Same;

impl Transformer for Same {
    type Options = NoOptions;
    type Input<'a> = Basket<'a>;
    type Output<'a> = Basket<'a>;
    const ABOUT: About = About::new("same", "0.1.0");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Same)
    }

    fn transform<'a>(&self, row: Basket<'a>, out: &mut Vec<Basket<'a>>) -> Result<(), Rejection> {
        out.push(row);
        Ok(())
    }
}

fn item(sku: &str, price: &str) -> Item<'static> {
    Item { sku: sku.to_string().into(), price: Decimal::parse(price) }
}

fn basket(id: i64) -> Basket<'static> {
    Basket { id, items: vec![], marks: None, stock: Map::default(), best: None, parts: vec![] }
}

fn baskets() -> Vec<Basket<'static>> {
    let moments = vec![Timestamp { micros: 0 }, Timestamp { micros: 1 }];
    vec![
        basket(1),
        Basket {
            items: vec![item("a", "12.5"), item("b", "")],
            marks: Some(vec![Some(1), None]),
            stock: [("fig".into(), Some(moments)), ("nut".into(), None), ("tea".into(), Some(vec![]))]
                .into_iter()
                .collect(),
            best: Some(item("ñ", "0.01")),
            parts: vec![vec![0, 255].into(), vec![].into()],
            ..basket(2)
        },
        Basket { marks: Some(vec![]), best: Some(item("c", "")), ..basket(3) },
    ]
}

#[test]
fn rows_come_out_as_they_went_in() {
    let outcome = testing::transform::<Same>("", &baskets()).unwrap();
    assert_eq!(outcome.reasons(), [""; 0]);
    assert_eq!(
        outcome.table(),
        [
            "1 | [] | null | {} | null | []",
            "2 | [{sku: a, price: 12.50}, {sku: b, price: null}] | [1, null] | {fig: [1970-01-01T00:00:00Z, 1970-01-01T00:00:00.000001Z], nut: null, tea: []} | {sku: ñ, price: 0.01} | [00ff, ]",
            "3 | [] | [] | {} | {sku: c, price: null} | []",
        ]
    );
}

/// The baskets as a batch, with another column in the place of one.
fn batch(name: &str, column: impl Fn(&ArrayRef) -> ArrayRef) -> RecordBatch {
    let rows = testing::transform::<Same>("", &baskets()).unwrap().rows;
    let names: Vec<String> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns = rows.columns().iter().zip(&names);
    let columns: Vec<(&str, ArrayRef)> =
        columns.map(|(c, n)| (n.as_str(), if n == name { column(c) } else { Arc::clone(c) })).collect();
    testing::input(&columns).unwrap()
}

#[test]
fn a_null_within_where_none_may_be_rejects_the_row() {
    // All items without a price are without a sku, too.
    let items = batch("items", |column| {
        let lists = column.as_any().downcast_ref::<ListArray>().unwrap();
        let items = lists.values().as_any().downcast_ref::<StructArray>().unwrap();
        let nulls: ArrayRef = new_null_array(items.column(0).data_type(), items.len());
        let items = StructArray::new(items.fields().clone(), vec![nulls, Arc::clone(items.column(1))], None);
        let DataType::List(element) = lists.data_type() else { panic!("a list") };
        Arc::new(ListArray::new(Arc::clone(element), lists.offsets().clone(), Arc::new(items), None))
    });
    let outcome = testing::stage::<crisol_sdk::rows::Transforming<Same>>("", &items).unwrap();
    assert_eq!(outcome.origin, [0, 2]);
    assert_eq!(outcome.reasons(), ["1 not_null: items: `items`: it is null or has a null in it"]);
}

#[test]
fn a_stage_over_columns_reads_them_by_name_and_type() {
    let rows = batch("none", Arc::clone);
    let ids = columns::read::<i64>(&rows, "id").unwrap();
    assert_eq!(ids.values(), &[1, 2, 3]);
    let items = columns::read::<Vec<Item<'_>>>(&rows, "items").unwrap();
    assert_eq!(Vec::<Item<'_>>::get(&items, 1), Some(vec![item("a", "12.5"), item("b", "")]));
    let error = columns::read::<i32>(&rows, "id").unwrap_err().to_string();
    assert_eq!(error, "input: column `id` is bigint, not int");
    let error = columns::read::<Vec<i64>>(&rows, "marks").unwrap_err().to_string();
    assert_eq!(error, "input: column `marks` is array<int>, not array<bigint>");
    let error = columns::read::<i64>(&rows, "ids").unwrap_err().to_string();
    assert_eq!(error, "input: column `ids` is missing");
}

#[test]
fn the_guide_shows_these_records() {
    let code = include_str!("nested.rs").split_once("\n\nrecord!").unwrap().1.split_once("\n\n/// Gives").unwrap().0;
    assert!(include_str!("../../../docs/plugin-rust.md").contains(code), "docs/plugin-rust.md shows other records");
}
