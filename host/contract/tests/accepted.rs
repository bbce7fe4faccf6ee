//! Projects that must resolve, and what they become.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use std::time::Duration;

use crisol_contract::{
    BatchMinimum, FileFormat, KafkaBound, KafkaSpec, Limits, NoRecord, OnViolation, SourceSpec, StageKind,
    Subscription, Trigger, Upstream,
};
use support::{Project, files, kafka, kafka_topic, silver};

const EVENTOS: &str = r#"{
  "name":        "eventos_app",
  "ingest_type": "streaming",
  "load_type":   "streaming",
  "trigger":     "available_now",
  "source": {
    "format": "json",
    "path":   "{path.landing}/eventos_app"
  },
  "destination_contract": "../../tables/bronze/eventos_raw.json"
}
"#;

const SENSORES: &str = r#"{
  "name":        "sensores",
  "ingest_type": "streaming",
  "source": {
    "format": "kafka",
    "kafka": {
      "topic":             "planta.sensores",
      "starting_offsets":  "earliest",
      "bootstrap_servers": "broker:9092"
    }
  },
  "metadata": { "add_kafka_metadata": true },
  "destination_contract": "../../tables/bronze/sensores_raw.json"
}
"#;

fn kafka_spec(project: &Project) -> KafkaSpec {
    match project.good().project.ingestions.remove(0).source {
        SourceSpec::Kafka(spec) => spec,
        SourceSpec::Files(_) => panic!("a Kafka source"),
    }
}

#[test]
fn the_contracts_of_the_users_run_byte_for_byte() {
    let project = Project::new()
        .ingestion("eventos.json", EVENTOS)
        .ingestion("sensores.json", SENSORES)
        .table("bronze/eventos_raw.json", "{ \"name\": \"bronze.eventos_raw\" }\n")
        .table("bronze/sensores_raw.json", "{ \"name\": \"bronze.sensores_raw\" }\n")
        .good();
    assert!(project.warnings.is_empty(), "{:?}", project.warnings);
    let project = project.project;
    let eventos = &project.ingestions[0];
    assert_eq!((eventos.name.as_str(), eventos.trigger), ("eventos_app", Trigger::AvailableNow));
    assert_eq!(eventos.destination, "bronze.eventos_raw");
    let SourceSpec::Files(spec) = &eventos.source else { panic!("files") };
    assert_eq!((spec.path.as_str(), spec.format), ("/project/data/landing/eventos_app", FileFormat::Json));
    assert_eq!((spec.schema.is_none(), spec.latest_first), (true, false));
    let SourceSpec::Kafka(spec) = &project.ingestions[1].source else { panic!("kafka") };
    assert_eq!(spec.subscription, Subscription::Topics(vec!["planta.sensores".into()]));
    assert_eq!((&spec.starting, spec.starting_given), (&KafkaBound::Earliest, true));
    assert_eq!(spec.client["bootstrap.servers"], "broker:9092");
    assert!(spec.add_kafka_metadata && spec.fail_on_data_loss);
    let table = &project.tables[0];
    assert_eq!(table.path, "/project/data/tables/bronze/eventos_raw");
    assert_eq!(table.quarantine_path, "/project/data/tables/bronze/eventos_raw_quarantine");
    assert_eq!(table.from, Upstream::Ingestion("eventos_app".into()));
    assert_eq!(eventos.checkpoint_dir(&project.paths), Path::new("/project/data/checkpoints/streaming/eventos_app"));
    assert_eq!(table.checkpoint_dir(&project.paths), Path::new("/project/data/checkpoints/tables/bronze.eventos_raw"));
}

#[test]
fn the_first_of_them_also_runs_with_a_schema() {
    let with_schema = EVENTOS.replace(
        "\"path\":   \"{path.landing}/eventos_app\"",
        "\"path\":   \"{path.landing}/eventos_app\",\n    \"schema\": [ {\"name\": \"id\", \"type\": \"long\"}, {\"name\": \"at\", \"type\": \"timestamp\"} ]",
    );
    let project = Project::new()
        .ingestion("eventos.json", &with_schema)
        .table("bronze/eventos_raw.json", "{ \"name\": \"bronze.eventos_raw\" }")
        .good();
    let SourceSpec::Files(spec) = &project.project.ingestions[0].source else { panic!("files") };
    let columns = spec.schema.as_ref().unwrap();
    let names: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.nullable)).collect();
    assert_eq!(names, [("id", true), ("at", true)]);
    assert_eq!(columns[0].data_type, arrow_schema::DataType::Int64);
}

