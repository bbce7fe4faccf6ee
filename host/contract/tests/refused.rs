//! What users see when a project is wrong. The texts are an interface: each is a snapshot.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{Project, files, kafka, kafka_topic, silver};

/// All cases of a subject in one snapshot: a title, and what the terminal shows.
#[track_caller]
fn texts(cases: &[(&str, Project)]) -> String {
    let mut out = String::new();
    for (title, project) in cases {
        let text = match project.resolve() {
            Ok(_) => panic!("`{title}` is accepted"),
            Err(problems) => problems.to_string(),
        };
        out.push_str(&format!("# {title}\n{text}\n"));
    }
    out
}

/// The snapshot is named after the test.
macro_rules! shows {
    ($cases:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(texts(&$cases)) })
    };
}

#[test]
fn all_problems_of_all_files_are_shown_at_once() {
    let project = Project::new()
        .settings("[path]\ntables = 5\ncheckpoint = \"c\"\n[limits]\nmemory_max = 1\n")
        .ingestion("orders.json", "{\n  \"name\": \"orders\",\n  \"source\": { \"format\": \"kafa\" },\n  \"destination\": \"x\"\n}")
        .table(
            "silver/orders.json",
            "{\n  \"name\": \"silver.orders\",\n  \"from\": \"bronze.orders\",\n  \"write\": {\n    \"mode\": \"merge\"\n  },\n  \"expectations\": [\n    { \"name\": \"a\", \"condition\": 5 }\n  ]\n}",
        )
        .table("bronze/raw.json", r#"{ "name": "bronze.orders_raw", "#);
    insta::assert_snapshot!(project.bad());
    insta::assert_snapshot!("as_json", serde_json::to_string_pretty(&project.resolve().unwrap_err()).unwrap());
}

#[test]
fn json_is_taken_strictly() {
    let table = |text: &str| Project::new().table("a.json", text);
    shows!([
        ("empty", table("")),
        ("comment", table("{ \"name\": \"a\" } // why")),
        ("trailing comma", table("{ \"name\": \"a\", }")),
        ("missing comma", table("{ \"name\": \"a\" \"from\": \"b\" }")),
        ("single quotes", table("{ 'name': \"a\" }")),
        ("control character", table("{ \"name\": \"a\u{1}\" }")),
        ("key twice", table("{ \"name\": \"a\", \"name\": \"b\" }")),
        (
            "key twice, deep",
            table("{ \"name\": \"a\", \"stages\": [ { \"decode\": \"x\", \"options\": {\"q\": 1, \"q\": 2} } ] }")
        ),
        ("two values", table("{ \"name\": \"a\" } {}")),
        ("not an object", table("[]")),
        ("position after wide characters", table("{ \"name\": \"añ€\", \"x\": 1 }")),
        ("byte order mark", table("\u{feff}{ \"name\": \"a\", \"x\": 1 }")),
        ("UTF-16", Project::new().table_bytes("a.json", b"\xff\xfe{\0}\0").table("b.json", "{}")),
        ("Latin-1", Project::new().table_bytes("a.json", b"{\n  \"name\": \"a\xf1o\" }").table("b.json", "{}")),
    ]);
}

#[test]
fn settings_may_begin_with_a_byte_order_mark() {
    silver("").settings(&format!("\u{feff}{}", support::SETTINGS)).good();
}

#[test]
fn settings_that_are_wrong() {
    let with = |text: &str| Project::new().settings(text).table("a.json", r#"{ "name": "a" }"#);
    let more = |text: &str| Project::new().more_settings(text).table("a.json", r#"{ "name": "a" }"#);
    let mut nothing = Project::new().table("a.json", r#"{ "name": "a" }"#);
    nothing.settings = None;
    shows!([
        ("no file", nothing),
        ("no contracts", Project::new()),
        ("broken", with("[path\n")),
        ("key twice", with("[path]\ntables = \"a\"\ntables = \"b\"\n")),
        ("unknown section", more("[limit]\nx = 1\n")),
        ("unknown limit", more("[limits]\nmemory_bytes = 1\n")),
        ("limit of zero", more("[limits]\ndeadline_ms_max = 0\n")),
        ("limit beyond reason", more("[limits]\nstack_bytes_max = 1_073_741_824\n")),
        (
            "less than one instance",
            more("[limits]\nmemory_bytes_max = 536_870_912\ntotal_memory_bytes_max = 268_435_456\n")
        ),
        ("limit as text", more("[limits]\ndeadline_ms_max = \"10\"\n")),
        ("limit as date", more("[limits]\ndeadline_ms_max = 2024-01-01\n")),
        ("empty path", with("[path]\ncheckpoint = \"${env:NO:-}\"\ntables = \"t\"\n")),
        ("store that is not there yet", with("[path]\ncheckpoint = \"c\"\ntables = \"s3://bucket/t\"\n")),
        ("unknown --set", more("").set("limits.deadline", "5")),
        ("wrong --set", more("").set("limits.deadline_ms_max", "soon")),
        ("unknown variable", more("").env("CRISOL__PATHS__TABLES", "x")),
    ]);
}

#[test]
fn placeholders_that_cannot_be_filled() {
    let topic = |topic: &str| kafka(&format!(", \"topic\": \"{topic}\""));
    shows!([
        ("not set", topic("${env:TOPIC}")),
        ("set to nothing", topic("${env:TOPIC}").env("TOPIC", "")),
        ("no such file", topic("${file:secrets/topic}")),
        ("unknown kind", topic("${evn:TOPIC}")),
        ("not closed", topic("${env:TOPIC")),
        ("path that is not set", files("").settings("[path]\ncheckpoint = \"c\"\ntables = \"t\"\n")),
        ("misspelt path", Project::new().table("a.json", r#"{ "name": "a", "path": "{path.table}/a" }"#)),
    ]);
}

#[test]
fn secrets_never_stand_in_what_is_shown() {
    let secret = "hush-hush";
    let project = kafka(r#", "topic": "${env:SECRET} x", "max_offsets_per_trigger": "${env:SECRET}""#)
        .more_settings("[kafka]\n\"ssl.keystore.location\" = \"${env:SECRET}.jks\"\n[limits]\ndeadline_ms_max = \"${env:SECRET}\"\n")
        .env("SECRET", secret)
        .set("limits.memory_bytes_max", secret);
    let problems = project.resolve().unwrap_err();
    assert!(problems.as_slice().len() >= 4, "{problems}");
    assert!(!format!("{problems} {problems:?}").contains(secret), "{problems}");
}

#[test]
fn k001_to_k005_subscriptions() {
    shows!([
        ("K-001 none", kafka("")),
        (
            "K-001 none, and no object",
            Project::new()
                .ingestion(
                    "o.json",
                    r#"{ "name": "o", "source": { "format": "kafka" }, "destination_contract": "../../tables/b.json" }"#
                )
                .table("b.json", r#"{ "name": "b" }"#)
        ),
        ("K-002 two", kafka(r#", "topic": "a", "subscribePattern": "b""#)),
        ("K-003 only blanks", kafka(r#", "subscribe": " , ,""#)),
        ("K-003 empty list", kafka(r#", "topic": []"#)),
        ("a pattern as topic", kafka(r#", "topic": "orders.*""#)),
        ("K-004 empty pattern", kafka(r#", "topic_pattern": "  ""#)),
        ("K-006 broken pattern", kafka(r#", "topic_pattern": "a(b""#)),
        ("K-005 no object", kafka(r#", "assign": "orders-0""#)),
        ("K-005 broken text", kafka(r#", "assign": "{\"a\": [0,]}""#)),
        ("K-005 no list", kafka(r#", "assign": {"a": 0}"#)),
        ("K-005 negative", kafka(r#", "assign": {"a": [-1]}"#)),
        ("K-005 twice", kafka(r#", "assign": {"a": [1, 1]}"#)),
        ("K-005 nothing", kafka(r#", "assign": {}"#)),
        ("K-007 an internal topic", kafka(r#", "assign": {"__consumer_offsets": [0]}"#)),
        ("a partition in two spellings", kafka_topic(r#", "starting_offsets": {"orders.v1": {"0": 1, "00": 5}}"#)),
    ]);
}

/// All that is said about a project with these options of its source.
fn said(options: &str) -> String {
    kafka(options).resolve().unwrap_err().to_string()
}

#[test]
fn k001_k002_k004_k091_a_source_says_exactly_one_thing_to_read_and_names_brokers() {
    assert!(
        said("")
            .contains("exactly one of `topic` (Spark: `subscribe`), `topic_pattern` (`subscribePattern`), `assign`")
    );
    for two in [r#", "topic": "a", "assign": {"a": [0]}"#, r#", "SUBSCRIBE": "a", "subscribepattern": "b""#] {
        assert!(said(two).contains("only one of"), "{two}");
    }
    assert!(said(r#", "topic_pattern": " ""#).contains("must not be empty"));
}

#[test]
fn k024_k026_t012_no_stream_takes_an_end_not_even_the_timestamp_that_spark_forgets() {
    for end in ["endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp", "ending_timestamp"] {
        let text = said(&format!(r#", "topic": "a", "{end}": "latest""#));
        assert!(text.contains(end) && text.contains("a stream has no end"), "{text}");
    }
}

#[test]
fn k034_a_start_that_is_no_number_is_refused_as_a_single_long_value() {
    assert!(said(r#", "topic": "a", "startingTimestamp": "now""#).contains("single long value"));
}

#[test]
fn k050_k051_k052_k053_there_are_no_read_tasks_to_split() {
    for option in ["minPartitions", "maxRecordsPerPartition", "min_partitions"] {
        let text = said(&format!(r#", "topic": "a", "{option}": 10"#));
        assert!(text.contains(option) && text.contains("there are no read tasks to split"), "{text}");
    }
}

#[test]
fn k020_to_k043_options_of_kafka() {
    shows!([
        ("K-022 a word", kafka_topic(r#", "starting_offsets": "earlyest""#)),
        ("K-022 offset -3", kafka_topic(r#", "starting_offsets": {"orders.v1": {"0": -3}}"#)),
        ("K-022 no partitions", kafka_topic(r#", "starting_offsets": {"orders.v1": {}}"#)),
        ("K-022 a number", kafka_topic(r#", "starting_offsets": 7"#)),
        ("K-023 another topic", kafka_topic(r#", "starting_offsets": {"orders.v2": {"0": 1}}"#)),
        (
            "K-023 other partitions",
            kafka(r#", "assign": {"a": [0, 1]}, "starting_offsets": {"a": {"0": 1}, "b": {"0": 1}}"#),
        ),
        ("K-026 an end", kafka_topic(r#", "endingOffsets": "latest", "ending_timestamp": 5"#)),
        ("K-034 a time that is no number", kafka_topic(r#", "startingTimestamp": "2026-01-01""#)),
        ("K-023 times of another topic", kafka_topic(r#", "starting_offsets_by_timestamp": {"orders.v2": {"0": 1}}"#)),
        ("a negative time", kafka_topic(r#", "starting_offsets_by_timestamp": {"orders.v1": {"0": -1}}"#)),
        (
            "K-029 a strategy",
            kafka_topic(r#", "starting_timestamp": 5, "starting_offsets_by_timestamp_strategy": "earliest""#),
        ),
        ("K-043 a minimum", kafka_topic(r#", "minOffsetsPerTrigger": 5, "maxOffsetsPerTrigger": 4"#)),
        ("K-044 a delay alone", kafka_topic(r#", "maxTriggerDelay": "1m""#)),
        ("K-044 a delay", kafka_topic(r#", "minOffsetsPerTrigger": 5, "maxTriggerDelay": "soon""#)),
        ("K-006 a match without a pattern", kafka_topic(r#", "topic_pattern_match": "search""#)),
        ("K-006 a match", kafka(r#", "topic_pattern": "a", "topic_pattern_match": "find""#)),
        ("K-007 nothing but internal topics", kafka(r#", "topic": "__consumer_offsets""#)),
        ("K-052 splitting", kafka_topic(r#", "min_partitions": 0, "maxRecordsPerPartition": 1"#)),
        ("limit of zero", kafka_topic(r#", "max_offsets_per_trigger": 0"#)),
        ("limit with a point", kafka_topic(r#", "max_offsets_per_trigger": 1.5"#)),
        ("flag", kafka_topic(r#", "failOnDataLoss": "yes""#)),
        ("misspelt", kafka_topic(r#", "starting_ofsets": "earliest""#)),
        ("misspelt, Spark's", kafka_topic(r#", "maxOffsetPerTrigger": 5"#)),
        ("two spellings", kafka_topic(r#", "subscribe": "a""#)),
        ("headers", kafka_topic(r#", "includeHeaders": true"#)),
        ("client option without prefix", kafka_topic(r#", "security.protocol": "SSL""#)),
        ("no such cluster", kafka_topic(r#", "cluster": "plnat""#).more_settings("[kafka.plant]\nx = \"y\"\n")),
    ]);
}

#[test]
fn k090_to_k095_options_of_the_client() {
    let brokers = |text: &str| {
        let text = format!(
            r#"{{ "name": "o", "source": {{ "format": "kafka", "kafka": {{ "topic": "a"{text} }} }}, "destination_contract": "../../tables/b.json" }}"#
        );
        Project::new().ingestion("o.json", &text).table("b.json", r#"{ "name": "b" }"#)
    };
    shows!([
        (
            "K-090 the host's own",
            kafka_topic(
                r#", "kafka.auto.offset.reset": "earliest",
  "kafka.key.deserializer": "x",
  "kafka.value.deserializer": "x",
  "kafka.enable.auto.commit": true,
  "kafka.interceptor.classes": "x""#
            )
        ),
        (
            "brokers that cannot be filled in",
            brokers("").more_settings("[kafka]\n\"bootstrap.servers\" = \"${env:B}\"\n")
        ),
        ("K-090 in crisol.toml", kafka_topic("").more_settings("[kafka]\nauto.offset.reset = \"earliest\"\n")),
        (
            "K-095 the Java client's",
            kafka_topic(
                r#", "kafka.sasl.login.class": "x",
  "kafka.ssl.truststore.location": "/x.jks",
  "kafka.ssl.truststore.password": "${env:S}",
  "kafka.ssl.keystore.location": "/x.jks",
  "kafka.fetch.max.wait.ms": 5"#
            )
        ),
        ("K-095 a login module", kafka_topic(r#", "kafka.sasl.jaas.config": "${env:S} required;""#).env("S", "secret")),
        (
            "K-096 secrets in a contract",
            kafka_topic(
                r#", "kafka.sasl.password": "secret",
  "kafka.sasl.jaas.config": "secret""#
            )
        ),
        (
            "native code and other ways around the sandbox",
            kafka_topic(
                r#", "kafka.plugin.library.paths": "/tmp/x.so", "kafka.ssl.engine.location": "/tmp/x.so",
  "kafka.sasl.kerberos.kinit.cmd": "sh", "kafka.topic.blacklist": "orders""#
            )
        ),
        (
            "K-095 a login string beside a user",
            kafka_topic(
                r#", "kafka.sasl.username": "anna",
  "kafka.sasl.jaas.config": "x.PlainLoginModule required username=u password=${env:P};""#
            )
            .env("P", "secret")
        ),
        (
            "K-096 a password among the brokers or in place of a mechanism",
            brokers(r#", "bootstrap_servers": "${env:B}", "kafka.sasl.mechanism": "${env:B}""#)
                .env("B", "anna:secret@b:1")
        ),
        ("K-095 no mechanism", kafka_topic(r#", "kafka.security.protocol": "SASL_SSL""#)),
        ("K-091 no brokers", brokers("")),
        ("K-091 empty brokers", brokers(r#", "bootstrap_servers": "${env:B:-}""#)),
        ("prefix in crisol.toml", kafka_topic("").more_settings("[kafka]\n\"kafka.client.id\" = \"x\"\n")),
        ("a list as value", kafka_topic(r#", "kafka.client.id": []"#)),
    ]);
}

#[test]
fn sources_of_files_that_are_wrong() {
    let source = |source: &str| {
        let text = format!(r#"{{ "name": "m", "source": {source}, "destination_contract": "../../tables/b.json" }}"#);
        Project::new().ingestion("m.json", &text).table("b.json", r#"{ "name": "b" }"#)
    };
    shows!([
        ("no path", source(r#"{ "format": "json" }"#)),
        ("no format", source(r#"{ "path": "x" }"#)),
        ("a format for later", source(r#"{ "format": "csv", "path": "x" }"#)),
        ("misspelt format", source(r#"{ "format": "jsn", "path": "x" }"#)),
        ("Kafka's keys", source(r#"{ "format": "json", "path": "x", "kafka": {} }"#)),
        (
            "files' keys",
            source(
                r#"{ "format": "kafka", "path": "x", "schema": [], "kafka": {"topic": "a", "bootstrap_servers": "b"} }"#
            )
        ),
        (
            "text with a schema",
            source(r#"{ "format": "text", "path": "x", "schema": [ {"name": "a", "type": "int"} ] }"#)
        ),
        (
            "schema",
            source(
                r#"{ "format": "json", "path": "x", "schema": [ {"name": "a", "type": "integre"}, {"type": "int"}, {"name": "A"}, {"name": "a", "type": "int", "generated": "1"} ] }"#
            )
        ),
        (
            "names of schema",
            source(
                r#"{ "format": "json", "path": "x", "schema": [ {"name": "a", "type": "int"}, {"name": "A", "type": "int"}, {"name": "file_row", "type": "int"}, {"name": "a b", "type": "int"} ] }"#
            )
        ),
        ("empty schema", source(r#"{ "format": "json", "path": "x", "schema": [] }"#)),
        ("F-005 zero", files(r#", "options": {"maxFilesPerTrigger": 0}"#)),
        ("F-006 both limits", files(r#", "options": {"maxFilesPerTrigger": 1, "max_bytes_per_trigger": 1}"#)),
        ("F-004 flag", files(r#", "options": {"latestFirst": 1}"#)),
        ("F-014", files(r#", "options": {"pathGlobFilter": "*.json", "modifiedBefore": "x", "modified_after": "x"}"#)),
        ("F-019", files(r#", "options": {"cleanSource": "archive"}"#)),
        ("a Kafka option", files(r#", "options": {"maxOffsetsPerTrigger": 1}"#)),
        ("Kafka's metadata", files(r#", "metadata": {"add_kafka_metadata": true}"#)),
    ]);
}

#[test]
fn ingestion_contracts_that_are_wrong() {
    shows!([
        ("nothing", Project::new().ingestion("o.json", "{}").table("b.json", r#"{ "name": "b", "from": {"delta": "x"} }"#)),
        ("K-024 batch", files(r#", "ingest_type": "batch", "load_type": "batch""#)),
        ("load_type differs", files(r#", "ingest_type": "streaming", "load_type": "batch""#)),
        ("a type that is not", files(r#", "load_type": "stream""#)),
        ("trigger", files(r#", "trigger": "availableNow""#)),
        ("trigger with another key is one mistake", files(r#", "trigger": {"each": "10 seconds"}"#)),
        ("trigger without a key", files(r#", "trigger": {}"#)),
        ("options in the wrong place", files(r#", "maxFilesPerTrigger": 3, "startingOffsets": "earliest""#)),
        (
            "options in `source`",
            Project::new()
                .ingestion(
                    "o.json",
                    r#"{ "name": "o", "source": { "format": "json", "path": "x", "recursiveFileLookup": true, "latestFirst": true,
     "subscribe": "t", "kafka.bootstrap.servers": "b" }, "destination_contract": "../../tables/b.json" }"#
                )
                .table("b.json", r#"{ "name": "b" }"#)
        ),
        ("pace", files(r#", "trigger": {"every": "soon"}"#)),
        ("pace of zero", files(r#", "trigger": {"every": "0s"}"#)),
        ("no pace", files(r#", "trigger": {}"#)),
        ("suffix", files(r#", "checkpoint_suffix": "/../x""#)),
        ("name", Project::new().ingestion("o.json", r#"{ "name": "..", "source": { "format": "text", "path": "x" }, "destination_contract": "../../tables/b.json" }"#).table("b.json", r#"{ "name": "b" }"#)),
    ]);
}

#[test]
fn table_contracts_that_are_wrong() {
    shows!([
        ("name", Project::new().table("a.json", r#"{ "name": "silver..a" }"#)),
        ("no name", Project::new().table("a.json", "{}")),
        ("from", silver("").table("x.json", r#"{ "name": "x", "from": "" }"#)),
        ("from another's table", Project::new().table("x.json", r#"{ "name": "x", "from": {"path": "y"} }"#)),
        ("no kind", silver(r#", "stages": [ {"options": {}} ]"#)),
        ("misspelt kind", silver(r#", "stages": [ {"decoder": "x"} ]"#)),
        ("two kinds", silver(r#", "stages": [ {"decode": "x", "validate": "y"} ]"#)),
        ("component", silver(r#", "stages": [ {"decode": "x y.wasm"} ]"#)),
        ("range", silver(r#", "stages": [ {"decode": "x@one"} ]"#)),
        ("version", silver(r#", "stages": [ {"decode": "x", "version": {"json": "v", "column": "c"}} ]"#)),
        ("version without column", silver(r#", "stages": [ {"decode": "x", "version": {"json": "v"}} ]"#)),
        (
            "version in a column of a column",
            silver(r#", "stages": [ {"decode": "x", "version": {"column": "v", "in": "payload"}} ]"#)
        ),
        ("limit of a stage", silver(r#", "stages": [ {"decode": "x", "limits": {"deadline_ms": 1}} ]"#)),
        ("type", silver(r#", "columns": [ {"name": "a", "type": "decimal(50,2)"} ]"#)),
        ("action", silver(r#", "expectations": [ {"name": "a", "condition": "b", "on_violation": "quarantene"} ]"#)),
        (
            "rule twice",
            silver(r#", "expectations": [ {"name": "a", "condition": "b"}, {"name": "a", "condition": "c"} ]"#)
        ),
        ("empty rule", silver(r#", "expectations": [ {"name": "a", "condition": " "} ]"#)),
        ("on_rejected", silver(r#", "on_rejected": "drop""#)),
        ("quarantine", silver(r#", "quarantine": {}"#)),
        ("keys without upsert", silver(r#", "write": {"keys": ["a"]}"#)),
    ]);
}

#[test]
fn columns_that_do_not_fit() {
    let columns = |names: &[(&str, &str)], more: &str| {
        let columns: Vec<_> = names.iter().map(|(name, t)| format!(r#"{{"name": "{name}", "type": "{t}"}}"#)).collect();
        silver(&format!(",\n  \"columns\": [ {} ]{more}", columns.join(", ")))
    };
    let one = [("a", "int")];
    shows!([
        ("twice", columns(&[("a", "int"), ("a", "string")], "")),
        ("D-023 by case", columns(&[("id", "int"), ("ID", "string")], "")),
        ("reserved", columns(&[("_row", "int"), ("_group", "int"), ("_change_type", "string")], "")),
        ("provenance of another type", columns(&[("a", "int"), ("partition", "string")], "")),
        (
            "partition by what is not there",
            columns(&[("country", "string"), ("a", "int")], r#", "partition_by": ["contry"]"#)
        ),
        ("partition twice", columns(&[("a", "int"), ("b", "int")], r#", "partition_by": ["a", "a"]"#)),
        ("partition by a double", columns(&[("a", "int"), ("b", "double")], r#", "partition_by": ["b"]"#)),
        ("partition by a struct", columns(&[("a", "int"), ("b", "struct<c: int>")], r#", "partition_by": ["b"]"#)),
        ("partition by all", columns(&one, r#", "provenance": false, "partition_by": ["a"]"#)),
        (
            "partition bronze by payload",
            Project {
                tables: vec![(
                    "tables/bronze/orders_raw.json".into(),
                    r#"{ "name": "bronze.orders_raw", "partition_by": ["payload", "topics"] }"#.into()
                )],
                ..kafka_topic("")
            }
        ),
        ("none", columns(&[], "")),
    ]);
}

#[test]
fn names_of_provenance_are_free_where_they_mean_nothing() {
    let columns = r#""columns": [ {"name": "topic", "type": "array<string>"}, {"name": "a", "type": "int"} ]"#;
    files("").table("s.json", &format!(r#"{{ "name": "s", "from": "bronze.music", {columns} }}"#)).good();
    silver(&format!(", \"provenance\": false, {columns}")).good();
    silver(r#", "columns": [ {"name": "topic", "type": "string"}, {"name": "offset", "type": "bigint"}, {"name": "partition", "type": "int"} ]"#).good();
}

#[test]
fn what_this_release_cannot_run_is_refused_by_name() {
    shows!([("retention and maintenance", silver(r#", "retention": {"days": 5}, "maintenance": {}"#))]);
}

const COLUMNS: &str = r#", "columns": [ {"name": "id", "type": "int"}, {"name": "at", "type": "timestamp"} ]"#;
const GROUPS: &str = r#""write": {"mode": "replace_groups", "group_by": ["country"]}, "stages": [ {"rank": "top-n"} ]"#;
const UPSERT: &str = r#""write": {"mode": "upsert", "keys": ["id"], "sequence_by": ["at"]}"#;

#[test]
fn write_modes_that_do_not_go_together() {
    let below = |first: &str, then: &str| {
        let below = format!(r#"{{ "name": "gold.below", "from": "silver.orders"{then} }}"#);
        silver(first).table("gold/below.json", &below)
    };
    shows!([
        (
            "upsert without its keys",
            silver(&format!(r#"{COLUMNS}, "provenance": false, "write": {{"mode": "upsert", "keys": ["idd"]}}"#))
        ),
        ("replace_partitions without partitions", silver(r#", "write": {"mode": "replace_partitions"}"#)),
        ("groups without a stage", silver(r#", "write": {"mode": "replace_groups", "group_by": ["country"]}"#)),
        ("a stage without groups", silver(r#", "stages": [ {"aggregate": "sums"} ]"#)),
        (
            "a stage behind groups",
            silver(
                r#", "write": {"mode": "replace_groups", "group_by": ["a"]}, "stages": [ {"rank": "top-n"}, {"validate": "v"} ]"#
            )
        ),
        (
            "a generated column of groups",
            silver(&format!(r#", {GROUPS}, "columns": [ {{"name": "a", "type": "int", "generated": "1"}} ]"#))
        ),
        (
            "groups of what an ingestion brings",
            Project {
                tables: vec![(
                    "tables/bronze/orders_raw.json".into(),
                    format!(r#"{{ "name": "bronze.orders_raw", {GROUPS} }}"#)
                )],
                ..kafka_topic("")
            }
        ),
        ("append below upsert", below(&format!("{COLUMNS}, {UPSERT}"), "")),
        (
            "replace_partitions below groups",
            below(&format!(", {GROUPS}"), r#", "write": {"mode": "replace_partitions"}, "partition_by": ["country"]"#)
        ),
    ]);
}

#[test]
fn every_write_mode_is_accepted_where_it_fits() {
    silver(&format!("{COLUMNS}, {UPSERT}")).good();
    silver(&format!(", {GROUPS}")).good();
    silver(&format!(r#"{COLUMNS}, "write": {{"mode": "replace_partitions"}}, "partition_by": ["id"]"#)).good();
    silver(&format!("{COLUMNS}, {UPSERT}"))
        .table("gold/top.json", &format!(r#"{{ "name": "gold.top", "from": "silver.orders", {GROUPS} }}"#))
        .table("gold/best.json", &format!(r#"{{ "name": "gold.best", "from": "gold.top", {GROUPS} }}"#))
        .good();
}

#[test]
fn d008_d061_r019_properties_of_tables() {
    let property = |text: &str| silver(&format!(r#", "properties": {{ {text} }}"#));
    shows!([
        (
            "refused",
            property(
                r#""delta.isolationLevel": "WriteSerializable",
  "delta.enableRowTracking": true,
  "delta.enableInCommitTimestamps": true,
  "delta.enableTypeWidening": true,
  "delta.checkpointPolicy": "v2",
  "delta.enableDeletionVectors": true,
  "delta.setTransactionRetentionDuration": "interval 1 day",
  "DELTA.columnmapping.mode": "name",
  "delta.constraints.a": "b > 0",
  "delta.minWriterVersion": 7,
  "delta.checkpointInterval": 100"#
            )
        ),
        ("unknown", property(r#""delta.logRetentionDurations": "x""#)),
        (
            "values",
            property(
                r#""delta.appendOnly": "yes", "delta.logRetentionDuration": "30 days", "delta.targetFileSize": "128mb", "owner": []"#
            )
        ),
    ]);
}

#[test]
fn contracts_that_do_not_fit_together() {
    let ingestion = |name: &str, suffix: &str, table: &str| {
        format!(
            r#"{{ "name": "{name}", "checkpoint_suffix": "{suffix}", "source": {{ "format": "text", "path": "{{path.landing}}/x" }}, "destination_contract": "../../tables/{table}.json" }}"#
        )
    };
    let table = |name: &str, more: &str| format!(r#"{{ "name": "{name}"{more} }}"#);
    shows!([
        (
            "no such destination",
            Project::new()
                .ingestion("i.json", &ingestion("i", "", "bronze/eventos"))
                .table("bronze/evento.json", &table("e", ""))
        ),
        (
            "two upstreams",
            Project::new()
                .ingestion("i.json", &ingestion("i", "", "a"))
                .ingestion("j.json", &ingestion("j", "", "a"))
                .table("a.json", &table("a", ""))
        ),
        (
            "an ingestion and from",
            Project::new()
                .ingestion("i.json", &ingestion("i", "", "b"))
                .table("a.json", &table("a", r#", "from": {"delta": "z"}"#))
                .table("b.json", &table("b", r#", "from": "a""#))
        ),
        ("unknown from", silver("").table("x.json", r#"{ "name": "gold.x", "from": "silver.order" }"#)),
        (
            "a circle, and one below it",
            Project::new()
                .table("a.json", &table("a", r#", "from": "b""#))
                .table("b.json", &table("b", r#", "from": "a""#))
                .table("c.json", &table("c", r#", "from": "b""#))
        ),
        ("from itself", Project::new().table("a.json", &table("a", r#", "from": "a""#))),
        (
            "one name twice",
            Project::new().ingestion("i.json", &ingestion("a", "", "a")).table("a.json", &table("a", ""))
        ),
        (
            "rate limits of an ingestion's table",
            Project::new()
                .ingestion("i.json", &ingestion("i", "", "a"))
                .table("a.json", &table("a", r#", "options": {"max_files_per_trigger": 1}"#))
        ),
        (
            "C-043 one checkpoint",
            Project::new()
                .ingestion("i.json", &ingestion("i_v2", "", "a"))
                .ingestion("j.json", &ingestion("i", "_v2", "b"))
                .table("a.json", &table("a", ""))
                .table("b.json", &table("b", ""))
        ),
        (
            "links to one folder",
            Project::new()
                .table("a.json", r#"{ "name": "a", "from": {"delta": "/outside"}, "path": "one" }"#)
                .table("b.json", r#"{ "name": "b", "from": {"delta": "/outside"}, "path": "two" }"#)
                .link("/project/one", "/disk/t")
                .link("/project/two", "/disk/t")
        ),
        (
            "tables inside each other",
            Project::new()
                .table("a.json", &table("a", r#", "from": {"delta": "/outside"}, "path": "{path.tables}/a/../x""#))
                .table("b.json", &table("b", r#", "from": "a", "path": "{path.tables}/x/b""#))
                .table("c.json", &table("c", r#", "from": "a", "path": "{path.tables}/x_quarantine""#))
                .table(
                    "d.json",
                    &table("d", r#", "from": "a", "path": "/outside", "quarantine": {"path": "data/checkpoints"}"#)
                )
        ),
        (
            "a table in the files that fill it",
            Project::new()
                .ingestion("i.json", &ingestion("i", "", "a"))
                .table("a.json", &table("a", r#", "path": "{path.landing}/x/a""#))
        ),
    ]);
}
