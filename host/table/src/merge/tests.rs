//! How an upsert comes to its result: in shares, and without reading files that cannot matter.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Date32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;

use super::prune::Span;
use super::{LiveFile, Merge, incoming};
use crate::error::Place;
use crate::files::Layout;
use crate::log::Log;
use crate::scan::Scanned;
use crate::{FileWriter, TableSpec, WriteMode, check};

fn spec(folder: &Path) -> TableSpec {
    TableSpec {
        name: "silver.t".into(),
        path: folder.display().to_string(),
        schema: Arc::new(Schema::new(vec![
            Field::new("key", DataType::Int64, true),
            Field::new("at", DataType::Int64, true),
        ])),
        partition_by: Vec::new(),
        write: WriteMode::Upsert { keys: vec!["key".into()], sequence_by: vec!["at".into()], position: Vec::new() },
        properties: HashMap::new().into_iter().collect(),
    }
}

fn merge(folder: &Path, share_rows: u64) -> Merge {
    let spec = Arc::new(spec(folder));
    let place = Arc::new(Place { table: spec.name.clone(), path: spec.path.clone() });
    let schema = check::delta_schema(&place, &spec).unwrap();
    let metadata = deltalake::kernel::new_metadata(&schema, &spec.partition_by, std::iter::empty::<(&str, &str)>());
    let metadata = metadata.unwrap();
    let store = crisol_store::open(&spec.path).unwrap();
    let log = Log::new(place.clone(), store.clone()).unwrap();
    let layout = Arc::new(Layout::new(place.clone(), &spec, store, &metadata).unwrap());
    let merge = Merge::new(&place, &spec, &log, &layout, &metadata).unwrap().unwrap();
    Merge { share_rows, ..merge }
}

fn rows(merge: &Merge, of: &[(i64, i64)]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(of.iter().map(|(key, _)| *key).collect::<Int64Array>()),
        Arc::new(of.iter().map(|(_, at)| *at).collect::<Int64Array>()),
        Arc::new(BooleanArray::from(vec![false; of.len()])),
    ];
    RecordBatch::try_new(incoming(&merge.spec.schema), columns).unwrap()
}

/// Live rows and a batch, merged; what stands afterwards.
fn merged(share_rows: u64, live: &[(i64, i64)], batch: &[(i64, i64)]) -> (Vec<(i64, i64)>, super::RowChanges) {
    let folder = tempfile::tempdir().unwrap();
    let merge = merge(folder.path(), share_rows);
    let mut writer = Box::new(crate::files::Files::new(merge.data.clone()).unwrap());
    writer.write(&rows(&merge, live).project(&[0, 1]).unwrap()).unwrap();
    let live: Vec<LiveFile> = writer
        .finish()
        .unwrap()
        .into_iter()
        .map(|file| LiveFile {
            scanned: merge.scanned(&file).unwrap(),
            path: file.path,
            size: file.size,
            rows: Some(file.rows),
            stats: Some(file.stats),
        })
        .collect();
    let mut writer = Box::new(merge.writer().unwrap());
    writer.write(&rows(&merge, batch)).unwrap();
    let files = writer.finish().unwrap();
    let WriteMode::Upsert { keys, sequence_by, position } = &merge.spec.write else { unreachable!() };
    let columns = super::upsert::Columns { keys, sequence_by, position };
    let rewrite = merge.upsert(&columns, live.clone(), &files, None).unwrap();
    let kept = live.iter().filter(|file| !rewrite.removes.iter().any(|removed| removed.path == file.path));
    let kept = kept.map(|file| file.scanned.clone());
    let added = rewrite.adds.iter().map(|file| merge.scanned(file).unwrap());
    let mut found = Vec::new();
    for file in kept.chain(added) {
        for rows in file.rows(&merge.spec.schema).unwrap() {
            let rows = rows.unwrap();
            let [keys, ats] = [0, 1].map(|at| rows.column(at).as_primitive::<Int64Type>().values().to_vec());
            found.extend(keys.into_iter().zip(ats));
        }
    }
    found.sort_unstable();
    (found, rewrite.counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shares_of_the_keys_come_to_what_all_keys_at_once_come_to(
        live in proptest::collection::btree_map(0..40_i64, 0..9_i64, 1..30),
        batch in proptest::collection::vec((0..40_i64, 0..9_i64), 1..60),
        share_rows in 1..12_u64,
    ) {
        let live: Vec<_> = live.into_iter().collect();
        prop_assert_eq!(merged(share_rows, &live, &batch), merged(u64::MAX, &live, &batch));
    }

    #[test]
    fn a_file_is_left_out_only_when_none_of_its_keys_is_asked_for(
        held in proptest::collection::vec(-20..20_i64, 1..6),
        asked in proptest::collection::vec(-20..20_i64, 1..6),
    ) {
        let days = |of: &[i64]| -> ArrayRef { Arc::new(Date32Array::from_iter_values(of.iter().map(|n| i32::try_from(*n).unwrap()))) };
        let texts = |of: &[i64]| -> ArrayRef { Arc::new(StringArray::from_iter_values(of.iter().map(|n| format!("{n:+}")))) };
        let numbers = |of: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(of.to_vec())) };
        for column in [days, texts, numbers] {
            let file = live(column(&held));
            let mut span = Span::new(&["key".into()], &[]);
            span.add(&RecordBatch::try_from_iter([("key", column(&asked))]).unwrap()).unwrap();
            if held.iter().any(|key| asked.contains(key)) {
                prop_assert!(span.may_be_in(&file));
            }
        }
    }
}

