//! Lists, maps and records in records.

#![allow(non_snake_case)]

use proptest::prelude::*;

use super::{damaged, quickly, strictly};
use crate::{Decimal, JsonRecord, Map, Text, record};

record! {
    struct Item<'a> {
        sku: Text<'a>,
        price: Option<Decimal<18, 2>>,
    }
}

record! {
    struct Size {
        width: i32,
        height: Option<i32>,
    }
}

record! {
    struct Basket<'a> {
        items: Vec<Item<'a>>,
        marks: Option<Vec<Option<i32>>>,
        stock: Option<Map<Text<'a>, Option<i64>>>,
        size: Option<Size>,
        grid: Option<Vec<Vec<f64>>>,
    }
}

const WHOLE: &str = r#"{"items":[{"sku":"a","price":12.5,"x":{"y":[1]}},{"price":null,"sku":"b"}],"marks":[1,null,-3],"stock":{"fig":1,"nut":null},"size":{"width":7},"grid":[[0.5],[],[1,2.25]]}"#;

fn fault(text: &str) -> (String, bool) {
    assert_eq!(quickly::<Basket<'_>>(text), None, "{text}");
    match Basket::from_json(text) {
        Ok(basket) => panic!("{text} gave {basket:?}"),
        Err(fault) => (fault.to_string(), fault.null),
    }
}

#[test]
fn lists_maps_and_records_are_read_both_ways() {
    let basket: Basket<'_> = strictly(WHOLE).unwrap();
    let price = |text| Decimal::parse(text);
    assert_eq!(
        basket,
        Basket {
            items: vec![Item { sku: "a".into(), price: price("12.50") }, Item { sku: "b".into(), price: None }],
            marks: Some(vec![Some(1), None, Some(-3)]),
            stock: Some([("fig".into(), Some(1)), ("nut".into(), None)].into_iter().collect()),
            size: Some(Size { width: 7, height: None }),
            grid: Some(vec![vec![0.5], vec![], vec![1.0, 2.25]]),
        }
    );
    assert_eq!(quickly(WHOLE), Some(basket.clone()));
    let spread = WHOLE.replace([','], " ,\n ").replace(':', " : ").replace('[', "[ ").replace('}', "\t}");
    assert_eq!(quickly(&spread), Some(basket.clone()));
    assert_eq!(strictly(&spread), Ok(basket));
}

#[test]
fn empty_ones_are_no_nulls() {
    let text = r#"{"items":[],"marks":[],"stock":{},"grid":null}"#;
    let basket: Basket<'_> = quickly(text).unwrap();
    assert_eq!(strictly(text), Ok(basket.clone()));
    assert_eq!((basket.items.len(), basket.marks, basket.size, basket.grid), (0, Some(Vec::new()), None, None));
    assert_eq!(basket.stock, Some(Map::default()));
}

#[test]
fn keys_with_escapes_are_unescaped() {
    let basket = Basket::from_json(r#"{"items":[],"stock":{"f\u00edg":1}}"#).unwrap();
    assert_eq!(basket.stock.unwrap().value_of("fíg"), Some(&Some(1)));
}

#[test]
fn what_is_wrong_within_is_told_with_its_place() {
    for (text, expected) in [
        (r#"{"items":{}}"#, "`items`: {} is not an array"),
        (r#"{"items":[7]}"#, "`items[0]`: 7 is not an object"),
        (r#"{"items":[{"sku":"a"},{"sku":"b","price":"x"}]}"#, "`items[1].price`: \"x\" is not a decimal(18,2)"),
        (r#"{"items":[{"sku":"a","sku":"b"}]}"#, "`items[0].sku`: it is there twice"),
        (r#"{"items":[],"size":[]}"#, "`size`: [] is not an object"),
        (r#"{"items":[],"size":{"width":"7"}}"#, "`size.width`: \"7\" is not an int"),
        (r#"{"items":[],"stock":[]}"#, "`stock`: [] is not an object"),
        (r#"{"items":[],"stock":{"fig":"x"}}"#, "`stock[\"fig\"]`: \"x\" is not a bigint"),
        (r#"{"items":[],"stock":{"fig":1,"nut":1,"fig":2}}"#, "`stock[\"fig\"]`: the key is there twice"),
        (r#"{"items":[],"grid":[[1,"x"]]}"#, "`grid[0][1]`: \"x\" is not a double"),
        (r#"{"items":[] x"#, "not a JSON object: expected `,` or `}` at character 13"),
    ] {
        assert_eq!(fault(text), (expected.to_string(), false));
    }
}

#[test]
fn nulls_within_are_told_where_none_may_be() {
    for (text, place) in [
        ("{}", "items"),
        (r#"{"items":[null]}"#, "items[0]"),
        (r#"{"items":[{"sku":"a"},{}]}"#, "items[1].sku"),
        (r#"{"items":[],"size":{}}"#, "size.width"),
        (r#"{"items":[],"grid":[[1],[2,null]]}"#, "grid[1][1]"),
    ] {
        assert_eq!(fault(text), (format!("`{place}`: it is null or absent"), true));
    }
}

#[test]
fn records_and_fields_may_have_any_name() {
    record! { struct Key { Other: i32 } }
    record! { struct Held<'a> { text: Text<'a> } }
    record! { struct Builders<'a> { held: Held<'a>, key: Key } }
    record! { struct Arrays { key: Option<Key>, r#type: Vec<Key> } }
    let text = r#"{"held":{"text":"a"},"key":{"Other":7}}"#;
    let builders: Builders<'_> = quickly(text).unwrap();
    assert_eq!((builders.held.text.as_ref(), builders.key.Other), ("a", 7));
    let arrays: Arrays = strictly(r#"{"type":[{"Other":1}]}"#).unwrap();
    assert_eq!((arrays.key, arrays.r#type.len()), (None, 1));
}

#[test]
fn deep_values_are_refused_or_read_but_never_too_much() {
    record! { struct Deep { x: Option<i32> } }
    let nested = format!(r#"{{"y":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(Deep::from_json(&nested).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_short_way_never_accepts_within_what_the_long_way_refuses(seed: [u16; 6], pieces in proptest::collection::vec(0usize..18, 0..3)) {
        let text = damaged(WHOLE, seed, &pieces);
        if let Some(basket) = quickly::<Basket<'_>>(&text) {
            prop_assert_eq!(Ok(basket), strictly(&text), "{}", text);
        }
    }
}
