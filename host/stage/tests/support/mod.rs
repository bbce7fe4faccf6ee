//! Contracts, rows and native workers for the suites.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::{
    ColumnSpec, ExpectationSpec, OnRejected, OnViolation, StageKind, StageSpec, TableContract, Upstream, WriteMode,
};
use crisol_plugin::SchemaVersions;
use crisol_stage::{
    BatchContext, Chain, ChainInput, ChunkOutput, ComponentId, Fate, GroupAnswer, GroupSession, GroupWorker,
    NativeWorker, PoisonSearch, Rejection, Route, RowWorker, StageError, WorkerError, WorkerOutput, WorkerProblem,
    Workers,
};

pub(crate) static CONTEXT: LazyLock<BatchContext> =
    LazyLock::new(|| BatchContext { batch: 3, timestamp_us: 1_000_000, poison: PoisonSearch::new(None) });

pub(crate) fn contract() -> TableContract {
    TableContract {
        name: "silver.orders".into(),
        file: "tables/silver/orders.json".into(),
        path: "/tables/silver/orders".into(),
        quarantine_path: "/tables/silver/orders_quarantine".into(),
        from: Upstream::Table("bronze.orders_raw".into()),
        stages: Vec::new(),
        columns: None,
        provenance: true,
        expectations: Vec::new(),
        write: WriteMode::Append,
        on_rejected: OnRejected::Quarantine,
        partition_by: Vec::new(),
        properties: BTreeMap::new(),
        max_files_per_trigger: None,
        max_bytes_per_trigger: None,
        retention: None,
        maintenance: None,
    }
}

pub(crate) fn stage(kind: StageKind, component: &str) -> StageSpec {
    StageSpec {
        kind,
        component: component.into(),
        version_range: None,
        version: None,
        options: serde_json::Map::new(),
        limits: crisol_contract::Limits::default(),
    }
}

pub(crate) fn column(name: &str, type_name: &str) -> ColumnSpec {
    let data_type = crisol_ipc::types::parse(type_name).unwrap();
    ColumnSpec { name: name.into(), data_type, nullable: true, comment: None, generated: None }
}

pub(crate) fn expectation(name: &str, condition: &str, on_violation: OnViolation) -> ExpectationSpec {
    ExpectationSpec { name: name.into(), condition: condition.into(), on_violation }
}

/// Messages as Kafka gives them: `message_key`, `payload`, `topic`, `partition`, `offset` from 100.
pub(crate) fn messages(payloads: &[&[u8]]) -> RecordBatch {
    let count = payloads.len();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter((0..count).map(|row| Some(format!("k{row}").into_bytes())))),
        Arc::new(BinaryArray::from_iter_values(payloads)),
        Arc::new(StringArray::from(vec!["orders"; count])),
        Arc::new(Int32Array::from(vec![0; count])),
        Arc::new(Int64Array::from_iter_values((0..count as i64).map(|row| 100 + row))),
    ];
    RecordBatch::try_new(kafka_schema(), columns).unwrap()
}

pub(crate) fn kafka_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("message_key", DataType::Binary, true),
        Field::new("payload", DataType::Binary, true),
        Field::new("topic", DataType::Utf8, false),
        Field::new("partition", DataType::Int32, false),
        Field::new("offset", DataType::Int64, false),
    ]))
}

pub(crate) fn kafka_input() -> ChainInput {
    input_of(&kafka_schema())
}

pub(crate) fn input_of(schema: &SchemaRef) -> ChainInput {
    let provenance = ["topic", "partition", "offset"].map(String::from).to_vec();
    ChainInput { schema: Arc::clone(schema), provenance, stream: "silver.orders".into() }
}

pub(crate) fn reject(row: usize, fate: Fate, code: &str) -> Rejection {
    Rejection { row: row as u32, fate, code: code.into(), text: format!("text of {code}").into(), component: None }
}

