//! Rules without a plugin: expectations, NOT NULL, generated columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use crisol_contract::{OnRejected, OnViolation, StageKind};
use crisol_stage::StageError;
use support::*;

const PAYLOADS: [&[u8]; 5] = [b"1", b"-5", b"null", b"200", b"7"];

fn with_rules(rules: &[(&str, &str, OnViolation)]) -> crisol_contract::TableContract {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers")];
    contract.expectations = rules.iter().map(|(name, condition, on)| expectation(name, condition, *on)).collect();
    contract
}

#[test]
fn e002_warn_writes_and_counts() {
    let output = run(&with_rules(&[("positive", "n > 0", OnViolation::Warn)]), &messages(&PAYLOADS)).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(-5), None, Some(200), Some(7)]);
    assert_eq!(output.rules, [("positive".to_owned(), 3, 2)]);
    assert_eq!(output.rows_accepted, 5);
    assert!(output.quarantined.is_none());
}

#[test]
fn e003_e007_drop_filters_violations_and_nulls() {
    let output = run(&with_rules(&[("positive", "n > 0", OnViolation::Drop)]), &messages(&PAYLOADS)).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(200), Some(7)]);
    assert_eq!(output.filtered, [("expectation: positive".to_owned(), 2)]);
    assert_eq!(output.rules, [("positive".to_owned(), 3, 2)]);
    assert!(output.quarantined.is_none());
}

#[test]
fn e030_quarantine_keeps_every_row_in_one_place() {
    let output = run(&with_rules(&[("positive", "n > 0", OnViolation::Quarantine)]), &messages(&PAYLOADS)).unwrap();
    assert_eq!(longs(&output.accepted, "offset"), [Some(100), Some(103), Some(104)]);
    let refused = output.quarantined.unwrap();
    assert_eq!(longs(&refused, "offset"), [Some(101), Some(102)]);
    assert_eq!(texts(&refused, "stage"), vec![Some("expectations".to_owned()); 2]);
    assert_eq!(texts(&refused, "code"), vec![Some("expectation: positive".to_owned()); 2]);
    assert_eq!(texts(&refused, "text")[0].as_deref(), Some("`n > 0` is not true"));
    assert_eq!(output.rejected, [("expectation: positive".to_owned(), 2)]);
}

#[test]
fn e004_fail_stops_the_batch_and_names_the_row() {
    let error = run(&with_rules(&[("positive", "n > 0", OnViolation::Fail)]), &messages(&PAYLOADS)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `expectations`: topic orders, partition 0, offset 101: `expectation: positive`: `n > 0` is not true"
    );
}

#[test]
fn e006_e021_each_rule_counts_alone_and_a_row_is_rejected_once() {
    let rules = [
        ("positive", "n > 0", OnViolation::Drop),
        ("odd", "n % 2 <> 0", OnViolation::Drop),
        ("small", "n < 100", OnViolation::Quarantine),
        ("known", "n IS NOT NULL", OnViolation::Warn),
    ];
    let output = run(&with_rules(&rules), &messages(&PAYLOADS)).unwrap();
    let counts: Vec<_> = output.rules.iter().map(|(name, passed, failed)| (name.as_str(), *passed, *failed)).collect();
    assert_eq!(counts, [("positive", 3, 2), ("odd", 3, 2), ("small", 3, 2), ("known", 4, 1)]);
    assert!(counts.iter().all(|(_, passed, failed)| passed + failed == 5));
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(7)]);
    // 200 breaks `odd` (drop) and `small`: it is kept in quarantine; -5 only `positive`; null all three.
    assert_eq!(output.filtered, [("expectation: positive".to_owned(), 1)]);
    assert_eq!(output.rejected, [("expectation: small".to_owned(), 2)]);
    let refused = output.quarantined.unwrap();
    assert_eq!(longs(&refused, "offset"), [Some(102), Some(103)]);
    let text = texts(&refused, "text")[1].clone().unwrap();
    assert!(text.contains("`n < 100` is not true") && text.contains("expectation: odd"), "{text}");
}

