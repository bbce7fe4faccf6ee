//! The contract's stages: each is bound to the columns that reach it.

use std::sync::Arc;

use arrow_schema::{DataType, Schema, SchemaRef};
use crisol_contract::{ColumnSpec, StageKind, StageSpec, VersionSource};
use crisol_plugin::SchemaVersions;
use serde_json::{Map, Value, json};

use super::{Draft, Reached, WorkerProblem, with_columns};
use crate::component::written_over;
use crate::routed::{RoutedStage, writes_of};
use crate::utf8::text_schema;
use crate::version::Place;
use crate::{ComponentStage, Route, Stage, StageError};

/// Name of the decoder that takes `columns`, by default the table's.
const BUNDLED_JSON: &str = "json";

/// The key that names a kind in a contract.
pub(crate) fn kind_key(kind: StageKind) -> &'static str {
    match kind {
        StageKind::Decoder => "decode",
        StageKind::Transformer => "transform",
        StageKind::Validator => "validate",
        StageKind::Ranker => "rank",
        StageKind::Aggregator => "aggregate",
    }
}

/// A stage of a contract, and what works behind it.
pub(super) struct Bound {
    name: String,
    routes: Vec<Route>,
    writes: SchemaRef,
    /// Where a row's version stands, when it must be looked at.
    version: Option<VersionSource>,
}

impl Bound {
    pub(super) fn reads(&self) -> Vec<String> {
        let version = self.version.as_ref().and_then(Place::column).map(str::to_owned);
        self.routes.iter().flat_map(|route| route.worker.reads()).chain(version).collect()
    }

    pub(super) fn writes(&self) -> SchemaRef {
        Arc::clone(&self.writes)
    }

    /// The stage over rows of `before`; columns that `keeps` refuses do not come out.
    pub(super) fn stage(self, before: &Schema, keeps: impl Fn(&str) -> bool) -> Result<Arc<dyn Stage>, StageError> {
        let Self { name, routes, version, .. } = self;
        let defect = |what: String| StageError::internal(&name, what);
        let lost = |column| defect(format!("column `{column}` was lost on the way"));
        let place = version.map(|version| Place::of(&version, before)).transpose().map_err(|(_, what)| defect(what))?;
        match (place.flatten(), routes.as_slice()) {
            (None, [route]) => {
                let stage = ComponentStage::new(&name, Arc::clone(&route.worker), before, keeps);
                Ok(Arc::new(stage.map_err(lost)?))
            }
            (Some(place), routes) => {
                Ok(Arc::new(RoutedStage::new(&name, place, routes, before, keeps).map_err(defect)?))
            }
            (None, _) => Err(defect("several components, and nothing that tells their rows apart".into())),
        }
    }
}

