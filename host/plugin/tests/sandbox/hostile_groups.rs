//! Rankers and aggregators that trap, lie or break limits: each gives an error that names it, and harms nothing.

use crisol_plugin::CallError;

use crate::harness::*;

fn both(what: &str) -> [CallError; 2] {
    [&RANKER, &AGGREGATOR].map(|component| rank(component, what).expect_err(what))
}

#[test]
fn lies_about_rows_break_the_accounts_of_a_ranker() {
    for (what, rows, row, text) in [
        ("out-of-range", 3, None, "`_row` 3 of the 1st row it gave was not among its input"),
        ("negative", 3, None, "`_row` -1 of the 1st row it gave was not among its input"),
        ("twice", 3, Some(0), "row 0 is given twice"),
        ("twice-apart", 5, Some(0), "row 0 is given twice"),
    ] {
        let error = rank(&RANKER, what).unwrap_err();
        assert_eq!(error.to_string(), format!("its accounts do not hold for {rows} rows: {text}"), "{what}");
        assert!(matches!(error, CallError::Accounts { row: at, .. } if at == row), "{what}");
    }
    assert_unharmed();
}

#[test]
fn lies_about_groups_break_the_accounts_of_an_aggregator() {
    for (what, rows, text) in [
        ("out-of-range", 3, "`_group` 3 of the 1st row it gave was not among its input"),
        ("negative", 3, "`_group` -1 of the 1st row it gave was not among its input"),
        ("twice", 3, "group 0 is given twice"),
        ("twice-apart", 5, "group 0 is given twice"),
    ] {
        let error = rank(&AGGREGATOR, what).unwrap_err();
        assert_eq!(error.to_string(), format!("its accounts do not hold for {rows} rows: {text}"), "{what}");
    }
    assert_unharmed();
}

#[test]
fn bytes_that_are_no_batch_of_the_agreed_columns_are_invalid() {
    for what in ["garbage", "empty", "truncated", "trailing", "wrong-schema", "nulls", "garbage-after"] {
        for error in both(what) {
            assert!(matches!(error, CallError::Invalid { .. }), "{what}: {error}");
            assert!(error.to_string().contains("`rows`"), "{what}: {error}");
        }
    }
    assert_unharmed();
}

#[test]
fn disasters_are_held_in_every_call() {
    for function in ["open", "push", "finish"] {
        for error in both(&format!("{function}-panic")) {
            let CallError::Trap { said: Some(said), .. } = &error else { panic!("{error}") };
            assert!(said.ends_with("out of \\u{1b}[31mluck"), "{said}");
        }
        for error in both(&format!("{function}-loop")) {
            assert!(matches!(error, CallError::Deadline { limit_ms: 2_000, .. }), "{error}");
        }
        for error in both(&format!("{function}-grow")) {
            assert!(matches!(error, CallError::Memory { raise: Some("memory_bytes_max"), .. }), "{error}");
        }
        for error in both(&format!("{function}-exit")) {
            assert!(matches!(error, CallError::Trap { .. }), "{error}");
        }
    }
    assert_unharmed();
}

#[test]
fn its_own_failure_is_told_safely() {
    for (what, expected) in [
        ("fail-open", "it failed: input: no such\\nfield (at=\\u{1b}[31mred)"),
        ("fail-push", "it failed: bug: cannot go on (at=\\u{1b}[31mred)"),
        ("fail-finish", "it failed: bug: cannot end (at=\\u{1b}[31mred)"),
    ] {
        for error in both(what) {
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn more_output_than_allowed_is_refused_in_one_message_and_over_the_session() {
    for error in both("huge") {
        assert!(matches!(error, CallError::Output { limit: 1_048_576, unit: "bytes", .. }), "{error}");
    }
    for error in both("flood") {
        assert!(matches!(error, CallError::Output { unit: "bytes", .. }), "{error}");
    }
    for error in both("explode") {
        assert!(error.to_string().contains("20000 instead of at most 10000 rows"), "{error}");
    }
    let mut small = limits();
    small.output_rows_max = 2;
    let stage = RANKER.group_stage(&options("echo"), &input_schema(), &small).unwrap();
    let mut session = stage.session(NOW_US).unwrap();
    session.push(&grouped(&[(1, 0), (2, 1), (3, 2)])).unwrap();
    let error = session.push(&grouped(&[(4, 3)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it gave back 3 instead of at most 2 rows, the limit of a session; if that is right, raise \
         `limits.output_rows_max` of the stage"
    );
    assert_unharmed();
}

#[test]
fn bytes_are_counted_over_the_session() {
    let mut small = limits();
    small.output_bytes_max = 150_000;
    let stage = RANKER.group_stage(&options("large"), &input_schema(), &small).unwrap();
    let mut session = stage.session(NOW_US).unwrap();
    let rows: Vec<(i64, i32)> = (0..9_000).map(|row| (row, row as i32)).collect();
    assert_eq!(session.push(&grouped(&rows)).unwrap()[0].index.len(), 9_000);
    let error = session.finish().unwrap_err();
    let CallError::Output { actual: Some(actual), unit: "bytes", of: "a session", .. } = error else {
        panic!("{error}")
    };
    assert!((200_000..300_000).contains(&actual), "{actual}");
}

#[test]
fn a_session_is_over_after_an_error() {
    let mut session = session(&RANKER, "twice").unwrap();
    session.push(&grouped(&[(1, 0), (2, 1)])).unwrap_err();
    let error = session.push(&grouped(&[(3, 2)])).unwrap_err();
    assert_eq!(error.to_string(), "internal error: the session is over: a call of it failed");
    assert!(session.finish().is_err());
}
