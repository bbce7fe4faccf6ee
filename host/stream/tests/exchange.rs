//! Stages that are exchanged while a stream runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::{Arc, Mutex};

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use crisol_checkpoint::Checkpoint;
use crisol_contract::OnRejected;
use crisol_observe::{Event, Observer, Observers};
use crisol_source::{MemorySource, MemoryTopic, Source};
use crisol_stage::{BatchContext, Chain, ChainInput, ComponentId, Stage, StageError, StageOutput};
use crisol_stream::{News, OpenTable, Opener, Pace, Parts, Renewal, Slices, Stream, Swap, stages};
use crisol_table::{MemoryTable, TableError, TableWriter};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const BATCH_ROWS: usize = 40_000;

/// Writes which build it is into each row, and on its first rows does what it was told.
struct Mark {
    build: &'static str,
    schema: SchemaRef,
    first: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.build)
    }
}

impl Stage for Mark {
    fn name(&self) -> String {
        "mark".into()
    }

    fn components(&self) -> Vec<ComponentId> {
        vec![ComponentId { name: "mark".into(), version: "1.0.0".into(), digest: self.build.into() }]
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn process(&self, rows: &RecordBatch, _: &BatchContext) -> Result<StageOutput, StageError> {
        let first = self.first.lock().unwrap().take();
        if let Some(first) = first {
            first();
        }
        let mut columns = rows.columns().to_vec();
        columns.push(Arc::new(StringArray::from(vec![self.build; rows.num_rows()])));
        let rows = RecordBatch::try_new(self.schema(), columns).unwrap();
        let origin = (0..u32::try_from(rows.num_rows()).unwrap()).collect();
        Ok(StageOutput { rows, origin, rejected: Vec::new(), rules: Vec::new() })
    }
}

fn chain(build: &'static str, input: &SchemaRef, first: Option<Box<dyn FnOnce() + Send>>) -> Arc<Chain> {
    let mut fields: Vec<Field> = input.fields().iter().map(|field| field.as_ref().clone()).collect();
    fields.push(Field::new("build", DataType::Utf8, false));
    let mark = Mark { build, schema: Arc::new(Schema::new(fields)), first: Mutex::new(first) };
    let input = ChainInput { schema: Arc::clone(input), provenance: Vec::new(), stream: "s".into() };
    let table = Arc::new(Schema::new(vec![Field::new("build", DataType::Utf8, false)]));
    Arc::new(Chain::new(vec![Arc::new(mark)], input, table, OnRejected::Quarantine).unwrap())
}

struct NoQuarantine;

#[async_trait]
impl Opener for NoQuarantine {
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError> {
        Ok(None)
    }

    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError> {
        panic!("nothing is rejected")
    }
}

#[derive(Default)]
struct Components(Mutex<Vec<String>>);

impl Observer for Components {
    fn observe(&self, event: &Event) {
        if let Event::Committed(progress) = event {
            self.0.lock().unwrap().extend(progress.host.components.values().cloned());
        }
    }
}

/// The builds that a batch's rows went through.
fn builds(rows: &[RecordBatch]) -> Vec<String> {
    let all = rows.iter().flat_map(|batch| {
        let column = batch.column_by_name("build").unwrap().as_any().downcast_ref::<StringArray>().unwrap().clone();
        (0..column.len()).map(move |row| column.value(row).to_string()).collect::<Vec<_>>()
    });
    let mut all: Vec<String> = all.collect();
    all.dedup();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_wholly_the_work_of_the_chain_that_served_when_it_began() {
    let topic = MemoryTopic::default();
    (0..2 * BATCH_ROWS).for_each(|_| topic.append("row"));
    let source = MemorySource::new(topic, Some(BATCH_ROWS as u64));
    let (new, other_end) = (chain("new", &source.schema(), None), Arc::new(Mutex::new(None::<Swap>)));
    let held = Arc::clone(&other_end);
    let exchange = Box::new(move || held.lock().unwrap().as_ref().unwrap().serve(new));
    let (stages, swap) = stages(chain("old", &source.schema(), Some(exchange)));
    *other_end.lock().unwrap() = Some(swap);

    let dir = tempfile::TempDir::new().unwrap();
    let store = crisol_store::open(dir.path().to_str().unwrap()).unwrap();
    let table = MemoryTable::new(Arc::new(Schema::new(vec![Field::new("build", DataType::Utf8, false)])));
    let heard = Arc::new(Components::default());
    let mut observers = Observers::default();
    observers.add(heard.clone());
    let parts = Parts {
        name: "s".into(),
        table_name: "t".into(),
        table_path: "t".into(),
        checkpoint: Checkpoint::open(store, Uuid::new_v4()).await.unwrap(),
        source: Box::new(source),
        stages,
        table: Arc::new(table.clone()),
        quarantine: OpenTable::new(NoQuarantine),
        renewal: Renewal {
            slices: Slices::Rows,
            table: OpenTable::new(NoQuarantine),
            quarantine: OpenTable::new(NoQuarantine),
        },
        patience: crisol_stream::Patience::None,
        pace: Pace::AvailableNow,
        workers: 4,
        observers,
        news: watch::channel(News::default()).0,
        starting: None,
        empty_start_hint: None,
    };
    let summary = Stream::new(parts).run(CancellationToken::new()).await;
    assert!(summary.error.is_none(), "{:?}", summary.error);

    let commits = table.commits();
    let of: Vec<_> =
        commits.iter().map(|commit| (builds(&commit.rows), commit.note.components["mark@1.0.0"].clone())).collect();
    let only = |build: &str| (vec![build.to_string()], build.to_string());
    assert_eq!(of, [only("old"), only("new")], "exchanged while the first chunk of the first batch was at work");
    assert_eq!(*heard.0.lock().unwrap(), ["old", "new"], "progress names what made the batch");
    let swap = other_end.lock().unwrap().take().unwrap();
    assert_eq!(swap.sample().unwrap().num_rows(), 1_000);
    assert!(swap.has_ended());
}
