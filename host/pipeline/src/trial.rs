//! A component tried on rows of a real table, in its place among the stages of a contract. Nothing is written.

mod differences;
mod reasons;
mod run;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use crisol_contract::{OnRejected, OnViolation, Project, StageSpec, WriteMode};
use crisol_observe::{Build, ColumnChanges};
use crisol_plugin::{Component, Registry};
use crisol_stage::Chain;
use serde::Serialize;

pub use self::differences::{Change, Difference, Differences};
pub use self::reasons::Reason;
pub use self::run::{Cost, Tried};
use self::run::{Given, Ran};
use crate::files::Kafka;
use crate::fit::{is_asked_for, written};
use crate::inspect::find;
use crate::plan::{self, SourcePlan, StreamPlan};
use crate::swap::{self, Decisions, changes, difference};
use crate::{EngineBuilder, EngineError};

/// What came of a trial.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// The table whose stages were run.
    pub table: String,
    /// Name of the component.
    pub component: String,
    /// Its kind.
    pub kind: String,
    /// Stages in which it was tried, `decode orders`.
    pub stages: Vec<String>,
    /// The table that the rows are of.
    pub upstream: String,
    /// How many rows there were.
    pub rows: u64,
    /// Whether the rows were put together in groups of these rows alone, which may be parts of the table's groups.
    pub groups_of_these_rows: bool,
    /// What came of them with the component in its place.
    pub new: Tried,
    /// The same with what serves now; `None` where nothing does.
    pub serving: Option<Tried>,
    /// Why nothing serves.
    pub not_serving: Option<String>,
    /// Where the two differ; `None` where nothing serves, or one of them failed.
    pub differences: Option<Differences>,
    /// Columns that come out, where they are not the same.
    pub columns: Option<ColumnChanges>,
}

impl EngineBuilder {
    /// Takes the newest rows of a contract's upstream table, at most `rows`, through its stages: once with the component of a
    /// file in its place, once with what serves now. Nothing is written.
    ///
    /// # Errors
    /// The contracts are wrong; the component is refused, or the contract asks for no such component; the table has no
    /// upstream table, or that has no rows.
    pub async fn trial(self, component: &Path, table: &str, rows: usize) -> Result<Trial, EngineError> {
        let (project, positions, _) = self.resolve(Kafka::Unread)?;
        let plan = tried_plan(&project, table)?;
        let (mut shelf, mut registry) = self.shelf(&project.dir, Some(&project))?;
        if let Some(host) = Decisions::read(&swap::decisions_file(&project)) {
            registry = shelf.beside(&host);
        }
        let component = shelf.load_apart(component).map_err(|error| EngineError::Component(Box::new(error)))?;
        let component = Arc::new(component);
        let stages = stages(&plan, &component)?;
        let (upstream, rows) = newest(&plan, rows).await?;
        let input = rows.first().map(RecordBatch::schema).ok_or_else(|| empty(&plan, &upstream))?;
        let new = plan.chain(&input, &registry.with_first(Arc::clone(&component)));
        let new = new.map_err(|refusals| EngineError::refused(&positions, refusals))?;
        let serving = serving(&plan, &input, &registry, &component);
        let given = Given { rows, groups: group_by(&plan, &component) };
        let tried = Candidates { plan, stages, component, new, serving, upstream };
        tried.run(given).await
    }
}

/// Who is compared.
struct Candidates {
    plan: StreamPlan,
    stages: Vec<String>,
    component: Arc<Component>,
    new: Chain,
    serving: Result<(Chain, Vec<Arc<Component>>), String>,
    upstream: String,
}

impl Candidates {
    async fn run(self, given: Given) -> Result<Trial, EngineError> {
        let Self { plan, stages, component, new, serving, upstream } = self;
        let (old, old_columns, not_serving) = match serving {
            Ok((chain, components)) => {
                let columns = chain.accepted_schema();
                (Some(run::run(chain, components, &given).await?), Some(columns), None)
            }
            Err(why) => (None, None, Some(why)),
        };
        let (name, kind) = (component.name().to_owned(), component.kind().to_string());
        let columns = old_columns.filter(|old| difference(old, &new.accepted_schema()).is_some());
        let columns = columns.map(|old| changes(&old, &new.accepted_schema()));
        let place = new.clone();
        let ran = run::run(new, vec![component], &given).await?;
        let differences = match (&ran.outcome, old.as_ref().and_then(|old| old.outcome.as_ref())) {
            (Some(now), Some(then)) => Some(differences::between(now, then, &given, &place)?),
            _ => None,
        };
        let rows = given.rows.iter().map(|rows| rows.num_rows() as u64).sum();
        Ok(Trial {
            table: plan.table.name,
            component: name,
            kind,
            stages,
            upstream,
            rows,
            groups_of_these_rows: !given.groups.is_empty(),
            new: ran.tried,
            serving: old.map(|Ran { tried, .. }| tried),
            not_serving,
            differences,
            columns,
        })
    }
}

