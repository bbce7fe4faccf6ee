//! Where a key stands, for what is found wrong only later.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;

use crisol_contract::{Positions, Problem};
use support::{Project, SETTINGS, kafka_topic};

const TABLE: &str = r#"{ "name": "b.b", "from": "bronze.orders_raw",
  "stages": [ { "decode": "x" }, { "validate": "y", "options": { "a.b": [1, {"c": 2}] } } ],
  "expectations": [ { "name": "e", "condition": "n > 0" } ] }"#;

fn positions(project: &Project) -> Positions {
    project.resolve().expect("a sound project").positions
}

fn place(problem: &Problem) -> (&str, Option<usize>, Option<usize>, Option<&str>) {
    (&problem.file, problem.line, problem.column, problem.key.as_deref())
}

#[test]
fn a_key_is_found_or_else_the_nearest_thing_above_it() {
    let positions = positions(&kafka_topic("").table("b.json", TABLE));
    for (key, line, column) in [
        ("expectations[0].condition", 3, 49),
        ("stages[1].validate", 2, 48),
        ("stages[1].options.a.b[1].c", 2, 83),
        ("stages[1].options.d", 2, 64),
        ("stages[7].decode", 2, 13),
        ("columns[0].type", 1, 1),
    ] {
        let problem = positions.refused(Path::new("tables/b.json"), key, "m");
        assert_eq!(place(&problem), ("tables/b.json", Some(line), Some(column), Some(key)));
    }
    let whole = positions.refused(Path::new("tables/b.json"), "", "m");
    assert_eq!(place(&whole), ("tables/b.json", Some(1), Some(1), None));
    let strange = positions.refused(Path::new("elsewhere.json"), "a", "m");
    assert_eq!(place(&strange), ("elsewhere.json", None, None, Some("a")));
}

#[test]
fn an_option_of_the_client_stands_where_it_is_set() {
    let file = Path::new("ingestion/streaming/orders.json");
    let found = |project: &Project, option: &str| {
        let problem = positions(project).refused_client_option(file, option, "m");
        (problem.file.clone(), problem.line, problem.key.unwrap_or_default())
    };
    let contract = kafka_topic(r#", "kafka.Fetch.Min.Bytes": "1", "cluster": "plant""#);
    let settings = format!("{SETTINGS}[kafka]\nsecurity.protocol = \"SSL\"\n[kafka.plant]\n\"group.id\" = \"g\"\n");
    let project = contract.settings(&settings).set("kafka.client.rack", "r");
    let orders = "ingestion/streaming/orders.json".to_owned();
    assert_eq!(
        found(&project, "fetch.min.bytes"),
        (orders.clone(), Some(2), "source.kafka.kafka.Fetch.Min.Bytes".into())
    );
    assert_eq!(
        found(&project, "bootstrap.servers"),
        (orders.clone(), Some(2), "source.kafka.bootstrap_servers".into())
    );
    assert_eq!(found(&project, "security.protocol"), ("crisol.toml".into(), Some(7), "kafka.security.protocol".into()));
    assert_eq!(found(&project, "group.id"), ("crisol.toml".into(), Some(9), "kafka.plant.group.id".into()));
    assert_eq!(found(&project, "client.rack"), ("--set".into(), None, "kafka.client.rack".into()));
    assert_eq!(found(&project, "absent"), (orders, Some(2), "source.kafka".into()));
}

#[test]
fn problems_are_told_in_the_order_of_the_files_and_each_once() {
    let positions = positions(&kafka_topic("").table("b.json", TABLE));
    let refused = |key| positions.refused(Path::new("tables/b.json"), key, "does not fit");
    let option = positions.refused_client_option(Path::new("ingestion/streaming/orders.json"), "x", "is refused");
    let all = vec![refused("expectations[0].condition"), refused("stages[0].decode"), option.clone(), option];
    assert_eq!(
        positions.problems(all).to_string(),
        "error: 1 problem in ingestion/streaming/orders.json\n  \
           2:43  `source.kafka`: is refused\n\
         error: 2 problems in tables/b.json\n  \
           2:27  `stages[0].decode`: does not fit\n  \
           3:49  `expectations[0].condition`: does not fit"
    );
}
