//! Documents as scripts: what they show is what happens.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use crate::{Tables, binary, root};

/// A document as a script: a block after a line that ends with `` `file`: `` is that file, `sh` blocks are commands.
pub fn script(document: &str) -> String {
    let text = fs::read_to_string(root().join(document)).expect("the document");
    let mut script = String::from("set -euo pipefail\n");
    let mut lines = text.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            match (file.take(), language) {
                (Some(file), _) => {
                    let _ = writeln!(script, "cat > {file} <<'END_OF_FILE'\n{}\nEND_OF_FILE", block.join("\n"));
                }
                (None, "sh") => {
                    let _ = writeln!(script, "{}", block.join("\n"));
                }
                (None, _) => {}
            }
        } else if let Some(name) = line.strip_suffix("`:").and_then(|line| line.rsplit('`').next()) {
            file = Some(name.to_string());
        }
    }
    script
}

/// Runs a script in a new folder beside the bundled components; gives the tables of its project, and what it said.
pub fn run(script: &str) -> (tempfile::TempDir, Tables, String) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    std::os::unix::fs::symlink(root().join("plugins"), folder.path().join("plugins")).expect("a link");
    let host = binary("host");
    let path = format!("{}:{}", host.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash").args(["-c", script]).current_dir(folder.path()).env("PATH", path).output();
    let output = output.expect("bash can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let tables = Tables::new(folder.path().join("shop/data/tables"));
    (folder, tables, said)
}

/// Runs a tutorial of a first plugin, which writes its source to `source`, after some commands. It is refused once, as it says, then one of
/// its two lines is in the table and the other in quarantine.
pub fn first_plugin(document: &str, source: &str, before: &str) {
    let script = script(document);
    assert!(script.contains("host new sales") && script.contains(&format!("cat > {source}")), "{script}");
    let (_folder, tables, said) = run(&format!("{before}\n{script}"));
    for words in ["FAIL  what cannot be is refused", "1 of 2 samples hold", "2 of 2 samples hold", "price_below_zero"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert_eq!(tables.count("silver/sales"), 1);
    assert_eq!(tables.count("silver/sales_quarantine"), 1);
}
