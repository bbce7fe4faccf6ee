//! One component: loaded, checked and described.

mod probe;

pub use probe::Plan;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Schema;
use semver::Version;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use wasmtime::Store;
use wasmtime::component::InstancePre;

use crate::bindings::{Described, DescribedPre, Grouping, GroupingPre, Judging, StagePlan, Transforming};
use crate::columns::Columns;
use crate::description::Description;
use crate::failure::{Stop, explain};
use crate::guest_log::Identity;
use crate::instance::{Blueprint, RowBlueprint};
use crate::limits::{DESCRIPTION_BYTES_MAX, FILE_BYTES_MAX, Limits};
use crate::state::State;
use crate::text::printable;
use crate::work::{Meter, Work};
use crate::{
    CallError, Engine, GroupStage, Kind, PluginError, RowStage, Sample, SchemaVersions, cache, columns, imports,
    samples, shape,
};

const PACKAGE: &str = "crisol:stage";
const VERSION: &str = "0.1.0";

/// A component that may serve. Cheap to instantiate; instances share its code.
#[derive(Debug)]
pub struct Component {
    path: PathBuf,
    engine: Engine,
    identity: Arc<Identity>,
    description: Description,
    described: DescribedPreDebug,
    blueprint: Blueprint,
    imports: Vec<String>,
    samples: Vec<Sample>,
    meter: Meter,
}

struct DescribedPreDebug(DescribedPre<State>);

impl std::fmt::Debug for DescribedPreDebug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DescribedPre")
    }
}

impl Component {
    /// Reads, compiles, checks and describes a file, and runs the samples that it carries. `cache` is a folder for
    /// compiled code; it is used only when it belongs to this user and nobody else can reach it (it is made so when it
    /// is missing).
    ///
    /// # Errors
    /// The file cannot be read, is no component, imports what is not given, exports not what its kind must, says wrong
    /// things of itself, or carries a sample that does not hold.
    pub fn load(path: &Path, engine: &Engine, cache: Option<&Path>) -> Result<Self, PluginError> {
        samples::check(Self::untested(path, engine, cache)?, path)
    }

    /// The same, but its samples are not run: for whoever tells what comes of each, and never lets it serve.
    ///
    /// # Errors
    /// As for [`Self::load`], but for samples that do not hold.
    pub fn untested(path: &Path, engine: &Engine, cache: Option<&Path>) -> Result<Self, PluginError> {
        let bytes = read(path)?;
        shape::check(&bytes).map_err(|what| PluginError::Compile { path: path.into(), what })?;
        let digest = format!("{:x}", Sha256::digest(&bytes));
        let compiled = cache::compiled(engine, &bytes, &digest, cache)
            .map_err(|what| PluginError::Compile { path: path.into(), what })?;
        let samples = samples::read(&bytes).map_err(|what| PluginError::Samples { path: path.into(), what })?;
        drop(bytes);
        let imports = check_imports(path, engine, &compiled)?;
        let pre = engine.linker().instantiate_pre(&compiled).map_err(|error| wrong_types(path, &error))?;
        check_export(path, &compiled, "description", "every component exports it")?;
        let name = path.file_name().map(|name| printable(&name.to_string_lossy(), 100)).unwrap_or_default();
        let stranger = Arc::new(Identity { name, digest: digest.clone() });
        let description = describe(path, engine, &stranger, &pre, &compiled)?;
        Ok(Self {
            path: path.into(),
            engine: engine.clone(),
            identity: Arc::new(Identity { name: description.name.clone(), digest }),
            described: DescribedPreDebug(DescribedPre::new(pre.clone()).map_err(|error| wrong_types(path, &error))?),
            blueprint: Blueprint::new(description.kind, &pre).map_err(|error| wrong_types(path, &error))?,
            description,
            imports,
            samples,
            meter: Meter::default(),
        })
    }

    /// What contracts call it.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Its semantic version.
    pub fn version(&self) -> &Version {
        &self.description.version
    }

    /// SHA-256 of its file, lower-case hex.
    pub fn digest(&self) -> &str {
        &self.identity.digest
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        self.description.kind
    }

