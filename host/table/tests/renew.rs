//! Slices of a table are replaced: what a batch names goes, what it brings comes, as far as the two differ.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use common::{batch, log, note, store};
use crisol_table::{
    CommitNote, CommitOutcome, DELETED, RowChanges, Standing, Table, TableSpec, TableWriter, WriteMode,
};
use proptest::prelude::*;

/// Key, sequence, value.
type Row = (&'static str, Option<i64>, &'static str);
type Own = (String, Option<i64>, String);

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Utf8, true),
        Field::new("at", DataType::Int64, true),
        Field::new("value", DataType::Utf8, true),
    ]))
}

fn spec(folder: &Path, write: WriteMode) -> TableSpec {
    TableSpec {
        name: "silver.t".into(),
        path: folder.display().to_string(),
        schema: schema(),
        partition_by: Vec::new(),
        write,
        properties: BTreeMap::new(),
    }
}

fn named(newest_by: &[&str], apart_from: &[&str], told: bool) -> WriteMode {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    WriteMode::ReplaceNamed {
        named_by: owned(&["key"]),
        newest_by: owned(newest_by),
        apart_from: owned(apart_from),
        told,
    }
}

fn upsert() -> WriteMode {
    WriteMode::Upsert { keys: vec!["key".into()], sequence_by: vec!["at".into()], position: Vec::new() }
}

async fn open(folder: &Path, write: WriteMode) -> Table {
    Table::open_or_create(&spec(folder, write), &store(folder)).await.unwrap()
}

fn batch_of(rows: &[(Own, bool)], table: &SchemaRef) -> RecordBatch {
    let key: ArrayRef = Arc::new(rows.iter().map(|((key, ..), _)| Some(key)).collect::<StringArray>());
    let at: ArrayRef = Arc::new(rows.iter().map(|((_, at, _), _)| *at).collect::<Int64Array>());
    let value: ArrayRef = Arc::new(rows.iter().map(|((.., value), _)| Some(value)).collect::<StringArray>());
    let mut columns = vec![key, at, value];
    if table.index_of(DELETED).is_ok() {
        columns.push(Arc::new(rows.iter().map(|(_, deleted)| Some(*deleted)).collect::<BooleanArray>()));
    }
    RecordBatch::try_new(table.clone(), columns).unwrap()
}

fn own((key, at, value): &Row) -> Own {
    ((*key).to_owned(), *at, (*value).to_owned())
}

fn stage(table: &Table, rows: &[(Own, bool)]) -> Vec<crisol_table::PendingFile> {
    let mut writer = table.writer().unwrap();
    for part in rows.chunks(3) {
        writer.write(&batch_of(part, &table.incoming())).unwrap();
    }
    writer.finish().unwrap()
}

async fn commit(table: &Table, app: &str, number: i64, rows: &[(Row, bool)]) -> CommitOutcome {
    let rows: Vec<_> = rows.iter().map(|(row, deleted)| (own(row), *deleted)).collect();
    table.commit(&stage(table, &rows), &batch(app, number), &note("s", 0)).await.unwrap()
}

async fn held(table: &Table) -> Vec<Own> {
    let mut all = Vec::new();
    for file in table.held().await.unwrap() {
        for rows in file.rows().unwrap() {
            let rows = rows.unwrap();
            let text = |name: &str| rows.column_by_name(name).unwrap().as_string::<i32>().clone();
            let (key, value) = (text("key"), text("value"));
            let at = rows.column_by_name("at").unwrap().as_primitive::<Int64Type>().clone();
            all.extend(
                (0..rows.num_rows())
                    .map(|row| (key.value(row).to_owned(), Some(at.value(row)), value.value(row).to_owned())),
            );
        }
    }
    all.sort();
    all
}

