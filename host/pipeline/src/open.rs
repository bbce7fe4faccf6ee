//! Opens what streams are made of: the one place that names concrete sources, tables and stores.

mod kafka;
mod rebuild;
mod replay;
mod slice;
mod tables;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use crisol_checkpoint::{Checkpoint, Fact};
use crisol_contract::{DELETED, KafkaBound, KafkaSpec, SourceSpec, Trigger, WriteMode};
use crisol_observe::Event;
use crisol_plugin::Registry;
use crisol_source::{
    Cut, FilesSource, HeldFiles, InferredSchema, KafkaSource, Source, SourceError, TableSource, TableSourceSpec,
    infer_schema, table_schema,
};
use crisol_stage::Chain;
use crisol_stream::{Failure, News, OpenTable, Pace, Parts, Patience, Upstream, stages};
use crisol_table::{KeepFiles, Table, TableError};
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) use self::replay::{chain, quarantine_rows, replay};
pub(crate) use self::slice::slice;
use self::tables::Quarantine;
use crate::builder::Restart;
use crate::error::Refusal;
use crate::handoff::Handoff;
use crate::plan::{SourcePlan, StreamPlan};
use crate::source_log::CheckpointLog;
use crate::swap::Swappable;
use crate::{Engine, EngineError};

/// Checks every stream against the components, as far as that goes without data; all problems at once.
pub(crate) fn check(streams: &[StreamPlan], registry: &Registry, notes: &mut Vec<String>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (stream, chain) in streams.iter().zip(chains(streams, registry)) {
        refusals.extend(stream.client_refusals());
        match chain {
            None => {
                notes.push(format!(
                    "stream `{}`: its columns are known once it runs; they are checked then",
                    stream.name
                ));
            }
            Some(chain) => refusals.extend(chain.err().into_iter().flatten()),
        }
    }
    refusals
}

/// The chain of each stream, or why there is none; `None` where the columns of its source are known once it runs.
pub(crate) fn chains(streams: &[StreamPlan], registry: &Registry) -> Vec<Option<Result<Chain, Vec<Refusal>>>> {
    let mut schemas: BTreeMap<&str, SchemaRef> = BTreeMap::new();
    let mut chains = Vec::new();
    for stream in streams {
        let input = match &stream.source {
            SourcePlan::Stream { stream: above, .. } => {
                schemas.get(above.as_str()).map(|table| stream.input_over(table))
            }
            _ => stream.source_schema(),
        };
        let chain = input.filter(|_| !stream.needs_inference()).map(|input| stream.chain(&input, registry));
        if let Some(Ok(chain)) = &chain {
            schemas.insert(&stream.name, chain.table_schema());
        }
        chains.push(chain);
    }
    chains
}

/// A stream's parts, ready to run.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) parts: Parts,
    pub(crate) swappable: Swappable,
}

/// A stream that may start: nothing was made for it yet but its checkpoint.
pub(crate) struct Examined {
    plan: StreamPlan,
    checkpoint: Checkpoint,
    input: SchemaRef,
    chain: Arc<Chain>,
    table: Option<Table>,
    /// What table and quarantine hold is taken out first.
    clear: bool,
}

/// Opens streams in two passes, each upstream first: all are examined before anything is made for one of them, so that
/// a start that is refused leaves no tables behind.
pub(crate) struct Opener<'a> {
    engine: &'a Engine,
    /// Columns of the tables examined so far, by stream.
    schemas: BTreeMap<String, SchemaRef>,
}

