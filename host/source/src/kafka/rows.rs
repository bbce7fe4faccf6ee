//! Kafka records as rows: the schema of bronze and the builder that fills Arrow's buffers.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StructArray, TimestampMicrosecondArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use crisol_ipc::types::{UTC, list_of, timestamp};

use super::native::MessageHeaders;
use crate::bytes_column::BytesColumn;
use crate::{CHUNK_BYTES_MAX, CHUNK_ROWS_MAX};

/// Columns of a Kafka source (K-080…K-082 under our names): `message_key`, `payload`, `topic`, `partition`, `offset`
/// and, with metadata, `kafka_timestamp`, `timestamp_type` and `headers`.
pub fn kafka_schema(add_kafka_metadata: bool) -> SchemaRef {
    let mut fields = vec![
        Field::new("message_key", DataType::Binary, true),
        Field::new("payload", DataType::Binary, true),
        Field::new("topic", DataType::Utf8, false),
        Field::new("partition", DataType::Int32, false),
        Field::new("offset", DataType::Int64, false),
    ];
    if add_kafka_metadata {
        fields.push(Field::new("kafka_timestamp", timestamp(), true));
        fields.push(Field::new("timestamp_type", DataType::Int32, false));
        fields.push(Field::new("headers", list_of(DataType::Struct(header_fields())), true));
    }
    Arc::new(Schema::new(fields))
}

fn header_fields() -> Fields {
    vec![Field::new("key", DataType::Utf8, true), Field::new("value", DataType::Binary, true)].into()
}

/// A record, borrowed from where it lies.
pub(crate) struct RecordView<'a> {
    pub(crate) offset: i64,
    /// -1: none.
    pub(crate) timestamp_ms: i64,
    /// -1 none, 0 create time, 1 log append time (K-082).
    pub(crate) timestamp_type: i32,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) payload: Option<&'a [u8]>,
    pub(crate) headers: Headers<'a>,
}

/// Headers of a record.
#[derive(Clone, Copy)]
pub(crate) enum Headers<'a> {
    /// Still inside librdkafka's message.
    Native(MessageHeaders<'a>),
    None,
}

/// Rows of one topic and partition that follow each other.
struct Run {
    topic: Arc<str>,
    partition: i32,
    rows: usize,
}

/// Collects records into a chunk.
pub(crate) struct ChunkBuilder {
    schema: SchemaRef,
    key: BytesColumn,
    payload: BytesColumn,
    runs: Vec<Run>,
    offsets: Vec<i64>,
    metadata: Option<MetadataColumns>,
    /// Bytes of the last chunk, as a guess for the next.
    expected: (usize, usize),
}

struct MetadataColumns {
    timestamps: Vec<i64>,
    has_timestamp: NullBufferBuilder,
    types: Vec<i32>,
    header_ends: Vec<i32>,
    has_headers: NullBufferBuilder,
    names: BytesColumn,
    values: BytesColumn,
}

impl ChunkBuilder {
    pub(crate) fn new(add_kafka_metadata: bool) -> Self {
        Self {
            schema: kafka_schema(add_kafka_metadata),
            key: BytesColumn::new(0, 0),
            payload: BytesColumn::new(0, 0),
            runs: Vec::new(),
            offsets: Vec::new(),
            metadata: add_kafka_metadata.then(MetadataColumns::new),
            expected: (0, 0),
        }
    }

    /// True when the next record belongs to the next chunk.
    pub(crate) fn is_full(&self) -> bool {
        self.offsets.len() >= CHUNK_ROWS_MAX || self.bytes() >= CHUNK_BYTES_MAX
    }

    fn bytes(&self) -> usize {
        let metadata = self.metadata.as_ref().map_or(0, |m| m.names.bytes() + m.values.bytes());
        self.key.bytes() + self.payload.bytes() + metadata
    }

    pub(crate) fn push(&mut self, topic: &Arc<str>, partition: i32, record: &RecordView<'_>) {
        match self.runs.last_mut() {
            Some(run) if run.partition == partition && Arc::ptr_eq(&run.topic, topic) => run.rows += 1,
            _ => self.runs.push(Run { topic: Arc::clone(topic), partition, rows: 1 }),
        }
        self.key.push(record.key);
        self.payload.push(record.payload);
        self.offsets.push(record.offset);
        if let Some(metadata) = &mut self.metadata {
            metadata.push(record);
        }
    }

    /// The rows so far, if any; the builder begins anew.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.offsets.is_empty() {
            return Ok(None);
        }
        self.expected = (self.key.bytes(), self.payload.bytes());
        let (key_bytes, payload_bytes) = self.expected;
        let rows = self.offsets.len();
        let key = std::mem::replace(&mut self.key, BytesColumn::new(rows, key_bytes + key_bytes / 8));
        let payload = std::mem::replace(&mut self.payload, BytesColumn::new(rows, payload_bytes + payload_bytes / 8));
        let offsets = std::mem::replace(&mut self.offsets, Vec::with_capacity(rows));
        let (topics, partitions) = place_columns(&std::mem::take(&mut self.runs), rows)?;
        let mut columns: Vec<ArrayRef> =
            vec![key.into_binary()?, payload.into_binary()?, topics, partitions, Arc::new(Int64Array::from(offsets))];
        if let Some(metadata) = &mut self.metadata {
            let full = std::mem::replace(metadata, MetadataColumns::new());
            columns.extend(full.finish()?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map(Some)
    }
}