/// Native workers by name.
///
/// `numbers` decodes `payload` to `n bigint`: text that is no number is refused, `skip` is filtered, `1,2,3` gives three
/// rows. `small` refuses `n` above 100 and filters negative ones. `double` writes over `n`. `trap` traps.
pub(crate) struct Natives;

impl Workers for Natives {
    fn worker(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Arc<dyn RowWorker>, Vec<WorkerProblem>> {
        let numbers = || Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
        let worker = match stage.component.as_str() {
            "numbers" => NativeWorker::new("numbers", &["payload"], numbers(), decode_numbers),
            "small" => NativeWorker::new("small", &["n"], Arc::new(Schema::empty()), judge_small),
            "double" => NativeWorker::new("double", &["n"], numbers(), double),
            "trap" => NativeWorker::new("trap", &["payload"], numbers(), |_, _| Err("unreachable executed".into())),
            other => {
                return Err(vec![WorkerProblem {
                    key: if stage.kind == StageKind::Decoder { "decode".into() } else { "transform".into() },
                    what: format!("no component `{other}`"),
                    hint: "components here are `numbers`, `small`, `double`".into(),
                }]);
            }
        };
        match worker.reads().iter().find(|name| input.index_of(name).is_err()) {
            Some(name) => Err(vec![WorkerProblem {
                key: String::new(),
                what: format!("needs a column `{name}`"),
                hint: "it must come from the stages before".into(),
            }]),
            None => Ok(Arc::new(worker)),
        }
    }

    /// `versions`: 1 and 2 give `n`, 4 gives `n` and `extra`. `clash`: 2 gives `n` as text.
    fn routes(&self, stage: &StageSpec, input: &SchemaRef) -> Result<Vec<Route>, Vec<WorkerProblem>> {
        let number = || Field::new("n", DataType::Int64, true);
        let route = |first, last, name: &str, more: Vec<Field>| {
            let writes = Arc::new(Schema::new([vec![number()], more].concat()));
            let given = Arc::clone(&writes);
            let worker = NativeWorker::new(name, &["payload"], writes, move |rows, _| Ok(fields(rows, &given)));
            Route { versions: SchemaVersions::Range { first, last }, worker: Arc::new(worker) }
        };
        match stage.component.as_str() {
            "versions" => Ok(vec![
                route(4, 4, "new", vec![Field::new("extra", DataType::Utf8, false)]),
                route(1, 2, "old", vec![]),
            ]),
            "clash" => {
                let text = Arc::new(Schema::new(vec![Field::new("n", DataType::Utf8, true)]));
                let worker = NativeWorker::new("clash", &["payload"], text, |_, _| Err("never called".into()));
                let clash = Route { versions: SchemaVersions::Range { first: 2, last: 2 }, worker: Arc::new(worker) };
                Ok(vec![route(1, 1, "old", vec![]), clash])
            }
            _ => self.worker(stage, input).map(|worker| vec![Route { versions: SchemaVersions::All, worker }]),
        }
    }

    /// `best` keeps the two greatest `n` of each group and gives their `place`; `sums` gives `total`, none for groups
    /// without a number; `liar` answers for rows that it was not given; `broken` fails with its second group;
    /// `allergic` fails at 13. `aging` is `sums` in something that has worked before, and fails at 13 and at its end, until it is
    /// begun afresh.
    fn group_worker(&self, stage: &StageSpec, _input: &SchemaRef) -> Result<Arc<dyn GroupWorker>, Vec<WorkerProblem>> {
        Ok(Arc::new(NativeGroups(stage.component.clone())))
    }
}

#[derive(Debug)]
struct NativeGroups(String);

impl GroupWorker for NativeGroups {
    fn id(&self) -> ComponentId {
        ComponentId { name: self.0.clone(), version: "1.0.0".into(), digest: "native".into() }
    }

    fn reads(&self) -> Vec<String> {
        vec!["n".into()]
    }

