//! Stages of the guests, and what they are given.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::Schema;
use crisol_plugin::{
    CallError, Component, Engine, GroupAnswer, GroupSession, GroupStage, Kind, Limits, PluginError, RowOutput, RowStage,
};
use serde_json::{Map, Value, json};

pub(crate) use crate::guests::{described, words};

/// Any time will do.
pub(crate) const NOW_US: i64 = 1_700_000_000_123_456;

pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());
pub(crate) static DECODER: LazyLock<Arc<Component>> = LazyLock::new(|| guest(Kind::Decoder, json!({})));
pub(crate) static VALIDATOR: LazyLock<Arc<Component>> = LazyLock::new(|| guest(Kind::Validator, json!({})));
pub(crate) static RANKER: LazyLock<Arc<Component>> = LazyLock::new(|| guest(Kind::Ranker, json!({})));
pub(crate) static AGGREGATOR: LazyLock<Arc<Component>> = LazyLock::new(|| guest(Kind::Aggregator, json!({})));

pub(crate) fn load(bytes: &[u8]) -> Result<Component, PluginError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any.wasm");
    std::fs::write(&path, bytes).unwrap();
    Component::load(&path, &ENGINE, Some(&cache()))
}

/// Shared by all tests: the same few guests are compiled once.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")
}

pub(crate) fn guest(kind: Kind, changed: Value) -> Arc<Component> {
    Arc::new(load(&described(kind, &words(kind, changed))).unwrap())
}

/// A component in an engine of its own.
pub(crate) fn guest_of(engine: &Engine, kind: Kind, changed: Value) -> Result<Arc<Component>, PluginError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any.wasm");
    std::fs::write(&path, described(kind, &words(kind, changed))).unwrap();
    Component::load(&path, engine, None).map(Arc::new)
}

/// Small, so that tests are quick.
pub(crate) fn limits() -> Limits {
    Limits {
        memory_bytes_max: 64 << 20,
        deadline_ms_max: 2_000,
        output_bytes_max: 1 << 20,
        output_rows_max: 10_000,
        ..Limits::default()
    }
}

pub(crate) fn options(what: &str) -> Map<String, Value> {
    json!({ "do": what }).as_object().unwrap().clone()
}

pub(crate) fn stage(component: &Arc<Component>, what: &str) -> Result<RowStage, PluginError> {
    component.row_stage(&options(what), &input_schema(), &limits())
}

pub(crate) fn ids(ids: &[i64]) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    RecordBatch::try_from_iter_with_nullable([("id", column, false)]).unwrap()
}

/// A column that is read, and one that is nobody's business.
pub(crate) fn input_schema() -> Schema {
    let secret: ArrayRef = Arc::new(StringArray::from(vec!["secret"]));
    let id: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter_with_nullable([("secret", secret, true), ("id", id, false)]).unwrap();
    batch.schema_ref().as_ref().clone()
}

/// One call over ids 1 to 9.
pub(crate) fn call(component: &Arc<Component>, what: &str) -> Result<RowOutput, CallError> {
    stage(component, what).unwrap().call(&ids(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), NOW_US)
}

pub(crate) fn group_stage(component: &Arc<Component>, what: &str) -> Result<GroupStage, PluginError> {
    component.group_stage(&options(what), &input_schema(), &limits())
}

pub(crate) fn session(component: &Arc<Component>, what: &str) -> Result<GroupSession, CallError> {
    group_stage(component, what).unwrap().session(NOW_US)
}

/// Ids and their groups.
pub(crate) fn grouped(rows: &[(i64, i32)]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int64Array>());
    let groups: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Int32Array>());
    RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("_group", groups, false)]).unwrap()
}

/// What was given: index and value of each row.
pub(crate) fn given(answers: &[GroupAnswer]) -> Vec<(u32, i64)> {
    let values = |answer: &GroupAnswer| answer.rows.column(0).as_primitive::<Int64Type>().values().to_vec();
    answers.iter().flat_map(|answer| answer.index.iter().copied().zip(values(answer))).collect()
}

/// A session over three groups, in two pieces, and everything that it gave.
pub(crate) fn rank(component: &Arc<Component>, what: &str) -> Result<Vec<(u32, i64)>, CallError> {
    let mut session = session(component, what)?;
    let mut answers = session.push(&grouped(&[(10, 0), (20, 0), (30, 4)]))?;
    answers.extend(session.push(&grouped(&[(40, 4), (50, 9)]))?);
    answers.extend(session.finish()?);
    Ok(given(&answers))
}

/// That the sandbox still works, whatever happened before.
pub(crate) fn assert_unharmed() {
    let output = call(&DECODER, "echo").unwrap();
    assert_eq!(output.origin, [0, 1, 4, 5, 6, 7, 8]);
}
