//! Sandboxed components as workers of a chain.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use crisol_contract::{StageKind, StageSpec};
use crisol_plugin::{
    CallError, Component, GroupStage, Kind, Limits, OptionProblem, PluginError, Registry, RowOutput, RowStage,
};

use crate::{
    ComponentId, Fate, GroupAnswer, GroupSession, GroupWorker, Rejection, Route, RowWorker, WorkerError, WorkerOutput,
    WorkerProblem, Workers,
};

/// Finds the components of contracts in a registry.
#[derive(Debug)]
pub struct Sandboxed<'a> {
    registry: &'a Registry,
}

impl<'a> Sandboxed<'a> {
    /// Components of `registry`, each under the limits of its stage.
    pub fn new(registry: &'a Registry) -> Self {
        Self { registry }
    }
}

impl Workers for Sandboxed<'_> {
    fn worker(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Arc<dyn RowWorker>, Vec<WorkerProblem>> {
        let kind = plugin_kind(stage.kind);
        let problems = |error| problems(kind, error);
        let component = self.registry.find(&stage.component, stage.version_range.as_ref(), kind).map_err(problems)?;
        let row_stage = component.row_stage(&stage.options, input, &limits(stage)).map_err(problems)?;
        Ok(Arc::new(SandboxedWorker(row_stage)))
    }

    fn routes(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Vec<Route>, Vec<WorkerProblem>> {
        let kind = plugin_kind(stage.kind);
        let problems = |error| problems(kind, error);
        let serving = self.registry.serving_versions(&stage.component, stage.version_range.as_ref(), kind);
        let route = |component: Arc<Component>| {
            let worker = component.row_stage(&stage.options, input, &limits(stage)).map_err(problems)?;
            let worker: Arc<dyn RowWorker> = Arc::new(SandboxedWorker(worker));
            Ok(Route { versions: component.schema_versions(), worker })
        };
        serving.map_err(problems)?.into_iter().map(route).collect()
    }

    fn group_worker(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Arc<dyn GroupWorker>, Vec<WorkerProblem>> {
        let kind = plugin_kind(stage.kind);
        let problems = |error| problems(kind, error);
        let component = self.registry.find(&stage.component, stage.version_range.as_ref(), kind).map_err(problems)?;
        let group_stage = component.group_stage(&stage.options, input, &limits(stage)).map_err(problems)?;
        Ok(Arc::new(SandboxedGroups(group_stage)))
    }
}

#[derive(Debug)]
struct SandboxedWorker(RowStage);

impl RowWorker for SandboxedWorker {
    fn id(&self) -> ComponentId {
        id(self.0.component())
    }

    fn reads(&self) -> Vec<String> {
        self.0.reads().to_vec()
    }

    fn options(&self) -> String {
        self.0.options().to_owned()
    }

    fn writes(&self) -> SchemaRef {
        self.0.writes()
    }

    fn call(&self, rows: &RecordBatch, timestamp_us: i64) -> Result<WorkerOutput, WorkerError> {
        output(self.0.call(rows, timestamp_us))
    }

    fn call_part(&self, rows: &RecordBatch, whole: usize, timestamp_us: i64) -> Result<WorkerOutput, WorkerError> {
        output(self.0.call_part(rows, whole, timestamp_us))
    }
}

fn output(answer: Result<RowOutput, CallError>) -> Result<WorkerOutput, WorkerError> {
    let output = answer.map_err(|error| WorkerError { poison_code: error.poison_code(), what: error.to_string() })?;
    let rejection = |rejected: crisol_plugin::Rejected| Rejection {
        row: rejected.row,
        fate: if rejected.filter { Fate::Filter } else { Fate::Quarantine },
        code: rejected.code.into(),
        text: rejected.text.into(),
        component: None,
    };
    Ok(WorkerOutput {
        rows: output.rows.map(|rows| (rows, output.origin)),
        rejected: output.rejected.into_iter().map(rejection).collect(),
    })
}

#[derive(Debug)]
struct SandboxedGroups(GroupStage);

impl GroupWorker for SandboxedGroups {
    fn id(&self) -> ComponentId {
        id(self.0.component())
    }

    fn reads(&self) -> Vec<String> {
        self.0.reads().to_vec()
    }

    fn writes(&self) -> SchemaRef {
        self.0.writes()
    }

    fn ranks(&self) -> bool {
        self.0.component().kind() == Kind::Ranker
    }

    fn open(&self, timestamp_us: i64) -> Result<Box<dyn GroupSession>, String> {
        session(self.0.session(timestamp_us))
    }

    fn open_fresh(&self, timestamp_us: i64) -> Result<Box<dyn GroupSession>, String> {
        session(self.0.fresh_session(timestamp_us))
    }
}

struct SandboxedSession(crisol_plugin::GroupSession);

fn session(opened: Result<crisol_plugin::GroupSession, CallError>) -> Result<Box<dyn GroupSession>, String> {
    Ok(Box::new(SandboxedSession(opened.map_err(|error| error.to_string())?)))
}

impl GroupSession for SandboxedSession {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<GroupAnswer>, String> {
        answers(self.0.push(rows))
    }

    fn finish(self: Box<Self>) -> Result<Vec<GroupAnswer>, String> {
        answers(self.0.finish())
    }

    fn reused(&self) -> bool {
        self.0.reused()
    }
}

fn answers(given: Result<Vec<crisol_plugin::GroupAnswer>, CallError>) -> Result<Vec<GroupAnswer>, String> {
    let answer = |crisol_plugin::GroupAnswer { rows, index }| GroupAnswer { rows, index };
    Ok(given.map_err(|error| error.to_string())?.into_iter().map(answer).collect())
}

fn id(component: &Component) -> ComponentId {
    ComponentId {
        name: component.name().to_owned(),
        version: component.version().to_string(),
        digest: component.digest().to_owned(),
    }
}

fn limits(stage: &StageSpec) -> Limits {
    let limits = &stage.limits;
    Limits {
        memory_bytes_max: limits.memory_bytes_max,
        deadline_ms_max: limits.deadline_ms_max,
        output_bytes_max: limits.output_bytes_max,
        output_rows_max: limits.output_rows_max,
        codes_max: limits.codes_max,
        code_bytes_max: limits.code_bytes_max,
        text_bytes_max: limits.text_bytes_max,
        log_lines_max: limits.log_lines_max,
        log_line_bytes_max: limits.log_line_bytes_max,
        stderr_bytes_max: limits.stderr_bytes_max,
        table_elements_max: limits.table_elements_max,
        core_instances_max: limits.core_instances_max,
    }
}

fn plugin_kind(kind: StageKind) -> Kind {
    match kind {
        StageKind::Decoder => Kind::Decoder,
        StageKind::Transformer => Kind::Transformer,
        StageKind::Validator => Kind::Validator,
        StageKind::Ranker => Kind::Ranker,
        StageKind::Aggregator => Kind::Aggregator,
    }
}

fn problems(kind: Kind, error: PluginError) -> Vec<WorkerProblem> {
    let one =
        |key: &str, what: String, hint: &str| vec![WorkerProblem { key: key.to_owned(), what, hint: hint.to_owned() }];
    match error {
        PluginError::Options { problems, .. } => problems.iter().map(option_problem).collect(),
        PluginError::NotFound { name, folder, hint } => {
            let place = folder.map(|folder| format!(" in `{}`", folder.display())).unwrap_or_default();
            let hint = hint.unwrap_or_else(|| "put its `.wasm` file into the folder of plugins".into());
            one(kind.stage_key(), format!("no component `{name}`{place}"), &hint)
        }
        error @ (PluginError::WrongKind { .. } | PluginError::NoVersion { .. }) => {
            one(kind.stage_key(), error.to_string(), "`host plugins` lists the components that there are")
        }
        error => one("", error.to_string(), "the component's own documentation says what it reads and takes"),
    }
}

fn option_problem(problem: &OptionProblem) -> WorkerProblem {
    let mut key = "options".to_owned();
    for part in problem.path.split('/').skip(1) {
        match part.parse::<usize>() {
            Ok(index) => key.push_str(&format!("[{index}]")),
            Err(_) => key.push_str(&format!(".{}", part.replace("~1", "/").replace("~0", "~"))),
        }
    }
    let hint = "the component declares its options; `host plugins` shows them".to_owned();
    WorkerProblem { key, what: problem.message.clone(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_without_limits_has_those_of_the_sandbox() {
        let spec = StageSpec {
            kind: StageKind::Decoder,
            component: "orders".into(),
            version_range: None,
            version: None,
            options: serde_json::Map::new(),
            limits: crisol_contract::Limits::default(),
        };
        assert_eq!(limits(&spec), Limits::default());
    }

    #[test]
    fn a_problem_of_an_option_stands_at_its_key() {
        let key = |path: &str| option_problem(&OptionProblem { path: path.into(), message: "m".into() }).key;
        assert_eq!(key(""), "options");
        assert_eq!(key("/columns/0/type"), "options.columns[0].type");
        assert_eq!(key("/a~1b"), "options.a/b");
    }
}
