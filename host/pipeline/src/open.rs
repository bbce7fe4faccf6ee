//! Opens what streams are made of: the one place that names concrete sources, tables and stores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use crisol_checkpoint::{Checkpoint, Fact};
use crisol_contract::{KafkaSpec, SourceSpec, StartingOffsets, Trigger};
use crisol_observe::Event;
use crisol_plugin::{PluginError, Registry};
use crisol_source::{
    FilesSource, InferredSchema, KafkaSource, Source, SourceError, TableSource, TableSourceSpec, infer_schema,
    table_schema,
};
use crisol_stage::{Chain, quarantine_schema};
use crisol_store::Store;
use crisol_stream::{Failure, News, OpenTable, Pace, Parts, Upstream};
use crisol_table::{Table, TableError, TableSpec, TableWriter};
use tokio::sync::watch;
use uuid::Uuid;

use crate::builder::Restart;
use crate::plan::{SourcePlan, StreamPlan};
use crate::source_log::CheckpointLog;
use crate::error::{self, Refusal};
use crate::{Engine, EngineError};

/// The components of a folder; compiled code is kept in the user's cache.
pub(crate) fn registry(dir: &Path) -> Result<Registry, PluginError> {
    let engine = crisol_plugin::Engine::new()?;
    Registry::load(dir, &engine, cache().as_deref())
}

/// Where compiled components are kept: they are the same for all projects of a user, and nobody else's.
fn cache() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("crisol").join("compiled"))
}

/// Checks every stream against the components, as far as that goes without data; all problems at once.
pub(crate) fn check(streams: &[StreamPlan], registry: &Registry, notes: &mut Vec<String>) -> Vec<Refusal> {
    let mut schemas: BTreeMap<&str, SchemaRef> = BTreeMap::new();
    let mut refusals = Vec::new();
    for stream in streams {
        let input = match &stream.source {
            SourcePlan::Stream { stream, .. } => schemas.get(stream.as_str()).cloned(),
            _ => stream.source_schema(),
        };
        refusals.extend(stream.client_refusals());
        let Some(input) = input.filter(|_| !stream.needs_inference()) else {
            notes.push(format!("stream `{}`: its columns are known once it runs; they are checked then", stream.name));
            continue;
        };
        match stream.chain(&input, registry) {
            Ok(chain) => {
                schemas.insert(&stream.name, chain.table_schema());
            }
            Err(found) => refusals.extend(found),
        }
    }
    refusals
}

/// A stream's parts, ready to run.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) parts: Parts,
}

/// Opens streams one after the other, upstream first.
pub(crate) struct Opener<'a> {
    engine: &'a Engine,
    /// Columns of the tables opened so far, by stream.
    schemas: BTreeMap<String, SchemaRef>,
}

