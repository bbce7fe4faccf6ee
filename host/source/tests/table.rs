//! A Delta table as a source: what is followed and what is refused. Logs are written by hand, as any engine might.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use common::table::{Table, at};
use common::{read, walk};
use crisol_checkpoint::{Position, Range, TablePosition};
use crisol_source::{Source, SourceError, TableSource, TableSourceSpec, table_schema};

#[tokio::test]
async fn d129_batches_are_cut_between_files_whatever_the_size_of_the_commits() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2), table.file("b", "2", 2..3), table.file("c", "1", 3..5)]);
    table.commit(2, &[table.file("d", "3", 5..6)]);
    let mut source = table.source(2);
    assert_eq!(source.initial().await.unwrap(), at(0, 0));
    let (batches, end) = walk(&mut source, at(0, 0)).await;
    let ends: Vec<Position> = batches.iter().map(|(range, _)| range.end.clone()).collect();
    assert_eq!(ends, [at(1, 2), at(3, 0)]);
    assert_eq!(end, at(3, 0));
    let rows: Vec<String> = batches.iter().flat_map(|(_, rows)| rows).map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["1 0", "1 1", "2 2", "1 3", "1 4", "3 5"]);
}

#[tokio::test]
async fn d125_versions_without_new_rows_are_passed_over() {
    let table = Table::create();
    let compacted = table.file("z", "1", 0..2).replace("\"dataChange\":true", "\"dataChange\":false");
    let mut source = table.source(9);
    assert!(source.plan(&at(0, 0)).await.unwrap().is_none());
    table.commit(1, &[compacted, r#"{"remove":{"path":"x","dataChange":false,"deletionTimestamp":1}}"#.into()]);
    table.commit(2, &[r#"{"txn":{"appId":"a","version":1}}"#.into()]);
    assert!(source.plan(&at(0, 0)).await.unwrap().is_none());
    table.commit(3, &[table.file("a", "1", 0..2)]);
    let (batches, end) = walk(&mut source, at(0, 0)).await;
    assert_eq!((batches.len(), batches[0].1.len(), end), (1, 2, at(4, 0)));
}

#[tokio::test]
async fn d123_a_version_that_removes_rows_is_refused_and_what_lies_before_it_is_not_lost() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2)]);
    table.commit(2, &[r#"{"remove":{"path":"day=1/a","dataChange":true,"deletionTimestamp":1}}"#.into()]);
    let mut source = table.source(9);
    let end = source.plan(&at(0, 0)).await.unwrap().unwrap().end;
    assert_eq!(end, at(2, 0));
    assert_eq!(read(&mut source, &Range { start: at(0, 0), end: end.clone() }).await.unwrap().len(), 2);
    let error = source.plan(&end).await.unwrap_err();
    assert!(matches!(error, SourceError::Config { .. }));
    assert!(error.to_string().contains("table `bronze.t`: version 2 removes rows (file `day=1/a`)"), "{error}");
}

#[tokio::test]
async fn d127_log_entries_that_were_cleaned_up_before_they_were_read_are_data_loss() {
    let table = Table::create();
    for version in 1..=3 {
        table.commit(version, &[table.file(&format!("f{version}"), "1", version..version + 1)]);
    }
    let mut source = table.source(9);
    let (_, end) = walk(&mut source, at(0, 0)).await;
    assert_eq!(end, at(4, 0));
    fs::remove_file(table.log_entry(2)).unwrap();
    assert_eq!(source.plan(&at(1, 0)).await.unwrap().unwrap().end, at(2, 0), "what lies before is read first");
    let error = source.plan(&at(2, 0)).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }));
    assert!(error.to_string().contains("version 2 is no longer in the log, which goes on to version 3"), "{error}");
}

#[tokio::test]
async fn d128_a_read_that_does_not_reach_the_planned_version_is_an_error() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2)]);
    let range = Range { start: at(0, 0), end: at(3, 0) };
    let error = read(&mut table.source(9), &range).await.unwrap_err();
    assert!(matches!(error, SourceError::External { .. }));
    assert!(error.to_string().contains("version 2 of the planned range (up to version 2) cannot be found"), "{error}");
}

#[tokio::test]
async fn d129_another_table_at_the_same_path_is_refused() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2)]);
    let other = Position::Table(TablePosition {
        reservoir_id: "other".into(),
        reservoir_version: 1,
        index: 0,
        snapshot: false,
    });
    let error = table.source(9).plan(&other).await.unwrap_err();
    assert!(error.to_string().contains("is another table"), "{error}");
    let range = Range { start: other, end: at(2, 0) };
    assert!(read(&mut table.source(9), &range).await.is_err());
}

