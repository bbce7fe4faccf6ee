//! Doubles for tests: a topic in memory with holes and retention, its source, and a log of entries in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{KafkaPosition, Position, Range};

use crate::chunks::spawn;
use crate::kafka::{Ahead, ChunkBuilder, Headers, Held, RecordView, kafka_schema, look_ahead};
use crate::{Chunks, Estimate, LogError, Planned, Source, SourceError, SourceLog};

const TOPIC: &str = "memory";

/// A [`SourceLog`] in memory.
#[derive(Debug, Default, Clone)]
pub struct MemoryLog(Arc<Mutex<BTreeMap<u64, String>>>);

impl MemoryLog {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an entry away, as a damaged checkpoint would.
    pub fn remove(&self, n: u64) {
        self.entries().remove(&n);
    }
}

#[async_trait]
impl SourceLog for MemoryLog {
    async fn get(&self, n: u64) -> Result<Option<String>, LogError> {
        Ok(self.entries().get(&n).cloned())
    }

    async fn put_if_absent(&self, n: u64, text: &str) -> Result<bool, LogError> {
        let mut entries = self.entries();
        let absent = !entries.contains_key(&n);
        if absent {
            entries.insert(n, text.to_owned());
        }
        Ok(absent)
    }

    async fn list(&self) -> Result<Vec<u64>, LogError> {
        Ok(self.entries().keys().copied().collect())
    }
}

/// A topic with one partition. Clones share the same records.
#[derive(Debug, Default, Clone)]
pub struct MemoryTopic(Arc<Mutex<Records>>);

#[derive(Debug, Default)]
struct Records {
    by_offset: BTreeMap<i64, Vec<u8>>,
    earliest: i64,
    latest: i64,
}

impl MemoryTopic {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record.
    pub fn append(&self, payload: impl Into<Vec<u8>>) {
        let mut records = self.records();
        let offset = records.latest;
        records.by_offset.insert(offset, payload.into());
        records.latest += 1;
    }

    /// Adds an offset without a record, as a transaction's marker does.
    pub fn append_hole(&self) {
        self.records().latest += 1;
    }

    /// Forgets the records below an offset.
    pub fn expire_below(&self, offset: i64) {
        let mut records = self.records();
        records.by_offset = records.by_offset.split_off(&offset);
        records.earliest = offset;
    }
}

/// A source over a [`MemoryTopic`], with Kafka's positions and columns.
#[derive(Debug)]
pub struct MemorySource {
    topic: MemoryTopic,
    limit: Option<u64>,
    fixed_end: Option<i64>,
}

impl MemorySource {
    /// Reads a topic from its beginning, at most `limit` offsets a batch.
    pub fn new(topic: MemoryTopic, limit: Option<u64>) -> Self {
        Self { topic, limit, fixed_end: None }
    }
}

fn at(offset: i64) -> KafkaPosition {
    KafkaPosition([(TOPIC.to_owned(), [(0, offset)].into())].into())
}

fn offset_of(position: &Position) -> Result<i64, SourceError> {
    match position {
        Position::Kafka(position) => Ok(position.0.get(TOPIC).and_then(|p| p.get(&0)).copied().unwrap_or(0)),
        other => Err(SourceError::config(format!("{other:?} is no position in memory"), "use a Kafka position")),
    }
}

#[async_trait]
impl Source for MemorySource {
    fn description(&self) -> String {
        "Memory".into()
    }

    fn schema(&self) -> SchemaRef {
        kafka_schema(true)
    }

    fn provenance(&self) -> Vec<String> {
        ["topic", "partition", "offset"].map(str::to_owned).to_vec()
    }

    async fn initial(&mut self) -> Result<Position, SourceError> {
        Ok(Position::Kafka(at(self.topic.records().earliest)))
    }

    async fn prepare_for_available_now(&mut self, _start: &Position) -> Result<(), SourceError> {
        self.fixed_end = Some(self.topic.records().latest);
        Ok(())
    }

    async fn plan(&mut self, start: &Position) -> Result<Option<Planned>, SourceError> {
        let begin = offset_of(start)?;
        let (earliest, latest) = {
            let records = self.topic.records();
            (records.earliest, self.fixed_end.unwrap_or(records.latest))
        };
        let held = Held { earliest: at(earliest), latest: at(latest) };
        let Ahead { end, .. } = look_ahead(&at(begin), &held, self.limit);
        let end_offset = offset_of(&Position::Kafka(end.clone()))?;
        if end_offset <= begin {
            return Ok(None);
        }
        let rows = |to: i64| Some(to.saturating_sub(begin).unsigned_abs());
        let estimate = Estimate { batch_rows: rows(end_offset), backlog_rows: rows(latest) };
        Ok(Some(Planned { end: Position::Kafka(end), latest: Some(Position::Kafka(held.latest)), estimate }))
    }

    async fn read(&mut self, range: &Range) -> Result<Chunks, SourceError> {
        let (from, until) = (offset_of(&range.start)?, offset_of(&range.end)?);
        let topic = self.topic.clone();
        if from < until && from < topic.records().earliest {
            return Err(SourceError::data_loss(format!("offsets {from} to {until} are gone"), "begin anew"));
        }
        Ok(spawn(TOPIC.into(), move |out| {
            let mut builder = ChunkBuilder::new(true);
            let name: Arc<str> = TOPIC.into();
            let rows: Vec<(i64, Vec<u8>)> =
                topic.records().by_offset.range(from..until.max(from)).map(|(o, p)| (*o, p.clone())).collect();
            let failed = |e| SourceError::data(format!("rows do not fit a chunk: {e}"));
            for (offset, payload) in &rows {
                let record = RecordView {
                    offset: *offset,
                    timestamp_ms: 0,
                    timestamp_type: 0,
                    key: None,
                    payload: Some(payload),
                    headers: Headers::None,
                };
                builder.push(&name, 0, &record);
                if builder.is_full()
                    && let Some(chunk) = builder.finish().map_err(failed)?
                {
                    out.send(chunk)?;
                }
            }
            match builder.finish().map_err(failed)? {
                Some(chunk) => out.send(chunk),
                None => Ok(()),
            }
        }))
    }

    async fn committed(&mut self, _end: &Position) -> Result<(), SourceError> {
        Ok(())
    }
}
