//! What a key takes, as a schema.

use serde_json::{Value, json};

use super::spelling;
use crate::keys::Key;

/// `option`: it is one of Spark's options, whose values may all be text. `below`: what holds of the keys below it, null where
/// there are none.
pub(super) fn schema(key: &Key, option: bool, below: Value) -> Value {
    match key.takes {
        "string" | "path" | "type" | "SQL" | "duration" | "regular expression" => json!({ "type": "string" }),
        "text" => json!({ "type": ["string", "number", "boolean"] }),
        "component" => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]+(@.+)?$" }),
        "boolean" if option => json!({ "type": ["boolean", "string"] }),
        "boolean" => json!({ "type": "boolean" }),
        "whole number" | "milliseconds" if option => json!({ "type": ["integer", "string"] }),
        "whole number" | "milliseconds" => {
            json!({ "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "\\$\\{" }] })
        }
        "list" => json!({ "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 } }),
        "text or list" => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        "object" if option => json!({ "type": ["object", "string"] }),
        "object" => json!({ "type": "object" }),
        "string or object" => json!({ "anyOf": [{ "type": "string" }, below] }),
        words => one_of(&words.split('`').skip(1).step_by(2).collect::<Vec<_>>(), words, option, below),
    }
}

/// One of several words; an object as well, where `takes` says so.
fn one_of(words: &[&str], takes: &str, option: bool, below: Value) -> Value {
    let word = json!({ "enum": words });
    match (option, takes.ends_with("or an object"), below) {
        // Placeholders, other cases, and objects as text.
        (true, ..) => json!({ "anyOf": [word, { "type": ["string", "object"] }] }),
        (false, true, below) => json!({ "anyOf": [word, below] }),
        (false, false, _) if words.contains(&"kafka") => {
            let any_case = words.iter().map(|word| json!({ "type": "string", "pattern": spelling::of_word(word) }));
            let choices: Vec<Value> = [word].into_iter().chain(any_case).collect();
            json!({ "anyOf": choices })
        }
        (false, false, _) => word,
    }
}

/// Options of the Kafka client, those of clusters, and dotted names, which are tables in TOML.
pub(super) fn client_options() -> Value {
    json!({
        "type": "object",
        "description": "Options of librdkafka for every Kafka source, and tables of them for contracts with `cluster`",
        "additionalProperties": { "anyOf": [{ "type": ["string", "number", "boolean"] }, { "$ref": "#/$defs/kafka" }] },
    })
}
