//! A new plugin of each kind in each language builds, and its samples hold; where npm runs tests of its source, they pass.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::author::{LANGUAGES, succeed};

#[test]
fn a_new_plugin_of_each_kind_in_each_language_builds_and_its_samples_hold() {
    for language in LANGUAGES {
        let home = TempDir::new().unwrap();
        for kind in ["decoder", "transformer", "validator", "ranker", "aggregator"] {
            let name = format!("new-{kind}");
            let said = succeed(home.path(), &["new", &name, "--kind", kind, "--lang", language]);
            assert!(said.contains(&format!("cd {name}\n  host test")), "{said}");
            let plugin = home.path().join(&name);
            let source = said.split("Its logic is in ").nth(1).and_then(|said| said.split(',').next()).unwrap();
            assert!(home.path().join(source).is_file(), "{source}");
            let said = succeed(&plugin, &["test"]);
            assert!(said.contains(&format!(" {kind}: 1 of 1 samples hold")), "{language}: {said}");
            let component = plugin.join(format!("build/{name}.wasm"));
            let before = fs::metadata(&component).unwrap().modified().unwrap();
            assert!(succeed(&plugin, &["build"]).contains(", as before"));
            assert_eq!(fs::metadata(&component).unwrap().modified().unwrap(), before, "nothing is built without need");
            if plugin.join("package.json").is_file() {
                run_its_own_tests(&plugin);
            }
        }
    }
}

/// With npm, as its README says.
fn run_its_own_tests(plugin: &Path) {
    for arguments in ["install --no-audit --no-fund", "test"] {
        let output =
            Command::new("npm").args(arguments.split(' ')).current_dir(plugin).output().expect("npm can be started");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: npm {arguments}: {said}", plugin.display());
    }
}
