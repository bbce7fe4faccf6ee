//! Tables whose rows change, against plain models: what stands after each batch, and what is told of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use common::{batch, log, note, store};
use crisol_table::{CommitOutcome, DELETED, RowChanges, Table, TableError, TableSpec, TableWriter, WriteMode};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Key, sequence, position, value.
type Row = (String, i64, i64, String);

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, true),
        Field::new("at", DataType::Int64, true),
        Field::new("offset", DataType::Int64, true),
        Field::new("value", DataType::Utf8, true),
    ]))
}

fn spec(folder: &Path, write: WriteMode, partition_by: &[&str]) -> TableSpec {
    TableSpec {
        name: "silver.t".into(),
        path: folder.display().to_string(),
        schema: schema(),
        partition_by: partition_by.iter().map(ToString::to_string).collect(),
        write,
        properties: BTreeMap::new(),
    }
}

fn upsert() -> WriteMode {
    WriteMode::Upsert { keys: vec!["key".into()], sequence_by: vec!["at".into()], position: vec!["offset".into()] }
}

async fn open(spec: &TableSpec) -> Table {
    Table::open_or_create(spec, &store(Path::new(&spec.path))).await.unwrap()
}

fn rows(of: &[(Row, bool)]) -> RecordBatch {
    let mut fields: Vec<_> = schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(DELETED, DataType::Boolean, false)));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(of.iter().map(|((key, ..), _)| Some(key)).collect::<StringArray>()),
        Arc::new(of.iter().map(|((_, at, ..), _)| *at).collect::<Int64Array>()),
        Arc::new(of.iter().map(|((_, _, offset, _), _)| *offset).collect::<Int64Array>()),
        Arc::new(of.iter().map(|((.., value), _)| Some(value)).collect::<StringArray>()),
        Arc::new(of.iter().map(|(_, deleted)| Some(*deleted)).collect::<BooleanArray>()),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

async fn commit(table: &Table, number: i64, of: &[(Row, bool)]) -> CommitOutcome {
    let mut writer = table.writer().unwrap();
    for part in of.chunks(5) {
        writer.write(&rows(part)).unwrap();
    }
    let files = writer.finish().unwrap();
    table.commit(&files, &batch("q", number), &note("s", number as u64)).await.unwrap()
}

fn values(rows: &RecordBatch) -> Vec<Row> {
    let text = |name: &str| rows.column_by_name(name).unwrap().as_string::<i32>().clone();
    let number = |name: &str| rows.column_by_name(name).unwrap().as_primitive::<Int64Type>().clone();
    let (key, at, offset, value) = (text("key"), number("at"), number("offset"), text("value"));
    (0..rows.num_rows())
        .map(|row| (key.value(row).into(), at.value(row), offset.value(row), value.value(row).into()))
        .collect()
}

/// What a reader sees that knows nothing of the host: the log replayed as JSON, files by the Parquet reader.
fn visible(folder: &Path) -> Vec<Row> {
    let mut live = BTreeMap::new();
    for action in log(folder).into_iter().flatten() {
        if let Some(add) = action.get("add") {
            live.insert(add["path"].as_str().unwrap().to_owned(), ());
        }
        if let Some(remove) = action.get("remove") {
            assert!(
                live.remove(remove["path"].as_str().unwrap()).is_some(),
                "a file is removed that was added: {remove}"
            );
        }
    }
    let mut all: Vec<Row> = live.keys().flat_map(|path| values(&read(folder, path))).collect();
    all.sort();
    all
}

