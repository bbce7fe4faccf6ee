//! What the host says, where nobody can hear it or something about its surroundings is wrong.

use std::time::Duration;

use crisol_tests::{Project, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

/// One stream that reads lines of files.
fn lines() -> Project {
    let project = Project::lines();
    project.write("landing/a.txt", "one\ntwo\n");
    project
}

/// Standard error on a full disk, in a pipe without a reader, and in one whose reader leaves after the first line.
const DEAF: [&str; 3] =
    [r#"exec "$@" 2>/dev/full"#, r#"exec "$@" 2> >(exec true)"#, r#"exec "$@" 2> >(exec head -n 1 >/dev/null)"#];

#[test]
fn a_message_that_cannot_be_written_is_dropped_and_nothing_else_changes() {
    for deaf in DEAF {
        for format in ["text", "json"] {
            let project = lines();
            let run =
                |more: &[&str]| project.host(&[&["run", "-vv", "--log-format", format], more].concat()).in_bash(deaf);
            run(&[]).succeed();
            assert_eq!(project.tables().count("bronze/lines"), 2);
            run(&["--set", "path.tables="]).fail_with(3);
            run(&["no-such-stream"]).fail_with(3);
        }
        let project = lines();
        project.write("tables/bronze/lines.json", r#"{ "name": "bronze.lines", "colums": [] }"#);
        project.host(&["check"]).in_bash(deaf).fail_with(1);
        project.host(&["run"]).in_bash(deaf).fail_with(3);
        project.host(&["run", "--log-level", "crisol=[loud"]).in_bash(deaf).fail_with(2);
    }
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure_and_a_reader_that_has_gone_is_none() {
    let project = lines();
    let said = project.host(&["run"]).in_bash(r#"exec "$@" >/dev/full"#).fail_with(0);
    assert!(said.contains("warning: standard output cannot be written"), "{said}");
    assert_eq!(project.tables().count("bronze/lines"), 2);
    for command in [&["show", "bronze.lines"][..], &["status"], &["check"], &["plugins"]] {
        for format in ["text", "json"] {
            let host = || project.host(&[command, &["-o", format]].concat());
            let said = host().in_bash(r#"exec "$@" >/dev/full"#).fail_with(1);
            assert!(said.contains("No space left on device") && said.contains("error: the result"), "{said}");
            host().in_bash(r#"exec "$@" >/dev/full 2>/dev/full"#).fail_with(1);
            let said = host().in_bash(r#"exec "$@" > >(exec true)"#).fail_with(0);
            assert!(said.is_empty(), "{said}");
        }
    }
}

#[test]
fn a_terminal_that_closes_stops_a_run_in_order() {
    let project = lines();
    project.host(&["run", "--trigger", "continuous"]).on_terminal_that_closes().succeed();
    assert_eq!(project.tables().count("bronze/lines"), 2);
}

#[test]
fn a_hang_up_stops_a_run_in_order_unless_it_is_to_outlive_its_terminal() {
    let project = lines();
    let rows = || project.tables().count("bronze/lines");
    let run = project.host(&["run", "--trigger", "continuous"]).start();
    wait_until("the first rows are there", Duration::from_secs(60), || rows() == 2);
    run.signal(Signal::SIGHUP);
    assert_eq!(run.end().status.code(), Some(0));

    let run = project.host(&["run", "--trigger", "continuous"]).in_bash(r#"trap "" HUP; exec "$@""#).start();
    project.write("landing/b.txt", "three\n");
    wait_until("the run goes on", Duration::from_secs(60), || rows() == 3);
    run.signal(Signal::SIGHUP);
    project.write("landing/c.txt", "four\n");
    wait_until("it outlives the terminal", Duration::from_secs(60), || rows() == 4);
    run.signal(Signal::SIGTERM);
    assert_eq!(run.end().status.code(), Some(0));
}

#[test]
fn a_variable_that_is_empty_counts_as_not_set() {
    let project = lines();
    let variables = ["CRISOL_PLUGINS", "CRISOL_OUTPUT", "CRISOL_LOG", "CRISOL_LOG_FORMAT", "RUST_LOG", "NO_COLOR"];
    for variable in variables.into_iter().chain(["CRISOL__PATH__TABLES", "CRISOL__LIMITS__DEADLINE_MS_MAX"]) {
        let said = project.host(&["check"]).env(variable, "").fail_with(0);
        assert!(said.contains("1 streams, no problems"), "{variable}: {said}");
    }
    // The harness names the project in the last two arguments.
    let here = r#"cd "${@: -1}"; CRISOL_PROJECT= exec "${@:1:$#-2}""#;
    assert!(project.host(&["check"]).in_bash(here).fail_with(0).contains("1 streams, no problems"));
}

#[test]
fn a_mistake_of_set_is_told_as_one_of_set() {
    let project = lines();
    for set in ["path.tables=", "path.tables=${env:NO_SUCH}", "path.tables.x=1", "path=x", "path.tables=s3://b/t"] {
        let said = project.host(&["check", "--set", set]).fail_with(1);
        assert!(said.starts_with("error: 1 problem in --set\n"), "{set}: {said}");
        assert_eq!(said.matches("error:").count(), 1, "{set}: {said}");
    }
}

#[test]
fn a_sandbox_without_address_space_says_so() {
    let project = lines();
    let host = |arguments: &[&str]| project.host(arguments).in_bash(r#"ulimit -v 4000000; exec "$@""#);
    let said = host(&["plugins"]).fail_with(1);
    for words in ["gave no address space", "reserves 4.1 GiB for one instance", "ulimit -v"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert!(!said.contains("trapped"), "{said}");
    let silver = json!({ "name": "silver.lines", "from": "bronze.lines", "stages": [{ "decode": "json" }],
        "columns": [{ "name": "id", "type": "long" }] });
    project.write("tables/silver/lines.json", &silver.to_string());
    let said = host(&["check", "-q"]).fail_with(1);
    assert!(said.contains("no component `json`") && said.contains("gave no address space"), "{said}");
}
