//! What the suites of this room share: rows as text, walking through batches, producing to the mock cluster.
#![allow(dead_code, reason = "each suite uses a part")]

pub(crate) mod table;

use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use crisol_checkpoint::{Position, Range};
use crisol_contract::{KafkaBound, KafkaSpec, NoRecord, Subscription};
use crisol_source::{CHUNK_ROWS_MAX, Source, SourceError};
use futures::StreamExt;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

/// Long enough for a loaded machine; reaching it is a failure.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The rows of a range, each as the text of its columns.
pub(crate) async fn read(source: &mut dyn Source, range: &Range) -> Result<Vec<Vec<String>>, SourceError> {
    let mut rows = Vec::new();
    for chunk in read_chunks(source, range).await? {
        rows.extend(texts(&chunk));
    }
    Ok(rows)
}

/// The chunks of a range; each is of the source's schema and within the limit.
pub(crate) async fn read_chunks(source: &mut dyn Source, range: &Range) -> Result<Vec<RecordBatch>, SourceError> {
    let schema = source.schema();
    let mut chunks = source.read(range).await?;
    let mut all = Vec::new();
    while let Some(chunk) = tokio::time::timeout(DEADLINE, chunks.next()).await.expect("a chunk within a minute") {
        let chunk = chunk?;
        assert_eq!(chunk.schema(), schema);
        assert!(chunk.num_rows() > 0 && chunk.num_rows() <= CHUNK_ROWS_MAX);
        all.push(chunk);
    }
    Ok(all)
}

pub(crate) fn texts(chunk: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    // To show a time with its zone takes a table of all zones.
    let plain = |column: &ArrayRef| match column.data_type() {
        DataType::Timestamp(..) => cast(column, &DataType::Int64).unwrap(),
        _ => column.clone(),
    };
    let columns: Vec<ArrayRef> = chunk.columns().iter().map(plain).collect();
    let columns: Vec<ArrayFormatter<'_>> =
        columns.iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    (0..chunk.num_rows()).map(|row| columns.iter().map(|column| column.value(row).to_string()).collect()).collect()
}

/// Plans and reads until nothing waits: the ranges with their rows, and where it ended.
pub(crate) async fn walk(source: &mut dyn Source, start: Position) -> (Vec<(Range, Vec<Vec<String>>)>, Position) {
    let mut at = start;
    let mut batches = Vec::new();
    while let Some(planned) = source.plan(&at).await.unwrap() {
        assert_ne!(planned.end, at, "a plan goes on");
        let range = Range { start: at, end: planned.end.clone() };
        let rows = read(source, &range).await.unwrap();
        source.committed(&planned.end).await.unwrap();
        batches.push((range, rows));
        at = planned.end;
        assert!(batches.len() < 10_000, "the walk ends");
    }
    (batches, at)
}

pub(crate) fn kafka_spec(servers: &str, subscription: Subscription) -> KafkaSpec {
    KafkaSpec {
        subscription,
        starting: KafkaBound::Earliest,
        starting_given: true,
        no_record: NoRecord::Error,
        ending: None,
        max_offsets_per_trigger: None,
        batch_minimum: None,
        group_id_prefix: None,
        report_group_id: None,
        fail_on_data_loss: true,
        add_kafka_metadata: true,
        client: [("bootstrap.servers".to_owned(), servers.to_owned())].into(),
        fetch_offset_num_retries: 3,
        fetch_offset_retry_interval: Duration::from_millis(50),
        poll_timeout: Duration::from_secs(30),
    }
}

pub(crate) fn topic(name: &str) -> Subscription {
    Subscription::Topics(vec![name.to_owned()])
}

pub(crate) fn producer(servers: &str) -> BaseProducer {
    ClientConfig::new().set("bootstrap.servers", servers).set("linger.ms", "5").create().unwrap()
}

/// Sends records to one partition and waits for their acknowledgement.
pub(crate) fn produce(
    producer: &BaseProducer,
    topic: &str,
    partition: i32,
    payloads: impl IntoIterator<Item = Vec<u8>>,
) {
    for payload in payloads {
        let mut record = BaseRecord::<(), Vec<u8>>::to(topic).partition(partition).payload(&payload);
        while let Err((error, again)) = producer.send(record) {
            assert_eq!(error.rdkafka_error_code(), Some(rdkafka::types::RDKafkaErrorCode::QueueFull));
            producer.poll(Duration::from_millis(10));
            record = again;
        }
    }
    producer.flush(DEADLINE).expect("the mock broker takes all within a minute");
}
