//! What honest rankers and aggregators do.

use arrow_array::RecordBatch;
use crisol_plugin::{CallError, Kind, PluginError, ROWS_MAX};

use crate::harness::*;

#[test]
fn a_ranker_gives_rows_counted_over_the_whole_session() {
    let stage = group_stage(&RANKER, "echo").unwrap();
    assert_eq!(stage.component().kind(), Kind::Ranker);
    assert_eq!(stage.reads(), ["id"]);
    assert_eq!(stage.writes().field(0).name(), "value");
    let mut session = stage.session(NOW_US).unwrap();
    assert_eq!(given(&session.push(&grouped(&[(10, 0), (20, 0), (30, 4)])).unwrap()), [(0, 10)]);
    let answers = session.push(&grouped(&[(40, 4), (50, 9)])).unwrap();
    assert_eq!(given(&answers), [(2, 30)]);
    assert_eq!(answers[0].rows.schema(), stage.writes(), "`_row` is not among them");
    assert_eq!(given(&session.finish().unwrap()), [(4, 50)]);
}

#[test]
fn an_aggregator_gives_groups() {
    assert_eq!(rank(&AGGREGATOR, "echo").unwrap(), [(0, 30), (4, 70), (9, 50)]);
}

#[test]
fn rows_and_groups_may_be_left_out_and_come_in_any_order() {
    for component in [&RANKER, &AGGREGATOR] {
        assert_eq!(rank(component, "skip").unwrap(), []);
        let mut session = session(component, "backwards").unwrap();
        let answers = session.push(&grouped(&[(10, 0), (20, 2), (30, 3)])).unwrap();
        assert_eq!(answers[0].index.len(), 2);
        assert!(answers[0].index[0] > answers[0].index[1]);
    }
}

#[test]
fn a_stage_that_reads_nothing_sees_the_groups_alone() {
    let stage = group_stage(&AGGREGATOR, "read-nothing").unwrap();
    assert!(stage.reads().is_empty());
    let rows = grouped(&[(10, 0), (20, 0), (30, 4)]).project(&[1]).unwrap();
    let mut session = stage.session(NOW_US).unwrap();
    assert_eq!(given(&session.push(&rows).unwrap()), [(0, 2)]);
    assert_eq!(given(&session.finish().unwrap()), [(4, 1)]);
}

#[test]
fn no_rows_need_no_push() {
    let mut session = session(&RANKER, "push-panic").unwrap();
    assert!(session.push(&grouped(&[])).unwrap().is_empty());
    assert!(session.finish().unwrap().is_empty());
}

#[test]
fn the_timestamp_reaches_the_component_and_nothing_else_of_the_machine_does() {
    assert!(rank(&RANKER, "timestamp").unwrap().iter().all(|(_, value)| *value == NOW_US));
    match rank(&AGGREGATOR, "ambient").unwrap_err() {
        CallError::Failure { text, .. } => assert!(text.starts_with(&format!("now={NOW_US} slept=0 env=0")), "{text}"),
        other => panic!("{other}"),
    }
}

#[test]
fn sessions_of_one_stage_do_not_see_each_other() {
    let stage = group_stage(&AGGREGATOR, "echo").unwrap();
    let (mut one, mut other) = (stage.session(NOW_US).unwrap(), stage.session(NOW_US).unwrap());
    one.push(&grouped(&[(1, 0)])).unwrap();
    other.push(&grouped(&[(100, 0)])).unwrap();
    one.push(&grouped(&[(2, 0)])).unwrap();
    assert_eq!(given(&other.finish().unwrap()), [(0, 100)]);
    assert_eq!(given(&one.finish().unwrap()), [(0, 3)]);
}

#[test]
fn a_session_may_move_between_threads() {
    let mut session = session(&AGGREGATOR, "echo").unwrap();
    session.push(&grouped(&[(1, 0), (2, 0)])).unwrap();
    let answers = std::thread::spawn(move || session.finish().unwrap()).join().unwrap();
    assert_eq!(given(&answers), [(0, 3)]);
}

#[test]
fn rows_that_were_not_agreed_on_are_the_hosts_fault() {
    let refused = |rows: &RecordBatch| match session(&RANKER, "echo").unwrap().push(rows).unwrap_err() {
        CallError::Host { what } => what,
        other => panic!("{other}"),
    };
    assert!(refused(&grouped(&vec![(1, 0); ROWS_MAX + 1])).starts_with("16385 rows were given"));
    assert_eq!(refused(&ids(&[1])), r#"columns ["id"] were given, ["id", "_group"] were agreed on"#);
    assert_eq!(refused(&grouped(&[(1, 1), (2, 0)])), "`_group` 0 was given after 1");
}

#[test]
fn kinds_are_not_taken_for_each_other() {
    let error = group_stage(&DECODER, "echo").unwrap_err();
    assert!(matches!(error, PluginError::WrongKind { is: Kind::Decoder, .. }), "{error}");
    assert!(error.to_string().ends_with("use it as `decode`"), "{error}");
    let error = stage(&AGGREGATOR, "echo").unwrap_err();
    assert!(error.to_string().ends_with("use it as `aggregate`"), "{error}");
}

#[test]
fn plans_of_groups_are_checked_too() {
    let error = group_stage(&RANKER, "read-missing").unwrap_err().to_string();
    assert!(error.ends_with("reads column `idd`, which its input does not have; did you mean `id`?"), "{error}");
    let mut input = input_schema();
    let group = arrow_schema::Field::new("_group", arrow_schema::DataType::Int32, false);
    input.fields = input.fields.iter().cloned().chain([group.into()]).collect();
    let error = RANKER.group_stage(&options("read-group"), &input, &limits()).unwrap_err().to_string();
    assert!(error.ends_with("reads column `_group`, which it is given without asking"), "{error}");
}

#[test]
fn rows_are_counted_over_the_session() {
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
