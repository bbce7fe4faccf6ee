//! A contract is checked whole before the first row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use crisol_contract::{ColumnSpec, OnViolation, StageKind, WriteMode};
use support::*;

#[test]
fn all_problems_are_told_at_once_with_their_keys() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers"), stage(StageKind::Transformer, "dubble")];
    contract.columns = Some(vec![
        column("n", "bigint"),
        ColumnSpec { generated: Some("m + 1".into()), ..column("next", "bigint") },
        ColumnSpec { generated: Some("n > 0".into()), ..column("flag", "date") },
    ]);
    contract.expectations = vec![
        expectation("a", "nn > 0", OnViolation::Drop),
        expectation("b", "n + 1", OnViolation::Drop),
        expectation("c", "n > 0", OnViolation::Drop),
        expectation("d", "sum(n) > 0", OnViolation::Drop),
    ];
    contract.partition_by = vec!["dya".into(), "n".into()];
    let found = problems(&contract, kafka_input());
    let keys: Vec<&str> = found.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "stages[1].transform",
            "columns[1].generated",
            "columns[2].generated",
            "expectations[0].condition",
            "expectations[1].condition",
            "expectations[3].condition",
            "partition_by[0]",
        ]
    );
    assert_eq!((found[3].1.as_str(), found[3].2.as_str()), ("no column `nn`", "did you mean `n`?"));
    assert_eq!(found[4].1, "gives `bigint`, not true or false");
}

#[test]
fn a_timestamp_becomes_a_number_only_by_a_cast_that_says_so() {
    let mut contract = contract();
    let at = |generated: &str, name: &str, data_type: &str| ColumnSpec {
        generated: Some(generated.into()),
        ..column(name, data_type)
    };
    contract.columns = Some(vec![
        at("now()", "micros", "bigint"),
        at("offset", "time", "timestamp"),
        at("CAST(now() AS BIGINT)", "seconds", "bigint"),
    ]);
    let found = problems(&contract, kafka_input());
    let keys: Vec<&str> = found.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(keys, ["columns[0].generated", "columns[1].generated"]);
    assert_eq!(found[0].1, "gives `timestamp`, which does not become `bigint` by itself");
}

#[test]
fn columns_that_do_not_fit_are_named_with_both_types() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers")];
    contract.columns = Some(vec![column("n", "int"), column("ofset", "bigint")]);
    let found = problems(&contract, kafka_input());
    assert_eq!(found[0].0, "columns[0].type");
    assert_eq!(found[0].1, "column `n` is `int` here, but comes out as `bigint`");
    assert_eq!(found[1].0, "columns[1].name");
    assert_eq!(found[1].2, "did you mean `offset`?");
}

#[test]
fn a_stage_whose_columns_do_not_reach_it_is_refused() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Validator, "small"), stage(StageKind::Decoder, "numbers")];
    let found = problems(&contract, kafka_input());
    assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("stages[0]", "needs a column `n`"));
}

#[test]
fn a_broken_stage_does_not_make_guesses_into_problems() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "absent"), stage(StageKind::Validator, "small")];
    contract.expectations = vec![expectation("a", "n > 0", OnViolation::Drop)];
    let found = problems(&contract, kafka_input());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "stages[0].decode");
}

#[test]
fn d023_columns_that_differ_by_case_only_are_refused() {
    let mut contract = contract();
    let upper = ColumnSpec { generated: Some("offset".into()), ..column("Offset", "bigint") };
    contract.columns = Some(vec![upper]);
    let found = problems(&contract, kafka_input());
    assert_eq!(found[0].1, "columns `Offset` and `offset` differ by case only");
}

#[test]
fn keys_and_groups_must_be_there_and_have_an_order() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers"), stage(StageKind::Ranker, "best")];
    contract.write = WriteMode::ReplaceGroups { group_by: vec!["m".into()] };
    let found = problems(&contract, kafka_input());
    let [(key, what, hint)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (key.as_str(), what.as_str(), hint.as_str()),
        ("write.group_by[0]", "no column `m` here", "did you mean `n`?")
    );

    contract.stages.pop();
    contract.columns = Some(vec![column("n", "bigint")]);
    contract.write = WriteMode::Upsert {
        keys: vec!["n".into()],
        sequence_by: vec!["offset".into(), "payload".into()],
        delete_when: Some("n + 1".into()),
    };
    let found = problems(&contract, kafka_input());
    let keys: Vec<&str> = found.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(keys, ["write.sequence_by[1]", "write.delete_when"]);
    assert_eq!(found[0].1, "column `payload` is none of the table's");
    assert_eq!(found[1].1, "gives `bigint`, not true or false");
}

#[test]
fn without_columns_and_decoder_all_columns_come_through() {
    let chain = build(&contract(), kafka_input());
    assert_eq!(names(&chain.table_schema()), ["message_key", "payload", "topic", "partition", "offset"]);
    let types: Vec<String> =
        chain.table_schema().fields().iter().map(|f| crisol_ipc::types::name(f.data_type()).unwrap()).collect();
    assert_eq!(types, ["string", "string", "string", "int", "bigint"]);
    let mut bare = contract();
    bare.provenance = false;
    assert_eq!(names(&build(&bare, kafka_input()).table_schema()), ["message_key", "payload"]);
}

#[test]
fn without_columns_a_decoder_gives_the_tables_columns() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers"), stage(StageKind::Transformer, "double")];
    let chain = build(&contract, kafka_input());
    assert_eq!(names(&chain.table_schema()), ["n", "topic", "partition", "offset"]);
    let components: Vec<String> = chain.components().into_iter().map(|id| id.name).collect();
    assert_eq!(components, ["numbers", "double"]);
}

#[test]
fn columns_give_order_comment_and_nullability() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers")];
    contract.columns = Some(vec![
        column("offset", "bigint"),
        ColumnSpec { comment: Some("a number".into()), nullable: false, ..column("n", "bigint") },
    ]);
    let schema = build(&contract, kafka_input()).table_schema();
    assert_eq!(names(&schema), ["offset", "n", "topic", "partition"]);
    assert!(schema.field(0).is_nullable() && !schema.field(1).is_nullable());
    assert_eq!(schema.field(1).metadata().get("comment").map(String::as_str), Some("a number"));
}

#[test]
fn p051_a_column_that_stays_binary_is_not_checked() {
    let mut contract = contract();
    contract.columns = Some(vec![column("payload", "binary")]);
    let output = run(&contract, &messages(&[b"\xff"])).unwrap();
    assert_eq!(output.rows_accepted, 1);
    let mut as_text = contract.clone();
    as_text.columns = Some(vec![column("payload", "string")]);
    assert_eq!(run(&as_text, &messages(&[b"\xff"])).unwrap().rejected, [("invalid_utf8".to_owned(), 1)]);
}