#[tokio::test]
async fn a_table_that_was_emptied_or_made_again_behind_a_position_was_begun_anew() {
    let table = Table::create();
    let remove =
        |name: &str| format!(r#"{{"remove":{{"path":"day=1/{name}","dataChange":true,"deletionTimestamp":1}}}}"#);
    table.commit(1, &[table.file("a", "1", 0..2), table.file("b", "1", 2..3)]);
    let since = async |position| table.source(9).began_anew_since(&position).await.unwrap();
    assert!(!since(at(0, 0)).await && !since(at(2, 0)).await, "nothing was taken out");
    table.commit(2, &[remove("a")]);
    assert!(!since(at(1, 1)).await, "some rows are left");
    table.commit(3, &[remove("b")]);
    table.commit(4, &[table.file("c", "1", 3..4)]);
    for (position, anew) in [(at(0, 0), true), (at(1, 1), true), (at(3, 0), true), (at(4, 0), false), (at(5, 0), false)]
    {
        assert_eq!(since(position.clone()).await, anew, "{position:?}");
    }
    assert_eq!(table.source(9).initial().await.unwrap(), at(4, 0), "read again from here");
    let other = Position::Table(TablePosition {
        reservoir_id: "other".into(),
        reservoir_version: 9,
        index: 0,
        snapshot: false,
    });
    assert!(since(other).await);
    assert!(!Table::absent().source(9).began_anew_since(&at(0, 0)).await.unwrap());
}

#[tokio::test]
async fn a_table_that_is_not_there_yet_gives_nothing_and_an_external_one_is_an_error() {
    let table = Table::absent();
    assert!(table.source(9).plan(&at(0, 0)).await.unwrap().is_none());
    assert_eq!(table_schema("t", table.path().to_str().unwrap()).await.unwrap(), None);
    let error = table.source_of(9, true).plan(&at(0, 0)).await.unwrap_err();
    assert!(error.to_string().contains("there is no Delta table at"), "{error}");
    let mut idle = table.source(9);
    idle.prepare_for_available_now(&at(0, 0)).await.unwrap();
    assert!(idle.plan(&at(0, 0)).await.unwrap().is_none());
}

#[tokio::test]
async fn columns_that_the_table_does_not_have_are_named() {
    let table = Table::create();
    let spec = TableSourceSpec {
        name: "bronze.t".into(),
        path: table.path().to_str().unwrap().to_owned(),
        columns: Arc::new(Schema::new(vec![Field::new("amuont", DataType::Int64, true)])),
        external: false,
        changes: false,
        cut: crisol_source::Cut::Files,
        held: None,
        anew: String::new(),
        max_files: 9,
        max_bytes: 1,
    };
    let error = TableSource::new(spec).plan(&at(0, 0)).await.unwrap_err();
    assert_eq!(error.to_string(), "table `bronze.t` has no column amuont");
    assert_eq!(error.hint(), Some("its columns are n, day"));
    let schema = table_schema("t", table.path().to_str().unwrap()).await.unwrap().unwrap();
    assert_eq!(schema.fields().len(), 2);
}

#[tokio::test]
async fn a_file_that_is_gone_or_damaged_is_named_and_never_taken_for_the_end() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2), table.file("b", "1", 2..4)]);
    let range = Range { start: at(1, 0), end: at(2, 0) };
    let path = table.path().join("day=1").join("b");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[4..middle].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let error = read(&mut table.source(9), &range).await.unwrap_err();
    assert!(matches!(error, SourceError::Data { .. }), "{error:?}");
    assert!(error.to_string().contains("bronze.t"), "{error}");
    fs::remove_file(&path).unwrap();
    let error = read(&mut table.source(9), &range).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }));
    assert!(error.to_string().contains("b` is gone"), "{error}");
}

#[tokio::test]
async fn large_files_come_in_bounded_chunks_and_small_files_are_put_together() {
    let table = Table::create();
    table.commit(1, &[table.file("large", "1", 0..50_000)]);
    let small: Vec<String> = (0..40).map(|f| table.file(&format!("s{f}"), "2", f * 10..f * 10 + 10)).collect();
    table.commit(2, &small);
    let mut source = table.source(100);
    let range = Range { start: at(1, 0), end: at(2, 0) };
    let chunks = common::read_chunks(&mut source, &range).await.unwrap();
    assert_eq!(chunks.iter().map(RecordBatch::num_rows).sum::<usize>(), 50_000);
    let range = Range { start: at(2, 0), end: at(3, 0) };
    let chunks = common::read_chunks(&mut source, &range).await.unwrap();
    assert_eq!(chunks.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [400]);
}