#[test]
fn e008_an_error_fails_the_batch_whatever_the_action_is() {
    let rows = messages(&[b"1", b"2", b"0", b"4"]);
    for action in [OnViolation::Warn, OnViolation::Drop, OnViolation::Quarantine, OnViolation::Fail] {
        let error = run(&with_rules(&[("ratio", "10 / n > 0", action)]), &rows).unwrap_err();
        let StageError::Refused { stage, what } = error else { panic!("{error}") };
        assert_eq!(stage, "expectations");
        assert!(what.contains("offset 102") && what.contains("`10 / n > 0` cannot be evaluated"), "{what}");
        assert!(what.contains("Divide by zero"), "{what}");
    }
}

#[test]
fn d080_t059_nulls_in_not_null_columns_go_to_quarantine() {
    let mut contract = with_rules(&[]);
    contract.columns = Some(vec![crisol_contract::ColumnSpec { nullable: false, ..column("n", "bigint") }]);
    let output = run(&contract, &messages(&PAYLOADS)).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(-5), Some(200), Some(7)]);
    assert!(!output.accepted.schema().field(0).is_nullable());
    let refused = output.quarantined.unwrap();
    assert_eq!(texts(&refused, "code"), [Some("not_null: n".to_owned())]);
    assert_eq!(texts(&refused, "stage"), [Some("not_null".to_owned())]);
}

#[test]
fn d083_a_generated_column_is_computed_and_cast_to_its_type() {
    let mut contract = with_rules(&[("even", "half * 2 = n", OnViolation::Drop)]);
    let half = crisol_contract::ColumnSpec { generated: Some("n DIV 2".into()), ..column("half", "int") };
    let day = crisol_contract::ColumnSpec { generated: Some("current_date()".into()), ..column("day", "date") };
    contract.columns = Some(vec![day, half, column("n", "bigint")]);
    let output = run(&contract, &messages(&[b"4", b"5"])).unwrap();
    assert_eq!(names(&output.accepted.schema()), ["day", "half", "n", "topic", "partition", "offset"]);
    assert_eq!(output.accepted.column(1).data_type(), &arrow_schema::DataType::Int32);
    assert_eq!(longs(&output.accepted, "n"), [Some(4)]);
}

#[test]
fn d083_a_generated_column_may_be_refused_as_not_null() {
    let mut contract = with_rules(&[]);
    let generated = Some("nullif(n, 5)".into());
    contract.columns = Some(vec![
        crisol_contract::ColumnSpec { generated, nullable: false, ..column("m", "bigint") },
        column("n", "bigint"),
    ]);
    let output = run(&contract, &messages(&[b"4", b"5"])).unwrap();
    assert_eq!(output.rejected, [("not_null: m".to_owned(), 1)]);
}

#[test]
fn d083_a_value_that_does_not_fit_fails_the_batch() {
    let mut contract = with_rules(&[]);
    let narrow = crisol_contract::ColumnSpec { generated: Some("n".into()), ..column("narrow", "tinyint") };
    contract.columns = Some(vec![narrow]);
    let error = run(&contract, &messages(&[b"4", b"5000"])).unwrap_err();
    assert!(error.to_string().contains("offset 101: `generated: narrow`"), "{error}");
}

#[test]
fn d083_a_generated_column_that_comes_along_must_be_equal() {
    let mut contract = with_rules(&[]);
    contract.columns =
        Some(vec![crisol_contract::ColumnSpec { generated: Some("abs(n)".into()), ..column("n", "bigint") }]);
    assert_eq!(longs(&run(&contract, &messages(&[b"4", b"null"])).unwrap().accepted, "n"), [Some(4), None]);
    let error = run(&contract, &messages(&[b"4", b"-1"])).unwrap_err();
    assert!(error.to_string().contains("offset 101: `generated: n`"), "{error}");
}

#[test]
fn on_rejected_fail_stops_at_the_first_refused_row() {
    let mut contract = with_rules(&[]);
    contract.on_rejected = OnRejected::Fail;
    let error = run(&contract, &messages(&[b"4", b"skip", b"x", b"y"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `decode numbers`: topic orders, partition 0, offset 102: `corrupt_record`: text of corrupt_record"
    );
}
