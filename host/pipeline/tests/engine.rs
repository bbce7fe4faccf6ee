//! The Rust API, as a program uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crisol::{Engine, EngineError, ErrorKind, Event, Observer, Trigger};
use tempfile::TempDir;

/// A project whose only stages are rules, so that it needs no component.
fn project() -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    };
    write("crisol.toml", "[path]\nlanding = \"landing\"\ncheckpoint = \"checkpoints\"\ntables = \"tables\"\n");
    write(
        "ingestion/lines.json",
        r#"{ "name": "lines", "ingest_type": "streaming", "source": { "format": "text", "path": "{path.landing}" },
             "destination_contract": "../tables/raw.json" }"#,
    );
    write("tables/raw.json", r#"{ "name": "raw.lines" }"#);
    write(
        "tables/kept.json",
        r#"{ "name": "kept.lines", "from": "raw.lines",
             "expectations": [{ "name": "no_sharp", "condition": "payload NOT LIKE '#%'", "on_violation": "drop" }] }"#,
    );
    write("landing/a.txt", "one\n# two\nthree\n");
    dir
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn observe(&self, event: &Event) {
        let line = match event {
            Event::Started { stream, .. } => format!("{stream} started"),
            Event::Committed(progress) => {
                format!("{} committed {}", progress.name.clone().unwrap_or_default(), progress.num_input_rows)
            }
            Event::Ended { stream, error, .. } => format!("{stream} ended {}", error.is_none()),
            _ => return,
        };
        self.0.lock().expect("nobody panics").push(line);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_run_carries_all_that_waits_from_the_source_to_the_last_table() {
    let dir = project();
    let heard = Arc::new(Heard::default());
    let engine = Engine::builder().project(dir.path()).observer(heard.clone()).build().expect("the project is sound");
    let names: Vec<_> = engine.streams().into_iter().map(|stream| stream.name).collect();
    assert_eq!(names, ["lines", "kept.lines"]);

    let summaries = engine.run_streaming().await.expect("the streams open");
    let rows: Vec<_> = summaries.iter().map(|s| (s.accounts.rows_in, s.accounts.rows_written)).collect();
    assert_eq!(rows, [(3, 3), (3, 2)]);
    assert!(summaries.iter().all(|summary| summary.error.is_none() && summary.accounts.balanced()));
    let again = engine.run_streaming().await.expect("the streams open");
    assert!(again.iter().all(|summary| summary.accounts.rows_in == 0), "a second run reads only what is new");

    let heard = heard.0.lock().expect("nobody panics");
    for line in ["lines started", "lines committed 3", "kept.lines committed 3", "kept.lines ended true"] {
        assert!(heard.iter().any(|heard| heard == line), "`{line}` is missing in {heard:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_run_in_the_background_until_they_are_stopped() {
    let dir = project();
    let heard = Arc::new(Heard::default());
    let builder = Engine::builder().project(dir.path()).trigger(Trigger::Continuous).observer(heard.clone());
    let engine = builder.build().expect("the project is sound");
    let handles = engine.start_streaming().await.expect("the streams open");
    assert_eq!(handles.iter().map(crisol::StreamHandle::name).collect::<Vec<_>>(), ["lines", "kept.lines"]);
    until(&heard, "kept.lines committed 3").await;
    write_late(dir.path());
    until(&heard, "kept.lines committed 1").await;
    let summaries = Engine::stop_streaming(handles).await.expect("the streams end");
    assert_eq!(summaries.iter().map(|s| s.accounts.rows_in).collect::<Vec<_>>(), [4, 4]);
    assert!(summaries.iter().all(|summary| summary.error.is_none()));
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let dir = project();
    std::fs::write(dir.path().join("tables/kept.json"), r#"{ "name": "kept.lines", "from": "raw.lin" }"#)
        .expect("a file");
    let error = Engine::builder().project(dir.path()).build().expect_err("the upstream does not exist");
    assert!(matches!(error, EngineError::Contracts(_)), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("raw.lin"), "{error}");
    let error = Engine::builder().project(dir.path().join("nowhere")).build().expect_err("no project");
    assert!(matches!(error, EngineError::NoProject { .. }), "{error:?}");
}

fn write_late(dir: &Path) {
    // Placed by rename, as files that are read while they arrive must be.
    std::fs::write(dir.join("late.txt"), "four\n").expect("a file can be written");
    std::fs::rename(dir.join("late.txt"), dir.join("landing/b.txt")).expect("a file can be moved");
}

async fn until(heard: &Heard, line: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !heard.0.lock().expect("nobody panics").iter().any(|heard| heard == line) {
        assert!(Instant::now() < deadline, "`{line}` was not heard within 60 s: {:?}", heard.0.lock());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