    /// Schema versions that it handles.
    pub fn schema_versions(&self) -> SchemaVersions {
        self.description.schema_versions
    }

    /// The JSON Schema of its options, as it declares it; `None` when it takes none.
    pub fn options(&self) -> Option<&Value> {
        self.description.options.schema()
    }

    /// Whether one instance may work on many chunks, or sessions of groups.
    pub fn reuse(&self) -> bool {
        self.description.reuse
    }

    /// Interfaces that it imports, as they are named in it.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The samples that it carries. They held when it was loaded, if it was loaded to serve.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// What its calls came to since this was asked last, samples that ran when it was loaded included.
    pub fn take_work(&self) -> Work {
        self.meter.take()
    }

    /// Where it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Binds a decoder, transformer or validator to options and the columns of its input: the options are checked, and
    /// the component says what it reads and writes.
    ///
    /// # Errors
    /// Options that do not fit, all of them; a plan that does not hold; a kind that works on groups.
    pub fn row_stage(
        self: &Arc<Self>,
        options: &Map<String, Value>,
        input: &Schema,
        limits: &Limits,
    ) -> Result<RowStage, PluginError> {
        if self.kind().groups() {
            return Err(self.wrong_kind(Kind::Transformer));
        }
        let (options, columns) = self.bind(options, input, limits)?;
        Ok(RowStage::new(self.clone(), options, columns, limits.clone()))
    }

    /// Binds a ranker or aggregator, as [`Self::row_stage`] does the others. `input` is without `_group`.
    ///
    /// # Errors
    /// Options that do not fit, all of them; a plan that does not hold; a kind that works on rows.
    pub fn group_stage(
        self: &Arc<Self>,
        options: &Map<String, Value>,
        input: &Schema,
        limits: &Limits,
    ) -> Result<GroupStage, PluginError> {
        if !self.kind().groups() {
            return Err(self.wrong_kind(Kind::Ranker));
        }
        let (options, columns) = self.bind(options, input, limits)?;
        Ok(GroupStage::new(self.clone(), options, columns, limits.clone()))
    }

    fn wrong_kind(&self, wanted: Kind) -> PluginError {
        PluginError::WrongKind { name: self.name().to_string(), is: self.kind(), wanted }
    }

    /// Checks options and asks for the plan. The options come back as the component gets them.
    fn bind(
        &self,
        options: &Map<String, Value>,
        input: &Schema,
        limits: &Limits,
    ) -> Result<(String, Columns), PluginError> {
        let problems = self.description.options.problems(options);
        if !problems.is_empty() {
            return Err(PluginError::Options { component: self.name().to_string(), problems });
        }
        let (one, all) = (limits.memory_bytes_max, self.engine.options().total_memory_bytes_max);
        if one > all {
            return Err(PluginError::Budget { one, all });
        }
        let options = Value::Object(options.clone()).to_string();
        let plan = self.plan(&options, input, limits);
        let plan = plan.map_err(|cause| PluginError::Planning { component: self.label(), cause })?;
        let columns = Columns::check(self.kind(), &plan, input)
            .map_err(|what| PluginError::Plan { component: self.label(), what })?;
        Ok((options, columns))
    }

    fn plan(&self, options: &str, input: &Schema, limits: &Limits) -> Result<StagePlan, CallError> {
        self.ask(limits, |described, store| {
            Ok(described.crisol_stage_description().call_plan(store, options, &columns::describe(input))??)
        })
    }

    /// Calls its description in a new instance.
    fn ask<T>(
        &self,
        limits: &Limits,
        question: impl FnOnce(&Described, &mut Store<State>) -> Result<T, Stop>,
    ) -> Result<T, CallError> {
        let limits = Limits { output_bytes_max: DESCRIPTION_BYTES_MAX as u64, ..limits.clone() };
        let mut store = self.store(&limits, 0);
        let described = self.described.0.instantiate(&mut store).map_err(Stop::from);
        let answer = described.and_then(|described| question(&described, &mut store));
        answer.map_err(|stop| explain(stop, store.data(), &limits))
    }

