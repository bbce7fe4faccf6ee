//! What holds for every stage, native or sandboxed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::Schema;
use crisol_contract::{OnViolation, StageKind, StageSpec};
use crisol_plugin::{Engine, Registry};
use crisol_stage::{Chain, ComponentStage, Sandboxed, Stage, StageError, StageOutput, Workers};
use support::*;

/// The contract: accounts hold; rows have the announced columns; the same input gives the same output, whole or cut;
/// columns that the stage does not write follow their rows.
fn check_stage(stage: &dyn Stage, input: &RecordBatch) -> StageOutput {
    let whole = stage.process(input, &CONTEXT).unwrap();
    assert_eq!(whole.rows.schema().fields(), stage.schema().fields());
    let mut seen: Vec<u32> = whole.origin.iter().copied().chain(whole.rejected.iter().map(|r| r.row)).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (0..input.num_rows() as u32).collect::<Vec<_>>(), "each row has a fate");
    assert!(whole.rejected.iter().all(|rejected| !whole.origin.contains(&rejected.row)), "no row has two");
    assert!(whole.origin.is_sorted(), "rows are in input order");

    let again = stage.process(input, &CONTEXT).unwrap();
    assert_eq!((&again.rows, &again.origin, &again.rejected), (&whole.rows, &whole.origin, &whole.rejected));
    let rows: Vec<RecordBatch> =
        (0..input.num_rows()).map(|row| stage.process(&input.slice(row, 1), &CONTEXT).unwrap().rows).collect();
    assert_eq!(arrow_select::concat::concat_batches(&whole.rows.schema(), &rows).unwrap(), whole.rows);

    let before = input.column_by_name("offset").unwrap();
    let origin = arrow_array::UInt32Array::from(whole.origin.clone());
    let followed = arrow_select::take::take(before, &origin, None).unwrap();
    assert_eq!(whole.rows.column_by_name("offset").unwrap(), &followed);
    whole
}

fn component_stage(workers: &dyn Workers, spec: &StageSpec, input: &RecordBatch) -> ComponentStage {
    let worker = workers.worker(spec, &input.schema()).unwrap();
    ComponentStage::new(spec.component.clone(), worker, &input.schema(), |_| true).unwrap()
}

/// Messages whose payload is text already.
fn text_messages(payloads: &[&str]) -> RecordBatch {
    let bytes: Vec<&[u8]> = payloads.iter().map(|payload| payload.as_bytes()).collect();
    let rows = messages(&bytes);
    let mut fields: Vec<_> = rows.schema().fields().iter().cloned().collect();
    fields[1] = Arc::new(fields[1].as_ref().clone().with_data_type(arrow_schema::DataType::Utf8));
    let mut columns = rows.columns().to_vec();
    columns[1] = Arc::new(StringArray::from(payloads.to_vec())) as ArrayRef;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn native_stages_keep_the_contract() {
    let rows = text_messages(&["1", "2,3", "x", "skip", "500", "-1", "null"]);
    let decoded = check_stage(&component_stage(&Natives, &stage(StageKind::Decoder, "numbers"), &rows), &rows);
    assert_eq!(decoded.origin, [0, 1, 1, 4, 5, 6]);
    for (kind, name) in [(StageKind::Validator, "small"), (StageKind::Transformer, "double")] {
        check_stage(&component_stage(&Natives, &stage(kind, name), &decoded.rows), &decoded.rows);
    }
}

/// The bundled components, compiled once for all tests.
fn bundled() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        for name in ["orders.wasm", "order-rules.wasm", "json.wasm"] {
            assert!(folder.join(name).exists(), "plugins/{name} is missing: `scripts/plugins.sh` builds it");
        }
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
        Registry::load(&folder, &Engine::new().unwrap(), Some(&cache)).unwrap()
    });
    &REGISTRY
}

const ORDERS: [&str; 5] = [
    r#"{"order_id":"o-1","event_ts":"1970-01-01T00:00:01Z","amount":12.5,"schema_version":1}"#,
    r#"{"order_id":"o-2","event_ts":"1970-01-01T00:00:00.5Z","amount":7,"schema_version":2,"currency":"EUR"}"#,
    r#"{"order_id":"o-3","event_ts":"1970-01-01","amount":-7,"schema_version":1}"#,
    r#"{"order_id":"o-4","event_ts":"1970-01-01","amount":"mucho","schema_version":1}"#,
    "no json",
];

