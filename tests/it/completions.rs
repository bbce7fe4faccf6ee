//! Completions, asked for as shells do, and once by a real one.

use std::process::Command;

use crisol_tests::{Project, binary, root};
use tempfile::TempDir;

/// What is proposed for the last of the words, from the folder `from`.
fn proposed(from: &std::path::Path, words: &[&str]) -> Vec<String> {
    let mut command = Command::new(binary("host"));
    command.arg("--").args(words).current_dir(from).env_remove("CRISOL_PROJECT");
    command.env("CRISOL_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.starts_with('-')).map(ToOwned::to_owned).collect()
}

#[test]
fn names_come_from_the_project() {
    let example = root().join("examples/orders");
    assert_eq!(proposed(&example, &["host", "show", "silver."]), ["silver.orders", "silver.orders_current"]);
    assert_eq!(proposed(&example, &["host", "run", "or"]), ["orders"]);
    let components = ["aggregate", "order-rules", "orders", "top-n"];
    assert_eq!(proposed(&example, &["host", "plugins", "rollback", ""]), components);
    let elsewhere = ["host", "--project", "examples/music", "rebuild", "silver"];
    assert_eq!(proposed(&root(), &elsewhere), ["silver.song_plays"]);
    assert_eq!(proposed(&root(), &["host", "maintain", "--project=examples/music", "gold"]), ["gold.top3_songs"]);
}

#[test]
fn commands_values_and_files_are_proposed() {
    let folder = TempDir::new().unwrap();
    for file in ["a.wasm", "a.toml"] {
        std::fs::write(folder.path().join(file), "").unwrap();
    }
    assert_eq!(proposed(folder.path(), &["host", "comp"]), ["completions"]);
    assert_eq!(proposed(folder.path(), &["host", "status", "-o", ""]), ["text", "json"]);
    assert_eq!(proposed(folder.path(), &["host", "completions", "p"]), ["powershell"]);
    assert_eq!(proposed(folder.path(), &["host", "inspect", "a"]), ["a.wasm"]);
}

#[test]
fn what_cannot_be_read_proposes_nothing() {
    let nowhere = TempDir::new().unwrap();
    assert_eq!(proposed(nowhere.path(), &["host", "show", "s"]), [""; 0]);
    let project = Project::example("orders");
    project.write("tables/silver/orders.json", "{ \"name\": ");
    project.write("crisol.toml", "[path");
    assert_eq!(proposed(project.path(), &["host", "show", "silver"]), ["silver.orders_current"]);
}

#[test]
fn each_shell_gets_a_script_that_asks_the_host() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let output = Command::new(binary("host")).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("CRISOL_COMPLETE"), "{shell}: {script}");
    }
}

#[test]
fn a_real_bash_completes() {
    let host = binary("host");
    let path = format!("{}:{}", host.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let script = "
        source <(host completions bash)
        function_of_host=$(complete -p host | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
        COMP_WORDS=(host show gold.t) COMP_CWORD=2 COMP_TYPE=9
        \"$function_of_host\" host gold.t show
        echo \"${COMPREPLY[*]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-euc", script]).current_dir(root().join("examples/orders")).env("PATH", path);
    let output = bash.env_remove("CRISOL_PROJECT").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "gold.top_orders", "{output:?}");
}
