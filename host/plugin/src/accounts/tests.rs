use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};

use super::*;

fn limits() -> Limits {
    Limits { codes_max: 4, ..Limits::default() }
}

fn given(rows: &[i32]) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int32Array::from(rows.to_vec()));
    RecordBatch::try_from_iter([("_row", column)]).unwrap()
}

fn rejection(row: i32, kind: Fate, code: &str) -> crisol_ipc::Rejected {
    crisol_ipc::Rejected { row, kind, code: code.into(), text: format!("text of {code}") }
}

fn refused(row: i32) -> crisol_ipc::Rejected {
    rejection(row, Fate::Quarantine, "bad")
}

fn row_of(error: CallError) -> (Option<u32>, String) {
    match error {
        CallError::Accounts { row, what, .. } => (row, what),
        other => panic!("not about accounts: {other}"),
    }
}

#[test]
fn each_row_given_or_rejected_holds() {
    let origin = origin(&given(&[0, 0, 2, 3]), 5).unwrap();
    assert_eq!(origin, [0, 0, 2, 3]);
    let settled = settle(5, &origin, vec![rejection(4, Fate::Filter, "x"), refused(1)], &limits()).unwrap();
    let rows: Vec<(u32, bool)> = settled.iter().map(|rejection| (rejection.row, rejection.filter)).collect();
    assert_eq!(rows, [(1, false), (4, true)]);
}

#[test]
fn a_lost_row_is_named() {
    let (row, what) = row_of(settle(4, &[0, 3], vec![refused(1)], &limits()).unwrap_err());
    assert_eq!((row, what.as_str()), (Some(2), "row 2 is neither given nor rejected"));
    let (_, what) = row_of(settle(4, &[], vec![], &limits()).unwrap_err());
    assert_eq!(what, "row 0 is neither given nor rejected (and 3 more)");
}

#[test]
fn a_row_given_and_rejected_or_rejected_twice_is_named() {
    let (row, what) = row_of(settle(2, &[0, 1], vec![refused(1)], &limits()).unwrap_err());
    assert_eq!((row, what.as_str()), (Some(1), "row 1 is both given and rejected"));
    let (row, what) = row_of(settle(2, &[0], vec![refused(1), refused(1)], &limits()).unwrap_err());
    assert_eq!((row, what.as_str()), (Some(1), "row 1 is rejected twice"));
}

#[test]
fn rows_out_of_range_or_going_back_are_refused() {
    for wrong in [-1, 3, i32::MAX, i32::MIN] {
        let (_, what) = row_of(origin(&given(&[0, wrong]), 3).unwrap_err());
        assert_eq!(what, format!("`_row` {wrong} of the 2nd row it gave was not among its input"));
        let (_, what) = row_of(settle(3, &[0], vec![refused(wrong)], &limits()).unwrap_err());
        assert_eq!(what, format!("rejected row {wrong} was not among its input"));
        assert!(judge(3, vec![refused(wrong)], &limits()).is_err());
    }
    let (row, what) = row_of(origin(&given(&[0, 2, 1]), 3).unwrap_err());
    assert_eq!((row, what.as_str()), (Some(1), "`_row` goes back from 2 to 1 in the 3rd row it gave"));
}

#[test]
fn codes_are_short_and_stable() {
    for wrong in ["", "a\u{1b}[31m", "país", "a\nb"] {
        let error = settle(1, &[], vec![rejection(0, Fate::Quarantine, wrong)], &limits()).unwrap_err();
        assert!(matches!(error, CallError::Invalid { .. }), "{error}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
    assert!(settle(1, &[], vec![rejection(0, Fate::Quarantine, "not_null: day")], &limits()).is_ok());
}

#[test]
fn the_length_and_number_of_codes_are_limited_by_name() {
    let told = |error: CallError| match error {
        CallError::Output { actual, limit, setting, .. } => (actual, limit, setting),
        other => panic!("{other}"),
    };
    let long = settle(1, &[], vec![rejection(0, Fate::Quarantine, &"c".repeat(65))], &limits()).unwrap_err();
    assert_eq!(told(long), (Some(65), 64, "code_bytes_max"));
    let all =
        |codes: i32| (0..codes).map(|row| rejection(row, Fate::Filter, &format!("code {row}"))).collect::<Vec<_>>();
    assert!(settle(4, &[], all(4), &limits()).is_ok() && judge(4, all(4), &limits()).is_ok());
    assert_eq!(told(settle(5, &[], all(5), &limits()).unwrap_err()), (Some(5), 4, "codes_max"));
    assert_eq!(told(judge(5, all(5), &limits()).unwrap_err()), (Some(5), 4, "codes_max"));
}

#[test]
fn texts_are_escaped_and_cut() {
    let mut long = refused(0);
    long.text = format!("\u{1b}[2J{}", "x".repeat(10_000));
    let settled = settle(1, &[], vec![long], &limits()).unwrap();
    assert!(settled[0].text.starts_with("\\u{1b}[2Jx"));
    assert!(settled[0].text.len() <= 2_048);
}

#[test]
fn a_validator_keeps_the_first_reason_and_names_the_others() {
    let all = vec![
        rejection(1, Fate::Quarantine, "a"),
        rejection(1, Fate::Quarantine, "b"),
        rejection(1, Fate::Filter, "c"),
        rejection(1, Fate::Quarantine, "b"),
        rejection(0, Fate::Filter, "f"),
    ];
    let (passed, rejected) = judge(3, all, &limits()).unwrap();
    assert_eq!(passed, [2]);
    assert_eq!((rejected[0].row, rejected[0].filter), (0, true));
    assert_eq!((rejected[1].code.as_str(), rejected[1].text.as_str()), ("a", "text of a (also b, c)"));
}

#[test]
fn quarantine_goes_before_filter() {
    let (_, rejected) =
        judge(1, vec![rejection(0, Fate::Filter, "f"), rejection(0, Fate::Quarantine, "q")], &limits()).unwrap();
    assert_eq!((rejected[0].code.as_str(), rejected[0].filter), ("q", false));
    assert!(rejected[0].text.ends_with("(also f)"));
}

#[test]
fn ordinals_are_english() {
    let ordinals: Vec<String> = [0, 1, 2, 3, 10, 11, 12, 20, 110].into_iter().map(ordinal).collect();
    assert_eq!(ordinals, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"]);
}
