//! The tree.

use std::sync::Arc;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) data: Data,
}

/// Where a key or value stands.
#[derive(Debug, Clone)]
pub(crate) enum At {
    /// Byte offset in the file.
    Offset(usize),
    /// Not in a file: `--set`, or an environment variable.
    Outside(Arc<str>),
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Entry>),
    /// A TOML type that no key takes.
    Other(&'static str),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) at: At,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.data {
            Data::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.name == name)
    }

    /// With its article, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "a string",
            Data::List(_) => "a list",
            Data::Object(_) => "an object",
            Data::Other(name) => name,
        }
    }

    /// As JSON. Numbers that JSON cannot hold become text.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(text) => text.parse().map_or_else(|_| Value::String(text.clone()), Value::Number),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Data::Object(entries) => {
                Value::Object(entries.iter().map(|entry| (entry.name.clone(), entry.value.to_json())).collect())
            }
            Data::Other(name) => Value::String((*name).to_owned()),
        }
    }
}
