//! A record as a row: columns, headers, times, and values that are null, empty or no text.

use crisol_tests::{Project, Record, Topic};
use serde_json::{Value, json};

use crate::bronze::{QUARANTINE, TABLE, of, run};

fn rows(project: &Project, columns: &str) -> Vec<Vec<Value>> {
    project.tables().query(TABLE, &format!("SELECT {columns} FROM rows ORDER BY \"offset\""))
}

#[test]
fn k080_k081_columns_have_our_names_in_sparks_order_headers_last() {
    let topic = Topic::create("schema.columns", 1);
    topic.send([Record::to(0).key("k").payload("p").at(1_700_000_000_123)]);
    let project = of(&topic);
    run(&project);
    let columns = project.tables().query(TABLE, "SELECT column_name, column_type FROM (DESCRIBE rows)");
    let expected = json!([
        ["message_key", "VARCHAR"],
        ["payload", "VARCHAR"],
        ["topic", "VARCHAR"],
        ["partition", "INTEGER"],
        ["offset", "BIGINT"],
        ["kafka_timestamp", "TIMESTAMP WITH TIME ZONE"],
        ["timestamp_type", "INTEGER"],
        ["headers", "STRUCT(\"key\" VARCHAR, \"value\" BLOB)[]"]
    ]);
    assert_eq!(json!(columns), expected);
    let said = rows(
        &project,
        "message_key, payload, topic, \"partition\", \"offset\", epoch_ms(kafka_timestamp), timestamp_type",
    );
    assert_eq!(json!(said), json!([["k", "p", "schema.columns", 0, 0, 1_700_000_000_123_i64, 0]]));
}

#[test]
fn k081_headers_keep_their_order_and_repeated_null_and_empty_values() {
    let topic = Topic::create("schema.headers", 1);
    let many = Record::to(0)
        .header("b", Some(b"1"))
        .header("a", None)
        .header("b", Some(b""))
        .header("b", Some(b"\xff"))
        .header("", Some(b"x"));
    topic.send([many, Record::to(0).payload("none")]);
    let project = of(&topic);
    run(&project);
    let said = rows(&project, "list_transform(headers, h -> [h.key, hex(h.value)])");
    assert_eq!(json!(said), json!([[[["b", "31"], ["a", null], ["b", ""], ["b", "FF"], ["", "78"]]], [null]]));
}

#[test]
fn k073_null_empty_and_absent_values_are_kept_apart() {
    let topic = Topic::create("schema.empty", 1);
    topic.send([
        Record::to(0),
        Record::to(0).key("").payload(""),
        Record::to(0).key("tombstone"),
        Record::to(0).payload("no key"),
    ]);
    let project = of(&topic);
    run(&project);
    let expected = json!([[null, null], ["", ""], ["tombstone", null], [null, "no key"]]);
    assert_eq!(json!(rows(&project, "message_key, payload")), expected);
}

#[test]
fn k082_times_are_the_producers_or_the_brokers_or_none() {
    let created = Topic::create("schema.created", 1);
    created.send([Record::to(0).payload("at").at(86_400_000), Record::to(0).payload("none").at(-1)]);
    let project = of(&created);
    run(&project);
    let said = rows(&project, "epoch_ms(kafka_timestamp), timestamp_type");
    assert_eq!(said[0], [json!(86_400_000), json!(0)]);
    assert_eq!(said[1][0], json!(null), "a record without a time");

    let appended = Topic::create_with("schema.appended", 1, &[("message.timestamp.type", "LogAppendTime")]);
    appended.send([Record::to(0).payload("at").at(86_400_000)]);
    let project = of(&appended);
    run(&project);
    let recent = "kafka_timestamp > TIMESTAMPTZ '2020-01-01', timestamp_type";
    assert_eq!(json!(rows(&project, recent)), json!([[true, 1]]), "the broker's time, not the producer's");
}

#[test]
fn p051_a_value_that_is_no_text_goes_to_quarantine_with_its_bytes() {
    let topic = Topic::create("schema.bytes", 1);
    topic.send([
        Record::to(0).payload("caf\u{e9}"),
        Record::to(0).key("k").payload(*b"caf\xe9\x00\xff"),
        Record::to(0).key(*b"\xc3\x28").payload("fine"),
        Record::to(0).payload("end"),
    ]);
    let project = of(&topic);
    run(&project);
    assert_eq!(json!(rows(&project, "payload")), json!([["caf\u{e9}"], ["end"]]));
    let refused = "SELECT \"partition\", \"offset\", code, hex(payload) FROM rows ORDER BY \"offset\"";
    let refused = project.tables().query(QUARANTINE, refused);
    let expected = json!([[0, 1, "invalid_utf8", "636166E900FF"], [0, 2, "invalid_utf8", "66696E65"]]);
    assert_eq!(json!(refused), expected);
}

#[test]
fn k080_p051_a_contract_that_says_binary_keeps_every_value_as_it_came() {
    let topic = Topic::create("schema.binary", 1);
    topic.send([
        Record::to(0).key(*b"\xc3\x28").payload(*b"\xff\x00"),
        Record::to(0).key("").payload(""),
        Record::to(0),
    ]);
    let project = of(&topic);
    let columns = json!([{ "name": "message_key", "type": "binary" }, { "name": "payload", "type": "binary" }]);
    project.write("tables/bronze/log.json", &json!({ "name": "bronze.log", "columns": columns }).to_string());
    run(&project);
    assert_eq!(
        json!(rows(&project, "hex(message_key), hex(payload)")),
        json!([["C328", "FF00"], ["", ""], [null, null]])
    );
    assert_eq!(project.tables().count(QUARANTINE), 0);
}
