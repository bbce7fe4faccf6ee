//! Rankers and aggregators on records, through the messages that cross between host and component.

#![allow(missing_docs, missing_debug_implementations, clippy::unwrap_used)]

use crisol_sdk::{
    About, Aggregator, Batch, Decimal, Failure, NoOptions, Ranker, Text, aggregator, ranker, record, testing,
};

record! {
    pub struct Sale<'a> {
        pub sku: Text<'a>,
        pub price: Option<Decimal<18, 2>>,
    }
}

record! {
    pub struct Place {
        pub place: i32,
    }
}

record! {
    pub struct Span<'a> {
        pub sales: i64,
        pub dearest: Option<Decimal<18, 2>>,
        pub skus: Text<'a>,
    }
}

/// The two dearest sales.
pub struct Dearest;

impl Ranker for Dearest {
    type Options = NoOptions;
    type Row<'a> = Sale<'a>;
    type Output = Place;
    const ABOUT: About = About::new("dearest", "0.1.0");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Dearest)
    }

    fn rank(&self, group: &[Sale<'_>], kept: &mut Vec<(usize, Place)>) -> Result<(), Failure> {
        let mut order: Vec<usize> = (0..group.len()).collect();
        order.sort_by(|a, b| group[*b].price.cmp(&group[*a].price));
        kept.extend(order.into_iter().take(2).zip(1..).map(|(row, place)| (row, Place { place })));
        Ok(())
    }
}

ranker!(Dearest);

/// Groups with at least one price.
pub struct Spans;

#[derive(Default)]
pub struct Seen {
    sales: i64,
    dearest: Option<Decimal<18, 2>>,
    skus: Vec<String>,
}

impl Aggregator for Spans {
    type Options = NoOptions;
    type Row<'a> = Sale<'a>;
    type State = Seen;
    type Output = Span<'static>;
    const ABOUT: About = About::new("spans", "0.1.0");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Spans)
    }

    fn add(&self, seen: &mut Seen, sale: Sale<'_>) -> Result<(), Failure> {
        seen.sales += 1;
        seen.dearest = seen.dearest.max(sale.price);
        seen.skus.push(sale.sku.into_owned());
        Ok(())
    }

    fn finish(&self, seen: Seen) -> Result<Option<Span<'static>>, Failure> {
        let span = Span { sales: seen.sales, dearest: seen.dearest, skus: seen.skus.join("+").into() };
        Ok(seen.dearest.map(|_| span))
    }
}

aggregator!(Spans);

fn sale(sku: &'static str, price: &str) -> Sale<'static> {
    Sale { sku: sku.into(), price: Decimal::parse(price) }
}

fn groups() -> [Vec<Sale<'static>>; 4] {
    [
        vec![sale("a", "1"), sale("b", "3"), sale("c", "2"), sale("d", "")],
        vec![sale("e", "")],
        vec![sale("f", "5")],
        vec![sale("g", "1"), sale("h", "2"), sale("i", "3"), sale("j", "4"), sale("k", "5")],
    ]
}

#[test]
fn a_ranker_sees_whole_groups_however_the_rows_come() {
    let groups = groups();
    let answer = testing::rank::<Dearest>("", &groups.each_ref().map(Vec::as_slice)).unwrap();
    assert_eq!(answer.table(), ["1: 1", "2: 2", "4: 1", "5: 1", "10: 1", "9: 2"]);
}

#[test]
fn an_aggregator_folds_groups_however_the_rows_come_and_may_skip_some() {
    let groups = groups();
    let answer = testing::aggregate::<Spans>("{}", &groups.each_ref().map(Vec::as_slice)).unwrap();
    assert_eq!(answer.table(), ["0: 4 | 3.00 | a+b+c+d", "2: 1 | 5.00 | f", "3: 5 | 5.00 | g+h+i+j+k"]);
}

#[test]
fn no_rows_give_no_answer() {
    assert!(testing::rank::<Dearest>("{}", &[]).unwrap().index.is_empty());
    assert!(testing::aggregate::<Spans>("{}", &[]).unwrap().index.is_empty());
}

/// Keeps the first row twice.
pub struct Doubling;

impl Ranker for Doubling {
    type Options = NoOptions;
    type Row<'a> = Sale<'a>;
    type Output = Place;
    const ABOUT: About = About::new("doubling", "0.1.0");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Doubling)
    }

    fn rank(&self, _: &[Sale<'_>], kept: &mut Vec<(usize, Place)>) -> Result<(), Failure> {
        kept.extend([(0, Place { place: 1 }), (0, Place { place: 2 })]);
        Ok(())
    }
}

#[test]
fn an_answer_that_a_host_would_refuse_is_a_bug() {
    let error = testing::rank::<Doubling>("{}", &[&[sale("a", "1")]]).unwrap_err();
    assert_eq!(error.to_string(), "bug: 0 was not given, or is answered twice");
}

#[test]
fn a_null_where_none_may_be_is_told() {
    use std::sync::Arc;

    use crisol_sdk::arrow::{ArrayRef, Decimal128Array, StringArray};
    use crisol_sdk::groups::Ranking;

    let sku: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let price: ArrayRef = Arc::new(Decimal128Array::from(vec![1, 2]).with_precision_and_scale(18, 2).unwrap());
    let input = testing::input(&[("sku", sku), ("price", price)]).unwrap();
    let error = testing::ranker::<Ranking<Dearest>>("{}", &input, &[0, 0]).unwrap_err();
    assert!(error.to_string().starts_with("input: column `sku` is null in a row"), "{error}");
}
