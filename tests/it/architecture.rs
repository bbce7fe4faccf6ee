//! Arrows between rooms go one way, and each library has one room that names it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crisol_tests::root;

/// What each room may use of the other rooms.
const ARROWS: [(&str, &[&str]); 13] = [
    ("contract", &["ipc"]),
    ("store", &[]),
    ("checkpoint", &["store"]),
    ("observe", &[]),
    ("metrics", &["observe"]),
    ("plugin", &["ipc"]),
    ("source", &["ipc", "contract", "checkpoint", "store", "observe"]),
    ("stage", &["ipc", "contract", "plugin"]),
    ("table", &["contract", "checkpoint", "store"]),
    ("stream", &["contract", "checkpoint", "source", "stage", "table", "observe"]),
    (
        "pipeline",
        &["ipc", "contract", "checkpoint", "store", "source", "plugin", "stage", "table", "stream", "observe"],
    ),
    ("author", &["ipc", "plugin", "store"]),
    ("cli", &["pipeline", "metrics", "author"]),
];

/// Where a library may be named.
const LIBRARIES: [(&str, &[&str]); 5] = [
    ("rdkafka", &["host/source/src/kafka", "host/source/tests", "tests"]),
    ("wasmtime", &["host/plugin"]),
    ("prometheus_client", &["host/metrics"]),
    ("deltalake", &["host/table", "host/source/src/table", "host/source/tests"]),
    ("datafusion", &["host/stage/src/sql", "host/stage/src/groups"]),
];

/// What code without I/O, clock and async must not name.
const IMPURE: [&str; 8] = [
    "tokio",
    "std::fs",
    "std::net",
    "std::time::SystemTime",
    "std::time::Instant",
    "async fn",
    "object_store::",
    "rdkafka::",
];

#[test]
fn rooms_use_only_the_rooms_below_them() {
    for (room, allowed) in ARROWS {
        for file in sources(&root().join("host").join(room).join("src")) {
            let allowed: BTreeSet<String> = allowed.iter().map(|room| crate_name(room)).collect();
            for used in words(&file, "crisol") {
                let own = crate_name(room) == used || used == "crisol_cli";
                assert!(own || allowed.contains(&used), "{} uses `{used}`", file.display());
            }
        }
    }
}

#[test]
fn libraries_are_named_in_their_rooms_only() {
    for (library, homes) in LIBRARIES {
        for folder in ["host", "sdk", "plugins", "tests"] {
            for file in sources(&root().join(folder)) {
                let at_home = homes.iter().any(|home| file.starts_with(root().join(home)));
                let named = code(&file).contains(&format!("{library}::"));
                assert!(at_home || !named, "{} names `{library}`", file.display());
            }
        }
    }
}

#[test]
fn the_contract_room_and_the_checkpoints_core_are_pure() {
    let mut pure = sources(&root().join("host/contract/src"));
    let core = ["position", "range", "log", "outcome", "recovery", "step"];
    pure.extend(sources(&root().join("host/checkpoint/src")).into_iter().filter(|file| {
        let name = file.strip_prefix(root().join("host/checkpoint/src")).unwrap_or(file);
        let first = name.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        first.is_some_and(|first| core.contains(&first.trim_end_matches(".rs")))
    }));
    assert!(pure.len() > 10, "found only {} files", pure.len());
    for file in pure {
        for word in IMPURE {
            assert!(!code(&file).contains(word), "{} names `{word}`", file.display());
        }
    }
}

#[test]
fn only_the_pipelines_opener_names_concrete_sources_and_tables() {
    for file in sources(&root().join("host/stream/src")) {
        for word in ["KafkaSource", "FilesSource", "TableSource", "DeltaTable"] {
            assert!(!code(&file).contains(word), "{} names `{word}`", file.display());
        }
    }
}

#[test]
fn nothing_is_written_by_macros_that_panic_when_it_cannot_be() {
    let own = root().join("host/cli/src/out.rs");
    let rooms = ARROWS.iter().flat_map(|(room, _)| sources(&root().join("host").join(room).join("src")));
    for file in rooms.filter(|file| *file != own) {
        let code = code(&file);
        for name in ["print", "eprint", "println", "eprintln"] {
            let imported =
                code.lines().any(|line| line.starts_with("use crate::out::") && names(line).any(|n| n == name));
            for (at, _) in code.match_indices(&format!("{name}!")) {
                let before = code.get(..at).unwrap_or_default();
                if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                let ours = before.ends_with("crate::out::") || imported && !before.ends_with("::");
                assert!(ours, "{}: `{name}!` is not that of host/cli/src/out.rs", file.display());
            }
        }
    }
}

/// The words of a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn crate_name(room: &str) -> String {
    match room {
        "pipeline" => "crisol".into(),
        room => format!("crisol_{room}"),
    }
}

/// Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// A file without its comments and its tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Names of crates that begin with `prefix` and are used by path.
fn words(file: &Path, prefix: &str) -> BTreeSet<String> {
    let code = code(file);
    let names = code.match_indices(prefix).filter(|(at, _)| {
        let before = code.get(..*at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '"' && c != '`')
    });
    let named = names.filter_map(|(at, _)| {
        let rest = code.get(at..)?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        // `crisol::stage` is the namespace of the WIT, as its bindings name it.
        let used = rest.get(end..)?.starts_with("::") && !rest.starts_with("crisol::stage::");
        used.then(|| rest.get(..end).unwrap_or_default().to_string())
    });
    named.collect()
}
