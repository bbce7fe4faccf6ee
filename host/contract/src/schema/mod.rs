//! JSON Schemas of the files that users write, for their editors: made of the table of keys, so that neither has a key that
//! the other has not.
//!
//! A schema is never stricter than the parser: what it refuses, a start refuses. What hangs on other keys (`path` for files,
//! `keys` for an upsert) only a start sees.

mod spelling;
mod tree;
mod value;

use serde_json::{Value, json};

use self::tree::Node;
use crate::keys::{KeyFile, keys};

/// The JSON Schema (draft 2020-12) of a file.
pub fn schema(file: KeyFile) -> Value {
    let mut root = Node::default();
    for key in keys().iter().filter(|key| key.file == file) {
        root.insert(key);
    }
    if file == KeyFile::Ingestion {
        root.share_options();
    }
    let mut schema = root.schema("");
    let (title, more) = match file {
        KeyFile::Settings => ("Settings of a project, crisol.toml", "Required keys may also come from the environment"),
        KeyFile::Ingestion => {
            ("An ingestion contract", "Options are known by their names here and in Spark, whatever their case")
        }
        KeyFile::Table => ("A table contract", "Columns, stages, rules, and how rows are written"),
    };
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = title.into();
    schema["description"] = more.into();
    if file == KeyFile::Settings {
        // They may also be set with `--set` and by the environment, and dots in names of options make tables in TOML.
        schema["$defs"] = json!({ "kafka": value::client_options() });
        schema["properties"]["kafka"] = json!({ "$ref": "#/$defs/kafka" });
    }
    schema
}