/// The stream of a table, with all that would stop it turned into a rejection: what comes of each row is to be told.
fn tried_plan(project: &Project, table: &str) -> Result<StreamPlan, EngineError> {
    let streams = plan::streams(project);
    let known = || streams.iter().map(|stream| stream.table.name.clone()).collect();
    let found = streams.iter().find(|stream| stream.table.name == table);
    let mut plan = found.cloned().ok_or_else(|| EngineError::UnknownStream { name: table.into(), known: known() })?;
    plan.table.on_rejected = OnRejected::Quarantine;
    for rule in plan.table.expectations.iter_mut().filter(|rule| rule.on_violation == OnViolation::Fail) {
        rule.on_violation = OnViolation::Quarantine;
    }
    Ok(plan)
}

/// The stages that take the component.
fn stages(plan: &StreamPlan, component: &Component) -> Result<Vec<String>, EngineError> {
    let taken = plan.table.stages.iter().filter(|stage| is_asked_for(stage, component));
    let taken: Vec<String> = taken.map(|stage| format!("{} {}", stage.kind.key(), stage.component)).collect();
    if !taken.is_empty() {
        return Ok(taken);
    }
    let all: Vec<String> = plan.table.stages.iter().map(|stage| format!("`{}`", written(stage))).collect();
    let (name, version) = (component.name(), component.version());
    Err(refuse(
        plan,
        format!("none of its stages asks for `{name}`, a {} {version}", component.kind()),
        match all.is_empty() {
            true => "it has no stages; name another table with `--contract`".into(),
            false => format!("its stages are {}", all.join(", ")),
        },
    ))
}

/// The chain of what serves, and those of its components that bear the name; or why there is none.
fn serving(
    plan: &StreamPlan,
    input: &SchemaRef,
    registry: &Registry,
    component: &Component,
) -> Result<(Chain, Vec<Arc<Component>>), String> {
    let chain = plan.chain(input, registry).map_err(|refusals| swap::text(&refusals))?;
    let at_work = chain.components();
    let namesakes = registry.serving().iter().chain(registry.shadowed());
    let namesakes = namesakes.filter(|one| one.name() == component.name());
    let namesakes = namesakes.filter(|one| at_work.iter().any(|id| id.digest == one.digest()));
    Ok((chain, namesakes.cloned().collect()))
}

/// Columns of the groups that the component is tried on; none where it works on rows.
fn group_by(plan: &StreamPlan, component: &Component) -> Vec<String> {
    let takes_groups = |stage: &StageSpec| stage.kind.takes_groups() && is_asked_for(stage, component);
    match &plan.table.write {
        WriteMode::ReplaceGroups { group_by } if plan.table.stages.iter().any(takes_groups) => group_by.clone(),
        _ => Vec::new(),
    }
}

/// The newest rows of the table above, as the stream would get them.
async fn newest(plan: &StreamPlan, limit: usize) -> Result<(String, Vec<RecordBatch>), EngineError> {
    let (name, path) = match &plan.source {
        SourcePlan::Stream { table, path, .. } => (table.clone(), path.clone()),
        SourcePlan::External(path) => (path.clone(), path.clone()),
        SourcePlan::Ingestion(_) => {
            let hint =
                "choose a table whose `from` is another one, or run the samples of the component with `host test`";
            return Err(refuse(plan, "its rows come from messages or files, not from a table", hint));
        }
    };
    let fail = |error| EngineError::opening(&plan.name, error);
    let table = find(plan, &path).await?.ok_or_else(|| empty(plan, &name))?;
    let rows = table.read_rows(limit, &[]).await.map_err(fail)?;
    let rows = rows.into_iter().filter(|rows| rows.num_rows() > 0).map(|rows| as_given(plan, &rows));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    Ok((name, run::chunks(rows)))
}

/// Rows of a table as its stream gets them: of one that changes with a column that says that they are not deleted.
fn as_given(plan: &StreamPlan, rows: &RecordBatch) -> Result<RecordBatch, EngineError> {
    let schema = plan.input_over(&rows.schema());
    let mut columns = rows.columns().to_vec();
    if schema.fields().len() > columns.len() {
        columns.push(Arc::new(BooleanArray::from(vec![false; rows.num_rows()])) as ArrayRef);
    }
    RecordBatch::try_new(schema, columns).map_err(EngineError::internal)
}

fn empty(plan: &StreamPlan, upstream: &str) -> EngineError {
    let what = format!("the table above it, `{upstream}`, has no rows");
    refuse(plan, what, "`host run` fills it; samples of the component run without it, with `host test`")
}

fn refuse(plan: &StreamPlan, what: impl Into<String>, hint: impl Into<String>) -> EngineError {
    EngineError::NotTried { table: plan.table.name.clone(), what: what.into(), hint: hint.into() }
}

/// The builds of components.
fn builds(components: &[Arc<Component>]) -> Vec<Build> {
    let build = |one: &Arc<Component>| Build { version: one.version().to_string(), digest: one.digest().to_owned() };
    components.iter().map(build).collect()
}
