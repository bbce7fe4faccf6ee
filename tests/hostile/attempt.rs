//! One component taken from its file to the end of its work, and how far it came.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::Schema;
use crisol_plugin::{CallError, Component, Engine, GroupAnswer, Kind, Limits, PluginError, RowOutput};
use serde_json::{Map, Value};

/// Rows of one call of a row stage.
pub(crate) const ROWS: usize = 9;
/// Any time will do.
const NOW_US: i64 = 1_700_000_000_123_456;

pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

/// A component, and what is done with it.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) kind: Kind,
    pub(crate) file: Vec<u8>,
    pub(crate) options: Map<String, Value>,
    pub(crate) limits: Limits,
    /// How often it is called before it must finish.
    pub(crate) calls: usize,
    /// How often all of it is done, where groups are given.
    pub(crate) sessions: usize,
    /// Each call belongs to another batch, so that the session of the one before is over.
    pub(crate) batches: bool,
}

/// What came of all calls.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) rows: Vec<RowOutput>,
    pub(crate) groups: Vec<GroupAnswer>,
}

/// Where it was stopped, and why.
#[derive(Debug)]
pub(crate) enum Stopped {
    Load(PluginError),
    Plan(PluginError),
    Open(CallError),
    Call(CallError),
    Finish(CallError),
}

impl Attempt {
    pub(crate) fn new(kind: Kind, file: Vec<u8>) -> Self {
        Self { kind, file, options: Map::new(), limits: limits(), calls: 1, sessions: 1, batches: true }
    }

    pub(crate) fn calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    pub(crate) fn sessions(mut self, sessions: usize) -> Self {
        self.sessions = sessions;
        self
    }

    /// All calls belong to one batch, and so to one session.
    pub(crate) fn same_batch(mut self) -> Self {
        self.batches = false;
        self
    }

    pub(crate) fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The option that tells the guest what to do.
    pub(crate) fn option(mut self, what: &str) -> Self {
        self.options.insert("do".into(), what.into());
        self
    }

    pub(crate) fn run(&self) -> Result<Given, Stopped> {
        self.work(&Arc::new(load(&self.file, "any.wasm").map_err(Stopped::Load)?))
    }

    /// The same with a component that was loaded before.
    pub(crate) fn work(&self, component: &Arc<Component>) -> Result<Given, Stopped> {
        match self.kind {
            Kind::Ranker | Kind::Aggregator => self.groups(component),
            _ => self.rows(component),
        }
    }

    fn rows(&self, component: &Arc<Component>) -> Result<Given, Stopped> {
        let input = batch(&(1..=ROWS as i64).map(|id| (id, 0)).collect::<Vec<_>>());
        let stage = component.row_stage(&self.options, &seen(&input), &self.limits).map_err(Stopped::Plan)?;
        let input = read(&input, stage.reads());
        let mut given = Given::default();
        for call in 0..self.calls {
            let timestamp_us = NOW_US + i64::from(self.batches) * call as i64;
            given.rows.push(stage.call(&input, timestamp_us).map_err(Stopped::Call)?);
        }
        Ok(given)
    }

    fn groups(&self, component: &Arc<Component>) -> Result<Given, Stopped> {
        let rows = |call: i32| batch(&[(10, 0), (20, 0), (30, 4)].map(|(id, group)| (id, group + 5 * call)));
        let stage = component.group_stage(&self.options, &seen(&rows(0)), &self.limits).map_err(Stopped::Plan)?;
        let reads = [stage.reads(), &["_group".to_string()]].concat();
        let mut given = Given::default();
        for _ in 0..self.sessions {
            let mut session = stage.session(NOW_US).map_err(Stopped::Open)?;
            for call in 0..self.calls as i32 {
                given.groups.extend(session.push(&read(&rows(call), &reads)).map_err(Stopped::Call)?);
            }
            given.groups.extend(session.finish().map_err(Stopped::Finish)?);
        }
        Ok(given)
    }
}

/// Loads a file of this name.
pub(crate) fn load(bytes: &[u8], name: &str) -> Result<Component, PluginError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Component::load(&path, &ENGINE, cache(bytes).as_deref())
}

/// What compilers made is large, and compiled once for all tests.
fn cache(bytes: &[u8]) -> Option<PathBuf> {
    (bytes.len() > 500_000).then(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled"))
}

/// Room for what is honest, little for what is not.
pub(crate) fn limits() -> Limits {
    Limits {
        memory_bytes_max: 64 << 20,
        deadline_ms_max: 60_000,
        output_bytes_max: 4 << 20,
        output_rows_max: 200_000,
        ..Limits::default()
    }
}

/// Limits for what never ends by itself.
pub(crate) fn impatient() -> Limits {
    Limits { deadline_ms_max: 300, ..limits() }
}

/// Ids and their groups.
fn batch(rows: &[(i64, i32)]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int64Array>());
    let groups: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Int32Array>());
    RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("_group", groups, false)]).unwrap()
}

/// The columns that a component may read: all but the groups.
fn seen(rows: &RecordBatch) -> Schema {
    rows.schema_ref().project(&[0]).unwrap()
}

fn read(rows: &RecordBatch, names: &[String]) -> RecordBatch {
    let places: Vec<usize> = names.iter().map(|name| rows.schema_ref().index_of(name).unwrap()).collect();
    rows.project(&places).unwrap()
}

impl Stopped {
    /// The error's class, in the words of the matrix.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Load(error) | Self::Plan(error) => plugin_class(error),
            Self::Open(error) | Self::Call(error) | Self::Finish(error) => call_class(error),
        }
    }

    /// What a person reads.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Load(error) | Self::Plan(error) => error.to_string(),
            Self::Open(error) | Self::Call(error) | Self::Finish(error) => error.to_string(),
        }
    }
}

pub(crate) fn plugin_class(error: &PluginError) -> &'static str {
    match error {
        PluginError::Read { .. } => "read",
        PluginError::TooLarge { .. } => "too large",
        PluginError::Compile { .. } => "compile",
        PluginError::Import { .. } => "import",
        PluginError::Export { .. } => "export",
        PluginError::Description { .. } => "description",
        PluginError::Plan { .. } => "plan",
        PluginError::Describe { cause, .. } | PluginError::Planning { cause, .. } => call_class(cause),
        _ => "another",
    }
}

fn call_class(error: &CallError) -> &'static str {
    match error {
        CallError::Trap { .. } => "trap",
        CallError::Deadline { .. } => "deadline",
        CallError::Stack { .. } => "stack",
        CallError::Memory { .. } => "memory",
        CallError::Output { .. } => "output",
        CallError::Invalid { .. } => "invalid",
        CallError::Accounts { .. } => "accounts",
        CallError::Failure { .. } => "failure",
        CallError::Host { .. } => "internal",
        _ => "another",
    }
}
