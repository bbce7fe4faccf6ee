//! Components that trap, lie or break limits: each gives an error that names it, and harms nothing.

use std::time::{Duration, Instant};

use crisol_plugin::CallError;

use crate::harness::*;

/// The errors of the same disaster in `plan`, `open` and `push`.
fn everywhere(disaster: &str) -> Vec<CallError> {
    let mut errors = Vec::new();
    match stage(&DECODER, &format!("plan-{disaster}")).unwrap_err() {
        crisol_plugin::PluginError::Planning { cause, .. } => errors.push(cause),
        other => panic!("{other}"),
    }
    for component in [&DECODER, &VALIDATOR] {
        for function in ["open", "push"] {
            errors.push(call(component, &format!("{function}-{disaster}")).unwrap_err());
        }
    }
    assert_unharmed();
    errors
}

#[test]
fn a_panic_is_told_in_its_own_words() {
    for error in everywhere("panic") {
        let CallError::Trap { what, said } = &error else { panic!("{error}") };
        assert!(what.contains("panicked"), "{what}");
        let said = said.as_ref().unwrap();
        assert!(said.contains("src/disaster.rs") && said.ends_with("out of \\u{1b}[31mluck"), "{said}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
}

#[test]
fn an_endless_loop_ends_at_its_deadline() {
    let start = Instant::now();
    for error in everywhere("loop") {
        assert!(matches!(error, CallError::Deadline { limit_ms: 2_000, .. }), "{error}");
        assert!(error.to_string().contains("`limits.deadline_ms_max`"), "{error}");
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn memory_without_end_is_refused_with_what_was_asked_for() {
    for error in everywhere("grow") {
        let CallError::Memory { asked, limit, raise, .. } = &error else { panic!("{error}") };
        assert!(asked > limit && *limit == 64 << 20);
        assert_eq!(*raise, Some("memory_bytes_max"));
        assert!(error.to_string().contains("67108864 are allowed"), "{error}");
    }
}

#[test]
fn recursion_without_end_is_a_trap() {
    for error in everywhere("recurse") {
        assert!(
            error.to_string().contains("its stack overflowed") || error.to_string().contains("out of bounds"),
            "{error}"
        );
    }
}

#[test]
fn ending_the_process_ends_the_call() {
    for error in everywhere("exit") {
        assert!(error.to_string().contains("it ended itself with exit code"), "{error}");
    }
}

#[test]
fn floods_of_output_keep_their_end() {
    for error in everywhere("flood") {
        let CallError::Trap { said: Some(said), .. } = &error else { panic!("{error}") };
        assert!(said.ends_with("after the flood") && said.len() <= 2048 || said.ends_with('…'), "{said}");
    }
}

#[test]
fn its_own_failure_is_told_safely() {
    let error = call(&DECODER, "fail-open").unwrap_err();
    assert_eq!(error.to_string(), "it failed: input: no such\\nfield (at=\\u{1b}[31mred)");
    let error = call(&DECODER, "fail-push").unwrap_err();
    assert!(matches!(&error, CallError::Failure { code, .. } if code == "bug"), "{error}");
    let error = stage(&DECODER, "fail-plan").unwrap_err().to_string();
    assert!(error.starts_with("component `guest 1.0.0` cannot plan: it failed: options: no such field"), "{error}");
    assert_unharmed();
}

#[test]
fn more_output_than_allowed_is_refused_by_bytes_and_by_rows() {
    let error = call(&DECODER, "huge").unwrap_err();
    assert!(matches!(error, CallError::Output { limit: 1_048_576, unit: "bytes", .. }), "{error}");
    assert!(error.to_string().contains("`limits.output_bytes_max`"), "{error}");
    let mut small = limits();
    small.output_rows_max = 100;
    let stage = DECODER.row_stage(&options("explode"), &input_schema(), &small).unwrap();
    let error = stage.call(&ids(&[1, 2]), NOW_US).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it gave back 2000 instead of at most 100 rows, the limit of a call; if that is right, raise \
         `limits.output_rows_max` of the stage"
    );
    let stage = DECODER.row_stage(&options("explode"), &input_schema(), &limits()).unwrap();
    assert_eq!(stage.call(&ids(&[1, 2]), NOW_US).unwrap().origin.len(), 2000);
    assert_unharmed();
}

#[test]
fn bytes_that_are_no_batch_of_the_agreed_columns_are_invalid() {
    for what in ["garbage", "empty", "truncated", "trailing", "wrong-schema", "garbage-rejected"] {
        let error = call(&DECODER, what).unwrap_err();
        assert!(matches!(error, CallError::Invalid { .. }), "{what}: {error}");
        let part = if what == "garbage-rejected" { "`rejected`" } else { "`rows`" };
        assert!(error.to_string().contains(part), "{what}: {error}");
    }
    assert!(matches!(call(&VALIDATOR, "garbage").unwrap_err(), CallError::Invalid { .. }));
    assert_unharmed();
}

#[test]
fn lies_about_rows_break_the_accounts() {
    for (what, row, text) in [
        ("out-of-range", None, "`_row` 9 of the 7th row it gave was not among its input"),
        ("negative", None, "`_row` -1 of the 1st row it gave was not among its input"),
        ("backwards", Some(7), "`_row` goes back from 8 to 7 in the 2nd row it gave"),
        ("dropped", Some(0), "row 0 is neither given nor rejected"),
        ("both", Some(0), "row 0 is both given and rejected"),
        ("twice", Some(3), "row 3 is rejected twice"),
        ("rejected-range", None, "rejected row 9 was not among its input"),
    ] {
        let error = call(&DECODER, what).unwrap_err();
        assert_eq!(error.to_string(), format!("its accounts do not hold for 9 rows: {text}"));
        assert!(matches!(error, CallError::Accounts { row: at, rows: 9, .. } if at == row), "{what}");
    }
    assert!(matches!(call(&VALIDATOR, "rejected-range").unwrap_err(), CallError::Accounts { .. }));
    assert_unharmed();
}

#[test]
fn codes_that_are_long_or_move_the_cursor_are_refused() {
    let long = call(&DECODER, "long-code").unwrap_err();
    let limit = "it gave back 1000000 instead of at most 64 bytes, the limit of a code; if that is right, raise \
                 `limits.code_bytes_max` of the stage";
    assert_eq!(long.to_string(), limit);
    let escape = call(&DECODER, "escape-code").unwrap_err().to_string();
    assert!(escape.contains("codes have ASCII letters") && !escape.contains('\u{1b}'), "{escape}");
    assert_unharmed();
}
