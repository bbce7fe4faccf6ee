//! From contracts to streams: which there are, in which order, and what each is made of. Nothing is opened here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use arrow_schema::SchemaRef;
use crisol_contract::{
    ColumnSpec, FileFormat, IngestionContract, Limits, Project, SourceSpec, StageKind, StageSpec, TableContract,
    Trigger, Upstream,
};
use crisol_plugin::Registry;
use crisol_source::{RefusedOption, check_client, files_schema, kafka_schema, with_changes};
use crisol_stage::{Chain, ChainInput, Sandboxed, StageError};

use crate::error::{Place, Refusal};

/// Columns that say where a row came from, as far as a table has them.
pub(crate) const PROVENANCE: [&str; 5] = ["topic", "partition", "offset", "file_path", "file_row"];
/// What a row of a file also brings along into bronze.
const FILE_COLUMNS: [&str; 3] = ["file_path", "file_row", "file_modified"];

/// One stream of a project.
#[derive(Debug, Clone)]
pub(crate) struct StreamPlan {
    /// The ingestion contract's name, or the table's.
    pub(crate) name: String,
    /// The table that it fills.
    pub(crate) table: TableContract,
    /// File of the ingestion contract, where there is one.
    pub(crate) ingestion: Option<PathBuf>,
    /// Where its rows come from.
    pub(crate) source: SourcePlan,
    /// When it makes batches, unless an upstream says so.
    pub(crate) trigger: Trigger,
    /// Where its checkpoint lies.
    pub(crate) checkpoint: PathBuf,
    /// Where that of the replays of its quarantine lies.
    pub(crate) replay: PathBuf,
    /// The project's limits, for stages that no contract names.
    pub(crate) limits: Limits,
}

/// Where a stream's rows come from.
#[derive(Debug, Clone)]
pub(crate) enum SourcePlan {
    /// Kafka or files.
    Ingestion(SourceSpec),
    /// The table that another stream of the project fills.
    Stream {
        /// Name of that stream.
        stream: String,
        /// Name of its table.
        table: String,
        /// Where that table lies.
        path: String,
        /// Whether its rows change or go.
        changes: bool,
    },
    /// A table that someone else fills.
    External(String),
}

/// All streams, upstream before downstream.
pub(crate) fn streams(project: &Project) -> Vec<StreamPlan> {
    let by_table: BTreeMap<&str, &IngestionContract> =
        project.ingestions.iter().map(|ingestion| (ingestion.destination.as_str(), ingestion)).collect();
    project.tables.iter().filter_map(|table| stream(project, &by_table, table)).collect()
}

fn stream(
    project: &Project,
    by_table: &BTreeMap<&str, &IngestionContract>,
    table: &TableContract,
) -> Option<StreamPlan> {
    let own = |source| StreamPlan {
        name: table.name.clone(),
        table: table.clone(),
        ingestion: None,
        source,
        trigger: Trigger::AvailableNow,
        checkpoint: table.checkpoint_dir(&project.paths),
        replay: table.replay_dir(&project.paths),
        limits: project.limits.clone(),
    };
    match &table.from {
        Upstream::Ingestion(_) => by_table.get(table.name.as_str()).map(|ingestion| StreamPlan {
            name: ingestion.name.clone(),
            table: table.clone(),
            ingestion: Some(ingestion.file.clone()),
            source: SourcePlan::Ingestion(ingestion.source.clone()),
            trigger: ingestion.trigger,
            checkpoint: ingestion.checkpoint_dir(&project.paths),
            replay: table.replay_dir(&project.paths),
            limits: project.limits.clone(),
        }),
        Upstream::Table(upstream) => {
            let above = project.tables.iter().find(|table| table.name == *upstream)?;
            let (path, changes) = (above.path.clone(), above.changes_rows());
            let stream = by_table.get(upstream.as_str()).map_or(upstream, |ingestion| &ingestion.name).clone();
            Some(own(SourcePlan::Stream { stream, table: upstream.clone(), path, changes }))
        }
        Upstream::External(path) => Some(own(SourcePlan::External(path.clone()))),
        Upstream::None => None,
    }
}

/// The streams named and all that they need upstream; all streams when none is named.
///
/// # Errors
/// The name that no stream bears.
pub(crate) fn select(streams: Vec<StreamPlan>, names: &[String]) -> Result<Vec<StreamPlan>, String> {
    if names.is_empty() {
        return Ok(streams);
    }
    let mut wanted = BTreeSet::new();
    for name in names {
        let found = streams.iter().find(|stream| stream.name == *name || stream.table.name == *name);
        wanted.insert(found.ok_or_else(|| name.clone())?.name.clone());
    }
    // Upstream comes first in the list, so one pass backwards reaches everything that is needed.
    for stream in streams.iter().rev() {
        if let (true, SourcePlan::Stream { stream: upstream, .. }) = (wanted.contains(&stream.name), &stream.source) {
            wanted.insert(upstream.clone());
        }
    }
    Ok(streams.into_iter().filter(|stream| wanted.contains(&stream.name)).collect())
}