    fn writes(&self) -> SchemaRef {
        let field = match self.0.as_str() {
            "sums" | "aging" => Field::new("total", DataType::Int64, false),
            _ => Field::new("place", DataType::Int32, false),
        };
        Arc::new(Schema::new(vec![field]))
    }

    fn ranks(&self) -> bool {
        !matches!(self.0.as_str(), "sums" | "aging")
    }

    fn open(&self, _timestamp_us: i64) -> Result<Box<dyn GroupSession>, String> {
        Ok(Box::new(NativeSession { kind: self.0.clone(), writes: self.writes(), rows: Vec::new() }))
    }

    fn open_fresh(&self, _timestamp_us: i64) -> Result<Box<dyn GroupSession>, String> {
        let kind = self.0.replace("aging", "sums");
        Ok(Box::new(NativeSession { kind, writes: self.writes(), rows: Vec::new() }))
    }
}

struct NativeSession {
    kind: String,
    writes: SchemaRef,
    /// `n` and group of each row.
    rows: Vec<(Option<i64>, i32)>,
}

impl GroupSession for NativeSession {
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<GroupAnswer>, String> {
        let numbers = rows.column(0).as_primitive::<Int64Type>();
        let groups = rows.column(1).as_primitive::<arrow_array::types::Int32Type>();
        self.rows.extend(numbers.iter().zip(groups.values().iter().copied()));
        assert!(self.rows.is_sorted_by_key(|(_, group)| *group), "groups never descend");
        if self.kind == "broken" && self.rows.iter().any(|(_, group)| *group == 1) {
            return Err("unreachable executed".into());
        }
        if matches!(self.kind.as_str(), "allergic" | "aging") && numbers.iter().any(|n| n == Some(13)) {
            return Err("it trapped: thirteen".into());
        }
        Ok(Vec::new())
    }

    fn reused(&self) -> bool {
        self.kind == "aging"
    }

    fn finish(self: Box<Self>) -> Result<Vec<GroupAnswer>, String> {
        if self.kind == "aging" {
            return Err("it trapped: too old".into());
        }
        let groups = self.rows.last().map_or(0, |(_, group)| group + 1);
        let (mut index, mut values) = (Vec::new(), Vec::new());
        for group in 0..groups {
            let mut of_group: Vec<(u32, i64)> = (0..)
                .zip(&self.rows)
                .filter(|(_, (_, of))| *of == group)
                .filter_map(|(row, (n, _))| n.map(|n| (row, n)))
                .collect();
            if self.kind == "sums" {
                if !of_group.is_empty() {
                    index.push(group as u32);
                    values.push(of_group.iter().map(|(_, n)| n).sum::<i64>());
                }
                continue;
            }
            of_group.sort_by_key(|(row, n)| (-n, *row));
            for (place, (row, _)) in (1..).zip(of_group.iter().take(2)) {
                index.push(if self.kind == "liar" { 1_000_000 } else { *row });
                values.push(place);
            }
        }
        let column: ArrayRef = match self.kind.as_str() {
            "sums" => Arc::new(Int64Array::from(values)),
            _ => Arc::new(Int32Array::from_iter_values(values.iter().map(|place| *place as i32))),
        };
        Ok(vec![GroupAnswer { rows: RecordBatch::try_new(self.writes, vec![column]).unwrap(), index }])
    }
}

/// `n` from JSON text, twice where it is even, rejected where it is absent; `extra` says who did it.
fn fields(rows: &RecordBatch, writes: &SchemaRef) -> WorkerOutput {
    let payloads = rows.column(0).as_string::<i32>();
    let (mut values, mut origin, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..payloads.len() {
        let json: serde_json::Value = serde_json::from_str(payloads.value(row)).unwrap_or_default();
        match json["n"].as_i64() {
            None => rejected.push(reject(row, Fate::Quarantine, "no_n")),
            Some(n) => {
                let times = if n % 2 == 0 { 2 } else { 1 };
                values.extend(std::iter::repeat_n(n, times));
                origin.extend(std::iter::repeat_n(row as u32, times));
            }
        }
    }
    let count = values.len();
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(values)), Arc::new(StringArray::from(vec!["new"; count]))];
    let columns = columns.into_iter().take(writes.fields().len()).collect();
    WorkerOutput { rows: Some((RecordBatch::try_new(Arc::clone(writes), columns).unwrap(), origin)), rejected }
}

