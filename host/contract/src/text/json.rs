//! JSON texts, strictly: no comments, no trailing commas, no key twice.

use std::collections::HashSet;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{At, Data, Entry, Node};

/// Why a text is no document: offset, key and message.
pub(super) struct Flaw {
    pub(super) offset: usize,
    pub(super) key: Option<String>,
    pub(super) message: String,
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The tree of a JSON text, and the keys that are given twice; or the first flaw of its syntax.
pub(super) fn parse(text: &str) -> Result<(Node, Vec<Flaw>), Flaw> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| Flaw {
        offset: error.range().start,
        key: None,
        message: lower_first(&error.kind().to_string()),
    })?;
    let Some(value) = parsed.value else {
        return Err(Flaw { offset: 0, key: None, message: "the file is empty".to_owned() });
    };
    refuse_what_is_no_json(text)?;
    let mut twice = Vec::new();
    let node = convert(&value, &|offset| At::Offset(offset), "", &mut twice);
    Ok((node, twice))
}

/// The tree of a JSON text that stands in a string (Spark's `assign` and `startingOffsets`); all of it stands `at`.
pub(crate) fn parse_embedded(text: &str, at: &At) -> Result<Node, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT)
        .map_err(|error| lower_first(&error.kind().to_string()))?;
    refuse_what_is_no_json(text).map_err(|flaw| flaw.message)?;
    let value = parsed.value.ok_or_else(|| "empty text".to_owned())?;
    let mut twice = Vec::new();
    let node = convert(&value, &|_| at.clone(), "", &mut twice);
    match twice.pop() {
        Some(flaw) => Err(format!("key `{}` is given twice", flaw.key.unwrap_or_default())),
        None => Ok(node),
    }
}

/// jsonc-parser still lets control characters in strings and odd white space pass; serde_json does not.
fn refuse_what_is_no_json(text: &str) -> Result<(), Flaw> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else { return Ok(()) };
    let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    Err(Flaw { offset: line_start + error.column().saturating_sub(1), key: None, message: lower_first(message) })
}

fn convert(value: &Value<'_>, at: &dyn Fn(usize) -> At, path: &str, twice: &mut Vec<Flaw>) -> Node {
    let data = match value {
        Value::NullKeyword(_) => Data::Null,
        Value::BooleanLit(literal) => Data::Bool(literal.value),
        Value::NumberLit(literal) => Data::Number(literal.value.to_owned()),
        Value::StringLit(literal) => Data::Text(literal.value.clone().into_owned()),
        Value::Array(array) => Data::List(
            array
                .elements
                .iter()
                .enumerate()
                .map(|(index, element)| convert(element, at, &format!("{path}[{index}]"), twice))
                .collect(),
        ),
        Value::Object(object) => Data::Object(convert_entries(&object.properties, at, path, twice)),
    };
    Node { at: at(value.start()), data }
}

fn convert_entries(
    properties: &[ObjectProp<'_>],
    at: &dyn Fn(usize) -> At,
    path: &str,
    twice: &mut Vec<Flaw>,
) -> Vec<Entry> {
    let mut seen = HashSet::new();
    let mut entries = Vec::new();
    for property in properties {
        let name = property.name.as_str().to_owned();
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let value = convert(&property.value, at, &key, twice);
        if seen.insert(name.clone()) {
            entries.push(Entry { name, at: at(property.start()), value });
        } else {
            twice.push(Flaw {
                offset: property.start(),
                key: Some(key),
                message: "this key is given twice in one object".to_owned(),
            });
        }
    }
    entries
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