/// A file with a column and the statistics that the host writes for it.
fn live(column: ArrayRef) -> LiveFile {
    let folder = tempfile::tempdir().unwrap();
    let rows = RecordBatch::try_from_iter_with_nullable([("key", column, true)]).unwrap();
    let spec = TableSpec { schema: rows.schema(), write: WriteMode::Append, ..spec(folder.path()) };
    let place = Arc::new(Place { table: spec.name.clone(), path: spec.path.clone() });
    let schema = check::delta_schema(&place, &spec).unwrap();
    let metadata = deltalake::kernel::new_metadata(&schema, &spec.partition_by, std::iter::empty::<(&str, &str)>());
    let store = crisol_store::open(&spec.path).unwrap();
    let layout = Arc::new(Layout::new(place, &spec, store, &metadata.unwrap()).unwrap());
    let mut writer = Box::new(crate::files::Files::new(layout).unwrap());
    writer.write(&rows).unwrap();
    let file = writer.finish().unwrap().remove(0);
    let scanned = Scanned { path: folder.path().join(&file.path), partition_values: HashMap::new() };
    LiveFile { path: file.path, size: file.size, rows: Some(file.rows), stats: Some(file.stats), scanned }
}

fn asked(key: &str, values: ArrayRef, partition_by: &[String]) -> Span {
    let mut span = Span::new(&[key.into()], partition_by);
    span.add(&RecordBatch::try_from_iter_with_nullable([(key, values, true)]).unwrap()).unwrap();
    span
}

fn with_stats(stats: &str) -> LiveFile {
    let scanned = Scanned { path: "f".into(), partition_values: HashMap::new() };
    LiveFile { path: "f".into(), size: 1, rows: None, stats: Some(stats.into()), scanned }
}

#[test]
fn a_file_whose_statistics_exclude_the_keys_is_left_out() {
    let span = asked("key", Arc::new(Int64Array::from(vec![5, 9])), &[]);
    assert!(!span.may_be_in(&with_stats(r#"{"numRecords":1,"minValues":{"key":10},"maxValues":{"key":12}}"#)));
    assert!(!span.may_be_in(&with_stats(r#"{"numRecords":1,"minValues":{"key":1},"maxValues":{"key":4}}"#)));
    assert!(span.may_be_in(&with_stats(r#"{"numRecords":1,"minValues":{"key":1},"maxValues":{"key":5}}"#)));
}

#[test]
fn statistics_that_are_missing_broken_or_cut_exclude_nothing() {
    let numbers = asked("key", Arc::new(Int64Array::from(vec![5])), &[]);
    for stats in ["", "{", "{}", r#"{"maxValues":{}}"#, r#"{"maxValues":{"key":null}}"#, r#"{"maxValues":{"key":"4"}}"#]
    {
        assert!(numbers.may_be_in(&with_stats(stats)), "{stats}");
    }
    let long = "k".repeat(40);
    let texts = asked("key", Arc::new(StringArray::from(vec![format!("{long}z")])), &[]);
    let cut = format!(r#"{{"minValues":{{"key":"a"}},"maxValues":{{"key":"{}"}}}}"#, "k".repeat(32));
    assert!(texts.may_be_in(&with_stats(&cut)), "a maximum that may be cut is no bound");
    let nulls = asked("key", Arc::new(Int64Array::from(vec![Some(5), None])), &[]);
    assert!(nulls.may_be_in(&with_stats(r#"{"minValues":{"key":10},"maxValues":{"key":12}}"#)));
}

#[test]
fn partition_values_exclude_what_they_do_not_hold_and_null_is_one_of_them() {
    let by = ["key".to_string()];
    let file = |value: Option<&str>| {
        let partition_values = HashMap::from([("key".to_string(), value.map(str::to_owned))]);
        let scanned = Scanned { path: "f".into(), partition_values };
        LiveFile { path: "f".into(), size: 1, rows: None, stats: None, scanned }
    };
    let span = asked("key", Arc::new(StringArray::from(vec![Some("ES"), None])), &by);
    assert!(span.may_be_in(&file(Some("ES"))) && span.may_be_in(&file(None)) && span.may_be_in(&file(Some(""))));
    assert!(!span.may_be_in(&file(Some("MX"))));
}
