//! The contract's stages: each is bound to the columns that reach it.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use crisol_contract::{ColumnSpec, StageKind, StageSpec};
use serde_json::{Map, Value, json};

use super::{BoundStage, Draft, Reached, with_columns};
use crate::component::{RowWorker, written_over};
use crate::utf8::text_schema;

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

impl Draft<'_> {
    /// Binds every stage, and says what reaches the end.
    pub(super) fn stages(&mut self, texts: &[String]) -> (Vec<BoundStage>, Reached) {
        let schema = text_schema(&self.input.schema, texts);
        let own = names(&schema);
        let mut reached = Reached { schema, own, sure: true };
        let mut bound = Vec::new();
        for (at, spec) in self.contract.stages.iter().enumerate() {
            match self.bind(at, spec, &reached) {
                Some(worker) => {
                    reached.pass(spec.kind, &worker.writes());
                    bound.push((format!("{} {}", kind_key(spec.kind), spec.component), worker));
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

    fn bind(&mut self, at: usize, spec: &StageSpec, reached: &Reached) -> Option<Arc<dyn RowWorker>> {
        let input = &reached.schema;
        let key = |suffix: &str| match suffix {
            "" => format!("stages[{at}]"),
            suffix => format!("stages[{at}].{suffix}"),
        };
        if matches!(spec.kind, StageKind::Ranker | StageKind::Aggregator) {
            let what = format!("stages over groups (`{}`) cannot be run yet", kind_key(spec.kind));
            self.problem(key(kind_key(spec.kind)), what, "row stages are `decode`, `transform` and `validate`");
            return None;
        }
        let spec = StageSpec { options: self.options(spec), ..spec.clone() };
        let worker = match self.workers.worker(&spec, input) {
            Ok(worker) => worker,
            Err(problems) => {
                // What has to do with the columns that reach it is known only where those are.
                for problem in problems.into_iter().filter(|problem| reached.sure || !problem.key.is_empty()) {
                    self.problem(key(&problem.key), problem.what, problem.hint);
                }
                return None;
            }
        };
        let absent: Vec<String> = worker.reads().into_iter().filter(|name| input.index_of(name).is_err()).collect();
        for name in absent.iter().filter(|_| reached.sure) {
            let what = format!("`{}` reads a column `{name}`, which does not reach it", spec.component);
            self.problem(key(kind_key(spec.kind)), what, format!("columns here are {}", listed(&names(input))));
        }
        absent.is_empty().then_some(worker)
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
pub(super) fn type_name(data_type: &DataType) -> String {
    crisol_ipc::types::name(data_type).unwrap_or_else(|| data_type.to_string())
}

pub(super) fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
