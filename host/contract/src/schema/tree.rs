//! The table of keys as a tree, and each place of it as a schema.

use serde_json::{Map, Value, json};

use super::{spelling, value};
use crate::keys::{Key, KeyFile};
use crate::table::StageKind;

/// A place where a value stands.
#[derive(Debug, Default, Clone)]
pub(super) struct Node {
    /// What may stand there by itself.
    key: Option<&'static Key>,
    /// Keys below it, in the order of the reference.
    names: Vec<(&'static str, Node)>,
    /// Below it any name may stand, with this.
    any: Option<Box<Node>>,
    /// Below it any name may stand after `kafka.`, with this.
    client: Option<Box<Node>>,
    /// It is a list of these.
    items: Option<Box<Node>>,
}

/// Where options stand, whose names have several spellings.
const OPTIONS: [&str; 2] = ["source.kafka", "options"];

impl Node {
    /// Puts a key where its path leads.
    pub(super) fn insert(&mut self, key: &'static Key) {
        if let Some(above) = key.path.strip_suffix(".kafka.*") {
            self.at(above).client = Some(Box::new(Self { key: Some(key), ..Self::default() }));
        } else {
            self.at(key.path).key = Some(key);
        }
    }

    fn at(&mut self, path: &'static str) -> &mut Self {
        let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
        let below = self.below(step.trim_end_matches("[]"));
        let below = if step.ends_with("[]") { below.items.get_or_insert_default() } else { below };
        match rest {
            Some(rest) => below.at(rest),
            None => below,
        }
    }

    fn below(&mut self, name: &'static str) -> &mut Self {
        if name == "*" {
            return self.any.get_or_insert_default();
        }
        let at = self.names.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.names.push((name, Self::default()));
            self.names.len() - 1
        });
        &mut self.names[at].1
    }

    /// `options` of an ingestion contract may hold what may stand in `source.kafka`.
    pub(super) fn share_options(&mut self) {
        let kafka = self.at("source.kafka").clone();
        let options = self.at("options");
        options.any = None;
        options.names.extend(kafka.names);
        options.client = kafka.client;
    }

    /// What may stand at `path`, this place.
    pub(super) fn schema(&self, path: &str) -> Value {
        let mut schema = match (&self.items, self.holds_names()) {
            (Some(items), _) => json!({ "type": "array", "items": items.schema(&format!("{path}[]")) }),
            (None, true) => self.object(path),
            (None, false) => Value::Null,
        };
        if let Some(key) = self.key {
            schema = value::schema(key, is_option(path), schema);
            schema["description"] = key.meaning.into();
        }
        schema
    }

    fn holds_names(&self) -> bool {
        !self.names.is_empty() || self.any.is_some() || self.client.is_some()
    }

    fn object(&self, path: &str) -> Value {
        let (mut properties, mut patterns) = (Map::new(), Map::new());
        for (name, node) in &self.names {
            let schema = node.schema(&join(path, name));
            if OPTIONS.contains(&path) {
                let spark = node.key.map(|key| key.spark).filter(|spark| !spark.is_empty());
                let mut pattern = schema.clone();
                pattern.as_object_mut().and_then(|pattern| pattern.remove("description"));
                for name in [*name].into_iter().chain(spark) {
                    patterns.insert(spelling::of_option(name), pattern.clone());
                }
                properties.extend(spark.map(|spark| (spark.to_owned(), schema.clone())));
            }
            properties.insert((*name).to_owned(), schema);
        }
        if let Some(client) = &self.client {
            patterns.insert(spelling::CLIENT.to_owned(), client.schema(""));
        }
        let any = self.any.as_ref().map_or(Value::Bool(false), |any| any.schema(""));
        let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": any });
        if !patterns.is_empty() {
            object["patternProperties"] = patterns.into();
        }
        let required: Vec<&str> =
            self.names.iter().filter(|(_, node)| node.is_required()).map(|(name, _)| *name).collect();
        if !required.is_empty() {
            object["required"] = required.into();
        }
        let kinds = StageKind::ALL.map(StageKind::key);
        if kinds.iter().all(|kind| self.names.iter().any(|(name, _)| name == kind)) {
            object["oneOf"] = kinds.iter().map(|kind| json!({ "required": [kind] })).collect();
        }
        object
    }

    /// Whether a file must have it: it, or without a row of its own something in it. Settings may come from outside.
    fn is_required(&self) -> bool {
        match self.key {
            Some(key) => {
                let says = key.meaning.ends_with(". Required") || key.meaning.contains(". Required in `");
                says && key.file != KeyFile::Settings
            }
            None => self.names.iter().any(|(_, node)| node.is_required()),
        }
    }
}

fn is_option(path: &str) -> bool {
    OPTIONS.iter().any(|parent| path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.')))
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") }
}
