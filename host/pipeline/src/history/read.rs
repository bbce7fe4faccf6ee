//! What a batch read, from the text of its range.

use std::collections::BTreeMap;

use crisol_checkpoint::{KafkaPosition, Position, SourceLog, TablePosition};
use serde::Serialize;
use serde_json::Value;

/// What a batch read; `until` is exclusive everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum Read {
    /// Offsets.
    Kafka {
        /// Partitions of which anything was read.
        partitions: Vec<PartitionRange>,
    },
    /// Files, by the entries of the log of files in the checkpoint.
    Files {
        /// First entry.
        from: i64,
        /// Entry behind the last.
        until: i64,
        /// The files of these entries; `None`: the checkpoint does not have the entries any more.
        files: Option<Vec<String>>,
    },
    /// Versions of a table.
    Table {
        /// Where it began; `None`: at the table's beginning.
        from: Option<TablePlace>,
        /// Where it ended.
        until: TablePlace,
    },
}

/// Offsets of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartitionRange {
    /// Which topic.
    pub topic: String,
    /// Which partition.
    pub partition: i32,
    /// First offset; `None` where the commit does not say it.
    pub from: Option<i64>,
    /// Offset behind the last.
    pub until: i64,
}

/// A place in a table's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TablePlace {
    /// Id of the table.
    pub table_id: String,
    /// Which version.
    pub version: i64,
    /// Which of its files.
    pub file: i64,
    /// Whether the files are all that the table held then, not those that the version added.
    pub snapshot: bool,
}

impl Read {
    /// `{"start", "end"}` as batches have it, or an end alone as a rebuild has it.
    pub(super) fn of(range: &Value) -> Option<Self> {
        let position = |value: &Value| Position::parse(&value.to_string()).ok();
        let end = range.get("end").unwrap_or(range);
        match (range.get("start").and_then(position), position(end)?) {
            (start, Position::Kafka(end)) => {
                let start = match start {
                    Some(Position::Kafka(start)) => Some(start),
                    _ => None,
                };
                Some(Self::Kafka { partitions: partitions(start.as_ref(), &end) })
            }
            (Some(Position::Files(start)), Position::Files(end)) => {
                Some(Self::Files { from: start.log_offset + 1, until: end.log_offset + 1, files: None })
            }
            (None, Position::Files(end)) => Some(Self::Files { from: 0, until: end.log_offset + 1, files: None }),
            (Some(Position::Table(start)), Position::Table(end)) => {
                Some(Self::Table { from: Some(start.into()), until: end.into() })
            }
            (None, Position::Table(end)) => Some(Self::Table { from: None, until: end.into() }),
            _ => None,
        }
    }

    /// The same with the names of the files, where the log of files still has all of its entries.
    pub(super) async fn with_files(self, log: Option<&SourceLog>) -> Self {
        let Self::Files { from, until, .. } = self else { return self };
        let files = match log {
            Some(log) => files(log, from, until).await,
            None => None,
        };
        Self::Files { from, until, files }
    }
}

async fn files(log: &SourceLog, from: i64, until: i64) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for entry in from..until {
        let number = u64::try_from(entry).ok()?;
        let bytes = log.get(number).await.ok()??;
        all.extend(crisol_source::logged_files(number, std::str::from_utf8(&bytes).ok()?).ok()?);
    }
    Some(all)
}

fn partitions(start: Option<&KafkaPosition>, end: &KafkaPosition) -> Vec<PartitionRange> {
    let from = |topic: &str, partition: i32| start.and_then(|start| start.0.get(topic)?.get(&partition).copied());
    let all = end.0.iter().flat_map(|(topic, ends): (&String, &BTreeMap<i32, i64>)| {
        ends.iter().map(move |(partition, until)| (topic, *partition, *until))
    });
    let ranges = all.map(|(topic, partition, until)| PartitionRange {
        topic: topic.clone(),
        partition,
        from: from(topic, partition),
        until,
    });
    ranges.filter(|range| range.from.is_none_or(|from| from < range.until)).collect()
}

impl From<TablePosition> for TablePlace {
    fn from(position: TablePosition) -> Self {
        let TablePosition { reservoir_id, reservoir_version, index, snapshot } = position;
        Self { table_id: reservoir_id, version: reservoir_version, file: index, snapshot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranges_of_every_source_are_read_and_others_are_not_guessed() {
        let kafka = json!({ "start": { "t": { "0": 3, "1": 5 } }, "end": { "t": { "0": 7, "1": 5, "2": 1 } } });
        let range = |partition, from, until| PartitionRange { topic: "t".into(), partition, from, until };
        let partitions = vec![range(0, Some(3), 7), range(2, None, 1)];
        assert_eq!(Read::of(&kafka), Some(Read::Kafka { partitions }));
        let files = json!({ "start": { "logOffset": -1 }, "end": { "logOffset": 1 } });
        assert_eq!(Read::of(&files), Some(Read::Files { from: 0, until: 2, files: None }));
        let place = |version: i64, index: i64| {
            json!({ "sourceVersion": 1, "reservoirId": "id", "reservoirVersion": version, "index": index,
                "isStartingVersion": false })
        };
        let told = |version, file| TablePlace { table_id: "id".into(), version, file, snapshot: false };
        let table = json!({ "start": place(1, 0), "end": place(4, 2) });
        assert_eq!(Read::of(&table), Some(Read::Table { from: Some(told(1, 0)), until: told(4, 2) }));
        assert_eq!(Read::of(&place(4, 2)), Some(Read::Table { from: None, until: told(4, 2) }));
        for other in [json!(null), json!({}), json!("x"), json!({ "start": place(1, 0), "end": 3 })] {
            assert!(matches!(Read::of(&other), None | Some(Read::Kafka { .. })), "{other}");
        }
    }
}
