//! Streams below take rows from memory or from files: the tables are the same, also when the host is killed in between.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use crisol_tests::{Host, Project, Topic, generate};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_quarantine", "commit_table", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
/// Nothing waits in memory.
const OFF: Option<u64> = Some(0);
/// About one batch of these tests waits.
const ONE_BATCH: Option<u64> = Some(20_000);
/// As it is without a setting.
const DEFAULT: Option<u64> = None;
/// Messages before each kill: a batch and a half.
const MESSAGES: usize = 60;

fn set_handoff(project: &Project, bytes_max: Option<u64>) {
    let file = project.path().join("crisol.toml");
    let text = fs::read_to_string(&file).expect("settings");
    let settings = text.split("\n[handoff]").next().unwrap_or_default().to_owned();
    let handoff = bytes_max.map(|bytes| format!("\n[handoff]\nbytes_max = {bytes}\n")).unwrap_or_default();
    fs::write(file, settings + &handoff).expect("they can be written");
}

#[test]
fn recovery_from_files_gives_what_hand_off_gives() {
    let topic = Topic::create("handoff.recovery", 3);
    let lines = generate("orders", 20_000);
    topic.produce_lines(&lines);
    for bytes_max in [OFF, Some(200_000), DEFAULT] {
        let project = Project::orders_of(topic.name(), 1_000);
        set_handoff(&project, bytes_max);
        project.host(&["run", "-q"]).env("KAFKA_BROKERS", topic.brokers()).succeed();
        let input = project.write("orders.tsv", &lines);
        project.tables().as_expected("orders", &input);
    }
}

#[test]
fn silver_killed_at_any_step_with_and_without_hand_off_gives_the_same_tables() {
    killed("silver.orders", true);
}

#[test]
fn current_killed_at_any_step_with_and_without_hand_off_gives_the_same_tables() {
    killed("silver.orders_current", false);
}

#[test]
fn gold_killed_at_any_step_with_and_without_hand_off_gives_the_same_tables() {
    killed("gold.top_orders", false);
}

/// Messages come, and the stream is killed at a step, without hand-off and with it; another run goes on. Over and over on one
/// project, compared each time.
fn killed(stream: &str, rejects: bool) {
    let topic = Topic::create(&format!("handoff.{stream}"), 2);
    let project = Project::orders_of(topic.name(), 40);
    let host = || -> Host { project.host(&["run", "-q"]).env("KAFKA_BROKERS", topic.brokers()) };
    let text = generate("orders", 6_000);
    let mut lines = text.split_inclusive('\n');
    let mut so_far = String::new();
    let mut recovers_with = [("off", OFF), ("one batch", ONE_BATCH), ("on", DEFAULT)].into_iter().cycle();
    for step in STEPS.into_iter().filter(|step| rejects || *step != "commit_quarantine") {
        for moment in MOMENTS {
            let failpoint = format!("{stream}/{step}/{moment}");
            for bytes_max in [OFF, DEFAULT] {
                let mut some: String = lines.by_ref().take(MESSAGES - 1).collect();
                some.push_str("o-cut\t{\"order_id\":\"o-cut\",\n");
                topic.produce_lines(&some);
                so_far.push_str(&some);
                set_handoff(&project, bytes_max);
                let ended = host().abort_at(&failpoint, 0).run();
                assert_eq!(ended.status.signal(), Some(Signal::SIGABRT as i32), "{failpoint} is reached: {ended:?}");
            }
            let (name, bytes_max) = recovers_with.next().expect("a cycle");
            set_handoff(&project, bytes_max);
            host().succeed();
            project.tables().as_expected("orders", &project.write("orders.tsv", &so_far));
            println!("{failpoint}, killed without hand-off and with it, recovered with it {name}: ok");
        }
    }
}

/// Things with a value of each type, those among them that a file, a partition or a text may change.
fn things(at: u32) -> String {
    let mut lines = String::new();
    for (id, ratio, region) in [
        ("nan", "nan", "north"),
        ("zero", "0.0", "north"),
        ("minus", "-0.0", "a=b/c d%é"),
        ("small", "5e-324", ""),
        ("none", "", "__HIVE_DEFAULT_PARTITION__"),
    ] {
        let or_null = |value: Value| if id == "none" { Value::Null } else { value };
        let thing = json!({
            "id": id, "seq": at, "ratio_text": ratio, "region": if id == "small" { Value::Null } else { json!(region) },
            "text": if id == "zero" { "" } else { "línea\u{0}\n\"x\"" },
            "price": or_null(json!(if id == "minus" { "-99999999.99" } else { "0.10" })),
            "wide": or_null(json!("1234567890123456789012345678.0123456789")),
            "day": or_null(json!(if id == "minus" { "0001-01-01" } else { "2024-02-29" })),
            "at": or_null(json!(if id == "minus" { "1969-12-31T23:59:59.999999Z" } else { "2026-03-01T10:00:00.000001Z" })),
            "who": or_null(json!({ "name": if at == 1 { json!("Ada") } else { Value::Null }, "age": at })),
            "tags": or_null(json!([or_null(json!("a")), Value::Null, ""])),
            "seen": or_null(json!({ "x": 1, "": Value::Null })),
        });
        lines.push_str(&format!("{thing}\n"));
    }
    lines
}

