//! Ranges between two positions, and how they follow each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::position::{FilesPosition, KafkaPosition, Position, PositionError, TablePosition};

/// A half-open range: what lies from `start` up to, and not including, `end`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Range {
    /// First to read.
    pub start: Position,
    /// First not to read.
    pub end: Position,
}

impl Range {
    /// A range that goes forwards: same kind, same table, and no partition is behind its start or missing in the end.
    /// Partitions that are new in the end start at offset 0.
    pub fn new(start: Position, end: Position) -> Result<Self, PositionError> {
        let range = Self::after_loss(start, end)?;
        match range.backwards() {
            None => Ok(range),
            Some(what) => {
                Err(PositionError::Backwards { start: range.start.to_string(), end: range.end.to_string(), what })
            }
        }
    }

    /// A range whose partitions may be gone or begin anew, as after a topic was deleted and made again. Only for a
    /// contract that allows data loss: such a partition has no rows in this range.
    pub fn after_loss(start: Position, end: Position) -> Result<Self, PositionError> {
        match (&start, &end) {
            (Position::Kafka(_), Position::Kafka(_)) | (Position::Files(_), Position::Files(_)) => {}
            (Position::Table(s), Position::Table(e)) if s.reservoir_id == e.reservoir_id => {}
            (Position::Table(s), Position::Table(e)) => {
                return Err(PositionError::Tables { start: s.reservoir_id.clone(), end: e.reservoir_id.clone() });
            }
            _ => return Err(PositionError::Kinds { start: start.kind(), end: end.kind() }),
        }
        Ok(Self { start, end })
    }

    /// Offsets, entries of the files' log, or (in one version of a table) files between start and end, as far as the
    /// numbers tell; never below 0, and as many as fit. Over several versions of a table: the number of versions, as
    /// only the log knows how many files they have.
    pub fn distance(&self) -> u64 {
        match (&self.start, &self.end) {
            (Position::Kafka(start), Position::Kafka(end)) => end
                .partitions()
                .map(|(topic, p, end)| forwards(start.get(topic, p).unwrap_or(0), end))
                .fold(0, u64::saturating_add),
            (Position::Files(start), Position::Files(end)) => forwards(start.log_offset, end.log_offset),
            (Position::Table(start), Position::Table(end)) if start.reservoir_version == end.reservoir_version => {
                forwards(start.index, end.index)
            }
            (Position::Table(start), Position::Table(end)) => forwards(start.reservoir_version, end.reservoir_version),
            _ => 0,
        }
    }

    /// `{"start": …, "end": …}` for notes in commits.
    pub fn to_json(&self) -> Value {
        json!({ "start": self.start.to_json(), "end": self.end.to_json() })
    }

    fn backwards(&self) -> Option<String> {
        match (&self.start, &self.end) {
            (Position::Kafka(start), Position::Kafka(end)) => {
                start.partitions().find_map(|(topic, p, from)| match end.get(topic, p) {
                    None => Some(format!("topic `{topic}`, partition {p} is missing")),
                    Some(until) if until < from => Some(format!("topic `{topic}`, partition {p} is before {from}")),
                    Some(_) => None,
                })
            }
            _ if self.end.reaches(&self.start) => None,
            _ => Some("positions of a source never go back".to_owned()),
        }
    }
}

impl Position {
    /// Whether everything before `other` also lies before this position. False for positions of different sources.
    pub fn reaches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Kafka(a), Self::Kafka(b)) => {
                b.partitions().all(|(topic, p, offset)| a.get(topic, p).is_some_and(|own| own >= offset))
            }
            (Self::Files(FilesPosition { log_offset: a }), Self::Files(FilesPosition { log_offset: b })) => a >= b,
            (Self::Table(a), Self::Table(b)) => a.reservoir_id == b.reservoir_id && a.reaches(b),
            _ => false,
        }
    }
}

impl KafkaPosition {
    /// Next offset of a partition; `None` when the position does not know it.
    pub fn get(&self, topic: &str, partition: i32) -> Option<i64> {
        self.0.get(topic)?.get(&partition).copied()
    }

    /// All partitions with their next offset, by topic and number.
    pub fn partitions(&self) -> impl Iterator<Item = (&str, i32, i64)> {
        self.0.iter().flat_map(|(topic, partitions)| partitions.iter().map(|(p, offset)| (topic.as_str(), *p, *offset)))
    }
}

impl FromIterator<(String, i32, i64)> for KafkaPosition {
    fn from_iter<I: IntoIterator<Item = (String, i32, i64)>>(partitions: I) -> Self {
        let mut topics: BTreeMap<String, BTreeMap<i32, i64>> = BTreeMap::new();
        for (topic, partition, offset) in partitions {
            topics.entry(topic).or_default().insert(partition, offset);
        }
        Self(topics)
    }
}

impl TablePosition {
    fn place(&self) -> (i64, i64) {
        (self.reservoir_version, self.index)
    }

    /// What follows a snapshot are the versions after it; no snapshot follows them, nor another snapshot.
    fn reaches(&self, other: &Self) -> bool {
        match (other.snapshot, self.snapshot) {
            (false, false) => self.place() >= other.place(),
            (true, true) => self.reservoir_version == other.reservoir_version && self.index >= other.index,
            (true, false) => self.reservoir_version > other.reservoir_version,
            (false, true) => false,
        }
    }
}

fn forwards(start: i64, end: i64) -> u64 {
    u64::try_from(end.saturating_sub(start)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