impl<'a> Opener<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Self {
        Self { engine, schemas: BTreeMap::new() }
    }

    /// Holds contract, checkpoint and tables of a stream against each other.
    pub(crate) async fn examine(&mut self, plan: &StreamPlan) -> Result<Examined, EngineError> {
        let fail = |failure: Failure| EngineError::opening(&plan.name, failure);
        let checkpoint = open_checkpoint(plan).await.map_err(fail)?;
        self.check_same_range(plan, &checkpoint).await?;
        let plan = settle_columns(plan, &checkpoint).await.map_err(fail)?;
        let input = self.input(&plan).await.map_err(fail)?;
        let refused = |refusals| EngineError::refused(&self.engine.positions, refusals);
        let chain = Arc::new(plan.chain(&input, &self.engine.registry).map_err(refused)?);
        let table = tables::find_table(&plan, &chain).await.map_err(|error| fail(error.into()))?;
        let clear = self.clears(&plan, &checkpoint, table.as_ref()).await.map_err(fail)?;
        self.schemas.insert(plan.name.clone(), chain.table_schema());
        Ok(Examined { plan, checkpoint, input, chain, table, clear })
    }

    /// Makes what is missing, and takes out what is to be read again.
    pub(crate) async fn open(
        &self,
        examined: Examined,
        upstreams: &BTreeMap<String, Upstream>,
        news: watch::Sender<News>,
    ) -> Result<Opened, EngineError> {
        let Examined { plan, checkpoint, input, chain, table, clear } = examined;
        let fail = |error: TableError| EngineError::opening(&plan.name, error);
        let table = match table {
            Some(table) => table,
            None => tables::make_table(&plan, &chain).await.map_err(fail)?,
        };
        if clear {
            let cleared = rebuild::clear_tables(&plan, &table, None).await;
            cleared.map_err(|failure| EngineError::opening(&plan.name, failure))?;
        }
        let checkpoint = self.follow_rebuild(&plan, checkpoint, &table, &input).await;
        let checkpoint = checkpoint.map_err(|failure| EngineError::opening(&plan.name, failure))?;
        let keeper = self.engine.handoff.as_ref().filter(|_| self.is_read(&plan));
        let keeper = keeper.map(|handoff| Arc::clone(handoff) as Arc<dyn KeepFiles>);
        let renewal = slice::renewal(&plan, &chain, keeper.clone());
        let table = match keeper {
            Some(keeper) => table.handing_over(keeper),
            None => table,
        };
        let (stages, swap) = stages(chain);
        let parts = Parts {
            name: plan.name.clone(),
            table_name: plan.table.name.clone(),
            table_path: plan.table.path.clone(),
            source: source(&plan, &checkpoint, &input, self.engine.handoff.as_ref()),
            quarantine: OpenTable::new(Quarantine(plan.clone())),
            table: Arc::new(table),
            stages,
            renewal,
            pace: self.pace(&plan, upstreams),
            patience: self.patience(&plan),
            workers: workers(),
            observers: self.engine.observers.clone(),
            news,
            starting: starting(&plan.source),
            empty_start_hint: empty_start_hint(&plan.source),
            checkpoint,
        };
        Ok(Opened { name: plan.name.clone(), parts, swappable: Swappable { plan, input, swap } })
    }

    /// A range that was begun is finished before the table gets another one.
    async fn check_same_range(&self, plan: &StreamPlan, checkpoint: &Checkpoint) -> Result<(), EngineError> {
        let (SourcePlan::Ingestion(SourceSpec::Kafka(KafkaSpec { ending: Some(_), .. })), Some(range)) =
            (&plan.source, starting(&plan.source))
        else {
            return Ok(());
        };
        let kept = checkpoint.kept(Fact::Starting).await;
        match kept.map_err(|error| EngineError::opening(&plan.name, Failure::from(error)))? {
            Some(begun) if begun != range => Err(EngineError::NotBackfilled {
                table: plan.table.name.clone(),
                what: format!("it was begun with the range {begun}, and this one is {range}"),
                hint: "give the same range to go on, or another `--into`".into(),
            }),
            _ => Ok(()),
        }
    }

    async fn input(&self, plan: &StreamPlan) -> Result<SchemaRef, Failure> {
        if let Some(schema) = plan.source_schema() {
            return Ok(schema);
        }
        match &plan.source {
            SourcePlan::External(path) => table_schema(path, path).await?.ok_or_else(|| no_table(path).into()),
            SourcePlan::Stream { stream, .. } => match self.schemas.get(stream) {
                Some(table) => Ok(plan.input_over(table)),
                None => Err(Failure::Internal {
                    what: format!("stream `{}` was opened before `{stream}`, which it reads", plan.name),
                }),
            },
            SourcePlan::Ingestion(_) => Err(Failure::Internal { what: "a source without columns".into() }),
        }
    }

    /// Promise 1 for a checkpoint or a table that was lost: nothing is read again, or skipped, by accident. Whether the
    /// tables are to be cleared.
    async fn clears(&self, plan: &StreamPlan, checkpoint: &Checkpoint, table: Option<&Table>) -> Result<bool, Failure> {
        let state = checkpoint.state().await?;
        if state.offsets.is_some() || state.newest_commit.is_some() {
            if table.is_none() {
                return Err(table_missing(plan));
            }
            // Whether a rebuild reaches the streams below shows when those above are open.
            let below = matches!(plan.source, SourcePlan::Stream { .. } | SourcePlan::External(_));
            if self.engine.restart == Restart::Reread || (self.engine.restart == Restart::Rebuild && !below) {
                let text = "the checkpoint is not new: `--reread` and `--rebuild` have no effect on this stream".into();
                self.engine.observers.tell(&Event::Warning { stream: plan.name.clone(), text });
            }
            return Ok(false);
        }
        if self.engine.restart == Restart::Reread || !holds_rows(plan, checkpoint, table).await? {
            return Ok(false);
        }
        match self.engine.restart {
            Restart::Rebuild => Ok(true),
            _ => Err(Failure::TableNotEmpty { table: plan.table.name.clone() }),
        }
    }

    /// A rebuild goes down: the streams above are open, and may have taken out what this one has read.
    async fn follow_rebuild(
        &self,
        plan: &StreamPlan,
        checkpoint: Checkpoint,
        table: &Table,
        columns: &SchemaRef,
    ) -> Result<Checkpoint, Failure> {
        if self.engine.restart != Restart::Rebuild || !rebuild::upstream_began_anew(plan, &checkpoint, columns).await? {
            return Ok(checkpoint);
        }
        let text = "the table that it reads was begun anew: this stream is rebuilt, too".into();
        self.engine.observers.tell(&Event::Warning { stream: plan.name.clone(), text });
        rebuild::begin_anew(plan, checkpoint, table).await
    }

    /// Whether a stream of this run reads the stream's table.
    fn is_read(&self, plan: &StreamPlan) -> bool {
        let reads =
            |below: &StreamPlan| matches!(&below.source, SourcePlan::Stream { stream, .. } if *stream == plan.name);
        self.engine.streams.iter().any(reads)
    }

    /// Brokers come back by themselves; a run that has an end waits for them as long as a read may stand still.
    fn patience(&self, plan: &StreamPlan) -> Patience {
        match &plan.source {
            SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) => match self.engine.trigger.unwrap_or(plan.trigger) {
                Trigger::AvailableNow => Patience::For(kafka.poll_timeout),
                Trigger::Continuous | Trigger::Every(_) => Patience::Endless,
            },
            _ => Patience::None,
        }
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

