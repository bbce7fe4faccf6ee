//! Whatever stages do, every input row has one fate and every table row its provenance.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_contract::{OnRejected, StageKind};
use crisol_stage::{Chain, ComponentStage, Fate, NativeWorker, Stage, StageError, WorkerOutput};
use proptest::prelude::*;
use support::*;

/// What a random stage does to the rows whose number falls on it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    Keep,
    Copies(usize),
    Filter,
    Quarantine,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => Just(Deed::Keep),
        2 => (2usize..4).prop_map(Deed::Copies),
        1 => Just(Deed::Filter),
        1 => Just(Deed::Quarantine),
    ]
}

/// The deed for a value: the same for equal values, so that model and stage agree.
fn choose(deeds: &[Deed], value: i64) -> Deed {
    deeds[value.unsigned_abs() as usize % deeds.len()]
}

/// The value of copy `copy` of a row.
fn next_value(value: i64, copy: usize) -> i64 {
    value.wrapping_mul(31).wrapping_add(copy as i64 + 7) % 1_000_003
}

fn n_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]))
}

fn random_worker(deeds: Vec<Deed>) -> NativeWorker {
    NativeWorker::new("random", &["n"], n_schema(), move |rows, _| {
        let (mut values, mut origin, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
        for (row, value) in rows.column(0).as_primitive::<Int64Type>().values().iter().enumerate() {
            match choose(&deeds, *value) {
                Deed::Filter => rejected.push(reject(row, Fate::Filter, "filtered")),
                Deed::Quarantine => rejected.push(reject(row, Fate::Quarantine, "refused")),
                Deed::Keep | Deed::Copies(_) => {
                    let copies = if let Deed::Copies(copies) = choose(&deeds, *value) { copies } else { 1 };
                    for copy in 0..copies {
                        values.push(next_value(*value, copy));
                        origin.push(row as u32);
                    }
                }
            }
        }
        let rows = RecordBatch::try_new(n_schema(), vec![Arc::new(Int64Array::from(values))]).unwrap();
        Ok(WorkerOutput { rows: Some((rows, origin)), rejected })
    })
}

/// The fate of one input row by the plain reading of the rules: its table values, or `Err(quarantined)`.
fn model(value: i64, stages: &[Vec<Deed>]) -> Result<Vec<i64>, ()> {
    let mut present = vec![value];
    for deeds in stages {
        let mut next = Vec::new();
        for value in present {
            match choose(deeds, value) {
                Deed::Keep => next.push(next_value(value, 0)),
                Deed::Copies(copies) => next.extend((0..copies).map(|copy| next_value(value, copy))),
                Deed::Filter => {}
                Deed::Quarantine => return Err(()),
            }
        }
        present = next;
    }
    Ok(present)
}

fn numbered(values: &[i64]) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("n", DataType::Int64, true),
        Field::new("other", DataType::Utf8, true),
        Field::new("topic", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, false),
    ]);
    let count = values.len();
    let other = (0..count).map(|row| format!("row {row}"));
    RecordBatch::try_new(
        Arc::new(schema),
        vec![
            Arc::new(Int64Array::from(values.to_vec())),
            Arc::new(arrow_array::StringArray::from_iter_values(other)),
            Arc::new(arrow_array::StringArray::from(vec!["t"; count])),
            Arc::new(Int64Array::from_iter_values(0..count as i64)),
        ],
    )
    .unwrap()
}

fn random_chain(rows: &RecordBatch, stages: &[Vec<Deed>]) -> Chain {
    let schema = rows.schema();
    let stage = |(at, deeds): (usize, &Vec<Deed>)| {
        let worker = Arc::new(random_worker(deeds.clone()));
        let stage = ComponentStage::new(format!("transform s{at}"), worker, &schema, |_| true).unwrap();
        Arc::new(stage) as Arc<dyn Stage>
    };
    let stages = stages.iter().enumerate().map(stage).collect();
    Chain::new(stages, input_of(&schema), Arc::clone(&schema), OnRejected::Quarantine).unwrap()
}

