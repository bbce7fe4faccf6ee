//! What it takes to check options against a JSON Schema: the schema comes from a component, and no deadline reaches the
//! library that applies it.

use std::collections::HashMap;

use serde_json::Value;

/// Most schemas that may be applied to one value, each counted as often as something refers to it.
const SCHEMAS_MAX: u64 = 50_000;
/// Deepest chain of schemas within schemas and of references.
const DEPTH_MAX: usize = 100;
/// Most regular expressions.
const PATTERNS_MAX: u64 = 200;

/// Keys whose values are no schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keys whose schemas count where they are referred to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
/// Keys that choose a schema while another is applied.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Refuses a schema that refers to itself or elsewhere, or that refers so often to what refers on that no machine would
/// ever be done with it.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let mut counter = Counter { root: schema, known: HashMap::new(), patterns: 0 };
    let schemas = counter.schemas(schema, 0)?;
    if schemas > SCHEMAS_MAX {
        return Err(format!("it applies more than {SCHEMAS_MAX} schemas to one value"));
    }
    if counter.patterns > PATTERNS_MAX {
        return Err(format!("it has {} patterns, {PATTERNS_MAX} are allowed", counter.patterns));
    }
    Ok(())
}

struct Counter<'a> {
    root: &'a Value,
    /// Schemas behind each reference; `None` while it is being counted.
    known: HashMap<&'a str, Option<u64>>,
    patterns: u64,
}

impl<'a> Counter<'a> {
    fn schemas(&mut self, node: &'a Value, depth: usize) -> Result<u64, String> {
        if depth > DEPTH_MAX {
            return Err(format!("its schemas are more than {DEPTH_MAX} levels deep"));
        }
        match node {
            Value::Array(items) => self.sum(items.iter(), depth),
            Value::Object(keys) => {
                let mut schemas = 1_u64;
                for (key, value) in keys {
                    schemas = schemas.saturating_add(self.key(key, value, depth)?);
                }
                Ok(schemas)
            }
            _ => Ok(0),
        }
    }

    fn key(&mut self, key: &'a str, value: &'a Value, depth: usize) -> Result<u64, String> {
        match value {
            Value::String(target) if key == "$ref" => self.referred(target, depth),
            Value::String(_) if DYNAMIC.contains(&key) => Err(format!("it has a `{key}`; write a `$ref`")),
            Value::String(_) if key == "pattern" => {
                self.patterns += 1;
                Ok(0)
            }
            Value::Object(patterns) if key == "patternProperties" => {
                self.patterns += patterns.len() as u64;
                self.sum(patterns.values(), depth)
            }
            _ if DATA.contains(&key) || DEFINITIONS.contains(&key) => Ok(0),
            _ => self.schemas(value, depth + 1),
        }
    }

    fn sum(&mut self, nodes: impl Iterator<Item = &'a Value>, depth: usize) -> Result<u64, String> {
        let mut schemas = 0_u64;
        for node in nodes {
            schemas = schemas.saturating_add(self.schemas(node, depth + 1)?);
        }
        Ok(schemas)
    }

    fn referred(&mut self, target: &'a str, depth: usize) -> Result<u64, String> {
        match self.known.get(target) {
            Some(Some(schemas)) => return Ok(*schemas),
            Some(None) => return Err(format!("`$ref` `{target}` leads back to itself")),
            None => {}
        }
        let node = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let node = node.ok_or_else(|| format!("`$ref` `{target}` is no place in it, as `#/$defs/name` is"))?;
        self.known.insert(target, None);
        let schemas = self.schemas(node, depth + 1)?;
        self.known.insert(target, Some(schemas));
        Ok(schemas)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ordinary_schemas_pass() {
        for schema in [
            json!({}),
            json!({ "type": "object", "properties": { "$ref": { "type": "string" }, "a": { "$ref": "#/$defs/a" },
                "b": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "items": { "$ref": "#/definitions/x y" } } },
                "definitions": { "x y": { "enum": [{ "$ref": "no schema" }] } } }),
            json!({ "properties": { "a": { "pattern": "^a$" } }, "patternProperties": { "^x": true } }),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn what_leads_back_to_itself_or_elsewhere_is_refused() {
        for (schema, words) in [
            (json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }), "leads back to itself"),
            (
                json!({ "$ref": "#/$defs/a", "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
                "leads back to itself",
            ),
            (json!({ "$ref": "http://127.0.0.1/" }), "is no place in it"),
            (json!({ "$ref": "#/$defs/none" }), "is no place in it"),
            (json!({ "$dynamicRef": "#a" }), "`$dynamicRef`"),
        ] {
            let error = check(&schema).unwrap_err();
            assert!(error.contains(words), "{schema}: {error}");
        }
    }

    #[test]
    fn what_no_machine_would_ever_be_done_with_is_refused() {
        let next = |level: usize| json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        let level = |level: usize| (format!("a{level}"), json!({ "anyOf": vec![next(level); 4] }));
        let mut defs: serde_json::Map<String, Value> = (0..20).map(level).collect();
        defs.insert("a20".into(), json!({ "type": "null" }));
        let schema = json!({ "$ref": "#/$defs/a0", "$defs": defs });
        assert!(check(&schema).unwrap_err().contains("applies more than 50000 schemas"));

        let chain = |next: usize| json!({ "$ref": format!("#/$defs/a{next}") });
        let mut defs: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("a{n}"), chain(n + 1))).collect();
        defs.insert("a5000".into(), json!({}));
        let schema = json!({ "$ref": "#/$defs/a0", "$defs": defs });
        assert!(check(&schema).unwrap_err().contains("more than 100 levels deep"));

        let patterns: serde_json::Map<String, Value> = (0..201).map(|n| (format!("^{n}$"), json!({}))).collect();
        assert!(
            check(&json!({ "patternProperties": patterns })).unwrap_err().contains("201 patterns, 200 are allowed")
        );
    }
}