fn actions(folder: &Path, kind: &str) -> usize {
    log(folder).pop().unwrap().iter().filter(|action| action.get(kind).is_some()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn d084_an_appended_table_loses_what_is_named_gets_what_comes_and_tells_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let appended = open(folder.path(), WriteMode::Append).await;
    let row = |key, at, value| ((key, Some(at), value), false);
    let _first = commit(&appended, "stream", 0, &[row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x")]).await;
    let renewing = open(folder.path(), named(&[], &[], true)).await;
    let name = |key| ((key, None, ""), true);

    let outcome = commit(&renewing, "rebuild", 0, &[row("a", 1, "y"), name("b"), name("a"), row("b", 1, "x")]).await;

    let changes = RowChanges { inserted: 1, deleted: 1, ..RowChanges::default() };
    assert_eq!(outcome, CommitOutcome::Merged { version: 3, changes }, "`b` is as it was");
    let expected = [("a", Some(1), "y"), ("b", Some(1), "x"), ("c", Some(1), "x")];
    assert_eq!(held(&renewing).await, expected.each_ref().map(own));
    assert_eq!((actions(folder.path(), "remove"), actions(folder.path(), "cdc")), (1, 1));
    let again = commit(&renewing, "rebuild", 1, &[row("a", 1, "y"), name("b"), name("a"), row("b", 1, "x")]).await;
    assert_eq!(again, CommitOutcome::Merged { version: 4, changes: RowChanges::default() });
    assert_eq!((actions(folder.path(), "remove"), actions(folder.path(), "add")), (0, 0), "twice is once");
    // The stream that fills the table goes on beside it.
    let on = commit(&appended, "stream", 1, &[row("d", 1, "x")]).await;
    assert_eq!(on, CommitOutcome::Committed { version: 5 });
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_quarantine_that_differ_in_their_batch_alone_stay_and_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let filling = open(folder.path(), WriteMode::Append).await;
    let row = |key, at, value| ((key, Some(at), value), false);
    let name = |key| ((key, None, ""), true);
    let _first = commit(&filling, "stream", 0, &[row("a", 1, "x"), row("b", 1, "x")]).await;
    let renewing = open(folder.path(), named(&[], &["at"], false)).await;

    let outcome = commit(&renewing, "rebuild", 0, &[name("a"), name("b"), row("a", 2, "x")]).await;

    let changes = RowChanges { deleted: 1, ..RowChanges::default() };
    assert_eq!(outcome, CommitOutcome::Merged { version: 2, changes });
    assert_eq!(held(&renewing).await, [own(&("a", Some(1), "x"))], "of the batch that refused it first");
    assert!(log(folder.path()).iter().flatten().all(|action| action["protocol"]["minWriterVersion"] != 4));
    assert_eq!(actions(folder.path(), "cdc"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_row_that_there_is_above_stands_even_if_the_table_had_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let put = |key, at, value| ((key, Some(at), value), false);
    let name = |key| ((key, None, ""), true);
    let table = open(folder.path(), upsert()).await;
    let _wrong = commit(&table, "stream", 0, &[put("a", 99, "wrong"), put("b", 1, "b"), put("c", 1, "c")]).await;
    let renewing = open(folder.path(), named(&["at"], &[], true)).await.with_deleted_keys_of("stream");

    let rows = [put("a", 1, "old"), put("a", 7, "right"), name("a"), name("b"), name("x")];
    let outcome = commit(&renewing, "rebuild", 0, &rows).await;

    let changes = RowChanges { inserted: 1, deleted: 2, ..RowChanges::default() };
    assert_eq!(outcome, CommitOutcome::Merged { version: 2, changes });
    assert_eq!(held(&renewing).await, [("a", Some(7), "right"), ("c", Some(1), "c")].each_ref().map(own));
    let staged = std::fs::read_dir(folder.path().join("_staged")).unwrap().count();
    assert_eq!(staged, 0, "staged files are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn e063_what_a_rebuild_deletes_is_remembered_and_what_it_brings_back_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let put = |key, at, value| ((key, Some(at), value), false);
    let delete = |key, at| ((key, Some(at), ""), true);
    let name = |key| ((key, None, ""), true);
    let table = open(folder.path(), upsert()).await;
    let _first = commit(&table, "stream", 0, &[put("a", 5, "a"), delete("b", 5), delete("c", 5)]).await;
    let renewing = open(folder.path(), named(&["at"], &[], true)).await.with_deleted_keys_of("stream");
    let _rebuilt = commit(&renewing, "rebuild", 0, &[name("a"), name("b"), delete("a", 6), put("b", 5, "b")]).await;
    assert_eq!(held(&renewing).await, [own(&("b", Some(5), "b"))]);

    let late = [put("a", 5, "late"), put("c", 4, "late"), put("b", 5, "b2")];
    let _late = commit(&table, "stream", 1, &late).await;

    assert_eq!(held(&renewing).await, [own(&("b", Some(5), "b2"))], "`a` and `c` stay deleted, `b` is as any other");
    let _newer = commit(&table, "stream", 2, &[put("a", 7, "a")]).await;
    assert_eq!(held(&renewing).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn r030_a_commit_that_waits_for_a_stream_to_stand_still_lands_only_then() {
    let folder = tempfile::tempdir().unwrap();
    let put = |key, at, value| ((key, Some(at), value), false);
    let name = |key| ((key, None, ""), true);
    let table = open(folder.path(), upsert()).await;
    let _first = commit(&table, "stream", 0, &[put("a", 1, "a")]).await;
    let renewing = open(folder.path(), named(&["at"], &[], true)).await;
    let rows: Vec<_> = [name("a"), put("a", 1, "anew")].iter().map(|(row, deleted)| (own(row), *deleted)).collect();
    let standing = Standing { app_id: "stream".into(), version: Some(0) };
    let land = async |number: i64, standing: &Standing| {
        let (files, transaction) = (stage(&renewing, &rows), batch("rebuild", number));
        renewing.commit_while(standing, &files, &transaction, &note("s", 0)).await.unwrap()
    };
    let _moved = commit(&table, "stream", 1, &[put("b", 1, "b")]).await;
    let versions = log(folder.path()).len();

    assert_eq!(land(0, &standing).await, None);

    assert_eq!(log(folder.path()).len(), versions, "nothing was written");
    assert_eq!(std::fs::read_dir(folder.path().join("_staged")).unwrap().count(), 0);
    let now = Standing { version: Some(1), ..standing.clone() };
    assert!(matches!(land(1, &now).await, Some(CommitOutcome::Merged { .. })));
    let landed = land(1, &standing).await;
    assert!(matches!(landed, Some(CommitOutcome::AlreadyCommitted { .. })), "what landed is told as such: {landed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_is_named_in_its_commit_and_moves_an_application_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let renewing = open(folder.path(), named(&[], &[], true)).await;
    let rows = [(own(&("a", None, "")), true), (own(&("a", Some(1), "x")), false)];
    let note = CommitNote { rebuild: Some("day = '1'".into()), ..note("s", 0) };
    let _done = renewing.commit(&stage(&renewing, &rows), &batch("q", 3), &note).await.unwrap();
    let entry = log(folder.path()).pop().unwrap();
    assert_eq!(entry[0]["commitInfo"]["operation"], "REBUILD");
    assert_eq!(entry[0]["commitInfo"]["crisol"]["rebuild"], "day = '1'");
    assert_eq!(renewing.transaction(&Standing::rebuilds_of("q")).await.unwrap(), Some(3));
}

fn key(n: u8) -> String {
    format!("k{n}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Against a plain model: what is named goes, the newest that comes stands.
    #[test]
    fn e062_keys_are_what_the_newest_rows_come_to(
        before in prop::collection::vec((0_u8..6, 0_i64..9), 0..12),
        names in prop::collection::btree_set(0_u8..6, 0..5),
        come in prop::collection::vec((0_u8..6, 0_i64..9, any::<bool>()), 0..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let table = open(folder.path(), upsert()).await;
            let old: Vec<(Own, bool)> =
                before.iter().map(|(n, at)| ((key(*n), Some(*at), format!("old {at}")), false)).collect();
            let _old = table.commit(&stage(&table, &old), &batch("q", 0), &note("s", 0)).await.unwrap();
            let mut expected: BTreeMap<String, Own> =
                held(&table).await.into_iter().map(|row| (row.0.clone(), row)).collect();
            let come: Vec<_> = come.into_iter().filter(|(n, ..)| names.contains(n)).collect();
            let new = |(n, at, deleted): &(u8, i64, bool)| ((key(*n), Some(*at), format!("new {at}")), *deleted);
            let mut rows: Vec<(Own, bool)> = come.iter().map(new).collect();
            rows.extend(names.iter().map(|n| ((key(*n), None, String::new()), true)));
            let renewing = open(folder.path(), named(&["at"], &[], true)).await;
            let _new = renewing.commit(&stage(&renewing, &rows), &batch("r", 0), &note("s", 0)).await.unwrap();

            for n in &names {
                expected.remove(&key(*n));
                let newest = come.iter().filter(|(of, ..)| of == n).max_by_key(|(_, at, deleted)| (*at, !deleted));
                if let Some(newest) = newest.filter(|(.., deleted)| !deleted) {
                    expected.insert(key(*n), new(newest).0);
                }
            }
            let expected: BTreeSet<Own> = expected.into_values().collect();
            assert_eq!(held(&renewing).await.into_iter().collect::<BTreeSet<_>>(), expected);
        });
    }
}
