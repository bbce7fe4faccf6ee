//! Rows go to the component that handles their schema version, and come back in their order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;

use arrow_array::{Array, Int32Array, RecordBatch, StringArray};
use crisol_contract::{StageKind, StageSpec, TableContract, VersionSource};
use proptest::prelude::*;
use support::*;

fn routed(component: &str, version: VersionSource) -> TableContract {
    let stage = StageSpec { version: Some(version), ..stage(StageKind::Decoder, component) };
    TableContract { stages: vec![stage], ..contract() }
}

fn in_json() -> VersionSource {
    VersionSource::Json { field: "v".into(), column: "payload".into() }
}

#[test]
fn parts_come_back_in_order_and_three_reasons_keep_the_others_out() {
    let rows = messages(&[
        br#"{"v":4,"n":1}"#,
        br#"{"v":1,"n":2}"#,
        br#"{"v":3,"n":3}"#,
        br#"{"n":4}"#,
        b"nothing",
        br#"{"v":2}"#,
        br#"{"n":8,"v":4}"#,
        br#"{"v":2,"n":7}"#,
    ]);
    let output = run(&routed("versions", in_json()), &rows).unwrap();
    let accepted = &output.accepted;
    assert_eq!(longs(accepted, "n"), [1, 2, 2, 8, 8, 7].map(Some));
    assert_eq!(longs(accepted, "offset"), [100, 101, 101, 106, 106, 107].map(Some));
    let extra = texts(accepted, "extra");
    assert_eq!(extra.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, true, true, false]);
    let refused = output.quarantined.unwrap();
    let code = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts(&refused, "code"),
        [code("unsupported_schema_version"), code("schema_version_missing"), code("corrupt_record"), code("no_n")]
    );
    assert_eq!(texts(&refused, "component"), [None, None, None, code("old")]);
    assert_eq!(texts(&refused, "text")[0].as_deref(), Some("no component serves schema version 3; served are 4, 1..2"));
    assert_eq!((output.rows_accepted, rows.num_rows()), (4, 8));
}

#[test]
fn a_column_or_a_header_may_hold_the_version() {
    let payload = StringArray::from(vec![r#"{"n":1}"#; 4]);
    let version = Int32Array::from(vec![Some(1), None, Some(9), Some(4)]);
    let rows = RecordBatch::try_from_iter_with_nullable([
        ("payload", Arc::new(payload) as _, true),
        ("edition", Arc::new(version) as _, true),
    ])
    .unwrap();
    let output = run(&routed("versions", VersionSource::Column("edition".into())), &rows).unwrap();
    assert_eq!(output.accepted.num_rows(), 2);
    assert!(output.accepted.column_by_name("extra").unwrap().is_null(0));
    let codes = texts(&output.quarantined.unwrap(), "code");
    assert_eq!(codes, [Some("schema_version_missing".into()), Some("unsupported_schema_version".into())]);
}

#[test]
fn a_constant_chooses_once_and_for_all() {
    let rows = messages(&[br#"{"n":1}"#, br#"{"v":4,"n":3}"#]);
    let output = run(&routed("versions", VersionSource::Constant(2)), &rows).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(3)]);
    assert!(output.accepted.column_by_name("extra").is_none());
}

#[test]
fn one_component_for_all_versions_gets_rows_without_a_version_too() {
    let output = run(&routed("numbers", in_json()), &messages(&[b"1", b"2"])).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(2)]);
}

#[test]
fn what_cannot_be_routed_is_found_before_the_first_row() {
    let found = |contract: &TableContract| {
        let (key, what, _) = problems(contract, kafka_input()).remove(0);
        format!("{key}: {what}")
    };
    assert_eq!(
        found(&routed("versions", VersionSource::Constant(3))),
        "stages[0].version.constant: no component `versions` serves schema version 3"
    );
    assert_eq!(
        found(&routed("versions", VersionSource::Json { field: "v".into(), column: "playload".into() })),
        "stages[0].version.in: no column `playload` reaches it"
    );
    assert_eq!(
        found(&routed("versions", VersionSource::Json { field: "v".into(), column: "offset".into() })),
        "stages[0].version.in: column `offset` is no text"
    );
    assert_eq!(
        found(&routed("versions", VersionSource::Header("v".into()))),
        "stages[0].version.header: no column `headers` reaches it"
    );
    assert_eq!(
        found(&routed("versions", VersionSource::Column("topic".into()))),
        "stages[0].version.column: column `topic` is no whole number"
    );
    assert!(found(&routed("clash", in_json())).starts_with("stages[0].decode: its versions give column `n` as"));
}

proptest! {
    #[test]
    fn routing_is_the_same_as_deciding_row_by_row(versions in prop::collection::vec(0_u32..6, 1..60)) {
        let texts: Vec<String> = versions.iter().enumerate().map(|(n, v)| format!(r#"{{"v":{v},"n":{n}}}"#)).collect();
        let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let output = run(&routed("versions", in_json()), &messages(&bytes)).unwrap();
        let served = |n: &usize| matches!(versions[*n], 1 | 2 | 4);
        let expected: Vec<Option<i64>> = (0..versions.len())
            .filter(served)
            .flat_map(|n| std::iter::repeat_n(Some(n as i64), if n % 2 == 0 { 2 } else { 1 }))
            .collect();
        prop_assert_eq!(longs(&output.accepted, "n"), expected);
        let refused = output.quarantined.map_or(0, |rows| rows.num_rows());
        prop_assert_eq!(refused, (0..versions.len()).filter(|n| !served(n)).count());
    }
}
