//! `host plugins`: the components that serve, and those that were refused.

use crate::out::println;
use crisol::EngineError;
use serde_json::Value;

use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::run::engine;
use crate::tables::{plain, table};

/// Shows components.
pub(crate) fn plugins(global: &Global) -> Result<Exit, EngineError> {
    let found = engine(global).components()?;
    if global.output == Output::Json {
        println!(
            "{}",
            serde_json::json!({ "schema": "crisol.plugins/v1", "serving": found.serving, "refused": found.refused })
        );
    } else {
        let mut shown = table(&["name", "version", "kind", "schema versions", "digest", "file"]);
        for component in &found.serving {
            let digest = component.digest.get(..12).unwrap_or(&component.digest);
            let cells = [
                component.name.as_str(),
                &component.version,
                &component.kind,
                &component.schema_versions,
                digest,
                &component.file,
            ];
            shown.add_row(cells);
        }
        println!("{shown}");
        for component in &found.serving {
            println!("options of {}: {}", component.name, options(component.options.as_ref()));
        }
        for refused in &found.refused {
            println!("refused: {}: {}", refused.file, plain(&refused.reason));
        }
    }
    Ok(if found.refused.is_empty() { Exit::Done } else { Exit::No })
}

/// What a JSON Schema says of options, in one line. A component's own words, so that nothing of it is trusted.
fn options(schema: Option<&Value>) -> String {
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