fn read(folder: &Path, path: &str) -> RecordBatch {
    let file = std::fs::File::open(folder.join(path)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = builder.schema().clone();
    let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

/// Rows told as gone and as come in the newest version: its change data, or else its added files (D-084).
fn told(folder: &Path) -> (Vec<Row>, Vec<Row>) {
    let entry = log(folder).pop().unwrap();
    let paths = |kind: &str| -> Vec<String> {
        entry.iter().filter_map(|a| a.get(kind)).map(|a| a["path"].as_str().unwrap().to_owned()).collect()
    };
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    if paths("cdc").is_empty() {
        assert!(paths("remove").is_empty(), "a version that takes rows out tells of it");
        come.extend(paths("add").iter().flat_map(|path| values(&read(folder, path))));
        return (gone, come);
    }
    for path in paths("cdc") {
        assert!(path.starts_with("_change_data/"), "{path}");
        let rows = read(folder, &path);
        let kinds = rows.column_by_name("_change_type").unwrap().as_string::<i32>().clone();
        for (row, kind) in values(&rows).into_iter().zip(kinds.iter()) {
            match kind.unwrap() {
                "insert" | "update_postimage" => come.push(row),
                "delete" | "update_preimage" => gone.push(row),
                other => panic!("{other}"),
            }
        }
    }
    (gone, come)
}

/// The state of before, with what was told applied to it.
fn applied(before: &[Row], (gone, come): (Vec<Row>, Vec<Row>)) -> Vec<Row> {
    let mut rows = before.to_vec();
    for row in gone {
        let at = rows.iter().position(|known| *known == row).unwrap_or_else(|| panic!("{row:?} was not there"));
        rows.remove(at);
    }
    rows.extend(come);
    rows.sort();
    rows
}

/// The newest event of each key, deletes remembered.
#[derive(Default)]
struct Model(BTreeMap<String, (Row, bool)>);

impl Model {
    fn apply(&mut self, events: &[(Row, bool)]) {
        for (row, deleted) in events {
            let rank = |(_, at, offset, _): &Row, deleted: bool| (*at, *offset, !deleted);
            let newer = self.0.get(&row.0).is_none_or(|(known, was)| rank(row, *deleted) >= rank(known, *was));
            if newer {
                self.0.insert(row.0.clone(), (row.clone(), *deleted));
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        self.0.values().filter(|(_, deleted)| !deleted).map(|(row, _)| row.clone()).collect()
    }
}

fn row(key: &str, at: i64, offset: i64) -> Row {
    (key.into(), at, offset, format!("{key} {at} {offset}"))
}

fn changes(outcome: CommitOutcome) -> RowChanges {
    match outcome {
        CommitOutcome::Merged { changes, .. } => changes,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn e062_the_newest_row_of_a_key_stands_and_ties_go_to_the_later_position() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), upsert(), &[]);
    let table = open(&spec).await;
    let put = |key: &str, at, offset| (row(key, at, offset), false);
    let first = commit(&table, 0, &[put("a", 1, 0), put("b", 1, 1), put("a", 1, 2), put("a", 0, 3)]).await;
    assert_eq!(changes(first), RowChanges { inserted: 2, updated: 0, superseded: 2, deleted: 0 });
    assert_eq!(visible(folder.path()), [row("a", 1, 2), row("b", 1, 1)]);
    let second = commit(&table, 1, &[put("a", 0, 4), put("b", 1, 5), put("c", 9, 6)]).await;
    assert_eq!(changes(second), RowChanges { inserted: 1, updated: 1, superseded: 1, deleted: 0 });
    assert_eq!(visible(folder.path()), [row("a", 1, 2), row("b", 1, 5), row("c", 9, 6)]);
    assert_eq!(std::fs::read_dir(folder.path().join("_staged")).unwrap().count(), 0, "staged files are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn d002_the_same_batch_lands_once_whoever_commits_it() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), upsert(), &[]);
    let (one, two) = (open(&spec).await, open(&spec).await);
    let events = [(row("a", 1, 0), false), (row("b", 2, 1), false)];
    let stage = |table: &Table| {
        let mut writer = table.writer().unwrap();
        writer.write(&rows(&events)).unwrap();
        writer.finish().unwrap()
    };
    let (first, second) = (stage(&one), stage(&two));
    let (txn, note) = (batch("q", 0), note("s", 0));
    let (a, b) = tokio::join!(one.commit(&first, &txn, &note), two.commit(&second, &txn, &note));
    let landed = [a.unwrap(), b.unwrap()].iter().filter(|o| matches!(o, CommitOutcome::Merged { .. })).count();
    assert_eq!(landed, 1);
    assert_eq!(visible(folder.path()), [row("a", 1, 0), row("b", 2, 1)]);
    assert!(matches!(one.commit(&first, &txn, &note).await.unwrap(), CommitOutcome::AlreadyCommitted { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn r030_a_merge_that_lost_to_another_writer_is_planned_again() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), upsert(), &[]);
    let tables = futures::future::join_all((0..4).map(|_| open(&spec))).await;
    let mut model = Model::default();
    for round in 0..5_i64 {
        let batches: Vec<Vec<(Row, bool)>> = (0..4_i64)
            .map(|host| {
                (0..6_i64).map(|n| (row(&format!("k{}", (n + host) % 7), round, host * 10 + n), false)).collect()
            })
            .collect();
        let commits = tables.iter().zip(&batches).zip(0..).map(|((table, events), host)| {
            let mut writer = table.writer().unwrap();
            writer.write(&rows(events)).unwrap();
            let files = writer.finish().unwrap();
            async move { table.commit(&files, &batch(&format!("app{host}"), round), &note("s", 0)).await.unwrap() }
        });
        let outcomes = futures::future::join_all(commits).await;
        assert!(outcomes.iter().all(|outcome| matches!(outcome, CommitOutcome::Merged { .. })));
        batches.iter().for_each(|events| model.apply(events));
        assert_eq!(visible(folder.path()), model.rows());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d084_an_appended_table_that_is_written_by_key_now_tells_its_changes_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let append = spec(folder.path(), WriteMode::Append, &[]);
    let table = open(&append).await;
    let mut writer = table.writer().unwrap();
    let plain = rows(&[(row("a", 1, 0), false)]);
    writer.write(&plain.project(&[0, 1, 2, 3]).unwrap()).unwrap();
    let files = writer.finish().unwrap();
    let _done = table.commit(&files, &batch("q", 0), &note("s", 0)).await.unwrap();
    drop(table);
    let table = open(&spec(folder.path(), upsert(), &[])).await;
    let upgrade = log(folder.path()).pop().unwrap();
    let metadata = upgrade.iter().find_map(|action| action.get("metaData")).unwrap();
    assert_eq!(metadata["configuration"]["delta.enableChangeDataFeed"], "true");
    let protocol = upgrade.iter().find_map(|action| action.get("protocol")).unwrap();
    assert_eq!(protocol, &json!({"minReaderVersion": 1, "minWriterVersion": 4}));
    let before = visible(folder.path());
    let _landed = commit(&table, 1, &[(row("a", 2, 1), false)]).await;
    assert_eq!(visible(folder.path()), [row("a", 2, 1)]);
    assert_eq!(applied(&before, told(folder.path())), visible(folder.path()));
    drop(table);
    let versions = log(folder.path()).len();
    open(&spec(folder.path(), upsert(), &[])).await;
    assert_eq!(log(folder.path()).len(), versions, "once is enough");
}

#[tokio::test(flavor = "multi_thread")]
async fn d034_a_table_that_may_only_grow_is_not_written_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path(), upsert(), &[]);
    spec.properties.insert("delta.appendOnly".into(), "true".into());
    let error = Table::open_or_create(&spec, &store(folder.path())).await.unwrap_err();
    assert!(matches!(&error, TableError::Mismatch { what, .. } if what.contains("`delta.appendOnly`")), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_replaced_whole_and_those_that_are_as_before_stay_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let mode = WriteMode::ReplaceGroups { group_by: vec!["key".into()] };
    let spec = spec(folder.path(), mode, &[]);
    let table = open(&spec).await;
    let named = |key: &str| (row(key, 0, 0), true);
    let new = |key: &str, at| (row(key, at, 0), false);
    let _landed = commit(&table, 0, &[named("a"), named("b"), new("a", 1), new("a", 2), new("b", 1)]).await;
    assert_eq!(visible(folder.path()), [row("a", 1, 0), row("a", 2, 0), row("b", 1, 0)]);
    let before = visible(folder.path());
    let _landed = commit(&table, 1, &[named("a"), named("b"), named("c"), new("a", 2), new("a", 1), new("c", 5)]).await;
    assert_eq!(visible(folder.path()), [row("a", 1, 0), row("a", 2, 0), row("c", 5, 0)]);
    let (gone, come) = told(folder.path());
    assert_eq!((gone, come), (vec![row("b", 1, 0)], vec![row("c", 5, 0)]), "`a` is as before");
    assert_eq!(applied(&before, told(folder.path())), visible(folder.path()));

    let mut writer = table.writer().unwrap();
    writer.write(&rows(&[new("z", 1)])).unwrap();
    let files = writer.finish().unwrap();
    let error = table.commit(&files, &batch("q", 2), &note("s", 2)).await.unwrap_err();
    assert!(matches!(error, TableError::Data { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d032_partitions_present_in_a_batch_are_replaced_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), WriteMode::ReplacePartitions, &["key"]);
    let table = open(&spec).await;
    let write = async |number: i64, of: &[Row]| {
        let of: Vec<_> = of.iter().map(|row| (row.clone(), false)).collect();
        let mut writer = table.writer().unwrap();
        writer.write(&rows(&of).project(&[0, 1, 2, 3]).unwrap()).unwrap();
        let files = writer.finish().unwrap();
        table.commit(&files, &batch("q", number), &note("s", 0)).await.unwrap()
    };
    let count = async || table.summary().await.unwrap().rows.unwrap();
    let _landed = write(0, &[row("a", 1, 0), row("a", 2, 0), row("b", 1, 0)]).await;
    assert_eq!(count().await, 3);
    let _landed = write(1, &[row("a", 9, 0)]).await;
    let kept = table.read_rows(10, &[]).await.unwrap();
    let mut kept: Vec<Row> = kept.iter().flat_map(values).collect();
    kept.sort();
    assert_eq!(kept, [row("a", 9, 0), row("b", 1, 0)]);
    let entry = log(folder.path()).pop().unwrap();
    let removed: Vec<&Value> = entry.iter().filter_map(|a| a.get("remove")).collect();
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0]["partitionValues"], json!({"key": "a"}));
    assert!(entry.iter().any(|action| action.get("cdc").is_some()));
    let _landed = write(2, &[]).await;
    assert_eq!(count().await, 2, "d010: a batch without rows replaces nothing");
}

fn events() -> impl Strategy<Value = Vec<Vec<(Row, bool)>>> {
    let event = (0..9_u8, 0..6_i64, proptest::bool::weighted(0.2));
    proptest::collection::vec(proptest::collection::vec(event, 0..30), 1..7).prop_map(|batches| {
        let mut offset = 0;
        let of_batch = |events: Vec<(u8, i64, bool)>| {
            let one = |(key, at, deleted): (u8, i64, bool)| {
                offset += 1;
                // Long keys with a common beginning: statistics are cut.
                let key = format!("{}{key}", "k".repeat(70 * usize::from(key % 2)));
                (row(&key, at, offset), deleted)
            };
            events.into_iter().map(one).collect()
        };
        batches.into_iter().map(of_batch).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Late, repeated and deleted keys in any order; handles of the table come and go.
    #[test]
    fn e063_any_sequence_of_batches_leaves_the_newest_rows_and_tells_the_way_there(batches in events()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let spec = spec(folder.path(), upsert(), &[]);
            let (mut model, mut table) = (Model::default(), open(&spec).await);
            for (number, events) in (0..).zip(&batches) {
                if number % 2 == 1 {
                    table = open(&spec).await;
                }
                let before = visible(folder.path());
                let outcome = commit(&table, number, events).await;
                model.apply(events);
                let now = visible(folder.path());
                assert_eq!(now, model.rows());
                assert_eq!(applied(&before, told(folder.path())), now);
                let RowChanges { inserted, updated, superseded, deleted } = changes(outcome);
                assert_eq!(inserted + updated + superseded + deleted, events.len() as u64, "each row has one fate");
            }
        });
    }
}