/// Chunks worked on side by side.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// The checkpoint of a stream; it is made when there is none.
pub(crate) async fn open_checkpoint(plan: &StreamPlan) -> Result<Checkpoint, Failure> {
    checkpoint_in(&plan.checkpoint).await
}

/// The checkpoint in a folder; it is made when there is none.
pub(crate) async fn checkpoint_in(folder: &Path) -> Result<Checkpoint, Failure> {
    let folder = folder.to_string_lossy();
    let fail = |source| Failure::OpenCheckpoint { folder: folder.to_string(), source };
    let store = crisol_store::open(&folder).map_err(|source| fail(source.into()))?;
    Checkpoint::open(store, Uuid::new_v4()).await.map_err(|source| fail(source.into()))
}

/// Whether table or quarantine hold rows that this stream wrote under another checkpoint.
async fn holds_rows(plan: &StreamPlan, checkpoint: &Checkpoint, table: Option<&Table>) -> Result<bool, TableError> {
    let application = checkpoint.id().to_string();
    let quarantine = tables::find_quarantine(plan).await?;
    for table in quarantine.as_ref().into_iter().chain(table) {
        if table.holds_rows_of(&plan.name, &application).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn table_missing(plan: &StreamPlan) -> Failure {
    Failure::TableMissing {
        table: plan.table.name.clone(),
        path: plan.table.path.clone(),
        checkpoint: plan.checkpoint.display().to_string(),
    }
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

fn source(
    plan: &StreamPlan,
    checkpoint: &Checkpoint,
    input: &SchemaRef,
    handoff: Option<&Arc<Handoff>>,
) -> Box<dyn Source> {
    let log = Arc::new(CheckpointLog(checkpoint.source_log()));
    match &plan.source {
        SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) => {
            Box::new(KafkaSource::new(kafka::with_group(kafka, plan, checkpoint), log))
        }
        SourcePlan::Ingestion(SourceSpec::Files(files)) => Box::new(FilesSource::new(files.clone(), log)),
        SourcePlan::Stream { table, path, .. } => {
            let held = handoff.map(|handoff| Arc::clone(handoff) as Arc<dyn HeldFiles>);
            Box::new(TableSource::new(TableSourceSpec { held, ..table_source(plan, input, table, path, false) }))
        }
        SourcePlan::External(path) => Box::new(TableSource::new(table_source(plan, input, path, path, true))),
    }
}

/// `input` is what the source gives.
fn table_source(plan: &StreamPlan, input: &SchemaRef, name: &str, path: &str, external: bool) -> TableSourceSpec {
    let table = &plan.table;
    let changes = matches!(plan.source, SourcePlan::Stream { changes: true, .. });
    let columns = input.fields().iter().filter(|field| !changes || field.name() != DELETED).cloned();
    let most = table.max_files_per_trigger.map(|files| usize::try_from(files).unwrap_or(usize::MAX));
    TableSourceSpec {
        name: name.into(),
        path: path.into(),
        columns: Arc::new(Schema::new(columns.collect::<Vec<_>>())),
        external,
        changes,
        cut: cut(&table.write, changes),
        held: None,
        anew: anew(plan),
        max_files: most.unwrap_or(TableSourceSpec::MAX_FILES),
        max_bytes: table.max_bytes_per_trigger.unwrap_or(TableSourceSpec::MAX_BYTES),
    }
}

/// Where batches of a stream on a table end. A table of groups is computed from whole versions; partitions that arrive
/// again replace those of the version before, so the two are never one batch.
fn cut(write: &WriteMode, changes: bool) -> Cut {
    match write {
        WriteMode::ReplacePartitions => Cut::EachVersion,
        WriteMode::ReplaceGroups { .. } => Cut::Versions,
        WriteMode::Upsert { .. } | WriteMode::Append if changes => Cut::Versions,
        WriteMode::Upsert { .. } | WriteMode::Append => Cut::Files,
    }
}

/// How the table that a stream reads is read from its beginning again.
fn anew(plan: &StreamPlan) -> String {
    match &plan.source {
        SourcePlan::Stream { stream, .. } => format!(
            "delete the checkpoint of the stream `{stream}` and run with `--rebuild`: its table and those below are made \
             again from its source"
        ),
        _ => format!(
            "delete the folder `{}` (the checkpoint) and run with `--rebuild`, which takes out what was made of the table \
             before, or with `--reread`, which appends all that the table holds now",
            plan.checkpoint.display()
        ),
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
    let start = kafka.starting.to_string();
    Some(kafka.ending.as_ref().map_or(start.clone(), |end| format!("{start} to {end}")))
}

fn empty_start_hint(source: &SourcePlan) -> Option<String> {
    match source {
        SourcePlan::Ingestion(SourceSpec::Kafka(KafkaSpec {
            starting: KafkaBound::Latest,
            starting_given: false,
            ..
        })) => Some(
            "nothing was read: a new checkpoint starts at the latest offsets; set `starting_offsets` to `earliest` to \
             read what the topic already holds"
                .into(),
        ),
        _ => None,
    }
}