#[test]
fn sandboxed_stages_keep_the_contract() {
    let registry = bundled();
    let sandboxed = Sandboxed::new(registry);
    let rows = text_messages(&ORDERS);
    let decoded = check_stage(&component_stage(&sandboxed, &stage(StageKind::Decoder, "orders"), &rows), &rows);
    assert_eq!(decoded.origin, [0, 1, 2]);
    let mut rules = stage(StageKind::Validator, "order-rules");
    rules.options.insert("currencies".into(), serde_json::json!(["USD"]));
    let judged = check_stage(&component_stage(&sandboxed, &rules, &decoded.rows), &decoded.rows);
    assert_eq!(judged.origin, [0]);
}

#[test]
fn a_contract_runs_over_sandboxed_components() {
    let registry = bundled();
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "orders"), stage(StageKind::Validator, "order-rules")];
    let day = crisol_contract::ColumnSpec { generated: Some("CAST(event_ts AS DATE)".into()), ..column("day", "date") };
    contract.columns = Some(vec![column("order_id", "string"), column("amount", "decimal(18,2)"), day]);
    contract.expectations = vec![expectation("cheap", "amount < 10", OnViolation::Warn)];
    let chain = Chain::build(&contract, kafka_input(), &Sandboxed::new(registry)).unwrap();
    assert_eq!(names(&chain.table_schema()), ["order_id", "amount", "day", "topic", "partition", "offset"]);
    let bytes: Vec<&[u8]> = ORDERS.iter().map(|order| order.as_bytes()).collect();
    let output = chain.process(&messages(&bytes), &CONTEXT).unwrap();
    assert_eq!(texts(&output.accepted, "order_id"), [Some("o-1".to_owned()), Some("o-2".to_owned())]);
    assert_eq!(output.rules, [("cheap".to_owned(), 1, 1)]);
    let refused = output.quarantined.unwrap();
    assert_eq!(longs(&refused, "offset"), [Some(102), Some(103), Some(104)]);
    assert_eq!(texts(&refused, "component")[0].as_deref(), Some("order-rules"));
    let digest = chain.components()[0].digest.clone();
    assert_eq!((digest.len(), texts(&refused, "component_digest")[1].clone()), (64, Some(digest)));
}

#[test]
fn what_components_refuse_stands_at_its_key() {
    let registry = bundled();
    let mut contract = contract();
    let mut rules = stage(StageKind::Validator, "order-rules");
    rules.options.insert("currencies".into(), serde_json::json!("EUR"));
    contract.stages = vec![
        stage(StageKind::Decoder, "orders"),
        rules,
        stage(StageKind::Transformer, "orders"),
        stage(StageKind::Decoder, "ordres"),
    ];
    let problems = Chain::build(&contract, kafka_input(), &Sandboxed::new(registry)).unwrap_err();
    let keys: Vec<String> = problems
        .into_iter()
        .map(|problem| match problem {
            StageError::Config { key, .. } => key,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(keys, ["stages[1].options.currencies", "stages[2].transform", "stages[3].decode"]);
}

#[test]
fn the_bundled_json_decoder_takes_the_tables_columns() {
    let registry = bundled();
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "json")];
    let required = crisol_contract::ColumnSpec { nullable: false, ..column("order_id", "string") };
    let upper = crisol_contract::ColumnSpec { generated: Some("upper(order_id)".into()), ..column("upper", "string") };
    contract.columns = Some(vec![required, upper, column("offset", "bigint"), column("amount", "double")]);
    let chain = Chain::build(&contract, kafka_input(), &Sandboxed::new(registry)).unwrap();
    let output =
        chain.process(&messages(&[br#"{"order_id":"a","amount":1.5}"#, br#"{"amount":2}"#, b"[]"]), &CONTEXT).unwrap();
    assert_eq!(texts(&output.accepted, "upper"), [Some("A".to_owned())]);
    assert_eq!(longs(&output.accepted, "offset"), [Some(100)]);
    let refused = output.quarantined.unwrap();
    assert_eq!(texts(&refused, "code")[0].as_deref(), Some("not_null: order_id"));
    assert_eq!(refused.num_rows(), 2);
}
