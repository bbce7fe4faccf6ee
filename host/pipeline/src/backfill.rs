//! A range of a topic into a table of its own, through the stages of a contract. Production is left alone.

use std::path::Path;

use crisol_contract::{KafkaBound, KafkaSpec, Project, SourceSpec, TableContract, Trigger};

use crate::plan::{SourcePlan, StreamPlan};
use crate::{Engine, EngineBuilder, EngineError, StreamHandle};

/// Offsets of one batch. A contract's own limits are about streams (K-027); a batch that is cut short is read again whole.
const BATCH_OFFSETS: u64 = 5_000_000;

/// What is read again, and where to.
#[derive(Debug, Clone)]
pub struct Range {
    /// Name of the ingestion contract, or of the table that it fills.
    pub contract: String,
    /// Where the range begins.
    pub from: KafkaBound,
    /// Where it ends, exclusive.
    pub to: KafkaBound,
    /// Name of the table that it goes to; no contract describes it.
    pub into: String,
    /// Goes on without records that are gone, whatever the contract says.
    pub accept_data_loss: bool,
}

/// A backfill, ready to run.
#[derive(Debug)]
pub struct Backfill {
    engine: Engine,
}

impl EngineBuilder {
    /// A backfill of a range. One that was cut short goes on where it stopped.
    ///
    /// # Errors
    /// As [`EngineBuilder::build`]; and where the range or its table cannot be.
    pub fn backfill(self, range: &Range) -> Result<Backfill, EngineError> {
        if let Err(what) = crisol_contract::check_range(&range.from, &range.to) {
            return Err(refused(range, &what, "see `host backfill --help` for the forms of `--from` and `--to`"));
        }
        let engine = self.beside_a_host().assemble(|project, streams| Ok(vec![plan(project, &streams, range)?]))?;
        Ok(Backfill { engine })
    }
}

impl Backfill {
    /// The engine that runs it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Starts it.
    ///
    /// # Errors
    /// Its checkpoint or table cannot be opened, or were begun with another range.
    pub async fn start(&self) -> Result<Vec<StreamHandle>, EngineError> {
        self.engine.start_beside().await
    }
}

fn plan(project: &Project, streams: &[StreamPlan], range: &Range) -> Result<StreamPlan, EngineError> {
    let found = streams.iter().find(|stream| stream.name == range.contract || stream.table.name == range.contract);
    let stream = found.ok_or_else(|| EngineError::UnknownStream {
        name: range.contract.clone(),
        known: streams.iter().filter(|stream| kafka(stream).is_some()).map(|stream| stream.name.clone()).collect(),
    })?;
    let kafka = kafka(stream).ok_or_else(|| {
        refused(
            range,
            &format!("`{}` does not read from Kafka", range.contract),
            "name an ingestion contract of a topic",
        )
    })?;
    let path = project.paths.table(&range.into);
    check_into(streams, range, &path)?;
    if kafka.max_offsets_per_trigger.is_some() || kafka.batch_minimum.is_some() {
        // K-027: they are about a stream's batches.
        tracing::warn!(contract = range.contract, "limits of batches in the contract have no effect on a backfill");
    }
    let path = path.to_string_lossy().into_owned();
    Ok(StreamPlan {
        name: range.into.clone(),
        table: TableContract {
            name: range.into.clone(),
            quarantine_path: format!("{path}_quarantine"),
            path,
            ..stream.table.clone()
        },
        source: SourcePlan::Ingestion(SourceSpec::Kafka(KafkaSpec {
            starting: range.from.clone(),
            starting_given: true,
            ending: Some(range.to.clone()),
            max_offsets_per_trigger: Some(BATCH_OFFSETS),
            batch_minimum: None,
            report_group_id: None,
            fail_on_data_loss: kafka.fail_on_data_loss && !range.accept_data_loss,
            ..kafka.clone()
        })),
        trigger: Trigger::AvailableNow,
        checkpoint: project.paths.backfill_dir(&range.into),
        replay: project.paths.checkpoint.join("replay").join(&range.into),
        ..stream.clone()
    })
}

fn kafka(stream: &StreamPlan) -> Option<&KafkaSpec> {
    match &stream.source {
        SourcePlan::Ingestion(SourceSpec::Kafka(kafka)) => Some(kafka),
        _ => None,
    }
}

/// The table is none of the project's, and lies in a folder of its own.
fn check_into(streams: &[StreamPlan], range: &Range, path: &Path) -> Result<(), EngineError> {
    let into = &range.into;
    let legal = |part: &str| {
        let names = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        !part.is_empty() && names && !part.starts_with('_')
    };
    if !into.split('.').all(legal) {
        let hint =
            "letters, digits, `_` and `-` make the parts of a name, dots stand between them: `bronze.orders_2026`";
        return Err(refused(range, &format!("`{into}` is no name of a table"), hint));
    }
    let hint = "a backfill has a table of its own: compare it with the production table, then let a contract read it";
    // Catalogs, and some file systems, know no case.
    let is = |name: &str| name.eq_ignore_ascii_case(into);
    if streams.iter().any(|stream| is(&stream.table.name) || is(&stream.name)) {
        return Err(refused(range, &format!("`{into}` is a table of the project"), hint));
    }
    let overlaps = |other: &str| path.starts_with(other) || Path::new(other).starts_with(path);
    let taken = streams.iter().find(|s| overlaps(&s.table.path) || overlaps(&s.table.quarantine_path));
    match taken {
        Some(stream) => {
            let what = format!("`{}` would lie in the folder of table `{}`", path.display(), stream.table.name);
            Err(refused(range, &what, hint))
        }
        None => Ok(()),
    }
}

fn refused(range: &Range, what: &str, hint: &str) -> EngineError {
    EngineError::NotBackfilled { table: range.into.clone(), what: what.into(), hint: hint.into() }
}