    /// How to start it on rows; `None` when it works on groups.
    pub(crate) fn row_blueprint(&self) -> Option<&RowBlueprint> {
        match &self.blueprint {
            Blueprint::Rows(blueprint) => Some(blueprint),
            Blueprint::Groups(_) => None,
        }
    }

    /// How to start it on groups; `None` when it works on rows.
    pub(crate) fn group_blueprint(&self) -> Option<&GroupingPre<State>> {
        match &self.blueprint {
            Blueprint::Rows(_) => None,
            Blueprint::Groups(blueprint) => Some(blueprint),
        }
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn store(&self, limits: &Limits, now_us: i64) -> Store<State> {
        State::store(&self.engine, &self.identity, limits, now_us)
    }

    fn label(&self) -> String {
        format!("{} {}", self.name(), self.version())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PluginError> {
    let failed = |source| PluginError::Read { path: path.into(), source };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    if length <= FILE_BYTES_MAX {
        // One byte more than allowed, in case it has grown meanwhile.
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    let length = length.max(bytes.len() as u64);
    if length > FILE_BYTES_MAX {
        return Err(PluginError::TooLarge { path: path.into(), bytes: length, max: FILE_BYTES_MAX });
    }
    Ok(bytes)
}

/// The interfaces that it imports, all of which a host gives.
fn check_imports(
    path: &Path,
    engine: &Engine,
    compiled: &wasmtime::component::Component,
) -> Result<Vec<String>, PluginError> {
    let component_type = compiled.component_type();
    let imports: Vec<&str> = component_type.imports(engine.wasmtime()).map(|(name, _)| name).collect();
    let refused: Vec<String> =
        imports.iter().filter(|name| !imports::allowed(name)).take(20).map(|name| printable(name, 200)).collect();
    if refused.is_empty() {
        return Ok(imports.into_iter().map(ToOwned::to_owned).collect());
    }
    Err(PluginError::Import { path: path.into(), imports: refused, offered: imports::OFFERED })
}

fn check_export(
    path: &Path,
    compiled: &wasmtime::component::Component,
    interface: &str,
    why: &str,
) -> Result<(), PluginError> {
    if compiled.get_export_index(None, format!("{PACKAGE}/{interface}@{VERSION}").as_str()).is_some() {
        return Ok(());
    }
    let what = format!("does not export `{PACKAGE}/{interface}@0.1`; {why}");
    Err(PluginError::Export { path: path.into(), what })
}

fn wrong_types(path: &Path, error: &wasmtime::Error) -> PluginError {
    let what = format!("does not fit the interfaces of `{PACKAGE}@0.1`: {}", printable(&format!("{error:#}"), 1_000));
    PluginError::Export { path: path.into(), what }
}

/// Calls `describe`, and checks on the way that the exports of its kind have the right types.
fn describe(
    path: &Path,
    engine: &Engine,
    identity: &Arc<Identity>,
    pre: &InstancePre<State>,
    compiled: &wasmtime::component::Component,
) -> Result<Description, PluginError> {
    let limits = Limits { output_bytes_max: DESCRIPTION_BYTES_MAX as u64, ..Limits::default() };
    let mut store = State::store(engine, identity, &limits, 0);
    let stopped = |stop: Stop, store: &Store<State>| PluginError::Describe {
        path: path.into(),
        cause: explain(stop, store.data(), &limits),
    };
    let instance = pre.instantiate(&mut store).map_err(|error| stopped(error.into(), &store))?;
    let described = Described::new(&mut store, &instance).map_err(|error| wrong_types(path, &error))?;
    let json = described
        .crisol_stage_description()
        .call_describe(&mut store)
        .map_err(|error| stopped(error.into(), &store))?;
    let description = Description::parse(&json).map_err(|what| PluginError::Description { path: path.into(), what })?;
    let kind = description.kind;
    check_export(path, compiled, kind.interface(), &format!("a {kind} does"))?;
    match kind {
        Kind::Decoder | Kind::Transformer => Transforming::new(&mut store, &instance).map(drop),
        Kind::Validator => Judging::new(&mut store, &instance).map(drop),
        Kind::Ranker | Kind::Aggregator => Grouping::new(&mut store, &instance).map(drop),
    }
    .map_err(|error| wrong_types(path, &error))?;
    Ok(description)
}