fn decode_numbers(rows: &RecordBatch, _now: i64) -> Result<WorkerOutput, WorkerError> {
    let payloads = rows.column(0).as_string_opt::<i32>().ok_or("payload is no text")?;
    let (mut values, mut origin, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..payloads.len() {
        let text = if payloads.is_valid(row) { payloads.value(row) } else { "?" };
        let numbers: Result<Vec<i64>, _> = text.split(',').map(str::parse).collect();
        match numbers {
            _ if text == "skip" => rejected.push(reject(row, Fate::Filter, "skipped")),
            _ if text == "null" => {
                values.push(None);
                origin.push(row as u32);
            }
            Ok(numbers) => {
                origin.extend(std::iter::repeat_n(row as u32, numbers.len()));
                values.extend(numbers.into_iter().map(Some));
            }
            Err(_) => rejected.push(reject(row, Fate::Quarantine, "corrupt_record")),
        }
    }
    Ok(WorkerOutput { rows: Some((numbers_batch(values), origin)), rejected })
}

fn numbers_batch(values: Vec<Option<i64>>) -> RecordBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
    RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(values))]).unwrap()
}

fn judge_small(rows: &RecordBatch, _now: i64) -> Result<WorkerOutput, WorkerError> {
    let numbers = rows.column(0).as_primitive::<Int64Type>();
    let mut rejected = Vec::new();
    for (row, n) in numbers.iter().enumerate() {
        let n = n.unwrap_or(0);
        if n > 100 {
            rejected.push(reject(row, Fate::Quarantine, "too_large"));
        }
        if n > 1_000 {
            rejected.push(reject(row, Fate::Quarantine, "much_too_large"));
        }
        if n < 0 {
            rejected.push(reject(row, Fate::Filter, "negative"));
        }
    }
    Ok(WorkerOutput { rows: None, rejected })
}

fn double(rows: &RecordBatch, _now: i64) -> Result<WorkerOutput, WorkerError> {
    let numbers = rows.column(0).as_primitive::<Int64Type>();
    let values = numbers.iter().map(|n| n.map(|n| n * 2)).collect();
    Ok(WorkerOutput { rows: Some((numbers_batch(values), (0..numbers.len() as u32).collect())), rejected: Vec::new() })
}

pub(crate) fn build(contract: &TableContract, input: ChainInput) -> Chain {
    Chain::build(contract, input, &Natives).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Key, what and hint of each problem.
pub(crate) fn problems(contract: &TableContract, input: ChainInput) -> Vec<(String, String, String)> {
    let problems = Chain::build(contract, input, &Natives).map(|_| ()).unwrap_err();
    let parts = |problem: StageError| match problem {
        StageError::Config { key, what, hint } => (key, what, hint),
        other => panic!("not a problem of the contract: {other}"),
    };
    problems.into_iter().map(parts).collect()
}

pub(crate) fn run(contract: &TableContract, rows: &RecordBatch) -> Result<ChunkOutput, StageError> {
    build(contract, input_of(&rows.schema())).process(rows, &CONTEXT)
}

pub(crate) fn longs(rows: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    rows.column_by_name(name).unwrap().as_primitive::<Int64Type>().iter().collect()
}

pub(crate) fn texts(rows: &RecordBatch, name: &str) -> Vec<Option<String>> {
    rows.column_by_name(name).unwrap().as_string::<i32>().iter().map(|text| text.map(String::from)).collect()
}

pub(crate) fn names(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}