impl StreamPlan {
    /// The source's columns as far as the contract tells; `None` for tables of others, whose columns only they know.
    pub(crate) fn source_schema(&self) -> Option<SchemaRef> {
        match &self.source {
            SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) => Some(kafka_schema(kafka.add_kafka_metadata)),
            SourcePlan::Ingestion(SourceSpec::Files(_)) => Some(files_schema()),
            SourcePlan::Stream { .. } | SourcePlan::External(_) => None,
        }
    }

    /// The columns that its source gives, over the table that it reads.
    pub(crate) fn input_over(&self, table: &SchemaRef) -> SchemaRef {
        match &self.source {
            SourcePlan::Stream { changes: true, .. } => with_changes(table),
            _ => table.clone(),
        }
    }

    /// Whether the columns must first be taken from the files present (F-001 as decided).
    pub(crate) fn needs_inference(&self) -> bool {
        matches!(&self.source, SourcePlan::Ingestion(SourceSpec::Files(files))
            if files.format == FileFormat::Json && files.schema.is_none())
    }

    /// Gives the columns that were taken from the files, as names and types.
    pub(crate) fn with_columns(mut self, columns: &[(String, String)]) -> Result<Self, String> {
        let columns = columns
            .iter()
            .map(|(name, text)| {
                let data_type = crisol_ipc::types::parse(text)?;
                Ok(ColumnSpec { name: name.clone(), data_type, nullable: true, comment: None, generated: None })
            })
            .collect::<Result<Vec<_>, String>>()?;
        if let SourcePlan::Ingestion(SourceSpec::Files(files)) = &mut self.source {
            files.schema = Some(columns);
        }
        Ok(self)
    }

    /// The chain over a source of these columns.
    ///
    /// # Errors
    /// Every key of the contract that does not fit.
    pub(crate) fn chain(&self, input: &SchemaRef, registry: &Registry) -> Result<Chain, Vec<Refusal>> {
        let chain_input =
            ChainInput { schema: input.clone(), provenance: self.provenance(input), stream: self.name.clone() };
        Chain::build(&self.table_with_decoder(), chain_input, &Sandboxed::new(registry))
            .map_err(|errors| errors.into_iter().map(|error| self.refusal(error)).collect())
    }

    fn provenance(&self, input: &SchemaRef) -> Vec<String> {
        let known: &[&str] = match self.source {
            SourcePlan::Ingestion(SourceSpec::Files(_)) => &FILE_COLUMNS,
            _ => &PROVENANCE,
        };
        known.iter().filter(|name| input.field_with_name(name).is_ok()).map(|name| (*name).into()).collect()
    }

    /// Options that the stream's Kafka client refuses; the broker is not asked.
    pub(crate) fn client_refusals(&self) -> Vec<Refusal> {
        let (SourcePlan::Ingestion(SourceSpec::Kafka(kafka)), Some(ingestion)) = (&self.source, &self.ingestion) else {
            return Vec::new();
        };
        let refusal = |refused: RefusedOption| Refusal {
            place: match refused.option {
                Some(option) => Place::ClientOption { ingestion: ingestion.clone(), option },
                None => Place::Key { file: ingestion.clone(), key: "source.kafka".into() },
            },
            message: refused.what,
            hint: refused.hint,
        };
        check_client(kafka).into_iter().map(refusal).collect()
    }

    /// JSON lines are decoded by the bundled component, in the sandbox, like every other step.
    pub(crate) fn table_with_decoder(&self) -> TableContract {
        let mut table = self.table.clone();
        table.stages.splice(0..0, self.own_decoder());
        table
    }

    /// The decoder that no contract names.
    fn own_decoder(&self) -> Option<StageSpec> {
        let SourcePlan::Ingestion(SourceSpec::Files(files)) = &self.source else { return None };
        let columns = files.schema.as_ref().filter(|_| files.format == FileFormat::Json)?;
        Some(json_decoder(columns, &self.limits))
    }

    fn refusal(&self, error: StageError) -> Refusal {
        let (key, message, hint) = match error {
            StageError::Config { key, what, hint } => (key, what, hint),
            other => (String::new(), other.to_string(), String::new()),
        };
        Refusal { place: self.place(key), message, hint }
    }

    /// Where a key of the table with its decoder stands: the contract does not have that stage.
    pub(crate) fn place(&self, key: String) -> Place {
        let stage = key.strip_prefix("stages[").and_then(|rest| rest.split_once(']'));
        let (Some(_), Some((index, rest))) = (self.own_decoder(), stage) else {
            return Place::Key { file: self.table.file.clone(), key };
        };
        match (index.parse::<usize>(), &self.ingestion) {
            (Ok(0), Some(ingestion)) => Place::Key { file: ingestion.clone(), key: "source.format".into() },
            (Ok(index), _) => {
                let key = format!("stages[{}]{rest}", index.saturating_sub(1));
                Place::Key { file: self.table.file.clone(), key }
            }
            (Err(_), _) => Place::Key { file: self.table.file.clone(), key },
        }
    }
}

fn json_decoder(columns: &[ColumnSpec], limits: &Limits) -> StageSpec {
    let columns: Vec<_> = columns
        .iter()
        .map(|column| serde_json::json!({ "name": column.name, "type": crisol_ipc::types::name(&column.data_type) }))
        .collect();
    let options = serde_json::Map::from_iter([("columns".to_string(), serde_json::Value::from(columns))]);
    StageSpec {
        kind: StageKind::Decoder,
        component: "json".into(),
        version_range: None,
        version: None,
        options,
        limits: limits.clone(),
    }
}
