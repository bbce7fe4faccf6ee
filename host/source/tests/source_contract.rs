//! The contract of `Source`, held by every implementation: memory, files, Delta tables, Kafka on the mock cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use common::{kafka_spec, produce, producer, read, topic, walk};
use crisol_checkpoint::Range;
use crisol_contract::{FileFormat, FilesSpec, KafkaSpec};
use crisol_source::{
    FilesSource, KafkaSource, MemoryLog, MemorySource, MemoryTopic, Source, TableSource, TableSourceSpec,
};
use deltalake::kernel::{StructField, StructType};
use deltalake::writer::{DeltaWriter, RecordBatchWriter};
use futures::StreamExt;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, DefaultProducerContext};

/// Something that a source can be opened on, time and again, with the same checkpoint.
#[async_trait(?Send)]
trait Fixture {
    /// Adds rows that carry these numbers.
    async fn add(&mut self, numbers: std::ops::Range<i64>);

    /// A new source, as after a start of the process. `limit` caps a batch, in the source's own unit.
    fn source(&self, limit: Option<u64>) -> Box<dyn Source>;

    /// Forgets the checkpoint.
    fn forget(&mut self);

    /// Index of the column that carries the number.
    fn number_column(&self) -> usize {
        0
    }

    /// The number in a column's text. Payloads are bytes, shown in hexadecimal.
    fn number(&self, text: &str) -> i64 {
        let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap());
        String::from_utf8(bytes.collect()).unwrap().parse().unwrap()
    }
}

/// What every source promises.
async fn source_contract(fixture: &mut dyn Fixture) {
    fixture.add(0..100).await;
    ranges_follow_each_other_without_loss_or_double(fixture).await;
    fixture.forget();
    the_same_range_gives_the_same_rows_in_the_same_order(fixture).await;
    fixture.forget();
    a_dropped_read_can_be_made_again(fixture).await;
    fixture.forget();
    a_planned_batch_survives_a_new_start(fixture).await;
    fixture.forget();
    k100_k104_k105_a_run_ends_at_what_existed_at_its_start(fixture).await;
}

fn numbers(fixture: &dyn Fixture, rows: &[Vec<String>]) -> Vec<i64> {
    rows.iter().map(|row| fixture.number(&row[fixture.number_column()])).collect()
}

async fn ranges_follow_each_other_without_loss_or_double(fixture: &mut dyn Fixture) {
    for limit in [None, Some(1), Some(7)] {
        fixture.forget();
        let mut source = fixture.source(limit);
        let start = source.initial().await.unwrap();
        let (batches, end) = walk(&mut *source, start).await;
        let rows: Vec<Vec<String>> = batches.into_iter().flat_map(|(_, rows)| rows).collect();
        let mut found = numbers(fixture, &rows);
        found.sort_unstable();
        let all: Vec<i64> = (0..found.len() as i64).collect();
        assert_eq!(found, all, "limit {limit:?}");
        assert!(found.len() >= 100);

        let schema = source.schema();
        let names = source.provenance();
        let places: BTreeSet<Vec<&String>> =
            rows.iter().map(|row| names.iter().map(|name| &row[schema.index_of(name).unwrap()]).collect()).collect();
        assert_eq!(places.len(), rows.len(), "provenance tells rows apart");
        assert!(source.plan(&end).await.unwrap().is_none(), "nothing waits at the end");
    }
}

async fn the_same_range_gives_the_same_rows_in_the_same_order(fixture: &mut dyn Fixture) {
    let mut source = fixture.source(Some(9));
    let start = source.initial().await.unwrap();
    let (batches, _) = walk(&mut *source, start).await;
    let mut other = fixture.source(None);
    for (range, rows) in batches.iter().rev() {
        assert_eq!(&read(&mut *source, range).await.unwrap(), rows);
        assert_eq!(&read(&mut *other, range).await.unwrap(), rows);
    }
}

async fn a_dropped_read_can_be_made_again(fixture: &mut dyn Fixture) {
    let mut source = fixture.source(None);
    let start = source.initial().await.unwrap();
    let end = source.plan(&start).await.unwrap().unwrap().end;
    let range = Range { start, end };
    drop(source.read(&range).await.unwrap());
    let mut chunks = source.read(&range).await.unwrap();
    let first = chunks.next().await.unwrap().unwrap();
    drop(chunks);
    let rows = read(&mut *source, &range).await.unwrap();
    assert_eq!(rows[..first.num_rows()], common::texts(&first));
    assert!(rows.len() >= 100);
}

