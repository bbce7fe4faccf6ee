//! `host plugins`: the components that serve, and those that were refused.

use std::collections::BTreeMap;

use crate::out::println;
use crisol::{ComponentInfo, Components, Decided, Decisions, EngineError, KeptBuild, RefusedFile, ServedState};
use serde_json::Value;

use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::run::engine;
use crate::tables::{plain, table};

/// Shows components.
pub(crate) fn plugins(global: &Global) -> Result<Exit, EngineError> {
    let found = engine(global).components()?;
    match global.output {
        Output::Json => println!(
            "{}",
            serde_json::json!({
                "schema": "crisol.plugins/v1", "serving": found.serving, "waiting": found.waiting,
                "refused": found.refused, "host": found.host, "kept": found.kept,
            })
        ),
        Output::Text => print(&found),
    }
    Ok(if found.refused.is_empty() { Exit::Done } else { Exit::No })
}

fn print(found: &Components) {
    let mut shown = table(&["name", "version", "kind", "schema versions", "digest", "file"]);
    for component in &found.serving {
        let ComponentInfo { name, version, kind, schema_versions, digest, file, .. } = component;
        shown.add_row([name, version, kind, schema_versions, short(digest), file]);
    }
    println!("{shown}");
    for component in &found.serving {
        println!("options of {}: {}", component.name, options(component.options.as_ref()));
    }
    for ComponentInfo { name, version, file, .. } in &found.waiting {
        println!("waiting: {file}: {name} {version}, others come before it");
    }
    for refused in &found.refused {
        println!("refused: {}: {}", refused.file, plain(&refused.reason));
    }
    if let Some(host) = &found.host {
        print_host(host);
    }
    print_kept(&found.kept);
}

/// What a host decided that runs or ran: its folder may have been another one, and it knows what was replaced.
fn print_host(host: &Decisions) {
    println!("\nthe host that runs, or ran last, with {}, as of {}:", host.folder.display(), host.written);
    let mut shown = table(&["state", "name", "version", "schema versions", "digest", "since", "file"]);
    for (state, components) in [("serves", &host.serving), ("waits", &host.waiting)] {
        for component in components {
            let Decided { name, version, schema_versions, digest, file, since, file_removed } = component;
            let file = format!("{}{}", plain(&file.to_string_lossy()), if *file_removed { " (removed)" } else { "" });
            shown.add_row([state, name, version, schema_versions, short(digest), since, &file]);
        }
    }
    println!("{shown}");
    for RefusedFile { file, reason, columns, since, .. } in &host.refused {
        println!("refused since {since}: {}: {}", plain(&file.to_string_lossy()), plain(reason));
        if let Some(columns) = columns {
            println!("{columns}");
        }
    }
}

/// Builds that served before; those that serve are shown above.
fn print_kept(kept: &BTreeMap<String, Vec<ServedState>>) {
    let earlier = |states: &Vec<ServedState>| states.len().saturating_sub(1);
    if kept.values().map(earlier).sum::<usize>() == 0 {
        return;
    }
    println!("\nserved before, for `host plugins rollback`:");
    let mut shown = table(&["name", "version", "schema versions", "digest", "since", "file"]);
    for (name, states) in kept {
        for ServedState { since, builds } in states.iter().take(earlier(states)).rev() {
            for KeptBuild { version, schema_versions, digest, file } in builds {
                let file = plain(&file.to_string_lossy());
                shown.add_row([name, version, schema_versions, short(digest), since, &file]);
            }
        }
    }
    println!("{shown}");
}

pub(crate) fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// What a JSON Schema says of options, in one line. A component's own words, so that nothing of it is trusted.
pub(crate) fn options(schema: Option<&Value>) -> String {
    let Some(schema) = schema else { return "none".into() };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required.as_str() == Some(name)))
    };
    let one = |(name, option): (&String, &Value)| {
        let mut words: Vec<String> = kind(option).into_iter().collect();
        if required(name) {
            words.push("required".into());
        }
        if let Some(default) = option.get("default") {
            words.push(format!("default {default}"));
        }
        if words.is_empty() { name.clone() } else { format!("{name} ({})", words.join(", ")) }
    };
    let listed: Vec<String> = schema["properties"].as_object().into_iter().flatten().map(one).collect();
    match listed.is_empty() {
        true => "described by a JSON Schema; see `-o json`".into(),
        false => plain(&listed.join(", ")),
    }
}

/// The type of an option, as far as its schema says it in one word or a few values.
fn kind(option: &Value) -> Option<String> {
    if let Some(values) = option["enum"].as_array() {
        return Some(values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "));
    }
    match &option["type"] {
        Value::String(kind) if kind == "array" => match option["items"]["type"].as_str() {
            Some(items) => Some(format!("array of {items}")),
            None => Some(kind.clone()),
        },
        Value::String(kind) => Some(kind.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_shown_with_type_default_and_whether_they_must_be_given() {
        let schema = json!({ "type": "object", "required": ["columns"], "properties": {
            "column": { "type": "string", "default": "payload" },
            "columns": { "type": "array", "items": { "type": "object" } },
            "mode": { "enum": ["strict", "lax"] },
            "x\u{1b}[31m": {} } });
        assert_eq!(
            options(Some(&schema)),
            "column (string, default \"payload\"), columns (array of object, required), mode (\"strict\" or \"lax\"), \
             x\\u{1b}[31m"
        );
        assert_eq!(options(None), "none");
        assert!(options(Some(&json!({ "$ref": "#/x" }))).contains("-o json"));
    }
}
