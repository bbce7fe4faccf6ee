//! Rows go to the component of their schema version: real components, a real broker.

use std::fs;

use crisol_tests::{Project, Topic, root};
use serde_json::{Value, json};

fn order(number: u32, version: Value) -> String {
    let mut order = json!({ "order_id": format!("o-{number}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
        "schema_version": version });
    if version == json!(3) {
        order["channel"] = json!("web");
    }
    if version.is_null() {
        order.as_object_mut().expect("an object").remove("schema_version");
    }
    order.to_string()
}

/// Versions 1, 2, 3, none, one that nobody knows, and text that is no JSON; over and over.
fn produce(topic: &Topic, numbers: std::ops::Range<u32>) {
    let messages: Vec<_> = numbers
        .map(|n| {
            let value = match n % 6 {
                3 => order(n, Value::Null),
                4 => order(n, json!(77)),
                5 => "{\"order_id\":".to_string(),
                version => order(n, json!(version + 1)),
            };
            (format!("o-{n}"), value)
        })
        .collect();
    topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
}

fn project(topic: &Topic, stage: Value, more: &[Value]) -> Project {
    let project = Project::orders_to_silver();
    project.read_orders_from(topic.name());
    let mut columns = vec![
        json!({ "name": "order_id", "type": "string", "nullable": false }),
        json!({ "name": "schema_version", "type": "int", "nullable": false }),
    ];
    columns.extend_from_slice(more);
    let silver = json!({ "name": "silver.orders", "from": "bronze.orders_raw", "stages": [stage], "columns": columns });
    project.write("tables/silver/orders.json", &silver.to_string());
    project
}

#[test]
fn each_version_has_its_component_and_what_nobody_serves_waits_in_quarantine() {
    let topic = Topic::create("routing.versions", 1);
    produce(&topic, 0..60);
    let stage = json!({ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } });
    let project = project(&topic, stage.clone(), &[]);
    let plugins = project.path().join("components");
    fs::create_dir(&plugins).expect("a folder");
    fs::copy(root().join("plugins/orders.wasm"), plugins.join("orders.wasm")).expect("the component is there");
    let run = || project.host(&["run"]).env("KAFKA_BROKERS", topic.brokers()).plugins(&plugins).succeed();
    run();
    let tables = project.tables();
    let by_version = "SELECT schema_version, count(*) FROM rows GROUP BY ALL ORDER BY ALL";
    assert_eq!(tables.query("silver/orders", by_version), [[json!(1), json!(10)], [json!(2), json!(10)]]);
    let by_code = "SELECT code, component, count(*) FROM rows GROUP BY ALL ORDER BY ALL";
    let reasons = tables.query("silver/orders_quarantine", by_code);
    let reason = |code: &str, count: u32| vec![json!(code), Value::Null, json!(count)];
    assert_eq!(
        reasons,
        [reason("corrupt_record", 10), reason("schema_version_missing", 10), reason("unsupported_schema_version", 20)]
    );

    fs::copy(crisol_tests::guest("orders-v3"), plugins.join("orders-v3.wasm")).expect("the component is there");
    produce(&topic, 60..120);
    run();
    let expected = [[json!(1), json!(20)], [json!(2), json!(20)], [json!(3), json!(10)]];
    assert_eq!(tables.query("silver/orders", by_version), expected);
    let log = tables.log("silver/orders");
    let components = log["commits"][2]["crisol"]["components"].as_object().expect("components are named").clone();
    assert_eq!(components.keys().collect::<Vec<_>>(), ["orders@0.1.0", "orders@3.0.0"]);
    // Row by row in the order of the topic, whichever component worked on them.
    let order = "SELECT \"offset\" FROM rows WHERE \"offset\" >= 60 AND schema_version < 9";
    let offsets: Vec<i64> = tables.query("silver/orders", order).iter().filter_map(|row| row[0].as_i64()).collect();
    let served: Vec<i64> = (60..120).filter(|offset| offset % 6 < 3).collect();
    assert_eq!(offsets, served);
}

#[test]
fn a_column_of_one_version_only_is_null_for_the_others() {
    let topic = Topic::create("routing.columns", 1);
    produce(&topic, 0..12);
    let stage = json!({ "decode": "orders", "version": { "json": "schema_version", "in": "payload" } });
    let project = project(&topic, stage, &[json!({ "name": "channel", "type": "string" })]);
    let plugins = project.path().join("components");
    fs::create_dir(&plugins).expect("a folder");
    fs::copy(root().join("plugins/orders.wasm"), plugins.join("orders.wasm")).expect("the component is there");
    let host = || project.host(&["run"]).env("KAFKA_BROKERS", topic.brokers()).plugins(&plugins);
    let said = host().fail_with(3);
    assert!(said.contains("`channel`"), "no component gives the column: {said}");
    fs::copy(crisol_tests::guest("orders-v3"), plugins.join("orders-v3.wasm")).expect("the component is there");
    host().succeed();
    let rows = project.tables().query("silver/orders", "SELECT schema_version, channel FROM rows ORDER BY \"offset\"");
    let row = |version: u32, channel: Value| vec![json!(version), channel];
    let once = [row(1, Value::Null), row(2, Value::Null), row(3, json!("web"))];
    assert_eq!(rows, [once.clone(), once].concat());
}