async fn a_planned_batch_survives_a_new_start(fixture: &mut dyn Fixture) {
    let mut source = fixture.source(Some(9));
    let start = source.initial().await.unwrap();
    let planned = source.plan(&start).await.unwrap().unwrap();
    drop(source);
    // The stream died before it logged the range: what is planned now begins with the same rows, and loses none.
    let mut source = fixture.source(Some(9));
    let again = source.plan(&start).await.unwrap().unwrap();
    assert_eq!(again.end, planned.end);
    let (batches, _) = walk(&mut *source, start).await;
    let mut found: Vec<i64> = batches.iter().flat_map(|(_, rows)| numbers(fixture, rows)).collect();
    found.sort_unstable();
    assert_eq!(found, (0..found.len() as i64).collect::<Vec<_>>());
}

async fn k100_k104_k105_a_run_ends_at_what_existed_at_its_start(fixture: &mut dyn Fixture) {
    let mut source = fixture.source(Some(20));
    let start = source.initial().await.unwrap();
    source.prepare_for_available_now(&start).await.unwrap();
    fixture.add(100..150).await;
    let (batches, end) = walk(&mut *source, start).await;
    let rows: usize = batches.iter().map(|(_, rows)| rows.len()).sum();
    assert_eq!(rows, 100, "K-100: what came later waits");

    let mut next = fixture.source(Some(20));
    next.prepare_for_available_now(&end).await.unwrap();
    let (batches, end) = walk(&mut *next, end).await;
    let mut found: Vec<i64> = batches.iter().flat_map(|(_, rows)| numbers(fixture, rows)).collect();
    found.sort_unstable();
    assert_eq!(found, (100..150).collect::<Vec<_>>(), "and is read by the next run");

    let mut idle = fixture.source(Some(20));
    idle.prepare_for_available_now(&end).await.unwrap();
    assert!(idle.plan(&end).await.unwrap().is_none(), "K-104: an idle source makes no batch");
}

struct Memory(MemoryTopic);

#[async_trait(?Send)]
impl Fixture for Memory {
    async fn add(&mut self, numbers: std::ops::Range<i64>) {
        for number in numbers {
            self.0.append(number.to_string());
            self.0.append_hole();
        }
    }

    fn source(&self, limit: Option<u64>) -> Box<dyn Source> {
        Box::new(MemorySource::new(self.0.clone(), limit))
    }

    fn forget(&mut self) {}

    fn number_column(&self) -> usize {
        1
    }
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    let mut memory = Memory(MemoryTopic::default());
    memory.0.append_hole();
    source_contract(&mut memory).await;
}

struct Files {
    folder: tempfile::TempDir,
    log: MemoryLog,
    made: u64,
}

#[async_trait(?Send)]
impl Fixture for Files {
    async fn add(&mut self, numbers: std::ops::Range<i64>) {
        let all: Vec<i64> = numbers.collect();
        for part in all.chunks(10) {
            let text: String = part.iter().map(|n| format!("{n}\n\n")).collect();
            let name = self.folder.path().join(format!("part-{:05}.json", self.made));
            self.made += 1;
            std::fs::write(&name, text).unwrap();
        }
    }

    fn source(&self, limit: Option<u64>) -> Box<dyn Source> {
        let spec = FilesSpec {
            format: FileFormat::Json,
            path: self.folder.path().to_str().unwrap().to_owned(),
            schema: None,
            max_files_per_trigger: limit,
            max_bytes_per_trigger: None,
            latest_first: false,
        };
        Box::new(FilesSource::new(spec, Arc::new(self.log.clone())))
    }

    fn forget(&mut self) {
        self.log = MemoryLog::default();
    }
}

#[tokio::test]
async fn files_keep_the_contract() {
    let mut files = Files { folder: tempfile::tempdir().unwrap(), log: MemoryLog::default(), made: 0 };
    source_contract(&mut files).await;
}

struct Table {
    folder: tempfile::TempDir,
    /// Read as a table that someone else writes.
    external: bool,
}

impl Table {
    fn path(&self) -> PathBuf {
        self.folder.path().join("bronze").join("t")
    }

