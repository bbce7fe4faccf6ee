//! The command line as people meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::process::Command;

fn host(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_host")).args(arguments).output().expect("it can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

#[test]
fn help_lists_the_commands_and_each_ends_with_examples() {
    let (code, said) = host(&["--help"]);
    assert_eq!(code, Some(0));
    for command in ["run", "check", "show", "quarantine", "status", "maintain", "rebuild", "history", "plugins"] {
        assert!(said.contains(command), "{said}");
        assert_has_examples(command);
    }
    assert_has_examples("plugins rollback");
}

fn assert_has_examples(command: &str) {
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let (code, help) = host(&words);
    assert_eq!(code, Some(0));
    let (_, examples) = help.split_once("Examples:").unwrap_or_else(|| panic!("`{command}` has no examples:\n{help}"));
    assert_eq!(examples.matches(&format!("host {command}")).count(), 2, "{help}");
}

#[test]
fn the_long_help_explains_the_exit_codes() {
    let (_, help) = host(&["--help"]);
    let (_, codes) = help.split_once("Exit codes:").unwrap_or_else(|| panic!("no exit codes:\n{help}"));
    for code in ["0", "1", "2", "3", "4", "6", "130"] {
        assert!(codes.lines().any(|line| line.trim_start().starts_with(&format!("{code}  "))), "{code}: {codes}");
    }
    let (_, help) = host(&["run", "--help"]);
    assert!(help.contains("counts from the project's folder"), "{help}");
}

#[test]
fn wrong_usage_ends_with_2_and_names_the_nearest() {
    let (code, said) = host(&["runn"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("'run'"), "{said}");
    let (code, said) = host(&["run", "--set", "path.tables"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("KEY=VALUE"), "{said}");
    let (code, said) = host(&["run", "--log-level", "crisol=[loud"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("log level"), "{said}");
}

#[test]
fn a_reader_that_has_gone_and_a_full_disk_are_no_panic() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the system has it");
    let output = Command::new(env!("CARGO_BIN_EXE_host"))
        .args(["plugins", "--project", env!("CARGO_MANIFEST_DIR")])
        .stdout(full)
        .output()
        .expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("standard output cannot be written") && !said.contains("panicked"), "{said}");
    let shell = format!("{} plugins --project {} | true", env!("CARGO_BIN_EXE_host"), env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("bash").args(["-c", &shell]).output().expect("bash can be started");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}
