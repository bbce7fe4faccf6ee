//! What `make demo` shows, once everything is built.

use std::path::Path;
use std::process::Command;

use crisol_tests::{binary, given, root};

#[test]
fn the_demo_shows_a_swap_checks_its_tables_and_leaves_no_process() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let data = folder.path().join("demo");
    let target = binary("host").parent().and_then(Path::parent).expect("a target folder").to_path_buf();
    let python = given("CRISOL_TEST_PYTHON");
    let cache = Path::new(&python).ancestors().nth(3).expect("the readers lie in `venv` of the cache");
    let output = Command::new("timeout")
        .args(["300", "scripts/tour.sh"])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", target)
        .env("CRISOL_CACHE", cache)
        .env("DEMO_DATA", &data)
        .envs([("ORDERS", "6000"), ("PLAYS", "3000"), ("NO_COLOR", "1")])
        .env_remove("KAFKA")
        .output()
        .expect("bash can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    for words in [
        "component `orders`: 3.0.0",
        "silver.orders: replay: 72 replayed, 60 passed (60 rows), 12 refused again, 0 filtered",
        "the tables lie in",
    ] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    let checks = said.matches("ok: every row is where it must be, once").count();
    assert_eq!(checks, 3, "orders, music, and orders with version 3:\n{said}");
    let left = processes_that_name(&data);
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Command lines of the processes there are that name a folder.
fn processes_that_name(folder: &Path) -> Vec<String> {
    let name = folder.to_str().expect("text");
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(name)).collect()
}
