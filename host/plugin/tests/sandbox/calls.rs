//! What honest components do.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use crisol_plugin::{CallError, Kind, PluginError, ROWS_MAX};
use serde_json::json;

use crate::harness::*;

fn values(output: &crisol_plugin::RowOutput) -> Vec<i64> {
    output.rows.as_ref().unwrap().column(0).as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn a_decoder_gives_rows_with_their_origin_and_rejections() {
    let stage = stage(&DECODER, "echo").unwrap();
    assert_eq!(stage.reads(), ["id"]);
    assert_eq!(stage.writes().field(0).name(), "value");
    assert_eq!(stage.writes().field(0).data_type(), &DataType::Int64);
    let output = stage.call(&ids(&[11, 12, 13, 14, 15, 23]), NOW_US).unwrap();
    assert_eq!(values(&output), [11, 12, 15]);
    assert_eq!(output.rows.as_ref().unwrap().schema(), stage.writes());
    assert_eq!(output.origin, [0, 1, 4]);
    let rejected: Vec<(u32, bool, &str)> = output.rejected.iter().map(|r| (r.row, r.filter, r.code.as_str())).collect();
    assert_eq!(rejected, [(2, false, "three"), (3, true, "four"), (5, false, "three")]);
    assert_eq!(output.rejected[0].text, "id 13 ends with \\u{1b}[1m3");
}

#[test]
fn a_validator_gives_the_rows_that_pass_and_one_reason_for_each_other() {
    let stage = stage(&VALIDATOR, "echo").unwrap();
    assert!(stage.writes().fields().is_empty());
    let output = stage.call(&ids(&[1, 3, 4]), NOW_US).unwrap();
    assert!(output.rows.is_none());
    assert_eq!(output.origin, [0]);
    assert_eq!(output.rejected[0].code, "three");
    assert_eq!(output.rejected[0].text, "ends with 3 (also odd)");
    assert!(output.rejected[1].filter);
    let all = stage_call(&VALIDATOR, "pass");
    assert_eq!(all.origin, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

fn stage_call(component: &std::sync::Arc<crisol_plugin::Component>, what: &str) -> crisol_plugin::RowOutput {
    call(component, what).unwrap()
}

#[test]
fn no_rows_need_no_call() {
    let output = stage(&DECODER, "push-panic").unwrap().call(&ids(&[]), NOW_US).unwrap();
    assert_eq!(output.rows.unwrap().num_rows(), 0);
    let output = stage(&VALIDATOR, "push-panic").unwrap().call(&ids(&[]), NOW_US).unwrap();
    assert!(output.rows.is_none() && output.origin.is_empty());
}

#[test]
fn a_full_chunk_passes() {
    let ids_of_chunk: Vec<i64> = (0..ROWS_MAX as i64).map(|id| id * 10).collect();
    let mut limits = limits();
    limits.output_rows_max = ROWS_MAX as u64;
    let stage = DECODER.row_stage(&options("echo"), &input_schema(), &limits).unwrap();
    let output = stage.call(&ids(&ids_of_chunk), NOW_US).unwrap();
    assert_eq!(values(&output), ids_of_chunk);
}

#[test]
fn columns_and_rows_that_were_not_agreed_on_are_the_hosts_fault() {
    let stage = stage(&DECODER, "echo").unwrap();
    let many = vec![1; ROWS_MAX + 1];
    let error = stage.call(&ids(&many), NOW_US).unwrap_err();
    assert!(matches!(error, CallError::Host { .. }) && error.to_string().contains("16385 rows"), "{error}");
    let other = ids(&[1]).project(&[]).unwrap();
    assert!(matches!(stage.call(&other, NOW_US).unwrap_err(), CallError::Host { .. }));
}

#[test]
fn the_timestamp_reaches_the_component() {
    let output = call(&DECODER, "timestamp").unwrap();
    assert!(values(&output).iter().all(|value| *value == NOW_US));
}

#[test]
fn nothing_of_the_machine_is_seen_and_no_time_passes() {
    let told = |component| match call(component, "ambient").unwrap_err() {
        CallError::Failure { text, .. } => text,
        other => panic!("{other}"),
    };
    let start = std::time::Instant::now();
    let line = told(&DECODER);
    assert!(start.elapsed().as_secs() < 60, "an hour of sleep is over at once");
    let expected = format!("now={NOW_US} slept=0 env=0 args=0 stdin=0 read=false write=false seed=");
    assert!(line.starts_with(&expected), "{line}");
    assert_eq!(line, told(&DECODER), "random numbers are the same in every run");
    assert!(told(&VALIDATOR).starts_with(&expected));
    assert!(!std::path::Path::new("/tmp/out-of-the-box").exists());
}

#[test]
fn several_threads_call_one_stage() {
    let stage = stage(&DECODER, "echo").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let stage = &stage;
            scope.spawn(move || {
                for round in 0..20 {
                    let id = (thread * 100 + round) * 10;
                    assert_eq!(values(&stage.call(&ids(&[id, id + 1]), NOW_US).unwrap()), [id, id + 1]);
                }
            });
        }
    });
}

#[test]
fn a_call_works_inside_an_async_runtime_too() {
    // Blocking there is the caller's affair; it must not panic.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        assert!(matches!(call(&DECODER, "push-flood").unwrap_err(), CallError::Trap { .. }));
        assert_unharmed();
    });
}

#[test]
fn options_are_checked_with_their_path() {
    let wrong = json!({ "do": 7, "more": true }).as_object().unwrap().clone();
    match DECODER.row_stage(&wrong, &input_schema(), &limits()).unwrap_err() {
        PluginError::Options { component, problems } => {
            assert_eq!(component, "guest");
            assert_eq!(problems.len(), 2, "{problems:?}");
            assert!(problems.iter().any(|problem| problem.path == "/do"));
        }
        other => panic!("{other}"),
    }
    let none = guest(Kind::Decoder, json!({ "options": null, "version": "1.0.1" }));
    let error = stage(&none, "echo").unwrap_err();
    assert!(error.to_string().contains("`/do`: this component takes no options"), "{error}");
}

#[test]
fn a_plan_that_does_not_hold_names_the_column() {
    let error = stage(&DECODER, "read-missing").unwrap_err();
    assert_eq!(
        error.to_string(),
        "component `guest 1.0.0` reads column `idd`, which its input does not have; did you mean `id`?"
    );
    let error = stage(&DECODER, "write-unknown").unwrap_err().to_string();
    assert!(error.contains("writes column `value`") && error.contains("did you mean `string`?"), "{error}");
}

#[test]
fn a_row_may_give_many_up_to_the_limit_of_the_stage() {
    let mut small = limits();
    small.output_rows_max = 1_999;
    let stage = DECODER.row_stage(&options("explode"), &input_schema(), &small).unwrap();
    let error = stage.call(&ids(&[1, 2]), NOW_US).unwrap_err();
    assert!(
        error.to_string().starts_with("it gave back 2000 instead of at most 1999 rows, the limit of a call"),
        "{error}"
    );
    small.output_rows_max = 2_000;
    let stage = DECODER.row_stage(&options("explode"), &input_schema(), &small).unwrap();
    assert_eq!(stage.call(&ids(&[1, 2]), NOW_US).unwrap().origin.len(), 2_000);
}
