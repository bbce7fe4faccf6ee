//! A fresh instance for each call, unless a component says that its start is dear.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use crisol_plugin::{Component, Engine, GroupSession, Kind, RowStage};
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

fn reusing_groups(kind: Kind) -> Arc<Component> {
    guest(kind, json!({ "reuse": true, "version": "1.0.2" }))
}

/// Which session of its instance this is, from 1.
fn number(mut session: GroupSession) -> i64 {
    session.push(&grouped(&[(1, 0)])).unwrap();
    given(&session.finish().unwrap())[0].1
}

#[test]
fn each_session_of_groups_has_a_fresh_instance() {
    for component in [&RANKER, &AGGREGATOR] {
        let stage = group_stage(component, "sessions").unwrap();
        assert_eq!([(); 3].map(|()| number(stage.session(NOW_US).unwrap())), [1, 1, 1]);
    }
}

#[test]
fn a_component_that_declares_reuse_keeps_its_instance_between_sessions() {
    for kind in [Kind::Ranker, Kind::Aggregator] {
        let component = reusing_groups(kind);
        let stage = group_stage(&component, "sessions").unwrap();
        let counted: Vec<i64> = (0..130).map(|_| number(stage.session(NOW_US).unwrap())).collect();
        let expected: Vec<i64> = (0..130).map(|session| 1 + session % 64).collect();
        assert_eq!(counted, expected, "one call of each session counts");
        assert_eq!(number(stage.fresh_session(NOW_US).unwrap()), 1, "who looks for guilty groups gets a fresh one");
    }
}

#[test]
fn sessions_that_are_open_at_one_time_have_an_instance_each() {
    let component = reusing_groups(Kind::Aggregator);
    let stage = group_stage(&component, "sessions").unwrap();
    let both = [stage.session(NOW_US).unwrap(), stage.session(NOW_US).unwrap()];
    assert_eq!(both.map(number), [1, 1]);
    let both = [stage.session(NOW_US).unwrap(), stage.session(NOW_US).unwrap()];
    assert_eq!(both.map(number), [2, 2]);
}

#[test]
fn only_the_instance_of_a_session_that_ended_well_is_kept() {
    let component = reusing_groups(Kind::Ranker);
    let stage = group_stage(&component, "sessions").unwrap();
    assert_eq!(number(stage.session(NOW_US).unwrap()), 1);
    drop(stage.session(NOW_US).unwrap());
    assert_eq!(number(stage.session(NOW_US).unwrap()), 1, "one that was never finished is given up");
    let broken = group_stage(&component, "finish-panic").unwrap();
    for _ in 0..3 {
        let mut session = broken.session(NOW_US).unwrap();
        session.push(&grouped(&[(1, 0)])).unwrap();
        let error = session.finish().unwrap_err().to_string();
        assert_eq!(error.matches("panicked at").count(), 1, "only what was said in this call: {error}");
    }
}

#[test]
fn an_instance_goes_with_its_stage_also_when_a_session_outlives_it() {
    let engine = Engine::new().unwrap();
    let component = guest_of(&engine, Kind::Aggregator, json!({ "reuse": true })).unwrap();
    let stage = group_stage(&component, "sessions").unwrap();
    let session = stage.session(NOW_US).unwrap();
    drop(stage);
    assert_eq!(number(session), 1);
    assert_eq!(engine.memory_bytes().0, 0);
}
