//! What an operator does and what happens: stop, restart, two hosts, a bad component mended, a lost checkpoint.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crisol_tests::{Host, Project, Topic, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

fn orders(topic: &Topic) -> Project {
    let project = Project::example("orders");
    project.read_orders_from(topic.name());
    project
}

fn produce(topic: &Topic, numbers: std::ops::Range<u32>) {
    let messages: Vec<_> = numbers
        .map(|n| {
            let value = json!({ "order_id": format!("o-{n}"), "event_ts": "2026-03-01T10:00:00Z", "amount": 1.5,
                "schema_version": 1 });
            (format!("o-{n}"), value.to_string())
        })
        .collect();
    topic.produce(messages.iter().map(|(key, value)| (key.as_str(), value.as_str())));
}

fn host(project: &Project, topic: &Topic, arguments: &[&str]) -> Host {
    project.host(arguments).env("KAFKA_BROKERS", topic.brokers())
}

#[test]
fn a_continuous_run_takes_what_comes_and_stops_cleanly_on_sigterm() {
    let topic = Topic::create("operations.continuous", 2);
    produce(&topic, 0..50);
    let project = orders(&topic);
    let run = host(&project, &topic, &["run", "--trigger", "continuous"]).start();
    let silver = || project.tables().count("silver/orders");
    wait_until("the first rows reach silver", Duration::from_secs(60), || silver() == 50);
    produce(&topic, 50..80);
    wait_until("later rows reach silver", Duration::from_secs(60), || silver() == 80);
    run.signal(Signal::SIGTERM);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("silver.orders"), "the accounts are printed: {ended:?}");
    host(&project, &topic, &["run"]).succeed();
    assert_eq!(silver(), 80);
}

#[test]
fn two_hosts_on_one_checkpoint_the_second_stops_and_says_so() {
    let topic = Topic::create("operations.two", 1);
    produce(&topic, 0..10);
    let project = orders(&topic);
    let start = || host(&project, &topic, &["run", "--trigger", "continuous"]).start();
    let mut first = start();
    wait_until("the first host works", Duration::from_secs(60), || project.tables().count("silver/orders") == 10);
    let mut second = start();
    // Rows keep coming until one of the two has lost a put, and ends by itself.
    let mut produced = 10;
    wait_until("one host ends", Duration::from_secs(120), || {
        produce(&topic, produced..produced + 1);
        produced += 1;
        first.has_ended() || second.has_ended()
    });
    for run in [&first, &second] {
        run.stop();
    }
    let (first, second) = (first.end(), second.end());
    let codes = [first.status.code(), second.status.code()];
    assert!(codes.contains(&Some(4)), "one of the two says that another holds the checkpoint: {first:?}\n{second:?}");
    let said = format!("{}{}", String::from_utf8_lossy(&first.stderr), String::from_utf8_lossy(&second.stderr));
    assert!(said.contains("another host holds this checkpoint"), "{said}");
    let brokers = crisol_tests::given("CRISOL_TEST_KAFKA");
    project.host(&["run"]).env("KAFKA_BROKERS", &brokers).succeed();
    let offsets = "SELECT count(*), count(DISTINCT (\"partition\", \"offset\")) FROM rows";
    let produced = Value::from(produced);
    assert_eq!(project.tables().query("silver/orders", offsets), [[produced.clone(), produced]]);
}

#[test]
fn k031_changed_starting_offsets_on_an_existing_checkpoint_warn_and_have_no_effect() {
    let topic = Topic::create("operations.starting", 1);
    produce(&topic, 0..5);
    let project = orders(&topic);
    host(&project, &topic, &["run"]).succeed();
    produce(&topic, 5..8);
    let file = project.path().join("ingestion/streaming/orders.json");
    let text = fs::read_to_string(&file).expect("the contract").replace("earliest", "latest");
    fs::write(&file, text).expect("the contract can be changed");
    let ended = host(&project, &topic, &["run"]).succeed();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("starting_offsets"), "{said}");
    assert_eq!(project.tables().count("silver/orders"), 8);
}

#[test]
fn a_first_run_that_reads_nothing_names_starting_offsets() {
    let topic = Topic::create("operations.latest", 1);
    produce(&topic, 0..5);
    let project = orders(&topic);
    let file = project.path().join("ingestion/streaming/orders.json");
    let text = fs::read_to_string(&file).expect("the contract").replace("\"starting_offsets\":\"earliest\",", "");
    let text = text.replace(",\"starting_offsets\":\"earliest\"", "");
    fs::write(&file, &text).expect("the contract can be changed");
    assert!(!text.contains("starting_offsets"), "{text}");
    let ended = host(&project, &topic, &["run"]).succeed();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("starting_offsets"), "{ended:?}");
}