impl<'a> Opener<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Self {
        Self { engine, schemas: BTreeMap::new() }
    }

    /// Opens checkpoint, table and source of a stream.
    pub(crate) async fn open(
        &mut self,
        plan: &StreamPlan,
        upstreams: &BTreeMap<String, Upstream>,
        news: watch::Sender<News>,
    ) -> Result<Opened, EngineError> {
        let fail = |failure: Failure| EngineError::opening(&plan.name, failure);
        let checkpoint = open_checkpoint(plan).await.map_err(fail)?;
        let plan = &settle_columns(plan, &checkpoint).await.map_err(fail)?;
        let input = self.input(plan).await.map_err(fail)?;
        let chain = plan.chain(&input, &self.engine.registry);
        let refused = |refusals| EngineError::refused(&self.engine.positions, refusals);
        let chain = Arc::new(chain.map_err(refused)?);
        let (spec, store) = table_spec(plan, &chain).map_err(|error| fail(error.into()))?;
        let table = Table::open_or_create(&spec, &store).await.map_err(|error| fail(error.into()))?;
        self.restart(plan, &checkpoint, &table).await.map_err(fail)?;
        self.schemas.insert(plan.name.clone(), chain.table_schema());
        let source = source(plan, &checkpoint, &input);
        let parts = Parts {
            name: plan.name.clone(),
            table_name: plan.table.name.clone(),
            table_path: plan.table.path.clone(),
            source,
            quarantine: OpenTable::new(Quarantine(plan.clone())),
            table: Arc::new(table),
            chain,
            pace: self.pace(plan, upstreams),
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            observers: self.engine.observers.clone(),
            news,
            starting: starting(&plan.source),
            empty_start_hint: empty_start_hint(&plan.source),
            checkpoint,
        };
        Ok(Opened { name: plan.name.clone(), parts })
    }

    async fn input(&self, plan: &StreamPlan) -> Result<SchemaRef, Failure> {
        if let Some(schema) = plan.source_schema() {
            return Ok(schema);
        }
        match &plan.source {
            SourcePlan::External(path) => table_schema(path, path).await?.ok_or_else(|| no_table(path).into()),
            SourcePlan::Stream { stream, .. } => self.schemas.get(stream).cloned().ok_or_else(|| Failure::Internal {
                what: format!("stream `{}` was opened before `{stream}`, which it reads", plan.name),
            }),
            SourcePlan::Ingestion(_) => Err(Failure::Internal { what: "a source without columns".into() }),
        }
    }

    /// Promise 1 for a checkpoint that was lost: what the table holds is not read again by accident.
    async fn restart(&self, plan: &StreamPlan, checkpoint: &Checkpoint, table: &Table) -> Result<(), Failure> {
        if checkpoint.state().await?.offsets.is_some() {
            if self.engine.restart != Restart::Refuse {
                let text = "the checkpoint is not new: `--reread` and `--rebuild` have no effect on this stream".into();
                self.engine.observers.tell(&Event::Warning { stream: plan.name.clone(), text });
            }
            return Ok(());
        }
        if self.engine.restart == Restart::Reread {
            return Ok(());
        }
        let application = checkpoint.id().to_string();
        let quarantine = find_quarantine(plan).await?;
        let refused = match &quarantine {
            Some(quarantine) => quarantine.holds_rows_of(&plan.name, &application).await?,
            None => false,
        };
        if !refused && !table.holds_rows_of(&plan.name, &application).await? {
            return Ok(());
        }
        if self.engine.restart != Restart::Rebuild {
            return Err(Failure::TableNotEmpty { table: plan.table.name.clone() });
        }
        // The table last: as long as it holds rows, a rebuild that was cut short begins again.
        if let Some(quarantine) = &quarantine {
            quarantine.clear(&plan.name).await?;
        }
        table.clear(&plan.name).await?;
        Ok(())
    }

    fn pace(&self, plan: &StreamPlan, upstreams: &BTreeMap<String, Upstream>) -> Pace {
        if let SourcePlan::Stream { stream, .. } = &plan.source
            && let Some(upstream) = upstreams.get(stream)
        {
            return Pace::Follow(upstream.clone());
        }
        match self.engine.trigger.unwrap_or(plan.trigger) {
            Trigger::AvailableNow => Pace::AvailableNow,
            Trigger::Continuous => Pace::Continuous(std::time::Duration::ZERO),
            Trigger::Every(pace) => Pace::Continuous(pace),
        }
    }
}

async fn open_checkpoint(plan: &StreamPlan) -> Result<Checkpoint, Failure> {
    let path = plan.checkpoint.to_string_lossy();
    let store = crisol_store::open(&path).map_err(|source| error::store("checkpoint", &path, source))?;
    Ok(Checkpoint::open(store, Uuid::new_v4()).await?)
}

/// Columns that no contract names are taken from the files once, and kept in the checkpoint.
async fn settle_columns(plan: &StreamPlan, checkpoint: &Checkpoint) -> Result<StreamPlan, Failure> {
    let SourcePlan::Ingestion(SourceSpec::Files(files)) = &plan.source else { return Ok(plan.clone()) };
    if !plan.needs_inference() {
        return Ok(plan.clone());
    }
    let kept = match checkpoint.kept(Fact::Columns).await? {
        Some(text) => text,
        None => {
            let text = infer_schema(files).await?.to_text();
            tracing::info!(stream = plan.name, columns = text, "columns inferred");
            checkpoint.keep(Fact::Columns, &text).await?
        }
    };
    let columns = InferredSchema::from_text(&kept)?.columns;
    plan.clone().with_columns(&columns).map_err(|what| Failure::Internal { what })
}

