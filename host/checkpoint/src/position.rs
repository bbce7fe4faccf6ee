//! Where a source stands, in Spark's text.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::unique;

/// Where a source stands: always *next to read*.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Position {
    /// Kafka partitions.
    Kafka(KafkaPosition),
    /// A folder of files.
    Files(FilesPosition),
    /// A Delta table.
    Table(TablePosition),
}

/// Next offset to read, per topic and partition (C-006, K-033).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct KafkaPosition(pub BTreeMap<String, BTreeMap<i32, i64>>);

/// Newest entry of the source's log of files (`sources/0/<n>`, C-005); -1 before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FilesPosition {
    /// `logOffset` in Spark's text.
    pub log_offset: i64,
}

/// Next file to read of a Delta table (D-129): file `index` of the data changes of a version, or of all that the table
/// held at that version (D-120).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TablePosition {
    /// The table's id: another table at the same path is refused.
    pub reservoir_id: String,
    /// Version of the table.
    pub reservoir_version: i64,
    /// Index among the added files of that version, in the order of the log; among those of the snapshot, oldest first.
    pub index: i64,
    /// Whether the files counted are those of the table at that version, not those that the version added.
    pub snapshot: bool,
}

/// Kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Kafka partitions.
    Kafka,
    /// A folder of files.
    Files,
    /// A Delta table.
    Table,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kafka => "Kafka",
            Self::Files => "files",
            Self::Table => "a Delta table",
        })
    }
}

/// Version of the text of a table's position.
const TABLE_SOURCE_VERSION: i64 = 1;

impl Position {
    /// Kind of the source that it belongs to.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Kafka(_) => Kind::Kafka,
            Self::Files(_) => Kind::Files,
            Self::Table(_) => Kind::Table,
        }
    }

    /// Spark's JSON for it, as it stands in `offsets/N` and in progress objects.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Kafka(KafkaPosition(topics)) => {
                let topic = |partitions: &BTreeMap<i32, i64>| {
                    Value::Object(partitions.iter().map(|(p, offset)| (p.to_string(), json!(offset))).collect())
                };
                Value::Object(topics.iter().map(|(name, partitions)| (name.clone(), topic(partitions))).collect())
            }
            Self::Files(p) => json!({ "logOffset": p.log_offset }),
            Self::Table(p) => json!({
                "sourceVersion": TABLE_SOURCE_VERSION,
                "reservoirId": p.reservoir_id,
                "reservoirVersion": p.reservoir_version,
                "index": p.index,
                "isStartingVersion": p.snapshot,
            }),
        }
    }

    /// Reads Spark's JSON. The kind shows in the keys; anything unknown, doubled, missing or out of range is refused.
    pub fn parse(text: &str) -> Result<Self, PositionError> {
        let refuse = |what: String| PositionError::Text { found: shorten(text), what };
        let object = match unique::parse(text).map_err(refuse)? {
            Value::Object(object) => object,
            other => return Err(refuse(format!("{} is no JSON object", kind_of(&other)))),
        };
        let parsed = if object.contains_key("reservoirId") || object.contains_key("sourceVersion") {
            table(&object).map(Self::Table)
        } else if object.get("logOffset").is_some_and(Value::is_number) {
            files(&object).map(Self::Files)
        } else {
            kafka(&object).map(Self::Kafka)
        };
        parsed.map_err(refuse)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

fn kafka(object: &Map<String, Value>) -> Result<KafkaPosition, String> {
    let mut topics = BTreeMap::new();
    for (topic, partitions) in object {
        let Value::Object(partitions) = partitions else {
            return Err(format!("`{topic}` has {}, not an object of partitions", kind_of(partitions)));
        };
        let partitions = partitions.iter().map(|(p, offset)| partition(topic, p, offset));
        topics.insert(topic.clone(), partitions.collect::<Result<_, _>>()?);
    }
    Ok(KafkaPosition(topics))
}

fn partition(topic: &str, name: &str, offset: &Value) -> Result<(i32, i64), String> {
    let number = name.parse::<i32>().ok().filter(|n| *n >= 0 && n.to_string() == name);
    let number = number.ok_or_else(|| format!("topic `{topic}`: `{name}` is no partition number"))?;
    let offset = offset.as_i64().filter(|o| *o >= 0).ok_or_else(|| {
        format!("topic `{topic}`, partition {number}: `{offset}` is no offset; a checkpoint holds numbers from 0")
    })?;
    Ok((number, offset))
}

fn files(object: &Map<String, Value>) -> Result<FilesPosition, String> {
    only(object, &["logOffset"])?;
    Ok(FilesPosition { log_offset: integer(object, "logOffset", -1)? })
}

fn table(object: &Map<String, Value>) -> Result<TablePosition, String> {
    only(object, &["sourceVersion", "reservoirId", "reservoirVersion", "index", "isStartingVersion"])?;
    let version = integer(object, "sourceVersion", 0)?;
    if version != TABLE_SOURCE_VERSION {
        return Err(format!("`sourceVersion` is {version}, this host reads {TABLE_SOURCE_VERSION}"));
    }
    let snapshot = field(object, "isStartingVersion")?;
    let snapshot = snapshot.as_bool().ok_or_else(|| format!("`isStartingVersion` is `{snapshot}`, no truth value"))?;
    let id = field(object, "reservoirId")?.as_str().ok_or("`reservoirId` is no text")?;
    Ok(TablePosition {
        reservoir_id: id.to_owned(),
        reservoir_version: integer(object, "reservoirVersion", 0)?,
        index: integer(object, "index", 0)?,
        snapshot,
    })
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    object.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn integer(object: &Map<String, Value>, name: &str, least: i64) -> Result<i64, String> {
    let value = field(object, name)?;
    value.as_i64().filter(|n| *n >= least).ok_or_else(|| format!("`{name}` is `{value}`, not a number from {least}"))
}

fn only(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` is unknown here")),
        None => Ok(()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Enough of a text to recognise it in a message.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 120;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

/// Why positions do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// Not the text of a position.
    #[error("`{found}` is no position of a source: {what}")]
    Text {
        /// What was found, shortened.
        found: String,
        /// What is wrong.
        what: String,
    },
    /// Positions of two kinds of source.
    #[error("one position belongs to {start}, the other to {end}")]
    Kinds {
        /// Kind of the start.
        start: Kind,
        /// Kind of the end.
        end: Kind,
    },
    /// Positions of two tables.
    #[error("one position belongs to the table with id `{start}`, the other to the table with id `{end}`")]
    Tables {
        /// Id at the start.
        start: String,
        /// Id at the end.
        end: String,
    },
    /// The end lies before the start.
    #[error("the end {end} lies before the start {start}: {what}")]
    Backwards {
        /// Start.
        start: String,
        /// End.
        end: String,
        /// Where it goes back.
        what: String,
    },
}

#[cfg(test)]
mod tests;