fn place_columns(runs: &[Run], rows: usize) -> Result<(ArrayRef, ArrayRef), ArrowError> {
    let bytes = runs.iter().map(|run| run.topic.len() * run.rows).sum();
    let mut topics = BytesColumn::new(rows, bytes);
    let mut partitions = Vec::with_capacity(rows);
    for run in runs {
        for _ in 0..run.rows {
            topics.push(Some(run.topic.as_bytes()));
        }
        partitions.resize(partitions.len() + run.rows, run.partition);
    }
    Ok((topics.into_text()?, Arc::new(Int32Array::from(partitions))))
}

impl MetadataColumns {
    fn new() -> Self {
        Self {
            timestamps: Vec::new(),
            has_timestamp: NullBufferBuilder::new(CHUNK_ROWS_MAX),
            types: Vec::new(),
            header_ends: vec![0],
            has_headers: NullBufferBuilder::new(CHUNK_ROWS_MAX),
            names: BytesColumn::new(0, 0),
            values: BytesColumn::new(0, 0),
        }
    }

    fn push(&mut self, record: &RecordView<'_>) {
        // A timestamp that does not fit microseconds is no timestamp.
        let micros = (record.timestamp_ms >= 0).then(|| record.timestamp_ms.checked_mul(1000)).flatten();
        self.timestamps.push(micros.unwrap_or(0));
        self.has_timestamp.append(micros.is_some());
        self.types.push(record.timestamp_type);
        let before = self.names.rows();
        if let Headers::Native(headers) = record.headers {
            headers.for_each(|name, value| {
                // Kafka says that names are UTF-8, and nobody checks it.
                self.names.push(Some(String::from_utf8_lossy(name).as_bytes()));
                self.values.push(value);
            });
        }
        self.has_headers.append(self.names.rows() > before);
        self.header_ends.push(i32::try_from(self.names.rows()).unwrap_or(i32::MAX));
    }

    fn finish(mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let timestamps = TimestampMicrosecondArray::try_new(self.timestamps.into(), self.has_timestamp.finish())?;
        let DataType::List(element) = list_of(DataType::Struct(header_fields())) else {
            return Err(ArrowError::SchemaError("headers are a list".into()));
        };
        let entries =
            StructArray::try_new(header_fields(), vec![self.names.into_text()?, self.values.into_binary()?], None)?;
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.header_ends));
        let headers = ListArray::try_new(element, ends, Arc::new(entries), self.has_headers.finish())?;
        Ok(vec![Arc::new(timestamps.with_timezone(UTC)), Arc::new(Int32Array::from(self.types)), Arc::new(headers)])
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, TimestampMicrosecondType};

    use super::*;

    fn record(offset: i64, key: Option<&'static [u8]>, payload: Option<&'static [u8]>) -> RecordView<'static> {
        RecordView { offset, timestamp_ms: 5, timestamp_type: 0, key, payload, headers: Headers::None }
    }

    #[test]
    fn k073_null_key_and_null_value_stay_null_and_empty_stays_empty() {
        let mut builder = ChunkBuilder::new(true);
        let topic = "t".into();
        builder.push(&topic, 0, &record(0, None, Some(b"")));
        builder.push(&topic, 1, &record(7, Some(b"k"), None));
        let chunk = builder.finish().unwrap().unwrap();
        assert_eq!(chunk.schema(), kafka_schema(true));
        assert!(chunk["message_key"].is_null(0) && chunk["payload"].is_null(1));
        assert_eq!(chunk["payload"].as_binary::<i32>().value(0), b"");
        assert_eq!(chunk["partition"].as_primitive::<Int32Type>().values(), &[0, 1]);
        assert!(chunk["headers"].is_null(0));
        assert!(builder.finish().unwrap().is_none());
    }

    #[test]
    fn k082_no_timestamp_is_null_and_milliseconds_become_microseconds() {
        let mut builder = ChunkBuilder::new(true);
        let topic = "t".into();
        builder.push(&topic, 0, &record(0, None, None));
        builder.push(&topic, 0, &RecordView { timestamp_ms: -1, timestamp_type: -1, ..record(1, None, None) });
        for timestamp_ms in [i64::MAX, i64::MAX / 1000 + 1, -2, i64::MAX / 1000] {
            builder.push(&topic, 0, &RecordView { timestamp_ms, ..record(2, None, None) });
        }
        let chunk = builder.finish().unwrap().unwrap();
        let stamps = chunk["kafka_timestamp"].as_primitive::<TimestampMicrosecondType>();
        let largest = i64::MAX / 1000 * 1000;
        assert_eq!(stamps.iter().collect::<Vec<_>>(), [Some(5000), None, None, None, None, Some(largest)]);
        assert_eq!(chunk["timestamp_type"].as_primitive::<Int32Type>().values(), &[0, -1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_chunk_is_full_at_its_row_limit_or_byte_limit() {
        let mut builder = ChunkBuilder::new(false);
        let topic = "t".into();
        for n in 0..CHUNK_ROWS_MAX {
            assert!(!builder.is_full());
            builder.push(&topic, 0, &record(n as i64, None, None));
        }
        assert!(builder.is_full());
        builder.finish().unwrap();
        let large: &'static [u8] = vec![0; CHUNK_BYTES_MAX].leak();
        builder.push(&topic, 0, &record(0, None, Some(large)));
        assert!(builder.is_full());
    }
}