fn check_against_model(values: &[i64], stages: &[Vec<Deed>]) {
    let rows = numbered(values);
    let output = random_chain(&rows, stages).process(&rows, &CONTEXT).unwrap();

    let fates: Vec<Result<Vec<i64>, ()>> = values.iter().map(|value| model(*value, stages)).collect();
    let wanted: Vec<(i64, i64)> = fates
        .iter()
        .enumerate()
        .flat_map(|(offset, fate)| fate.iter().flatten().map(move |value| (offset as i64, *value)))
        .collect();
    let given: Vec<(i64, i64)> = longs(&output.accepted, "offset")
        .into_iter()
        .flatten()
        .zip(longs(&output.accepted, "n").into_iter().flatten())
        .collect();
    assert_eq!(given, wanted);
    for (offset, other) in longs(&output.accepted, "offset").iter().zip(texts(&output.accepted, "other")) {
        assert_eq!(other.unwrap(), format!("row {}", offset.unwrap()));
    }

    let refused: Vec<i64> =
        output.quarantined.iter().flat_map(|rows| longs(rows, "offset").into_iter().flatten()).collect();
    let wanted: Vec<i64> = (0..values.len()).filter(|row| fates[*row].is_err()).map(|row| row as i64).collect();
    assert_eq!(refused, wanted);
    let sum = |counts: &[(String, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!(sum(&output.rejected), refused.len() as u64);
    assert_eq!(output.rows_accepted + sum(&output.rejected) + sum(&output.filtered), values.len() as u64);
    let accepted: BTreeSet<i64> = given.iter().map(|(offset, _)| *offset).collect();
    assert_eq!(output.rows_accepted, accepted.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn e033_random_stages_keep_accounts_and_provenance(
        values in prop::collection::vec(0i64..1_000, 0..60),
        stages in prop::collection::vec(prop::collection::vec(deed(), 1..12), 0..5),
    ) {
        check_against_model(&values, &stages);
    }

    #[test]
    fn e033_chunks_may_be_cut_anywhere(
        values in prop::collection::vec(0i64..1_000, 1..60),
        stages in prop::collection::vec(prop::collection::vec(deed(), 1..12), 1..4),
        cut in 0usize..60,
    ) {
        let rows = numbered(&values);
        let chain = random_chain(&rows, &stages);
        let cut = cut.min(values.len());
        let whole = chain.process(&rows, &CONTEXT).unwrap();
        let parts = [rows.slice(0, cut), rows.slice(cut, values.len() - cut)].map(|part| chain.process(&part, &CONTEXT).unwrap());
        let accepted: Vec<_> = parts.iter().flat_map(|part| longs(&part.accepted, "n")).collect();
        prop_assert_eq!(accepted, longs(&whole.accepted, "n"));
        let refused = |output: &crisol_stage::ChunkOutput| output.quarantined.as_ref().map_or(0, RecordBatch::num_rows);
        prop_assert_eq!(parts.iter().map(refused).sum::<usize>(), refused(&whole));
    }
}

#[test]
fn e033_a_row_refused_in_part_is_in_quarantine_whole() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers"), stage(StageKind::Validator, "small")];
    let output = run(&contract, &messages(&[b"1,2", b"3,200,4", b"-1,5", b"-1,-2", b"2000,-1"])).unwrap();
    assert_eq!(longs(&output.accepted, "n"), [Some(1), Some(2), Some(5)]);
    assert_eq!(longs(&output.accepted, "offset"), [Some(100), Some(100), Some(102)]);
    assert_eq!(output.rows_accepted, 2);
    assert_eq!(output.rejected, [("too_large".to_owned(), 2)]);
    assert_eq!(output.filtered, [("negative".to_owned(), 1)]);
    let refused = output.quarantined.unwrap();
    assert_eq!(longs(&refused, "offset"), [Some(101), Some(104)]);
    let text = texts(&refused, "text")[1].clone().unwrap();
    assert_eq!(text, "text of too_large; much_too_large: text of much_too_large; negative: text of negative");
}

#[test]
fn an_exploding_stage_may_fill_several_calls_of_the_next() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "numbers"), stage(StageKind::Transformer, "double")];
    let many = vec!["7"; 20_000].join(",");
    let output = run(&contract, &messages(&[b"1", many.as_bytes(), b"x", b"2"])).unwrap();
    assert_eq!(output.accepted.num_rows(), 20_002);
    assert_eq!(output.rows_accepted, 3);
    let by_offset = longs(&output.accepted, "offset").into_iter().fold(BTreeMap::new(), |mut counts, offset| {
        *counts.entry(offset.unwrap()).or_insert(0) += 1;
        counts
    });
    assert_eq!(by_offset.into_iter().collect::<Vec<_>>(), [(100, 1), (101, 20_000), (103, 1)]);
    assert_eq!(longs(&output.accepted, "n")[20_001], Some(4));
}

