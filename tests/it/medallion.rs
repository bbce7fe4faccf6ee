//! Silver by key and gold by group, from Apache Kafka and from files, against a computation of their own.

use std::fs;

use crisol_tests::{Project, Topic, generate};
use serde_json::{Value, json};

/// Late and repeated orders: of 24,000 messages three in ten are of an order that was there before, in no order of time.
#[test]
fn after_every_batch_each_table_is_what_the_messages_so_far_come_to() {
    const BATCHES: usize = 24;
    let topic = Topic::create("medallion.orders", 3);
    let project = orders(topic.name());
    let text = generate("orders", 24_000);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut so_far = String::new();
    for slice in lines.chunks(lines.len() / BATCHES) {
        let text = slice.concat();
        topic.produce_lines(&text);
        so_far.push_str(&text);
        project.host(&["run", "-q"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
        let input = project.write("orders.tsv", &so_far);
        project.tables().as_expected("orders", &input);
    }
    let batches = fs::read_dir(project.checkpoint("tables/gold.top_orders").join("commits")).expect("marks").count();
    assert!(batches >= BATCHES, "{batches} batches reached gold");
}

#[test]
fn accounts_say_what_became_of_the_rows_of_upserts_and_groups() {
    let topic = Topic::create("medallion.accounts", 1);
    let order = |id: &str, day: u32, amount: f64| {
        let value = json!({
            "order_id": id, "event_ts": format!("2026-03-{day:02}T00:00:00.000Z"), "amount": amount, "schema_version": 2,
            "customer_id": "c", "country": "ES", "currency": "EUR"
        });
        (id.to_owned(), value.to_string())
    };
    let send = |orders: &[(String, String)]| {
        topic.produce(orders.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    };
    let project = orders(topic.name());
    let run = || {
        let output = project.host(&["run", "-o", "json"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
        let text = String::from_utf8(output.stdout).expect("text");
        let line = text.lines().find(|line| line.contains("crisol.accounts/v1")).expect("accounts").to_owned();
        let accounts: Value = serde_json::from_str(&line).expect("JSON");
        move |stream: &str| {
            let streams = accounts["streams"].as_array().expect("streams");
            streams.iter().find(|found| found["stream"] == stream).expect("the stream")["accounts"].clone()
        }
    };
    send(&[
        order("a", 1, 5.0),
        order("b", 1, 7.0),
        order("a", 1, 6.0),
        order("c", 2, 1.0),
        order("d", 1, 1.0),
        order("e", 1, 2.0),
    ]);
    let first = run();
    let fates = |inserted, updated, superseded, deleted| json!({"inserted": inserted, "updated": updated, "superseded": superseded, "deleted": deleted});
    assert_eq!(
        first("silver.orders_current")["changes"],
        fates(5, 0, 1, 0),
        "of two equal times the later message counts"
    );
    let groups = first("gold.top_orders")["groups"].clone();
    assert_eq!(groups, json!({"touched": 2, "rows_in": 5, "not_ranked": 1, "empty": 0}));

    // A late one, a newer one that moves to another day, and one that repeats.
    send(&[order("a", 1, 9.0), order("b", 2, 7.5), order("c", 1, 3.0)]);
    let second = run();
    assert_eq!(second("silver.orders_current")["changes"], fates(0, 2, 1, 0));
    let top =
        project.tables().query("gold/top_orders", "SELECT day, order_id, position FROM rows ORDER BY day, position");
    let row = |day: &str, id: &str, position: u32| vec![json!(day), json!(id), json!(position)];
    let expected = [
        row("2026-03-01", "a", 1),
        row("2026-03-01", "e", 2),
        row("2026-03-01", "d", 3),
        row("2026-03-02", "b", 1),
        row("2026-03-02", "c", 2),
    ];
    assert_eq!(top, expected, "both groups of an order that moved are right");
}

#[test]
fn e063_a_deleted_key_is_not_brought_back_by_a_late_older_event() {
    let project = events();
    let send = |file: &str, lines: &[(&str, u32, &str)]| {
        let text: String =
            lines.iter().map(|(id, at, op)| format!("{}\n", json!({"id": id, "at": at, "op": op}))).collect();
        project.write(&format!("landing/{file}.json"), &text);
        project.host(&["run", "-q"]).succeed();
        project.tables().query("silver/state", "SELECT id, \"at\" FROM rows ORDER BY id")
    };
    let row = |id: &str, at: u32| vec![json!(id), json!(at)];
    assert_eq!(send("1", &[("a", 1, "put"), ("b", 5, "put")]), [row("a", 1), row("b", 5)]);
    assert_eq!(send("2", &[("a", 7, "delete"), ("c", 3, "delete")]), [row("b", 5)]);
    assert_eq!(send("3", &[("a", 6, "put"), ("c", 2, "put")]), [row("b", 5)], "both are older than what deleted them");
    assert_eq!(send("4", &[("a", 8, "put"), ("c", 3, "put")]), [row("a", 8), row("b", 5), row("c", 3)]);
    assert_eq!(
        send("5", &[("a", 7, "delete")]),
        [row("a", 8), row("b", 5), row("c", 3)],
        "a late delete is older, too"
    );
    // What is below follows, and what is below that.
    let counts = project.tables().query("gold/counts", "SELECT op, n FROM rows");
    assert_eq!(counts, [vec![json!("put"), json!(3)]]);
    let sizes = project.tables().query("gold/sizes", "SELECT n, ops FROM rows");
    assert_eq!(sizes, [vec![json!(3), json!(1)]], "the groups that counts had before are gone");
}

#[test]
fn e061_events_without_key_or_sequence_go_to_quarantine() {
    let project = events();
    project.write(
        "landing/1.json",
        "{\"at\":1,\"op\":\"put\"}\n{\"id\":\"a\",\"op\":\"put\"}\n{\"id\":\"a\",\"at\":2,\"op\":\"put\"}\n",
    );
    project.host(&["run", "-q"]).succeed();
    let codes = project.tables().query("silver/state_quarantine", "SELECT code FROM rows ORDER BY code");
    assert_eq!(codes, [vec![json!("not_null: at")], vec![json!("not_null: id")]]);
    assert_eq!(project.tables().count("silver/state"), 1);
}

#[test]
fn d035_a_day_that_arrives_again_changes_nothing() {
    let project = Project::example("music");
    let day = fs::read_to_string(project.path().join("input/2026-03-01.json")).expect("the example's input");
    let next = day.replace("2026-03-01", "2026-03-02");
    project.write("input/2026-03-02.json", &next);
    project.host(&["run", "-q"]).succeed();
    let tables = project.tables();
    let rows = |table: &str| tables.query(table, "SELECT * FROM rows ORDER BY ALL");
    let plays = "SELECT country, day, song, plays FROM rows ORDER BY ALL";
    let (silver, gold) = (tables.query("silver/song_plays", plays), rows("gold/top3_songs"));
    assert!(!silver.is_empty() && !gold.is_empty());
    project.write("input/2026-03-01-again.json", &day);
    project.host(&["run", "-q"]).succeed();
    assert_eq!(tables.query("silver/song_plays", plays), silver);
    assert_eq!(rows("gold/top3_songs"), gold);
    assert_eq!(tables.count("bronze/song_plays_raw") as usize, 3 * day.lines().count(), "bronze keeps what arrived");

    // A day that arrives with other rows: the old ones go.
    project.write(
        "input/2026-03-01-other.json",
        "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"only\",\"artist\":\"a\",\"plays\":1}\n",
    );
    project.host(&["run", "-q"]).succeed();
    let es = "SELECT song FROM rows WHERE country = 'ES' AND day = '2026-03-01'";
    assert_eq!(tables.query("silver/song_plays", es), [vec![json!("only")]]);
    assert_eq!(tables.query("gold/top3_songs", es), [vec![json!("only")]]);
}

/// The orders example in batches of 1,000 messages.
fn orders(topic: &str) -> Project {
    Project::orders_of(topic, 1_000)
}

/// Events of keys: put or deleted, each file later than the one before.
fn events() -> Project {
    let project = Project::new();
    let column = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    let contract = json!({
        "name": "events",
        "ingest_type": "streaming",
        "source": { "format": "json", "path": "{path.landing}",
            "schema": [column("id", "string"), column("at", "int"), column("op", "string")] },
        "destination_contract": "../../tables/bronze/events.json"
    });
    project.write("ingestion/streaming/events.json", &contract.to_string());
    project.write("tables/bronze/events.json", r#"{ "name": "bronze.events" }"#);
    let state = json!({
        "name": "silver.state", "from": "bronze.events",
        "write": { "mode": "upsert", "keys": ["id"], "sequence_by": ["at"], "delete_when": "op = 'delete'" }
    });
    project.write("tables/silver/state.json", &state.to_string());
    let counts = json!({
        "name": "gold.counts", "from": "silver.state",
        "stages": [{ "aggregate": "aggregate", "options": { "measures": { "n": "count(*)" } } }],
        "write": { "mode": "replace_groups", "group_by": ["op"] }
    });
    project.write("tables/gold/counts.json", &counts.to_string());
    let sizes = json!({
        "name": "gold.sizes", "from": "gold.counts",
        "stages": [{ "aggregate": "aggregate", "options": { "measures": { "ops": "count(*)" } } }],
        "write": { "mode": "replace_groups", "group_by": ["n"] }
    });
    project.write("tables/gold/sizes.json", &sizes.to_string());
    fs::create_dir_all(project.path().join("landing")).expect("a folder");
    project
}
