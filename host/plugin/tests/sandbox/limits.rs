//! Each limit by its name: what reaches it, and that more is allowed when it says more. What a message says of each is told
//! in `tests/hostile`.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crisol_plugin::{CallError, Engine, EngineOptions, Kind, Limits};
use serde_json::json;

use crate::harness::*;

const MIB: u64 = 1 << 20;

fn engine(total_memory_bytes_max: u64) -> Engine {
    Engine::with(EngineOptions { total_memory_bytes_max, ..EngineOptions::default() }).unwrap()
}

fn with(limits: &Limits, what: &str) -> Result<crisol_plugin::RowOutput, CallError> {
    DECODER.row_stage(&options(what), &input_schema(), limits).unwrap().call(&ids(&[1, 3, 4]), NOW_US)
}

#[test]
fn a_component_may_consist_of_so_many_core_instances() {
    let few = Limits { core_instances_max: 1, ..limits() };
    let error = DECODER.row_stage(&options("echo"), &input_schema(), &few).unwrap_err().to_string();
    assert!(
        error.contains("core instances, 1 are allowed") && error.contains("`limits.core_instances_max`"),
        "{error}"
    );
    assert!(with(&limits(), "echo").is_ok());
}

#[test]
fn texts_of_rejections_are_cut_and_codes_are_counted() {
    let short = Limits { text_bytes_max: 10, ..limits() };
    assert_eq!(with(&short, "echo").unwrap().rejected[0].text, "id 3 en…");
    let one = Limits { codes_max: 1, ..limits() };
    let error = with(&one, "echo").unwrap_err().to_string();
    assert!(
        error.contains("2 instead of at most 1 different codes") && error.contains("`limits.codes_max`"),
        "{error}"
    );
    let brief = Limits { code_bytes_max: 4, ..limits() };
    assert!(with(&brief, "echo").unwrap_err().to_string().contains("`limits.code_bytes_max`"));
}

#[test]
fn of_stderr_the_end_is_kept() {
    let told = |stderr_bytes_max| match with(&Limits { stderr_bytes_max, ..limits() }, "push-panic").unwrap_err() {
        CallError::Trap { said, .. } => said.unwrap(),
        other => panic!("{other}"),
    };
    assert!(told(4_096).contains("src/disaster.rs"));
    assert!(told(100).contains("luck") && !told(100).contains("src/disaster.rs"), "{}", told(100));
}

#[test]
fn recursion_is_bounded_by_the_stack() {
    let depths = [64 << 10, 96 << 10].map(|stack_bytes_max| {
        let engine = Engine::with(EngineOptions { stack_bytes_max, ..EngineOptions::default() }).unwrap();
        let decoder = guest_of(&engine, Kind::Decoder, json!({})).unwrap();
        let stage = decoder.row_stage(&options("push-recurse"), &input_schema(), &limits()).unwrap();
        match stage.call(&ids(&[1]), NOW_US).unwrap_err() {
            CallError::Stack { limit, .. } => limit,
            other => panic!("{other}"),
        }
    });
    assert_eq!(depths, [64 << 10, 96 << 10]);
}

#[test]
fn one_instance_may_not_use_more_than_all_together() {
    let decoder = guest_of(&engine(256 * MIB), Kind::Decoder, json!({})).unwrap();
    let much = Limits { memory_bytes_max: 257 * MIB, ..limits() };
    let error = decoder.row_stage(&options("echo"), &input_schema(), &much).unwrap_err().to_string();
    assert!(error.contains("`limits.total_memory_bytes_max` of crisol.toml"), "{error}");
}

#[test]
fn who_finds_no_room_for_an_instance_waits_for_it() {
    let engine = engine(256 * MIB);
    let ranker = guest_of(&engine, Kind::Ranker, json!({})).unwrap();
    let half = Limits { memory_bytes_max: 128 * MIB, ..limits() };
    let stage = ranker.group_stage(&options("echo"), &input_schema(), &half).unwrap();
    let mut open = vec![stage.session(NOW_US).unwrap(), stage.session(NOW_US).unwrap()];
    let (told, opened) = mpsc::channel();
    thread::scope(|threads| {
        threads.spawn(|| {
            let mut session = stage.session(NOW_US).unwrap();
            session.push(&grouped(&[(1, 0)])).unwrap();
            told.send(session.finish().unwrap().len()).unwrap();
        });
        assert!(opened.recv_timeout(Duration::from_millis(300)).is_err(), "there is no room for a third");
        open.pop();
        assert_eq!(opened.recv_timeout(Duration::from_secs(60)), Ok(1), "now there is");
    });
    let (now, peak) = engine.memory_bytes();
    assert!(now > 0 && peak >= 2 * (now / 2) && peak < 256 * MIB, "{now} of {peak}");
    drop(open);
    assert_eq!(engine.memory_bytes().0, 0);
}

#[test]
fn an_idle_instance_gives_way_to_whoever_needs_its_room() {
    let engine = engine(256 * MIB);
    let decoder = guest_of(&engine, Kind::Decoder, json!({ "reuse": true })).unwrap();
    let whole = Limits { memory_bytes_max: 256 * MIB, ..limits() };
    let stage = |what: &str| decoder.row_stage(&options(what), &input_schema(), &whole).unwrap();
    let (first, second) = (stage("calls"), stage("calls"));
    for _ in 0..2 {
        // Each call of the one finds the idle instance of the other in its way.
        first.call(&ids(&[1]), NOW_US).unwrap();
        second.call(&ids(&[1]), NOW_US).unwrap();
    }
    assert!(engine.memory_bytes().0 > 0, "the last one is kept");
    drop((first, second));
    assert_eq!(engine.memory_bytes().0, 0, "with the stages their instances go");
}
