//! What an operator sees of a running host: metrics and probes over HTTP, and `host status`.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crisol_tests::{Project, Served, Topic, generate, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(60);

/// Four lines of text to bronze, one of them no text; those that are JSON to silver.
fn lines() -> Project {
    let project = Project::lines();
    let landing = project.write("landing/a.txt", "");
    fs::write(landing, b"{\"id\":1}\nno json\n\xff\xfe\n{\"id\":2}\n").expect("the file can be written");
    let columns = json!([{ "name": "id", "type": "long", "nullable": false }]);
    let silver =
        json!({ "name": "silver.lines", "from": "bronze.lines", "stages": [{ "decode": "json" }], "columns": columns });
    project.write("tables/silver/lines.json", &silver.to_string());
    project
}

/// One stream of this project, as `host status` tells it.
fn status(project: &Project, stream: &str) -> Value {
    let output = project.host(&["status", stream, "-o", "json"]).succeed();
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["schema"], "crisol.status/v1");
    status["streams"].as_array().and_then(|streams| streams.first()).expect("one stream").clone()
}

fn said(project: &Project, arguments: &[&str]) -> String {
    String::from_utf8_lossy(&project.host(arguments).succeed().stdout).into_owned()
}

/// What the accounts count, by the series that tells it.
fn counted(streams: &[Value]) -> Vec<(String, f64)> {
    let mut series = Vec::new();
    for stream in streams {
        let (name, accounts) = (stream["stream"].as_str().expect("a name"), &stream["accounts"]);
        let mut count = |metric: &str, labels: &str, value: &Value| {
            let name = format!("crisol_{metric}_total{{stream=\"{name}\"{labels}}}");
            series.push((name, value.as_f64().expect("a number")));
        };
        count("rows_read", "", &accounts["rows_in"]);
        count("rows_written", "", &accounts["rows_written"]);
        count("batches", ",outcome=\"committed\"", &stream["batches"]);
        count("batches", ",outcome=\"failed\"", &json!(0));
        count("accounts_mismatch", "", &json!(0));
        for (code, rows) in accounts["rejected"].as_object().expect("codes") {
            count("rows_rejected", &format!(",reason=\"{code}\""), rows);
        }
    }
    series
}

#[test]
fn metrics_of_files_equal_the_accounts() {
    let project = lines();
    let served = Served::start(&project, "continuous", |host| host);
    served.wait_for("crisol_rows_read_total{stream=\"silver.lines\"}", 3.0);
    let told = served.series();
    let (_, text) = served.get("/metrics");
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(text.contains("crisol_plugin_info{plugin=\"json\","), "{text}");
    assert!(text.contains("crisol_table_version{stream=\"lines\",table=\"bronze.lines\"} "), "{text}");
    assert!(served.value("process_resident_memory_bytes").is_some_and(|bytes| bytes > 1e6), "{text}");
    let (streams, _) = served.stop();
    for series in counted(&streams) {
        assert!(told.contains(&series), "{series:?} is not in {told:?}");
    }
    let rejected =
        streams.iter().map(|stream| stream["accounts"]["rejected"].as_object().map_or(0, |codes| codes.len()));
    assert_eq!((streams.len(), rejected.sum::<usize>()), (2, 2), "{streams:?}");
}

