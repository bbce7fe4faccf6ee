//! A table of someone else: a stream begins with what it holds, then follows its versions (D-120).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;

use common::table::{Table, at, inside};
use common::{read, walk};
use crisol_checkpoint::{Position, Range};
use crisol_source::{Source, SourceError, TableSource};

fn removed(path: &str, data_change: bool) -> String {
    format!(r#"{{"remove":{{"path":"{path}","dataChange":{data_change},"deletionTimestamp":1}}}}"#)
}

fn modified(add: &str, time: i64) -> String {
    add.replace("\"modificationTime\":1", &format!("\"modificationTime\":{time}"))
}

fn without_change(add: &str) -> String {
    add.replace("\"dataChange\":true", "\"dataChange\":false")
}

fn external(table: &Table, max_files: usize) -> TableSource {
    table.source_of(max_files, true)
}

/// Three files in an order of their own; `gone` was deleted, `old` overwritten by `c`.
fn table() -> Table {
    let table = Table::create();
    let (gone, old) = (table.file("gone", "1", 90..99), table.file("old", "1", 80..89));
    table.commit(1, &[modified(&table.file("b", "2", 0..2), 7), gone, old]);
    table.commit(2, &[removed("day=1/gone", true)]);
    table.commit(3, &[removed("day=1/old", true), modified(&table.file("c", "1", 2..3), 5)]);
    table.commit(4, &[modified(&table.file("a", "2", 3..5), 7)]);
    for name in ["gone", "old"] {
        fs::remove_file(table.path().join("day=1").join(name)).unwrap();
    }
    table
}

fn rows(batches: &[(Range, Vec<Vec<String>>)]) -> Vec<String> {
    batches.iter().flat_map(|(_, rows)| rows).map(|row| row.join(" ")).collect()
}

const SNAPSHOT: [&str; 5] = ["1 2", "2 3", "2 4", "2 0", "2 1"];

#[tokio::test]
async fn d120_what_the_table_holds_comes_first_by_time_and_path_then_each_later_version() {
    let table = table();
    let mut source = external(&table, 9);
    assert_eq!(source.initial().await.unwrap(), inside(4, 0));
    let (batches, end) = walk(&mut source, inside(4, 0)).await;
    assert_eq!((rows(&batches), &end), (SNAPSHOT.map(str::to_owned).to_vec(), &at(5, 0)));
    table.commit(5, &[table.file("d", "3", 5..6)]);
    let (batches, end) = walk(&mut source, end).await;
    assert_eq!((rows(&batches), end), (vec!["3 5".to_owned()], at(6, 0)));
}

#[tokio::test]
async fn d120_d122_a_snapshot_is_cut_by_the_limits_and_read_the_same_from_any_position() {
    let table = table();
    let start = external(&table, 1).initial().await.unwrap();
    // The table goes on meanwhile: it adds a file, and puts files of the snapshot together.
    table.commit(5, &[table.file("d", "3", 5..6)]);
    let both = without_change(&table.file("ab", "2", 0..9));
    table.commit(6, &[removed("day=2/a", false), removed("day=2/b", false), both]);
    for available_now in [false, true] {
        let mut position = start.clone();
        let mut ends = Vec::new();
        let mut found = Vec::new();
        loop {
            // As after a new start at each position.
            let mut source = external(&table, 1);
            if available_now {
                source.prepare_for_available_now(&position).await.unwrap();
            }
            let Some(planned) = source.plan(&position).await.unwrap() else { break };
            let range = Range::new(position, planned.end.clone()).unwrap();
            let first = read(&mut source, &range).await.unwrap();
            assert_eq!(read(&mut external(&table, 9), &range).await.unwrap(), first, "the same range, the same rows");
            found.extend(first.iter().map(|row| row.join(" ")));
            ends.push(planned.end.clone());
            position = planned.end;
        }
        assert_eq!(ends, [inside(4, 1), inside(4, 2), at(5, 0), at(7, 0)]);
        assert_eq!(found, [&SNAPSHOT[..], &["3 5"]].concat());
    }
}

#[tokio::test]
async fn d120_one_batch_may_hold_the_end_of_the_snapshot_and_what_follows() {
    let table = table();
    let start = external(&table, 9).initial().await.unwrap();
    table.commit(5, &[table.file("d", "3", 5..6)]);
    let mut source = external(&table, 3);
    let (batches, _) = walk(&mut source, start.clone()).await;
    assert_eq!(batches.iter().map(|(range, _)| range.end.clone()).collect::<Vec<_>>(), [at(5, 0), at(6, 0)]);
    let whole = Range::new(start, at(6, 0)).unwrap();
    assert_eq!(read(&mut source, &whole).await.unwrap().len(), 6);
    let part = Range::new(inside(4, 2), at(6, 0)).unwrap();
    assert_eq!(read(&mut source, &part).await.unwrap().len(), 3);
}

#[tokio::test]
async fn d123_rows_removed_later_stop_the_stream_and_the_hint_leads_on() {
    let table = table();
    let mut source = external(&table, 9);
    let start = source.initial().await.unwrap();
    table.commit(5, &[removed("day=2/a", true)]);
    let end = source.plan(&start).await.unwrap().unwrap().end;
    assert_eq!(end, at(5, 0), "what lies before is read first");
    assert_eq!(read(&mut source, &Range { start, end: end.clone() }).await.unwrap().len(), 5);
    let error = source.plan(&end).await.unwrap_err();
    assert!(error.to_string().contains("version 5 removes rows (file `day=2/a`)"), "{error}");
    assert_eq!(error.hint(), Some("to go on from what the table holds now, begin anew"));
    let anew = external(&table, 9).initial().await.unwrap();
    assert_eq!(anew, inside(5, 0));
    assert_eq!(rows(&walk(&mut source, anew).await.0), ["1 2", "2 0", "2 1"], "which is what the hint says");
}

#[tokio::test]
async fn a_file_of_the_snapshot_that_was_vacuumed_is_data_loss_with_a_way_out() {
    let table = table();
    let start = external(&table, 9).initial().await.unwrap();
    fs::remove_file(table.path().join("day=2").join("a")).unwrap();
    let error = read(&mut external(&table, 9), &Range { start, end: at(5, 0) }).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }));
    assert!(error.to_string().contains("day=2/a` is gone"), "{error}");
    assert_eq!(error.hint(), Some("it was vacuumed before it was read: begin anew"));
}

