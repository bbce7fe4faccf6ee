//! Texts of `metadata`, `offsets/N`, `commits/N` and `sources/0/0`, as Spark writes them (C-002 … C-007).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::CheckpointError;
use crate::position::Position;

/// Version of the entries that this host reads and writes.
const VERSION: &str = "v1";
/// Entry of `conf` that names the run that logged a range.
const RUN_ID: &str = "crisol.runId";
/// Written for a source that has no position.
const NO_POSITION: &str = "-";

/// `metadata`: the id of the checkpoint, made once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Application id of its commits (D-001).
    pub id: Uuid,
}

impl Metadata {
    /// One line of JSON.
    pub fn to_text(self) -> String {
        serde_json::json!({ "id": self.id.to_string() }).to_string()
    }

    /// Reads it back.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        serde_json::from_str(text.trim_end()).map_err(|e| CheckpointError::malformed("metadata", e))
    }
}

/// `offsets/N`: the range of a batch, by its end, and what is fixed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeEntry {
    /// Clock of the batch for stages and rules, milliseconds since 1970 (C-022).
    pub timestamp_ms: i64,
    /// Run that logged it; `None` in Spark's entries.
    pub run_id: Option<Uuid>,
    /// Other entries of `conf`, kept as they were.
    pub conf: BTreeMap<String, String>,
    /// End of the range per source; a stream of ours has one. `None` stands for a source without position.
    pub ends: Vec<Option<Position>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RangeMetadata {
    batch_watermark_ms: i64,
    batch_timestamp_ms: i64,
    #[serde(default)]
    conf: BTreeMap<String, String>,
}

impl RangeEntry {
    /// The range of a batch of one source that ends here. The run is filled in when it is logged.
    pub fn new(timestamp_ms: i64, end: Position) -> Self {
        Self { timestamp_ms, run_id: None, conf: BTreeMap::new(), ends: vec![Some(end)] }
    }

    /// Text of the entry.
    pub fn to_text(&self) -> String {
        let mut conf = self.conf.clone();
        if let Some(run_id) = self.run_id {
            conf.insert(RUN_ID.to_owned(), run_id.to_string());
        }
        let head = serde_json::json!({
            "batchWatermarkMs": 0,
            "batchTimestampMs": self.timestamp_ms,
            "conf": conf,
        });
        let mut text = format!("{VERSION}\n{head}");
        for end in &self.ends {
            text.push('\n');
            match end {
                Some(end) => text.push_str(&end.to_string()),
                None => text.push_str(NO_POSITION),
            }
        }
        text
    }

    /// Reads an entry; `file` is its name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, CheckpointError> {
        let mut lines = body(file, text)?.lines();
        let head = lines.next().ok_or_else(|| CheckpointError::malformed(file, "it ends after the version line"))?;
        let mut head: RangeMetadata = serde_json::from_str(head).map_err(|e| CheckpointError::malformed(file, e))?;
        let run_id = head.conf.remove(RUN_ID).map(|id| parse_run_id(file, &id)).transpose()?;
        let ends = lines.map(|line| match line {
            NO_POSITION => Ok(None),
            line => parse_position(file, line).map(Some),
        });
        Ok(Self {
            timestamp_ms: head.batch_timestamp_ms,
            run_id,
            ends: ends.collect::<Result<_, _>>()?,
            conf: head.conf,
        })
    }

    /// The end of the one source.
    pub(crate) fn end(&self, file: &str) -> Result<&Position, CheckpointError> {
        match self.ends.as_slice() {
            [Some(end)] => Ok(end),
            [None] => Err(CheckpointError::malformed(file, "its source has no position (`-`)")),
            ends => Err(CheckpointError::SourceCount { file: file.to_owned(), found: ends.len(), expected: 1 }),
        }
    }
}

/// `commits/N`: the batch is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitEntry {
    /// Run that marked it; `None` in Spark's entries.
    pub run_id: Option<Uuid>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitMetadata {
    next_batch_watermark_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
}

impl CommitEntry {
    /// Text of the entry.
    pub fn to_text(&self) -> String {
        let mut body = serde_json::Map::new();
        body.insert("nextBatchWatermarkMs".to_owned(), 0.into());
        if let Some(run_id) = self.run_id {
            body.insert("runId".to_owned(), run_id.to_string().into());
        }
        format!("{VERSION}\n{}", serde_json::Value::Object(body))
    }

    /// Reads an entry; `file` is its name for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, CheckpointError> {
        let body: CommitMetadata =
            serde_json::from_str(body(file, text)?).map_err(|e| CheckpointError::malformed(file, e))?;
        Ok(Self { run_id: body.run_id.map(|id| parse_run_id(file, &id)).transpose()? })
    }
}

/// First byte of `sources/0/0` when it holds a position: Spark writes it for readers older than its version lines, and
/// nothing else under `sources/` begins so.
const INITIAL_MARK: char = '\0';

/// Whether the bytes of `sources/0/0` are a first position.
pub(crate) fn is_initial(bytes: &[u8]) -> bool {
    bytes.starts_with(INITIAL_MARK.encode_utf8(&mut [0]).as_bytes())
}

/// Text of `sources/0/0` of a source that keeps its first position there (K-032).
pub(crate) fn initial_text(position: &Position) -> String {
    format!("{INITIAL_MARK}{VERSION}\n{position}")
}

/// Reads `sources/0/0`.
pub(crate) fn parse_initial(file: &str, text: &str) -> Result<Position, CheckpointError> {
    parse_position(file, body(file, text.strip_prefix(INITIAL_MARK).unwrap_or(text))?.trim_end())
}

/// What follows the version line (C-007).
pub(crate) fn body<'a>(file: &str, text: &'a str) -> Result<&'a str, CheckpointError> {
    let (version, body) = text.split_once('\n').unwrap_or((text, ""));
    if version == VERSION {
        return Ok(body);
    }
    if version.is_empty() {
        return Err(CheckpointError::malformed(file, "it is empty or begins with an empty line"));
    }
    let found = version.chars().take(40).collect();
    Err(CheckpointError::UnsupportedVersion { file: file.to_owned(), found, supported: VERSION })
}

fn parse_position(file: &str, text: &str) -> Result<Position, CheckpointError> {
    Position::parse(text).map_err(|source| CheckpointError::Position { file: file.to_owned(), source })
}

fn parse_run_id(file: &str, text: &str) -> Result<Uuid, CheckpointError> {
    Uuid::parse_str(text).map_err(|_| CheckpointError::malformed(file, format!("run id `{text}` is no UUID")))
}

#[cfg(test)]
mod tests;