fn table_spec(plan: &StreamPlan, chain: &Chain) -> Result<(TableSpec, Store), TableError> {
    let table = &plan.table;
    let spec = TableSpec {
        name: table.name.clone(),
        path: table.path.clone(),
        schema: chain.table_schema(),
        partition_by: table.partition_by.clone(),
        properties: table.properties.clone(),
    };
    let store = crisol_store::open(&table.path).map_err(|source| error::store(&table.name, &table.path, source))?;
    Ok((spec, store))
}

fn quarantine_spec(plan: &StreamPlan) -> TableSpec {
    TableSpec {
        name: format!("{}_quarantine", plan.table.name),
        path: plan.table.quarantine_path.clone(),
        schema: quarantine_schema(),
        partition_by: Vec::new(),
        properties: BTreeMap::new(),
    }
}

fn open_quarantine(plan: &StreamPlan) -> Result<Store, TableError> {
    let path = &plan.table.quarantine_path;
    crisol_store::open(path).map_err(|source| error::store(&plan.table.name, path, source))
}

/// The quarantine of a stream, if there is one.
async fn find_quarantine(plan: &StreamPlan) -> Result<Option<Table>, TableError> {
    // Opening a store makes its folder.
    if !Path::new(&plan.table.quarantine_path).exists() {
        return Ok(None);
    }
    Table::open(&quarantine_spec(plan), &open_quarantine(plan)?).await
}

/// The quarantine of a stream, as its stream reaches it.
struct Quarantine(StreamPlan);

#[async_trait]
impl crisol_stream::Opener for Quarantine {
    async fn find(&self) -> Result<Option<Arc<dyn TableWriter>>, TableError> {
        let table = find_quarantine(&self.0).await?;
        Ok(table.map(|table| Arc::new(table) as Arc<dyn TableWriter>))
    }

    async fn open_or_create(&self) -> Result<Arc<dyn TableWriter>, TableError> {
        let table = Table::open_or_create(&quarantine_spec(&self.0), &open_quarantine(&self.0)?).await?;
        Ok(Arc::new(table))
    }
}

fn source(plan: &StreamPlan, checkpoint: &Checkpoint, columns: &SchemaRef) -> Box<dyn Source> {
    let log = Arc::new(CheckpointLog(checkpoint.source_log()));
    let table = |name: &str, path: &str, external| TableSourceSpec {
        name: name.into(),
        path: path.into(),
        columns: columns.clone(),
        external,
        max_files: plan
            .table
            .max_files_per_trigger
            .map_or(TableSourceSpec::MAX_FILES, |files| usize::try_from(files).unwrap_or(usize::MAX)),
        max_bytes: plan.table.max_bytes_per_trigger.unwrap_or(TableSourceSpec::MAX_BYTES),
    };
    match &plan.source {
        SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) => Box::new(KafkaSource::new(kafka.clone(), log)),
        SourcePlan::Ingestion(SourceSpec::Files(files)) => Box::new(FilesSource::new(files.clone(), log)),
        SourcePlan::Stream { table: name, path, .. } => Box::new(TableSource::new(table(name, path, false))),
        SourcePlan::External(path) => Box::new(TableSource::new(table(path, path, true))),
    }
}

fn no_table(path: &str) -> SourceError {
    SourceError::Config {
        what: format!("there is no Delta table at `{path}`"),
        hint: "name the folder that holds `_delta_log`".into(),
    }
}

/// Where the contract says to begin, as it is kept in the checkpoint.
fn starting(source: &SourcePlan) -> Option<String> {
    let SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) = source else { return None };
    Some(match &kafka.starting_offsets {
        StartingOffsets::Earliest => "earliest".into(),
        StartingOffsets::Latest => "latest".into(),
        StartingOffsets::Exact(offsets) => serde_json::json!(offsets).to_string(),
    })
}

fn empty_start_hint(source: &SourcePlan) -> Option<String> {
    match source {
        SourcePlan::Ingestion(SourceSpec::Kafka(KafkaSpec {
            starting_offsets: StartingOffsets::Latest,
            starting_offsets_given: false,
            ..
        })) => Some(
            "nothing was read: a new checkpoint starts at the latest offsets; set `starting_offsets` to `earliest` to \
             read what the topic already holds"
                .into(),
        ),
        _ => None,
    }
}