#[tokio::test]
async fn d104_d127_a_log_that_was_cleaned_up_still_gives_the_snapshot_or_says_that_it_is_gone() {
    let table = table();
    let url = url::Url::from_directory_path(table.path()).unwrap();
    let checkpoint = async || {
        let loaded = deltalake::open_table(url.clone()).await.unwrap();
        deltalake::checkpoints::create_checkpoint(&loaded, None).await.unwrap();
    };
    let start = external(&table, 9).initial().await.unwrap();
    let whole = Range { start, end: at(5, 0) };
    checkpoint().await;
    (0..=3).for_each(|version| fs::remove_file(table.log_entry(version)).unwrap());
    assert_eq!(external(&table, 9).initial().await.unwrap(), inside(4, 0));
    assert_eq!(read(&mut external(&table, 9), &whole).await.unwrap().len(), 5, "the log checkpoint has the files");
    table.commit(5, &[table.file("d", "3", 5..6)]);
    checkpoint().await;
    fs::remove_file(table.log_entry(4)).unwrap();
    fs::remove_file(table.log_entry(4).with_extension("checkpoint.parquet")).unwrap();
    let error = read(&mut external(&table, 9), &whole).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }), "{error:?}");
    assert!(error.to_string().contains("what it held at version 4, where this stream began, is no longer"), "{error}");
    assert!(error.hint().unwrap().ends_with("begin anew"));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_before_a_position_is_kept() {
    let table = Table::create();
    let add = table.file("a", "1", 0..2);
    let vector = r#""deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":1},"dataChange""#;
    table.commit(
        1,
        &[
            r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}"#.into(),
            add.replace("\"dataChange\"", vector),
        ],
    );
    let error = external(&table, 9).initial().await.unwrap_err();
    assert!(error.to_string().contains("uses deletion vectors"), "{error}");
    table.commit(2, &[removed("day=1/a", true).replace("\"dataChange\"", vector), table.file("b", "1", 1..2)]);
    assert_eq!(external(&table, 9).initial().await.unwrap(), inside(2, 0), "it was rewritten without");
}

#[tokio::test]
async fn an_empty_table_begins_behind_its_newest_version() {
    let table = Table::create();
    let mut source = external(&table, 9);
    let start = source.initial().await.unwrap();
    assert_eq!(start, at(1, 0));
    assert!(source.plan(&start).await.unwrap().is_none());
    table.commit(1, &[table.file("a", "1", 0..2)]);
    assert_eq!(rows(&walk(&mut source, start).await.0), ["1 0", "1 1"]);
}

#[tokio::test]
async fn paths_are_found_however_they_are_encoded() {
    let table = Table::create();
    // The folder's name is itself encoded, as engines do; the log encodes it once more.
    let add = table.file("x y%.parquet", "a%20b%3Ac", 0..2);
    let add = add.replace("day=a%20b%3Ac/x y%.parquet", "day=a%2520b%253Ac/x%20y%25.parquet");
    table.commit(1, &[add.replace(r#""day":"a%20b%3Ac""#, r#""day":"a b:c""#)]);
    let start = external(&table, 9).initial().await.unwrap();
    assert_eq!(rows(&walk(&mut external(&table, 9), start).await.0), ["a b:c 0", "a b:c 1"]);
}

#[tokio::test]
async fn a_checkpoint_that_followed_the_table_from_its_first_version_goes_on_so() {
    let table = Table::create();
    table.commit(1, &[table.file("a", "1", 0..2)]);
    let kept = Position::parse(&at(1, 0).to_string()).unwrap();
    assert_eq!(rows(&walk(&mut external(&table, 9), kept).await.0), ["1 0", "1 1"]);
}
