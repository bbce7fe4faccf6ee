//! A fresh instance for each call, unless a component says that its start is dear.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use crisol_plugin::{Component, Kind, RowStage};
use serde_json::json;

use crate::harness::*;

fn reusing() -> Arc<Component> {
    guest(Kind::Decoder, json!({ "reuse": true, "version": "1.0.2" }))
}

/// The first value that one call gives.
fn first(stage: &RowStage, timestamp_us: i64) -> i64 {
    let output = stage.call(&ids(&[1]), timestamp_us).unwrap();
    output.rows.unwrap().column(0).as_primitive::<Int64Type>().value(0)
}

#[test]
fn nothing_is_kept_between_calls() {
    let stage = stage(&DECODER, "calls").unwrap();
    assert_eq!([first(&stage, 0), first(&stage, 0), first(&stage, 0)], [0, 0, 0]);
}

#[test]
fn a_component_that_declares_reuse_keeps_its_instance_for_64_calls() {
    let stage = stage(&reusing(), "calls").unwrap();
    let counted: Vec<i64> = (0..130).map(|_| first(&stage, 0)).collect();
    let expected: Vec<i64> = (0..130).map(|call| call % 64).collect();
    assert_eq!(counted, expected);
}

#[test]
fn a_session_belongs_to_one_batch() {
    let stage = stage(&reusing(), "pushes").unwrap();
    assert_eq!([first(&stage, 1), first(&stage, 1), first(&stage, 2), first(&stage, 2)], [0, 1, 0, 1]);
}

#[test]
fn an_instance_that_leaks_is_given_up_in_time() {
    // 8 MiB a call, 64 MiB allowed: without giving it up the eighth call would fail.
    let stage = stage(&reusing(), "leak").unwrap();
    for _ in 0..20 {
        first(&stage, 0);
    }
}

#[test]
fn who_looks_for_guilty_rows_gets_a_fresh_instance() {
    let stage = stage(&reusing(), "calls").unwrap();
    assert_eq!([first(&stage, 0), first(&stage, 0)], [0, 1]);
    let part = stage.call_part(&ids(&[1]), 2, 0).unwrap();
    assert_eq!(part.rows.unwrap().column(0).as_primitive::<Int64Type>().value(0), 0);
    assert_eq!(first(&stage, 0), 2, "and the one that is kept goes on");
}

#[test]
fn after_a_trap_a_fresh_instance_serves() {
    let component = reusing();
    let broken = stage(&component, "push-panic").unwrap();
    for _ in 0..3 {
        let error = broken.call(&ids(&[1]), NOW_US).unwrap_err().to_string();
        assert_eq!(error.matches("panicked at").count(), 1, "only what was said in this call: {error}");
    }
    let stage = stage(&component, "calls").unwrap();
    assert_eq!([first(&stage, 0), first(&stage, 0)], [0, 1]);
}