/// Silver by partitions of several types, the newest of each, what is computed from their values, and groups of them.
fn project_of_values(bytes_max: Option<u64>) -> Project {
    let project = Project::lines();
    set_handoff(&project, bytes_max);
    let column = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    let generated =
        |name: &str, kind: &str, sql: &str| json!({ "name": name, "type": kind, "generated": sql.to_owned() });
    let columns = json!([
        column("id", "string"),
        column("seq", "int"),
        column("ratio_text", "string"),
        column("region", "string"),
        column("text", "string"),
        column("price", "decimal(10,2)"),
        column("wide", "decimal(38,10)"),
        column("day", "date"),
        column("at", "timestamp"),
        column("who", "struct<name:string,age:int>"),
        column("tags", "array<string>"),
        column("seen", "map<string,int>"),
        generated("ratio", "double", "CAST(nullif(ratio_text, '') AS DOUBLE)"),
    ]);
    let partition_by = json!(["region", "day", "at", "price"]);
    let measures =
        json!({ "things": "count(*)", "sum": "sum(price)", "first": "min(at)", "texts": "count(distinct text)" });
    let tables = [
        json!({ "name": "silver.things", "from": "bronze.lines", "stages": [{ "decode": "json" }], "columns": columns,
            "partition_by": partition_by }),
        json!({ "name": "silver.newest", "from": "silver.things", "partition_by": partition_by,
            "write": { "mode": "upsert", "keys": ["id"], "sequence_by": ["seq"] } }),
        json!({ "name": "silver.seen", "from": "silver.things", "partition_by": ["day_text"], "columns": [
            column("id", "string"),
            column("ratio", "double"),
            generated("ratio_seen", "string", "CAST(ratio AS STRING)"),
            generated("name", "string", "coalesce(who.name, 'nobody')"),
            generated("age", "int", "who.age"),
            generated("at_text", "string", "CAST(at AS STRING)"),
            generated("price_text", "string", "CAST(price AS STRING)"),
            generated("region_text", "string", "coalesce(region, 'nowhere')"),
            generated("day_text", "string", "coalesce(CAST(day AS STRING), 'never')") ] }),
        json!({ "name": "gold.groups", "from": "silver.newest", "partition_by": ["region"],
            "stages": [{ "aggregate": "aggregate", "options": { "measures": measures } }],
            "write": { "mode": "replace_groups", "group_by": ["region", "ratio", "at", "price", "day"] } }),
    ];
    for table in tables {
        let file = table["name"].as_str().expect("a name").replace('.', "/");
        project.write(&format!("tables/{file}.json"), &table.to_string());
    }
    project
}

#[test]
fn d089_values_that_files_and_partitions_could_change_come_the_same_from_memory() {
    let answers = [OFF, DEFAULT].map(|bytes_max| {
        let project = project_of_values(bytes_max);
        for at in 1..=3 {
            project.write(&format!("landing/{at}.txt"), &things(at));
            project.host(&["run", "-q"]).succeed();
        }
        // As text, since JSON has no word for what is not a number.
        let all = "SELECT * EXCLUDE (file_path) REPLACE (CAST(ratio AS VARCHAR) AS ratio) FROM rows ORDER BY ALL";
        let groups = "SELECT * REPLACE (CAST(ratio AS VARCHAR) AS ratio) FROM rows ORDER BY ALL";
        let of_files = ["silver/things", "silver/newest", "silver/seen"].map(|table| (table, all));
        project.tables().queries(&[&of_files[..], &[("gold/groups", groups)]].concat())
    });
    let [from_files, from_memory] = &answers;
    assert_eq!(from_files, from_memory);
    let rows = from_files.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(rows, [15, 5, 15, 5], "{from_files:?}");
    let seen: Vec<String> = from_files[2].iter().map(|row| Value::from(row.clone()).to_string()).collect();
    for words in ["NaN", "-0.0", "nobody", "nowhere", "never"] {
        assert!(seen.iter().any(|row| row.contains(words)), "`{words}` is missing in {seen:?}");
    }
}