#[test]
fn a_lost_checkpoint_on_a_full_table_is_refused_until_someone_decides() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n");
    project.host(&["run"]).succeed();
    fs::remove_dir_all(project.path().join("data/checkpoints")).expect("the checkpoints are there");
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("--reread") && said.contains("--rebuild"), "{said}");
    assert_eq!(project.tables().count("bronze/song_plays_raw"), 1);
    project.host(&["run", "--rebuild"]).succeed();
    assert_eq!(project.tables().count("bronze/song_plays_raw"), 1);
    assert_eq!(project.tables().count("silver/song_plays"), 1);
    fs::remove_dir_all(project.path().join("data/checkpoints")).expect("the checkpoints are there");
    project.host(&["run", "--reread"]).succeed();
    assert_eq!(project.tables().count("bronze/song_plays_raw"), 2);
    let ended = project.host(&["run", "--reread"]).succeed();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("the checkpoint is not new"), "{said}");
    assert_eq!(project.tables().count("bronze/song_plays_raw"), 2);
}

#[test]
fn a_quarantine_alone_keeps_a_lost_checkpoint_from_doubling_rows() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", "{\"country\":\"ES\",\"plays\":1}\n{\"plays\":2}\n");
    project.host(&["run"]).succeed();
    let refused = || project.tables().count("silver/song_plays_quarantine");
    assert_eq!((project.tables().count("silver/song_plays"), refused()), (0, 2));
    fs::remove_dir_all(project.path().join("data/checkpoints")).expect("the checkpoints are there");
    project.host(&["run"]).fail_with(3);
    assert_eq!(refused(), 2);
    project.host(&["run", "--rebuild"]).succeed();
    assert_eq!(refused(), 2);
    let silver = project.checkpoint("tables");
    fs::remove_dir_all(silver).expect("the checkpoint is there");
    project.host(&["run"]).fail_with(3);
    assert_eq!(refused(), 2);
}

#[test]
fn a_quarantine_that_lost_its_newest_rows_is_noticed_before_anything_is_written() {
    let project = Project::music_to_silver();
    let good = "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n";
    project.write("input/2026-03-01.json", &format!("{good}{{\"plays\":2}}\n"));
    project.host(&["run"]).succeed();
    // A later batch without rejected rows: the newest outcome alone does not tell.
    project.write("input/2026-03-02.json", good);
    project.host(&["run"]).succeed();
    let quarantine = project.tables().path("silver/song_plays_quarantine");
    assert_eq!(project.tables().count("silver/song_plays_quarantine"), 1);
    let newest = quarantine.join("_delta_log/00000000000000000001.json");
    let entry = fs::read(&newest).expect("the commit of batch 0");
    fs::remove_file(&newest).expect("it can be deleted");
    project.write("input/2026-03-03.json", &format!("{good}{{\"plays\":3}}\n"));
    let versions = || project.tables().log("silver/song_plays")["versions"].clone();
    let before = versions();
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("batch 0 is marked as done and had rejected rows"), "{said}");
    assert_eq!((versions(), newest.exists()), (before.clone(), false), "nothing is written");
    fs::rename(&quarantine, quarantine.with_extension("away")).expect("it can be moved");
    project.host(&["run"]).fail_with(3);
    assert_eq!((versions(), quarantine.exists()), (before, false), "nothing is written");
    fs::rename(quarantine.with_extension("away"), &quarantine).expect("it can be moved");
    fs::write(&newest, entry).expect("it can be restored");
    project.host(&["run"]).succeed();
    assert_eq!(project.tables().count("silver/song_plays_quarantine"), 2);
    assert_eq!(project.tables().count("silver/song_plays"), 3);
}

#[test]
fn components_are_shown_without_a_project() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let output = Host::new(folder.path(), &["plugins"]).succeed();
    assert!(String::from_utf8_lossy(&output.stdout).contains("order-rules"), "{output:?}");
}

#[test]
fn c034_a_checkpoint_without_metadata_is_refused_and_nothing_is_read_again() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n");
    project.host(&["run"]).succeed();
    fs::remove_file(project.checkpoint("streaming/song_plays/metadata")).expect("metadata is there");
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("`metadata` is missing"), "{said}");
    assert_eq!(project.tables().count("bronze/song_plays_raw"), 1);
}

#[test]
fn progress_is_sparks_object_and_status_and_show_tell_the_same() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n");
    let output = project.host(&["run", "-o", "json"]).succeed();
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let silver = lines.iter().find(|line| line["name"] == "silver.song_plays").expect("a progress object");
    assert_eq!(silver["batchId"], 0);
    assert_eq!(silver["numInputRows"], 1);
    assert_eq!(silver["sources"][0]["endOffset"]["reservoirVersion"].as_i64().map(|version| version > 0), Some(true));
    assert!(silver["durationMs"]["walCommit"].is_u64(), "{silver}");
    let metadata = fs::read_to_string(project.checkpoint("tables/silver.song_plays/metadata")).expect("metadata");
    assert!(metadata.contains(silver["id"].as_str().expect("an id")), "{metadata} {silver}");

    let status = project.host(&["status", "-o", "json"]).succeed();
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let stream = &status["streams"][1];
    assert_eq!(stream["stream"], "silver.song_plays");
    assert_eq!(stream["batch_committed"], 0);
    assert_eq!(stream["table_rows"], 1);
    let shown = project.host(&["show", "silver.song_plays", "-o", "json"]).succeed();
    let row: Value = serde_json::from_slice(&shown.stdout).expect("one row");
    assert_eq!(row["song"], "s");
    let plugins = project.host(&["plugins", "-o", "json"]).succeed();
    let plugins: Value = serde_json::from_slice(&plugins.stdout).expect("JSON");
    let names: Vec<_> = plugins["serving"].as_array().expect("a list").iter().map(|plugin| &plugin["name"]).collect();
    assert_eq!(names, ["aggregate", "json", "order-rules", "orders", "top-n"]);
}