    fn columns() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("topic", DataType::Utf8, true),
            Field::new("partition", DataType::Int64, true),
            Field::new("offset", DataType::Int64, true),
        ]))
    }

    async fn create(&self) {
        std::fs::create_dir_all(self.path()).unwrap();
        let schema: StructType = StructType::try_new([
            StructField::nullable("topic", deltalake::kernel::DataType::STRING),
            StructField::nullable("partition", deltalake::kernel::DataType::LONG),
            StructField::nullable("offset", deltalake::kernel::DataType::LONG),
            StructField::nullable("n", deltalake::kernel::DataType::LONG),
        ])
        .unwrap();
        deltalake::operations::create::CreateBuilder::new()
            .with_location(self.path().to_str().unwrap())
            .with_columns(schema.fields().cloned())
            .with_partition_columns(["partition"])
            .await
            .unwrap();
    }
}

#[async_trait(?Send)]
impl Fixture for Table {
    async fn add(&mut self, numbers: std::ops::Range<i64>) {
        if !self.path().exists() {
            self.create().await;
        }
        let url = url::Url::from_directory_path(self.path()).unwrap();
        let mut table = deltalake::open_table(url).await.unwrap();
        let all: Vec<i64> = numbers.collect();
        for part in all.chunks(10) {
            let partitions = part.iter().map(|n| n % 2);
            let batch = RecordBatch::try_from_iter([
                ("topic", Arc::new(StringArray::from(vec!["t"; part.len()])) as _),
                ("partition", Arc::new(Int64Array::from_iter_values(partitions)) as _),
                ("offset", Arc::new(Int64Array::from(part.to_vec())) as _),
                ("n", Arc::new(Int64Array::from(part.to_vec())) as _),
            ])
            .unwrap();
            let mut writer = RecordBatchWriter::for_table(&table).unwrap();
            writer.write(batch).await.unwrap();
            writer.flush_and_commit(&mut table).await.unwrap();
        }
    }

    fn source(&self, limit: Option<u64>) -> Box<dyn Source> {
        Box::new(TableSource::new(TableSourceSpec {
            name: "bronze.t".into(),
            path: self.path().to_str().unwrap().to_owned(),
            columns: Self::columns(),
            external: self.external,
            anew: String::new(),
            changes: false,
            cut: crisol_source::Cut::Files,
            held: None,
            max_files: limit.map_or(TableSourceSpec::MAX_FILES, |limit| limit as usize),
            max_bytes: TableSourceSpec::MAX_BYTES,
        }))
    }

    fn forget(&mut self) {}

    fn number(&self, text: &str) -> i64 {
        text.parse().unwrap()
    }
}

#[tokio::test]
async fn tables_keep_the_contract() {
    for external in [false, true] {
        let mut table = Table { folder: tempfile::tempdir().unwrap(), external };
        source_contract(&mut table).await;
    }
}

struct Kafka {
    _cluster: MockCluster<'static, DefaultProducerContext>,
    spec: KafkaSpec,
    producer: BaseProducer,
    log: MemoryLog,
}

#[async_trait(?Send)]
impl Fixture for Kafka {
    async fn add(&mut self, numbers: std::ops::Range<i64>) {
        for partition in 0..4 {
            let own = numbers.clone().filter(|n| n % 4 == i64::from(partition));
            produce(&self.producer, "orders", partition, own.map(|n| n.to_string().into_bytes()));
        }
    }

    fn source(&self, limit: Option<u64>) -> Box<dyn Source> {
        let spec = KafkaSpec { max_offsets_per_trigger: limit, ..self.spec.clone() };
        Box::new(KafkaSource::new(spec, Arc::new(self.log.clone())))
    }

    fn forget(&mut self) {
        self.log = MemoryLog::default();
    }

    fn number_column(&self) -> usize {
        1
    }
}

#[tokio::test]
async fn kafka_keeps_the_contract() {
    let cluster = MockCluster::new(2).unwrap();
    cluster.create_topic("orders", 4, 2).unwrap();
    let servers = cluster.bootstrap_servers();
    let producer = producer(&servers);
    let spec = kafka_spec(&servers, topic("orders"));
    source_contract(&mut Kafka { _cluster: cluster, spec, producer, log: MemoryLog::default() }).await;
}