#[test]
fn the_silver_contract_of_the_orders_resolves() {
    let project = silver(
        r#", "stages": [
    { "decode": "orders@^1.2" },
    { "validate": "order-rules", "options": { "currencies": ["EUR", "USD"] }, "limits": { "deadline_ms_max": 500 } } ],
  "columns": [
    { "name": "order_id", "type": "string", "nullable": false },
    { "name": "event_ts", "type": "timestamp", "nullable": false },
    { "name": "amount", "type": "decimal(18,2)", "nullable": false },
    { "name": "schema_version", "type": "int", "nullable": false },
    { "name": "customer_id", "type": "string", "comment": "who" },
    { "name": "day", "type": "date", "generated": "CAST(event_ts AS DATE)" } ],
  "expectations": [ { "name": "positive_amount", "condition": "amount > 0", "on_violation": "drop" },
                    { "name": "known", "condition": "customer_id is not null" } ],
  "partition_by": ["day"], "properties": { "delta.logRetentionDuration": "interval 60 days", "owner": 7 },
  "options": { "maxFilesPerTrigger": "10" }"#,
    )
    .good()
    .project;
    let table = &project.tables[1];
    assert_eq!(table.from, Upstream::Table("bronze.orders_raw".into()));
    let [decode, validate] = table.stages.as_slice() else { panic!("two stages") };
    assert_eq!((decode.kind, decode.component.as_str()), (StageKind::Decoder, "orders"));
    assert!(decode.version_range.as_ref().unwrap().matches(&"1.3.0".parse().unwrap()));
    assert_eq!(decode.limits, Limits::default());
    assert_eq!(validate.limits, Limits { deadline_ms_max: 500, ..Limits::default() });
    assert_eq!(serde_json::to_string(&validate.options).unwrap(), r#"{"currencies":["EUR","USD"]}"#);
    let rules: Vec<_> = table.expectations.iter().map(|rule| rule.on_violation).collect();
    assert_eq!(rules, [OnViolation::Drop, OnViolation::Quarantine]);
    assert_eq!(table.properties["owner"], "7");
    assert_eq!((table.max_files_per_trigger, table.max_bytes_per_trigger), (Some(10), None));
}

