//! Stages row by row, through the messages that cross between host and component.

#![allow(missing_docs, missing_debug_implementations, clippy::unwrap_used)]

use std::sync::Arc;

use crisol_sdk::arrow::{ArrayRef, Int32Array, StringArray};
use crisol_sdk::rows::Transforming;
use crisol_sdk::{About, Batch, Failure, NoOptions, Rejection, Text, Transformer, record, testing, transformer};

record! {
    pub struct Basket<'a> {
        pub owner: Text<'a>,
        pub items: Option<Text<'a>>,
    }
}

record! {
    pub struct Item<'a> {
        pub owner: Text<'a>,
        pub item: Text<'a>,
        pub length: i32,
    }
}

pub struct Explode;

impl Transformer for Explode {
    type Options = NoOptions;
    type Input<'a> = Basket<'a>;
    type Output<'a> = Item<'a>;
    const ABOUT: About = About::new("explode", "0.1.0");

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Explode)
    }

    fn transform<'a>(&self, row: Basket<'a>, out: &mut Vec<Item<'a>>) -> Result<(), Rejection> {
        for item in row.items.iter().flat_map(|items| items.split_whitespace()) {
            if item == "bomb" {
                return Err(Rejection::new("forbidden", "a bomb"));
            }
            out.push(Item { owner: row.owner.clone(), item: item.to_string().into(), length: item.len() as i32 });
        }
        Ok(())
    }
}

transformer!(Explode);

fn baskets() -> Vec<(&'static str, ArrayRef)> {
    let owners: ArrayRef = Arc::new(StringArray::from(vec![Some("ana"), Some("bea"), None, Some("cid"), Some("dan")]));
    let items: ArrayRef =
        Arc::new(StringArray::from(vec![Some("fig nut"), Some("fig bomb"), Some("fig"), None, Some("tea")]));
    let other: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5]));
    vec![("other", other), ("items", items), ("owner", owners)]
}

#[test]
fn an_input_row_gives_several_rows_or_is_filtered_or_rejected() {
    let outcome = testing::stage::<Transforming<Explode>>("", &testing::input(&baskets()).unwrap()).unwrap();
    assert_eq!(outcome.table(), ["ana | fig | 3", "ana | nut | 3", "dan | tea | 3"]);
    assert_eq!(outcome.origin, [0, 0, 4]);
    assert_eq!(outcome.reasons(), ["1 forbidden: a bomb", "2 not_null: owner: `owner`: it is null or has a null in it", "3 filtered: "]);
}

#[test]
fn columns_that_are_missing_or_of_another_type_are_told() {
    let failed = |columns: &[(&str, ArrayRef)]| {
        let input = testing::input(columns).unwrap();
        testing::stage::<Transforming<Explode>>("{}", &input).unwrap_err().to_string()
    };
    assert_eq!(failed(&baskets()[..2]), "input: there is no column `owner` among other, items");
    let mut wrong = baskets();
    wrong[2].1 = Arc::clone(&wrong[0].1);
    assert_eq!(failed(&wrong), "input: column `owner` is int, not string");
}

#[test]
fn a_description_says_what_a_host_asks() {
    const ABOUT: About = About::new("a", "1.2.3").schema_versions("1..2").options(r#"{"type":"object"}"#).reuse();
    let about = testing::description(&ABOUT, "decoder").unwrap();
    assert_eq!((about["name"].as_str(), about["version"].as_str()), (Some("a"), Some("1.2.3")));
    assert_eq!((about["kind"].as_str(), about["schema_versions"].as_str()), (Some("decoder"), Some("1..2")));
    assert_eq!((about["options"]["type"].as_str(), about["reuse"].as_bool()), (Some("object"), Some(true)));
}