impl Draft<'_> {
    /// Binds every stage, and says what reaches the end.
    pub(super) fn stages(&mut self, texts: &[String]) -> (Vec<Bound>, Reached) {
        let schema = text_schema(&self.input.schema, texts);
        let own = names(&schema);
        let mut reached = Reached { schema, own, sure: true };
        let mut bound = Vec::new();
        for (at, spec) in self.contract.stages.iter().enumerate().filter(|(_, spec)| !spec.kind.takes_groups()) {
            match self.bind(at, spec, &reached) {
                Some(stage) => {
                    reached.pass(spec.kind, &stage.writes());
                    bound.push(stage);
                }
                None => {
                    // What it would have written is not known: take the contract's word, so that the rest can be checked.
                    reached.sure = false;
                    let declared = self.columns().filter(|column| column.generated.is_none());
                    let declared = declared.map(|column| (column.name.as_str(), &column.data_type));
                    reached.schema = with_columns(&reached.schema, declared);
                }
            }
        }
        (bound, reached)
    }

    fn bind(&mut self, at: usize, spec: &StageSpec, reached: &Reached) -> Option<Bound> {
        let input = &reached.schema;
        let key = |suffix: &str| match suffix {
            "" => format!("stages[{at}]"),
            suffix => format!("stages[{at}].{suffix}"),
        };
        let spec = StageSpec { options: self.options(spec), ..spec.clone() };
        let routes = match self.routes(&spec, input) {
            Ok(routes) => routes,
            Err(problems) => {
                // What has to do with the columns that reach it is known only where those are.
                let about_columns = |key: &str| key.is_empty() || key.starts_with("version");
                for problem in problems.into_iter().filter(|problem| reached.sure || !about_columns(&problem.key)) {
                    self.problem(key(&problem.key), problem.what, problem.hint);
                }
                return None;
            }
        };
        let writes = match writes_of(&routes) {
            Ok(writes) => writes,
            Err(what) => {
                self.problem(key(kind_key(spec.kind)), what, "components of one name give one type to a column");
                return None;
            }
        };
        // One component that takes every row needs no look at their versions.
        let all = matches!(routes.as_slice(), [Route { versions: SchemaVersions::All, .. }]);
        let constant = matches!(spec.version, Some(VersionSource::Constant(_)));
        let version = spec.version.clone().filter(|_| !all && !constant);
        let name = format!("{} {}", kind_key(spec.kind), spec.component);
        let bound = Bound { name, routes, writes, version };
        let absent: Vec<String> = bound.reads().into_iter().filter(|name| input.index_of(name).is_err()).collect();
        for name in absent.iter().filter(|_| reached.sure) {
            let what = format!("`{}` reads a column `{name}`, which does not reach it", spec.component);
            self.problem(key(kind_key(spec.kind)), what, format!("columns here are {}", listed(&names(input))));
        }
        absent.is_empty().then_some(bound)
    }

    /// Who works on the rows of a stage, by their schema version where the contract says where that stands.
    fn routes(&self, spec: &StageSpec, input: &SchemaRef) -> Result<Vec<Route>, Vec<WorkerProblem>> {
        let Some(version) = &spec.version else {
            let worker = self.workers.worker(spec, input)?;
            return Ok(vec![Route { versions: SchemaVersions::All, worker }]);
        };
        let problem = |key: String, what: String, hint: String| vec![WorkerProblem { key, what, hint }];
        if let Err((key, what)) = Place::of(version, input) {
            let hint = format!("columns here are {}", listed(&names(input)));
            return Err(problem(format!("version.{key}"), what, hint));
        }
        let mut routes = self.workers.routes(spec, input)?;
        if let VersionSource::Constant(number) = version {
            let serves = |route: &Route| u32::try_from(*number).is_ok_and(|number| route.versions.contains(number));
            let served: Vec<String> = routes.iter().map(|route| route.versions.to_string()).collect();
            routes.retain(serves);
            routes.truncate(1);
            if routes.is_empty() {
                let what = format!("no component `{}` serves schema version {number}", spec.component);
                return Err(problem("version.constant".into(), what, format!("served are {}", served.join(", "))));
            }
        }
        Ok(routes)
    }

    /// The bundled `json` decoder gets the table's columns, unless the contract gives it others.
    fn options(&self, spec: &StageSpec) -> Map<String, Value> {
        let mut options = spec.options.clone();
        let bundled = spec.kind == StageKind::Decoder && spec.component == BUNDLED_JSON;
        if bundled && self.contract.columns.is_some() && !options.contains_key("columns") {
            let given =
                |column: &&ColumnSpec| column.generated.is_none() && self.input.schema.index_of(&column.name).is_err();
            let columns: Vec<Value> = self.columns().filter(given).filter_map(as_option).collect();
            options.insert("columns".into(), Value::Array(columns));
        }
        options
    }
}

impl Reached {
    fn pass(&mut self, kind: StageKind, writes: &Schema) {
        self.schema = written_over(&self.schema, writes);
        let written = names(writes);
        if kind == StageKind::Decoder {
            self.own = written;
        } else {
            let added: Vec<String> = written.into_iter().filter(|name| !self.own.contains(name)).collect();
            self.own.extend(added);
        }
    }
}

/// A column as decoders take it: nulls are the host's matter (`not_null`), so it is nullable for them.
fn as_option(column: &ColumnSpec) -> Option<Value> {
    let type_name = crisol_ipc::types::name(&column.data_type)?;
    Some(json!({ "name": column.name, "type": type_name }))
}

/// A type as contracts write it.
pub(crate) fn type_name(data_type: &DataType) -> String {
    crisol_ipc::types::name(data_type).unwrap_or_else(|| data_type.to_string())
}

pub(super) fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