#[test]
fn tables_come_upstream_before_downstream_whatever_the_order_of_files() {
    let project = Project::new()
        .table("c.json", r#"{ "name": "gold.c", "from": "silver.b" }"#)
        .table("b.json", r#"{ "name": "silver.b", "from": "bronze.a" }"#)
        .table("a.json", r#"{ "name": "bronze.a", "from": {"delta": "{path.landing}/outside"} }"#)
        .good()
        .project;
    let names: Vec<_> = project.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["bronze.a", "silver.b", "gold.c"]);
    assert_eq!(project.tables[0].from, Upstream::External("/project/data/landing/outside".into()));
}

#[test]
fn a_table_that_nothing_fills_is_a_warning() {
    let resolved = Project::new().table("a.json", r#"{ "name": "a" }"#).good();
    let text: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["tables/a.json:1:11: `name`: no contract fills this table"]);
}

#[test]
fn k001_sparks_names_are_accepted_beside_ours_in_both_places() {
    let spec = kafka_spec(&kafka(
        r#", "subscribe": " a , b,,a", "startingOffsets": " LATEST ", "maxOffsetsPerTrigger": "500",
  "failOnDataLoss": "false", "kafkaConsumer.pollTimeoutMs": 5, "fetchOffset.numRetries": 7,
  "fetch_offset_retry_interval_ms": 9, "kafka.isolation.level": "read_committed", "KAFKA.fetch.min.bytes": 10"#,
    ));
    assert_eq!(spec.subscription, Subscription::Topics(vec!["a".into(), "b".into()]));
    assert_eq!((spec.starting, spec.starting_given), (KafkaBound::Latest, true));
    assert_eq!((spec.max_offsets_per_trigger, spec.fail_on_data_loss), (Some(500), false));
    assert_eq!((spec.poll_timeout, spec.fetch_offset_num_retries), (Duration::from_millis(5), 7));
    assert_eq!(spec.fetch_offset_retry_interval, Duration::from_millis(9));
    assert_eq!(spec.client["isolation.level"], "read_committed");
    assert_eq!(spec.client["fetch.min.bytes"], "10");

    let text = r#"{ "name": "o", "source": { "format": "kafka" }, "destination_contract": "../../tables/b.json",
  "options": { "SubscribePattern": "plant\\..*", "kafka.bootstrap.servers": "b:1", "max_offsets_per_trigger": 3 } }"#;
    let spec = kafka_spec(&Project::new().ingestion("o.json", text).table("b.json", r#"{"name": "b"}"#));
    assert_eq!(spec.subscription, Subscription::Pattern { pattern: r"plant\..*".into(), whole: true });
    assert_eq!((spec.client["bootstrap.servers"].as_str(), spec.max_offsets_per_trigger), ("b:1", Some(3)));
}

#[test]
fn k020_k098_t014_defaults_are_those_of_sparks_code() {
    let spec = kafka_spec(&kafka_topic(""));
    assert_eq!((spec.starting, spec.starting_given), (KafkaBound::Latest, false));
    assert_eq!((spec.max_offsets_per_trigger, spec.fail_on_data_loss), (None, true));
    assert_eq!((spec.fetch_offset_num_retries, spec.fetch_offset_retry_interval), (3, Duration::from_secs(1)));
    assert_eq!(spec.poll_timeout, Duration::from_secs(120));
}

fn warnings(project: &Project) -> Vec<String> {
    project.good().warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn k021_k028_k029_the_first_of_three_starts_wins_and_the_others_are_told() {
    let times = r#""startingOffsetsByTimestamp": "{\"orders.v1\":{\"0\":5}}""#;
    let offsets = r#""starting_offsets": "earliest""#;
    let all = kafka_topic(&format!(r#", {offsets}, {times}, "startingTimestamp": "1767225600000""#));
    assert_eq!(kafka_spec(&all).starting, KafkaBound::Timestamp(1_767_225_600_000));
    let told = warnings(&all);
    assert!(
        told.iter().any(|text| text.contains("`source.kafka.startingOffsetsByTimestamp`: has no effect")),
        "{told:?}"
    );
    assert!(told.iter().any(|text| text.contains("`source.kafka.startingTimestamp` comes first")), "{told:?}");

    let two = kafka_spec(&kafka_topic(&format!(r#", {offsets}, {times}"#)));
    let expected = [("orders.v1".to_owned(), [(0, 5)].into())].into();
    assert_eq!((two.starting, two.no_record), (KafkaBound::Timestamps(expected), NoRecord::Error));

    let latest = r#", "starting_timestamp": 5, "startingOffsetsByTimestampStrategy": "latest""#;
    assert_eq!(kafka_spec(&kafka_topic(latest)).no_record, NoRecord::Latest);
    let idle = kafka_topic(r#", "starting_offsets_by_timestamp_strategy": "latest""#);
    assert!(warnings(&idle)[0].contains("no timestamp says where to start"));
}

#[test]
fn k006_a_pattern_may_match_any_part_of_a_name_where_that_is_asked_for() {
    let spec = kafka_spec(&kafka(r#", "topic_pattern": "orders", "topic_pattern_match": "search""#));
    assert_eq!(spec.subscription, Subscription::Pattern { pattern: "orders".into(), whole: false });
}

#[test]
fn k007_internal_topics_are_left_out_of_a_list_and_told() {
    let project = kafka(r#", "topic": "a, __consumer_offsets""#);
    assert_eq!(kafka_spec(&project).subscription, Subscription::Topics(vec!["a".into()]));
    assert!(warnings(&project)[0].contains("`__consumer_offsets` is Kafka's own"));
}

#[test]
fn k044_a_minimum_waits_a_quarter_of_an_hour_unless_told_otherwise() {
    let minimum =
        |delay: &str| kafka_spec(&kafka_topic(&format!(r#", "minOffsetsPerTrigger": "7"{delay}"#))).batch_minimum;
    let of = |delay_max| Some(BatchMinimum { offsets: 7, delay_max });
    assert_eq!(minimum(""), of(Duration::from_secs(15 * 60)));
    assert_eq!(minimum(r#", "maxTriggerDelay": "90s""#), of(Duration::from_secs(90)));
}

#[test]
fn k093_k094_groups_are_named_by_contracts() {
    let spec = kafka_spec(&kafka_topic(r#", "groupIdPrefix": "team-a", "report_group_id": "lag""#));
    assert_eq!((spec.group_id_prefix.as_deref(), spec.report_group_id.as_deref()), (Some("team-a"), Some("lag")));
    let told = warnings(&kafka_topic(r#", "group_id": "mine", "group_id_prefix": "p""#));
    assert!(told.iter().any(|text| text.contains("others that use this consumer group")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("`group_id` names the whole group")), "{told:?}");
}

#[test]
fn k095_a_jaas_text_gives_mechanism_user_and_password() {
    let jaas =
        r#"org.apache.kafka.common.security.plain.PlainLoginModule required username=\"anna\" password=\"${env:P}\";"#;
    let spec = kafka_spec(&kafka_topic(&format!(r#", "kafka.sasl.jaas.config": "{jaas}""#)).env("P", "hush"));
    assert_eq!(spec.client["sasl.mechanism"], "PLAIN");
    assert_eq!((spec.client["sasl.username"].as_str(), spec.client["sasl.password"].as_str()), ("anna", "hush"));
    assert_eq!(spec.client_redacted()["sasl.password"], "[redacted]");
    assert!(!spec.client.contains_key("sasl.jaas.config"));

    let settings = "[kafka]\n\"sasl.jaas.config\" = 'x.ScramLoginModule required username=u password=p;'\n\"sasl.mechanism\" = \"SCRAM-SHA-512\"\n";
    let spec = kafka_spec(&kafka_topic("").more_settings(settings));
    assert_eq!((spec.client["sasl.mechanism"].as_str(), spec.client["sasl.password"].as_str()), ("SCRAM-SHA-512", "p"));
}

#[test]
fn k005_k022_assignments_and_offsets_are_objects_or_sparks_json_text() {
    for assign in [r#"{"t": [1, 0], "u": [2]}"#, r#""{\"t\":[0,1],\"u\":[2]}""#] {
        for offsets in
            [r#"{"t": {"0": 23, "1": -1}, "u": {"2": -2}}"#, r#""{\"t\":{\"0\":23,\"1\":-1},\"u\":{\"2\":-2}}""#]
        {
            let spec = kafka_spec(&kafka(&format!(r#", "assign": {assign}, "startingOffsets": {offsets}"#)));
            let expected = [("t".to_owned(), vec![0, 1]), ("u".to_owned(), vec![2])].into();
            assert_eq!(spec.subscription, Subscription::Assign(expected));
            let t = [(0, 23), (1, -1)].into();
            let expected = [("t".to_owned(), t), ("u".to_owned(), [(2, -2)].into())].into();
            assert_eq!(spec.starting, KafkaBound::Offsets(expected));
        }
    }
}

#[test]
fn kafka_settings_win_over_the_contract_and_the_cluster_over_both() {
    let settings = r#"
[kafka]
"bootstrap.servers" = "${env:BROKERS}"
sasl.username = "${env:KAFKA_USER:-}"
"sasl.password" = "${file:secrets/password}"
"client.id" = "from-toml"
[kafka.plant]
"bootstrap.servers" = "plant:9092"
"#;
    let project = kafka_topic(r#", "kafka.client.id": "own", "kafka.fetch.min.bytes": 5"#)
        .more_settings(settings)
        .env("BROKERS", "env:9092")
        .env("KAFKA_USER", "")
        .file("/project/secrets/password", "hush\n");
    let spec = kafka_spec(&project);
    assert_eq!(spec.client["bootstrap.servers"], "env:9092");
    assert_eq!(spec.client["client.id"], "from-toml");
    assert_eq!(spec.client["fetch.min.bytes"], "5");
    assert_eq!(spec.client["sasl.password"], "hush");
    assert!(!spec.client.contains_key("sasl.username"), "an empty value counts as not set");
    assert!(!format!("{spec:?}").contains("hush"));
    assert_eq!(spec.client_redacted()["sasl.password"], "[redacted]");

    let plant = kafka_topic(r#", "cluster": "plant""#);
    let spec = kafka_spec(&Project { settings: project.settings, env: project.env, files: project.files, ..plant });
    assert_eq!(spec.client["bootstrap.servers"], "plant:9092");
    assert_eq!(spec.client["client.id"], "from-toml");
}

#[test]
fn set_wins_over_the_environment_and_that_over_the_file() {
    let project = kafka_topic("")
        .more_settings("[limits]\ndeadline_ms_max = 1\nmemory_bytes_max = 1_000\n[kafka.plant]\nx = \"y\"\n")
        .env("CRISOL__LIMITS__DEADLINE_MS_MAX", "2")
        .env("CRISOL__LIMITS__OUTPUT_BYTES_MAX", "3")
        .env("CRISOL__KAFKA__CLIENT_ID", "env")
        .env("CRISOL_LOG", "debug")
        .set("limits.output_bytes_max", "4")
        .set("path.tables", "/elsewhere")
        .set("kafka.bootstrap.servers", "set:1")
        .set("kafka.plant.client.rack", "r");
    let resolved = project.good().project;
    let limits = Limits { memory_bytes_max: 1_000, deadline_ms_max: 2, output_bytes_max: 4, ..Limits::default() };
    assert_eq!(resolved.limits, limits);
    assert_eq!(resolved.tables[0].path, "/elsewhere/bronze/orders_raw");
    let spec = kafka_spec(&project);
    assert_eq!((spec.client["bootstrap.servers"].as_str(), spec.client["client.id"].as_str()), ("set:1", "env"));
    assert!(!spec.client.contains_key("client.rack"));
}

#[test]
fn a_project_needs_no_file_of_settings_when_the_paths_are_given() {
    let mut project = kafka_topic("").set("path.tables", "t").set("path.checkpoint", "c");
    project.settings = None;
    let paths = project.good().project.paths;
    assert_eq!((paths.tables.as_path(), paths.landing), (Path::new("/project/t"), None));
}

#[test]
fn placeholders_stand_in_contracts_too_and_braces_of_patterns_are_their_own() {
    let spec = kafka_spec(&kafka(r#", "topic": "${env:PREFIX:-dev}.orders""#));
    assert_eq!(spec.subscription, Subscription::Topics(vec!["dev.orders".into()]));
    let spec = kafka_spec(&kafka(r#", "topic_pattern": "${env:P}-[0-9]{4}$""#).env("P", "x"));
    assert_eq!(spec.subscription, Subscription::Pattern { pattern: "x-[0-9]{4}$".into(), whole: true });
}

#[test]
fn triggers_and_suffixes_are_read() {
    let project = files(r#", "trigger": {"every": "10 seconds"}, "checkpoint_suffix": "_v2", "$schema": "x""#).good();
    let ingestion = &project.project.ingestions[0];
    assert_eq!(ingestion.trigger, Trigger::Every(Duration::from_secs(10)));
    assert!(ingestion.checkpoint_dir(&project.project.paths).ends_with("streaming/music_v2"));
    let project = files(r#", "trigger": "continuous", "options": {"maxFilesPerTrigger": 3, "latest_first": true}"#);
    let ingestion = &project.good().project.ingestions[0];
    assert_eq!(ingestion.trigger, Trigger::Continuous);
    let SourceSpec::Files(spec) = &ingestion.source else { panic!("files") };
    assert_eq!((spec.max_files_per_trigger, spec.latest_first), (Some(3), true));
}

#[test]
fn k093_a_group_of_ones_own_is_a_warning() {
    let resolved = kafka_topic(r#", "kafka.group.id": "mine""#).good();
    assert_eq!(resolved.warnings.len(), 1);
    assert!(resolved.warnings[0].to_string().contains("consumer group"));
}