#[test]
fn a_mended_component_goes_on_where_a_bad_one_stopped_the_stream() {
    let topic = Topic::create("operations.mended", 1);
    produce(&topic, 0..10);
    let project = orders(&topic);
    let plugins = project.path().join("components");
    crisol_tests::copy(&crisol_tests::root().join("plugins"), &plugins);
    let run = || host(&project, &topic, &["run"]).plugins(&plugins);
    run().succeed();
    produce(&topic, 10..20);
    // More than may go to quarantine.
    (0..101).for_each(|_| produce(&topic, 13..14));
    let good = fs::read(plugins.join("orders.wasm")).expect("the bundled component");
    fs::copy(crisol_tests::guest("faulty-orders"), plugins.join("orders.wasm")).expect("it can be replaced");
    for _ in 0..2 {
        let said = run().fail_with(1);
        for word in [
            "silver.orders",
            "batch 1",
            "components failed on 10",
            "the greater of 1 % of a batch and 100",
            "orders@9.9.9",
            "thirteen brings bad luck",
        ] {
            assert!(said.contains(word), "`{word}` is missing in:\n{said}");
        }
        assert_eq!(project.tables().count("silver/orders"), 10, "nothing of the batch is committed");
        assert_eq!(project.tables().count("bronze/orders_raw"), 121, "the stream above goes on");
    }
    fs::write(plugins.join("orders.wasm"), good).expect("it can be replaced");
    run().succeed();
    assert_eq!(project.tables().count("silver/orders"), 121);
    let log = project.tables().log("silver/orders");
    let batches: Vec<_> =
        log["commits"].as_array().expect("commits").iter().map(|c| c["crisol"]["batch"].clone()).collect();
    assert_eq!(batches, [Value::Null, json!(0), json!(1)]);
    let digest = log["commits"][2]["crisol"]["components"]["orders@0.1.0"].as_str().expect("the digest is named");
    assert_eq!(digest.len(), 64);
}

/// Runs of a few batches, started again and again, would else never get one.
#[test]
fn a_log_checkpoint_that_is_due_at_the_last_commit_of_a_run_is_finished() {
    let project = Project::new();
    for file in 0..10 {
        project.write(&format!("landing/{file}.txt"), "line\n");
    }
    let contract = json!({
        "name": "lines",
        "ingest_type": "streaming",
        "source": { "format": "text", "path": "{path.landing}" },
        "options": { "maxFilesPerTrigger": 1 },
        "destination_contract": "../../tables/bronze/lines.json"
    });
    project.write("ingestion/streaming/lines.json", &contract.to_string());
    project.write("tables/bronze/lines.json", r#"{ "name": "bronze.lines" }"#);
    let ended = project.host(&["run"]).succeed();
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("panicked"), "{ended:?}");
    let log = project.tables().path("bronze/lines").join("_delta_log");
    let last = fs::read_to_string(log.join("_last_checkpoint")).expect("a log checkpoint is there");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(last["version"], 10);
    assert!(log.join("00000000000000000010.checkpoint.parquet").exists());
}

/// Exit handlers of C libraries free what their threads, still ending, free as well: a run that had done all ended with
/// a damaged heap.
#[test]
fn the_process_ends_without_exit_handlers_of_libraries() {
    let lab = tempfile::tempdir().expect("a folder");
    let (source, library, mark) = (lab.path().join("h.c"), lab.path().join("h.so"), lab.path().join("ran"));
    let handler = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((destructor)) static void ran(void) {\n\
                   FILE *file = fopen(getenv(\"EXIT_MARK\"), \"w\"); if (file) fclose(file); }\n";
    fs::write(&source, handler).expect("a source file");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.expect("cc runs").success());

    let control = Command::new("true").env("LD_PRELOAD", &library).env("EXIT_MARK", &mark).status();
    assert!(control.expect("`true` runs").success());
    assert!(mark.exists(), "the handler is seen where it runs");
    fs::remove_file(&mark).expect("the mark goes");

    let topic = Topic::create("operations.ending", 2);
    produce(&topic, 0..10);
    let project = orders(&topic);
    for (arguments, code) in [(&["run"][..], 0), (&["show", "silver.orders"][..], 0), (&["show", "nothing"][..], 3)] {
        let ended = host(&project, &topic, arguments).env("LD_PRELOAD", &library).env("EXIT_MARK", &mark).run();
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
        assert!(!mark.exists(), "{arguments:?} ran exit handlers");
    }
}
