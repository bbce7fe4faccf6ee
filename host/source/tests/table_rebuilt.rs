//! Rebuilds of the table above: told to every stream below it, each in a batch of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use common::table::{Table, at, inside};
use common::walk;
use crisol_checkpoint::Range;
use crisol_source::{Chunks, Source};
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;

const INFO: &str = r#"{"commitInfo":{"operation":"REBUILD","crisol":{"stream":"s","rebuild":"n = 1"}}}"#;

/// A `cdc` action with these numbers and what became of them.
fn changes(table: &Table, rows: &[(i64, &str)]) -> String {
    let folder = table.path().join("_change_data");
    fs::create_dir_all(&folder).unwrap();
    let numbers: ArrayRef = Arc::new(rows.iter().map(|(n, _)| Some(*n)).collect::<Int64Array>());
    let kinds: ArrayRef = Arc::new(rows.iter().map(|(_, kind)| Some(*kind)).collect::<StringArray>());
    let batch = RecordBatch::try_from_iter([("n", numbers), ("_change_type", kinds)]).unwrap();
    let file = fs::File::create(folder.join("c")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    r#"{"cdc":{"path":"_change_data/c","size":9,"dataChange":false,"partitionValues":{"day":"1"}}}"#.to_owned()
}

/// Versions 1 and 2 add numbers, 3 makes 1 into 10, and 4 adds again.
fn table() -> Table {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2)]);
    table.commit(2, &[table.file("b", "1", 2..4)]);
    let removed = r#"{"remove":{"path":"day=1/a","dataChange":true,"deletionTimestamp":1}}"#.to_owned();
    let anew = table.file("c", "1", 10..11).replace("\"modificationTime\":1", "\"modificationTime\":2");
    let told = changes(&table, &[(1, "delete"), (10, "insert")]);
    table.commit(3, &[INFO.to_owned(), removed, anew, told]);
    table.commit(4, &[table.file("d", "1", 4..6)]);
    table
}

async fn numbers(chunks: Chunks) -> Vec<(i64, bool)> {
    let chunks: Vec<RecordBatch> = chunks.try_collect().await.unwrap();
    let of = |rows: &RecordBatch| {
        let gone = rows.column_by_name("_deleted").map(|column| column.as_boolean().clone());
        let numbers = rows["n"].as_primitive::<Int64Type>().clone();
        (0..rows.num_rows())
            .map(move |row| (numbers.value(row), gone.as_ref().is_some_and(|gone| gone.value(row))))
            .collect::<Vec<_>>()
    };
    chunks.iter().flat_map(of).collect()
}

#[tokio::test]
async fn d123_a_rebuild_is_a_batch_of_its_own_that_says_what_went_and_what_came() {
    let table = table();
    let mut source = table.source(9);
    let mut start = source.initial().await.unwrap();
    let mut ends = Vec::new();
    while let Some(planned) = source.plan(&start).await.unwrap() {
        let range = Range { start, end: planned.end.clone() };
        let rebuilt = source.read_rebuilt(&range).await.unwrap();
        match rebuilt {
            Some(rows) => {
                assert_eq!(planned.end, at(4, 0));
                assert_eq!(numbers(rows).await, [(1, true), (10, false)]);
                assert!(source.read(&range).await.is_err(), "it is not read as if rows only came");
            }
            None => assert!(source.read(&range).await.is_ok()),
        }
        ends.push(planned.end.clone());
        start = planned.end;
    }
    assert_eq!(ends, [at(3, 0), at(4, 0), at(5, 0)]);
}

#[tokio::test]
async fn d123_a_rebuild_of_a_table_of_someone_else_is_not_followed() {
    let table = table();
    let mut source = table.source_of(9, true);
    let error = source.plan(&at(3, 0)).await.unwrap_err();
    assert!(error.to_string().contains("version 3 removes rows"), "{error}");
}

#[tokio::test]
async fn the_rows_before_a_position_are_those_of_its_versions_and_of_the_files_up_to_there() {
    let table = table();
    let mut source = table.source(9);
    let mut before = async |position| {
        let mut all: Vec<i64> =
            numbers(source.read_before(&position).await.unwrap()).await.into_iter().map(|r| r.0).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(before(at(0, 0)).await, [0_i64; 0]);
    assert_eq!(before(at(1, 1)).await, [0, 1]);
    assert_eq!(before(at(2, 0)).await, [0, 1]);
    assert_eq!(before(at(2, 1)).await, [0, 1, 2, 3]);
    assert_eq!(before(at(4, 0)).await, [2, 3, 10]);
    assert_eq!(before(at(4, 1)).await, [2, 3, 4, 5, 10]);
    assert_eq!(before(inside(2, 1)).await, [0, 1]);
}

#[tokio::test]
async fn a_version_that_only_adds_is_read_as_ever_whoever_made_it() {
    let table = Table::create();
    table.commit(1, &[INFO.to_owned(), table.file("a", "1", 0..2)]);
    let mut source = table.source(9);
    let start = source.initial().await.unwrap();
    let (batches, end) = walk(&mut source, start.clone()).await;
    assert_eq!((batches.len(), end.clone()), (1, at(2, 0)));
    assert!(source.read_rebuilt(&Range { start, end }).await.unwrap().is_none());
}