fn lying_chain(origin: Vec<u32>, refused: Vec<usize>, rows_out: usize) -> Chain {
    let worker = NativeWorker::new("liar", &["n"], n_schema(), move |_, _| {
        let rows = RecordBatch::try_new(n_schema(), vec![Arc::new(Int64Array::from(vec![1; rows_out]))]).unwrap();
        let rejected = refused.iter().map(|row| reject(*row, Fate::Quarantine, "c")).collect();
        Ok(WorkerOutput { rows: Some((rows, origin.clone())), rejected })
    });
    let schema = numbered(&[]).schema();
    let stage = ComponentStage::new("transform liar", Arc::new(worker), &schema, |_| true).unwrap();
    Chain::new(vec![Arc::new(stage)], input_of(&schema), schema, OnRejected::Quarantine).unwrap()
}

#[test]
fn e033_a_component_that_loses_doubles_or_invents_rows_is_named() {
    for (origin, refused, rows_out, what) in [
        (vec![0, 2], vec![], 2, "row 1 is neither returned nor rejected"),
        (vec![0, 1, 2], vec![1], 3, "row 1 is both returned and rejected"),
        (vec![0, 1, 2, 3], vec![], 4, "row 3 is returned, but there are only 3"),
        (vec![0, 1, 2], vec![], 2, "2 rows came with 3 row numbers"),
        (vec![0, 1], vec![9], 2, "row 9 is rejected, but there are only 3"),
    ] {
        let error = lying_chain(origin, refused, rows_out).process(&numbered(&[1, 2, 3]), &CONTEXT).unwrap_err();
        let StageError::Plugin { stage, component, digest, what: found } = error else { panic!("{error}") };
        assert_eq!((stage.as_str(), component.as_str(), digest.as_str()), ("transform liar", "liar@0.0.0", "native"));
        assert!(found.contains(what), "{found}");
        assert!(found.contains("in a chunk of 3 rows from topic t, offset 0 to topic t, offset 2"), "{found}");
    }
}

#[test]
fn a_verdict_on_a_row_that_does_not_exist_is_no_panic() {
    let worker = NativeWorker::new("liar", &["n"], Arc::new(Schema::empty()), |_, _| {
        Ok(WorkerOutput { rows: None, rejected: vec![reject(77, Fate::Quarantine, "c")] })
    });
    let schema = numbered(&[]).schema();
    let stage = ComponentStage::new("validate liar", Arc::new(worker), &schema, |_| true).unwrap();
    let chain = Chain::new(vec![Arc::new(stage)], input_of(&schema), schema, OnRejected::Quarantine).unwrap();
    let error = chain.process(&numbered(&[1]), &CONTEXT).unwrap_err();
    assert!(matches!(&error, StageError::Plugin { what, .. } if what.contains("row 77")), "{error}");
}

#[test]
fn a_trap_names_component_digest_stage_and_rows() {
    let mut contract = contract();
    contract.stages = vec![stage(StageKind::Decoder, "trap")];
    let error = run(&contract, &messages(&[b"a", b"b"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `decode trap`: component `trap@0.0.0` (native): unreachable executed (in a chunk of 2 rows from topic \
         orders, partition 0, offset 100 to topic orders, partition 0, offset 101)"
    );
}
