//! The real host, with hostile streams beside an honest one.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crisol_plugin::Kind;
use crisol_tests::{Project, Served, root};
use serde_json::{Value, json};

use crate::behaviours::judging;
use crate::guests;
use crate::process;
use crate::raw::{Raw, json as description};

/// More than the rows that may be set aside one by one before a stream stops.
const ROWS: u64 = 500;

/// Streams that each do another thing, and words of what is said of it.
const STREAMS: [(&str, &str, &str); 6] = [
    ("panics", "push-panic", "out of \\u{1b}[31mluck"),
    ("loops", "push-loop", "limits.deadline_ms_max"),
    ("grows", "push-grow", "limits.memory_bytes_max"),
    ("floods", "push-flood", "it panicked or aborted"),
    ("exits", "open-exit", "it ended itself with exit code"),
    ("lies", "rejected-range", "was not among its input"),
];

/// A project whose bronze table has lines with ids, and a folder with the bundled decoder and the guest.
fn project() -> (Project, PathBuf) {
    let project = Project::lines();
    let lines: String = (0..ROWS).map(|id| format!("{{\"id\":{}}}\n", id * 10)).collect();
    project.write("landing/a.txt", &lines);
    let plugins = project.path().join("components");
    fs::create_dir(&plugins).unwrap();
    fs::copy(root().join("plugins/json.wasm"), plugins.join("json.wasm")).unwrap();
    let words = guests::words(Kind::Validator, json!({}));
    fs::write(plugins.join("guest.wasm"), guests::described(Kind::Validator, &words)).unwrap();
    (project, plugins)
}

/// `silver.NAME`, whose rows pass a validator if one is given.
fn silver(project: &Project, name: &str, validator: Option<Value>) {
    let stages: Vec<Value> = [Some(json!({ "decode": "json" })), validator].into_iter().flatten().collect();
    let table = json!({ "name": format!("silver.{name}"), "from": "bronze.lines", "stages": stages,
        "columns": [{ "name": "id", "type": "long" }] });
    project.write(&format!("tables/silver/{name}.json"), &table.to_string());
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// That nothing of it can move a cursor, or turn text round where people read it; in JSON paths are as they are.
fn assert_escaped(what: &str, text: &str) {
    let people = !what.contains("json");
    let wrong = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' => people,
        c => c.is_control(),
    };
    let found = text.lines().find(|line| line.contains(wrong));
    assert_eq!(found, None, "{what}");
}

#[test]
fn an_honest_stream_loses_nothing_beside_hostile_ones() {
    let _alone = process::alone();
    let (project, plugins) = project();
    silver(&project, "honest", None);
    for (name, what, _) in STREAMS {
        let limits = json!({ "deadline_ms_max": 1_000, "memory_bytes_max": 64 << 20 });
        silver(&project, name, Some(json!({ "validate": "guest", "options": { "do": what }, "limits": limits })));
    }
    let text = project.host(&["run"]).plugins(&plugins).fail_with(1);
    assert_escaped("host run", &text);
    for (name, _, words) in STREAMS {
        let mut errors = text.split("error: stream ");
        let error = errors.find(|error| error.starts_with(&format!("`silver.{name}`"))).unwrap_or_default();
        assert!(error.contains(words), "{name}: `{words}` is missing in: {error}");
    }
    let tables = project.tables();
    let honest = tables.query("silver/honest", "SELECT count(*), count(DISTINCT id), sum(id) FROM rows");
    assert_eq!(json!(honest), json!([[ROWS, ROWS, ROWS * (ROWS - 1) * 5]]));
    for (name, _, _) in STREAMS {
        assert_eq!(tables.count(&format!("silver/{name}")), 0, "{name} committed rows");
    }
    for command in [&["status"][..], &["check"], &["status", "-o", "json"]] {
        assert_escaped(command[0], &said(&project.host(command).plugins(&plugins).run()));
    }
}

#[test]
fn terminal_escapes_of_components_are_escaped_wherever_they_are_printed() {
    let _alone = process::alone();
    let (project, plugins) = project();
    let raw = |kind, name: &str| Raw::honest(kind).described(&description(kind, name, &json!({})));
    let red = "\u{1b}]0;title\u{7}\u{1b}[31mred\u{202e}";
    let painter = judging(Kind::Validator, &[(0, 0, "painted", red)], &[]);
    let painter = painter.described(&description(Kind::Validator, "painter", &json!({ "reuse": true }))).build();
    fs::write(plugins.join("painter.wasm"), painter).unwrap();
    fs::write(plugins.join("escapes.wasm"), raw(Kind::Validator, red).build()).unwrap();
    fs::write(plugins.join("\u{1b}[31mname\u{202e}.wasm"), b"nothing").unwrap();
    let fails = json!({ "validate": "guest", "options": { "do": "push-flood" } });
    silver(&project, "floods", Some(fails));
    silver(&project, "painted", Some(json!({ "validate": "painter" })));
    let plugin_folder = &plugins;
    let host = |command: &[&str]| said(&project.host(command).plugins(plugin_folder).run());
    for format in ["text", "json"] {
        let text = host(&["run", "-vv", "--log-format", format, "--output", format]);
        assert_escaped(&format!("host run {format}"), &text);
        assert!(text.contains("line 0 ") && text.contains("u{1b}[2J"), "the guest's lines are there, escaped:\n{text}");
    }
    for (command, words) in [
        (&["plugins"][..], "u{1b}[31mred"),
        (&["plugins", "-o", "json"], "u{1b}[31mred"),
        (&["check"], ""),
        (&["status"], "painted"),
        (&["status", "-o", "json"], "painted"),
        (&["quarantine", "list"], "painted"),
        (&["quarantine", "list", "silver.painted"], "painted"),
        (&["quarantine", "show", "silver.painted"], "u{1b}[31mred"),
        (&["quarantine", "show", "silver.painted", "-o", "json"], "u{1b}[31mred"),
        (&["show", "silver.painted", "--quarantine"], "u{1b}[31mred"),
    ] {
        let text = host(command);
        assert_escaped(&format!("host {command:?}"), &text);
        assert!(text.contains(words), "host {command:?}: `{words}` is missing in:\n{text}");
    }
    project.write("landing/b.txt", "{\"id\":7}\n");
    let served = Served::start(&project, "continuous", |host| host.plugins(plugin_folder));
    crisol_tests::wait_until("the row is counted", std::time::Duration::from_secs(60), || {
        served.get("/metrics").1.contains("painted")
    });
    let (_, metrics) = served.get("/metrics");
    assert_escaped("metrics", &metrics);
    served.run().stop();
}
