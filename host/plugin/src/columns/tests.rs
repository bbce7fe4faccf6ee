use arrow_schema::DataType;

use super::*;

fn input() -> Schema {
    Schema::new(vec![
        Field::new("payload", DataType::Binary, true),
        Field::new("partition", DataType::Int32, false),
        Field::new("hash", DataType::UInt64, false),
    ])
}

fn writes(columns: &[(&str, &str)]) -> Vec<Column> {
    columns.iter().map(|(n, t)| Column { name: (*n).into(), type_: (*t).into(), nullable: true }).collect()
}

fn check(reads: &[&str], columns: &[(&str, &str)]) -> Result<Columns, String> {
    let plan = StagePlan { reads: reads.iter().map(|name| (*name).to_string()).collect(), writes: writes(columns) };
    Columns::check(Kind::Decoder, &plan, &input())
}

fn problem(reads: &[&str], columns: &[(&str, &str)]) -> String {
    check(reads, columns).expect_err("must be refused")
}

#[test]
fn columns_come_in_the_order_asked_for() {
    let columns = check(&["partition", "payload"], &[("id", "string"), ("amount", "decimal(18,2)")]).unwrap();
    assert_eq!(columns.reads, ["partition", "payload"]);
    assert_eq!(columns.input[1].type_, "binary");
    assert_eq!(columns.input_schema.field(0).data_type(), &DataType::Int32);
    assert_eq!(columns.writes.field(1).data_type(), &DataType::Decimal128(18, 2));
    assert_eq!(columns.message.fields().last().unwrap().name(), ROW);
}

#[test]
fn only_columns_that_can_cross_are_offered() {
    let names: Vec<String> = describe(&input()).into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["payload", "partition"]);
}

#[test]
fn reads_must_exist_once_and_be_able_to_cross() {
    assert_eq!(
        problem(&["paylod"], &[]),
        "reads column `paylod`, which its input does not have; did you mean `payload`?"
    );
    assert!(problem(&["zzz"], &[]).contains("there are payload, partition, hash"));
    assert_eq!(problem(&["payload", "payload"], &[]), "reads column `payload` twice");
    assert!(problem(&["hash"], &[]).contains("whose type UInt64 cannot be given"));
    assert!(problem(&[], &[]).contains("at least one"));
    assert!(problem(&["a\u{1b}[2Jb"], &[]).contains("a\\u{1b}[2Jb"));
    let many = vec!["payload"; COLUMNS_MAX + 1];
    assert!(problem(&many, &[]).contains("1001 columns"));
}

#[test]
fn writes_must_be_new_names_with_types_of_contracts() {
    assert!(problem(&["payload"], &[("a", "strng")]).starts_with("writes column `a`: "));
    assert_eq!(problem(&["payload"], &[("a", "int"), ("a", "int")]), "writes column `a` twice");
    assert!(problem(&["payload"], &[("_row", "int")]).contains("taken"));
    assert!(problem(&["payload"], &[("_group", "int")]).contains("taken"));
    assert!(problem(&["payload"], &[("", "int")]).contains("0 bytes"));
    assert!(problem(&["payload"], &[(&"n".repeat(201), "int")]).contains("201 bytes"));
    assert!(problem(&["payload"], &[("a\u{7}", "int")]).contains("cannot be printed"));
    assert!(problem(&["payload"], &[("a\u{202e}", "int")]).contains("cannot be printed"));
    let deep = format!("{}int{}", "array<".repeat(1000), ">".repeat(1000));
    assert!(problem(&["payload"], &[("a", &deep)]).starts_with("writes column `a`: "));
    let names: Vec<String> = (0..=COLUMNS_MAX).map(|i| format!("c{i}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "int")).collect();
    assert!(problem(&["payload"], &many).contains("1001 columns"));
}

#[test]
fn a_validator_writes_nothing() {
    let plan = StagePlan { reads: vec!["payload".into()], writes: writes(&[("a", "int")]) };
    let problem = Columns::check(Kind::Validator, &plan, &input()).unwrap_err();
    assert!(problem.contains("validators write none"), "{problem}");
}