#[test]
fn metrics_of_a_topic_equal_the_accounts_and_hold_no_secret() {
    let topic = Topic::create("metrics-orders", 3);
    topic.produce_lines(&generate("orders", 2_000));
    let project = Project::orders_of(topic.name(), 700);
    let settings = project.path().join("crisol.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    let secret = "swordfish-4711";
    let with_secret = text.replace("[kafka]\n", "[kafka]\n\"sasl.password\" = \"${env:TEST_SECRET}\"\n");
    assert_ne!(with_secret, text);
    fs::write(&settings, with_secret).expect("they can be changed");
    let served = Served::start(&project, "continuous", |host| {
        host.env("KAFKA_BROKERS", topic.brokers()).env("TEST_SECRET", secret)
    });
    served.wait_for("crisol_rows_read_total{stream=\"orders\"}", 2_000.0);
    let bronze = served.value("crisol_rows_written_total{stream=\"orders\"}").expect("bronze is written");
    served.wait_for("crisol_rows_read_total{stream=\"silver.orders\"}", bronze);
    let told = served.series();
    let seen = [served.get("/metrics").1, served.get("/readyz?verbose").1, said(&project, &["status", "-o", "json"])];
    let (streams, log) = served.stop();
    for series in counted(&streams).into_iter().filter(|(name, _)| name.contains("orders\"")) {
        let below = ["current", "top", "daily"].iter().any(|word| series.0.contains(word));
        assert!(below || told.contains(&series), "{series:?} is not in {told:?}");
    }
    for text in seen.iter().chain([&log]) {
        assert!(!text.contains(secret), "{text}");
    }
    let file = fs::read_to_string(project.checkpoint("streaming/orders").join("status.json")).expect("the stream told");
    assert!(file.contains("\"state\":\"ended\"") && !file.contains(secret), "{file}");
}

#[test]
fn k110_k113_lag_shows_by_partition_and_the_hot_one_first() {
    let topic = Topic::create("metrics-lag", 3);
    let keys = ["hot"; 200].into_iter().chain(["a", "b", "c", "d", "e", "f", "g", "h"]);
    topic.produce(keys.map(|key| (key, "{\"order_id\":\"o\"}")));
    let project = Project::orders_of(topic.name(), 30);
    // One batch, and a long time until the next.
    let served = Served::start(&project, "1 hour", |host| host.env("KAFKA_BROKERS", topic.brokers()));
    let read = || served.value("crisol_rows_read_total{stream=\"orders\"}").unwrap_or_default();
    wait_until("a batch is read", DEADLINE, || read() > 0.0);
    let (left, told) = (208.0 - read(), served.series());
    let of = |metric: &str| {
        let start = format!("crisol_source_{metric}{{stream=\"orders\",topic=\"metrics-lag\",partition=");
        told.iter().filter(|(name, _)| name.starts_with(&start)).map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let (records, bytes, seconds) = (of("lag_records"), of("backlog_bytes"), of("lag_seconds"));
    assert_eq!((records.len(), records.iter().sum::<f64>()), (3, left), "{told:?}");
    assert!(bytes.iter().sum::<f64>() > left && seconds.iter().any(|age| *age > 0.0), "{told:?}");

    let file = project.checkpoint("streaming/orders").join("status.json");
    wait_until("the stream tells its lag", DEADLINE, || {
        fs::read_to_string(&file).is_ok_and(|text| text.contains(&format!("\"records\":{left}")))
    });
    let run = &status(&project, "orders")["run"];
    assert_eq!(run["partitions"].as_array().map(Vec::len), Some(3), "{run}");
    assert!(said(&project, &["status"]).contains(&format!("{left} records, ")), "{run}");
    let shown = said(&project, &["status", "orders", "--partitions"]);
    let rows: Vec<_> = shown.lines().filter(|line| line.contains("metrics-lag")).collect();
    let hottest = records.iter().copied().fold(0.0, f64::max).to_string();
    assert!(rows.len() == 3 && rows[0].split_whitespace().any(|word| word == hottest), "{shown}");
    served.stop();
}

#[test]
fn a_stream_whose_broker_does_not_answer_shows_that_it_waits() {
    let project = Project::orders_of("nowhere", 30);
    let served = Served::start(&project, "continuous", |host| host.env("KAFKA_BROKERS", "127.0.0.1:1"));
    served.wait_for("crisol_stream_state{stream=\"orders\",state=\"waiting\"}", 1.0);
    let (status_code, text) = served.get("/readyz");
    assert_eq!(status_code, 503, "{text}");
    assert!(text.contains("wait stream orders: waiting: ") && text.contains("127.0.0.1:1"), "{text}");
    assert_eq!(served.get("/livez").0, 200);
    let told = status(&project, "orders");
    assert_eq!(
        (&told["state"], told["run"]["waiting"]["tries"].as_u64() > Some(0)),
        (&json!("waiting"), true),
        "{told}"
    );
    let text = said(&project, &["status", "orders"]);
    assert!(text.contains("orders: waiting for the source: ") && text.contains(", next in "), "{text}");
    served.stop();
}

#[test]
fn probes_follow_the_life_of_a_host() {
    let project = lines();
    let served = Served::start(&project, "continuous", |host| host);
    assert_eq!(served.get("/livez").0, 200, "from the first moment on");
    served.wait_until_ready();
    assert_eq!(served.get("/healthz"), (200, "ok\n".into()));
    let (_, verbose) = served.get("/readyz?verbose");
    for line in ["ok   contracts and components", "ok   stream lines: ", "ok   stream silver.lines: "] {
        assert!(verbose.contains(line), "`{line}` is missing in:\n{verbose}");
    }
    let (_, log) = served.stop();
    assert!(log.contains("metrics at http://127.0.0.1:"), "{log}");
}

#[test]
fn a_host_that_is_asked_to_stop_is_not_ready_while_its_batch_still_commits() {
    let project = Project::lines();
    project.write("landing/a.txt", "one\ntwo\n");
    // The batch takes longer than it takes to ask.
    let served =
        Served::start(&project, "continuous", |host| host.env("FAILPOINTS", "lines/commit_table/before=sleep(10000)"));
    served.wait_until_ready();
    let outcome = project.checkpoint("streaming/lines").join("outcome/0");
    wait_until("the batch is about to commit", DEADLINE, || outcome.exists());
    served.run().signal(Signal::SIGTERM);
    wait_until("the host is not ready", DEADLINE, || {
        let (status, text) = served.get("/readyz");
        status == 503 && text.starts_with("wait stopping")
    });
    assert_eq!(served.get("/livez").0, 200);
    let (streams, _) = served.end(0);
    assert_eq!(streams[0]["accounts"]["rows_in"], 2);
    assert_eq!(project.tables().count("bronze/lines"), 2);
}

#[test]
fn a_failed_stream_shows_and_leaves_its_neighbours_ready() {
    let project = lines();
    let failing = json!({ "name": "silver.checked", "from": "bronze.lines",
        "expectations": [{ "name": "never", "condition": "payload IS NULL", "on_violation": "fail" }] });
    project.write("tables/silver/checked.json", &failing.to_string());
    let served = Served::start(&project, "continuous", |host| host);
    served.wait_for("crisol_stream_state{stream=\"silver.checked\",state=\"failed\"}", 1.0);
    served.wait_until_ready();
    served.wait_for("crisol_batches_total{stream=\"silver.checked\",outcome=\"failed\"}", 1.0);
    let (_, verbose) = served.get("/readyz?verbose");
    assert!(verbose.contains("FAIL stream silver.checked: failed: ") && verbose.contains("never"), "{verbose}");

    let told = status(&project, "silver.checked");
    assert_eq!(told["state"], "failed");
    assert!(told["run"]["error"].as_str().is_some_and(|error| error.contains("never")), "{told}");
    assert!(said(&project, &["status"]).contains("failed: "));
    served.run().stop();
    let (streams, _) = served.end(1);
    assert_eq!(streams.iter().filter(|stream| stream["error"].is_null()).count(), 2, "{streams:?}");
}

#[test]
fn an_address_that_is_taken_ends_the_run_before_anything_is_read() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let project = lines();
    let said = project.host(&["run"]).env("CRISOL_METRICS", &address).fail_with(2);
    let process = format!("process {}", std::process::id());
    for words in [&address, &process, "--metrics"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert!(!project.path().join("data").exists(), "nothing is made");
    assert!(project.host(&["run", "--metrics", "nowhere"]).fail_with(2).contains("HOST:PORT"));
}

#[test]
fn metrics_never_delay_the_end_of_a_run() {
    let project = lines();
    let served = Served::start(&project, "continuous", |host| host);
    served.wait_until_ready();
    let idle: Vec<_> = (0..100).map(|_| TcpStream::connect(served.address()).expect("a connection")).collect();
    let (streams, _) = served.stop();
    assert_eq!((streams.len(), idle.len()), (2, 100));
}

#[test]
fn status_tells_what_a_stream_does_and_that_it_is_not_heard_any_more() {
    let project = lines();
    assert_eq!(status(&project, "lines")["state"], Value::Null, "no run told anything");
    let served = Served::start(&project, "continuous", |host| host);
    served.wait_for("crisol_rows_read_total{stream=\"silver.lines\"}", 3.0);
    wait_until("the stream tells its batches", DEADLINE, || status(&project, "silver.lines")["run"]["batches"] != 0);
    let told = status(&project, "silver.lines");
    assert!(["running", "idle"].iter().any(|state| told["state"] == *state), "{told}");
    assert_eq!(told["run"]["accounts"]["rows_in"], 3, "{told}");
    assert_eq!(status(&project, "bronze.lines")["stream"], "lines", "a table names its stream, too");

    served.run().signal(Signal::SIGKILL);
    drop(served);
    let file = project.checkpoint("streaming/lines").join("status.json");
    let mut report: Value = serde_json::from_slice(&fs::read(&file).expect("it told")).expect("JSON");
    report["updated"] = "2026-03-01T10:00:00.000Z".into();
    fs::write(&file, report.to_string()).expect("it can be written");
    let told = status(&project, "lines");
    assert_eq!(told["state"], "not_running", "{told}");
    let text = said(&project, &["status", "lines"]);
    assert!(text.contains("not running") && text.contains("2026-03-01T10:00:00.000Z"), "{text}");

    project.host(&["run"]).succeed();
    assert_eq!(status(&project, "lines")["state"], "ended");
    assert!(project.host(&["status", "lins"]).fail_with(3).contains("`lines`"));
}

#[test]
fn c010_what_a_stream_tells_disturbs_neither_checkpoint_nor_status() {
    let project = lines();
    project.host(&["run"]).succeed();
    let checkpoint = project.checkpoint("streaming/lines");
    for (file, text) in [("status.json", "{"), (".status.json.crc", "crc"), ("status.1.tmp", "")] {
        fs::write(checkpoint.join(file), text).expect("it can be written");
    }
    let told = status(&project, "lines");
    assert_eq!((&told["state"], &told["batch_committed"]), (&Value::Null, &json!(0)), "{told}");
    project.write("landing/b.txt", "{\"id\":3}\n");
    project.host(&["run"]).succeed();
    assert_eq!(project.tables().count("silver/lines"), 3);
    let told = status(&project, "lines");
    assert_eq!((&told["state"], &told["batch_committed"]), (&json!("ended"), &json!(1)), "{told}");
}

#[test]
fn a_file_that_cannot_be_written_is_a_warning_and_no_end() {
    let project = lines();
    project.host(&["run"]).succeed();
    let file = project.checkpoint("streaming/lines").join("status.json");
    fs::remove_file(&file).expect("it was written");
    fs::create_dir(&file).expect("a folder in its place");
    project.write("landing/b.txt", "{\"id\":3}\n");
    let output = project.host(&["run"]).succeed();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(log.matches("status.json").count(), 1, "{log}");
    assert_eq!(project.tables().count("silver/lines"), 3);
}
