//! What a table does beside its commits, and what stands in its files and commits for others to rely on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use common::{batch, files, log, note, spec, store, table};
use crisol_table::{CommitOutcome, Table, TableWriter};
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};

async fn commit(table: &Table, number: i64) {
    let outcome = table.commit(&files(table, &[number]), &batch("q", number), &note("s", 0)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed { .. }));
    table.settled().await;
}

fn log_checkpoints(folder: &Path) -> Vec<i64> {
    let names = std::fs::read_dir(folder.join("_delta_log")).unwrap().map(|e| e.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut versions: Vec<i64> =
        names.filter(|name| name.contains(".checkpoint.")).map(|name| name[..20].parse().unwrap()).collect();
    versions.sort_unstable();
    versions
}

#[tokio::test(flavor = "multi_thread")]
async fn d104_every_tenth_version_has_its_log_checkpoint_once_the_table_has_settled() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    for number in 0..31 {
        commit(&table, number).await;
    }
    assert_eq!(log_checkpoints(folder.path()), [10, 20, 30]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d104_the_tables_own_interval_of_log_checkpoints_counts() {
    let folder = tempfile::tempdir().unwrap();
    drop(table(&spec(folder.path())).await);
    let first = folder.path().join(format!("_delta_log/{:020}.json", 0));
    let text = std::fs::read_to_string(&first).unwrap();
    let wanted = r#""delta.checkpointInterval":"10""#;
    assert!(text.contains(wanted), "{text}");
    std::fs::write(&first, text.replace(wanted, r#""delta.checkpointInterval":"3""#)).unwrap();
    let table = table(&spec(folder.path())).await;
    for number in 0..7 {
        commit(&table, number).await;
    }
    assert_eq!(log_checkpoints(folder.path()), [3, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_gives_the_table_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let created = table(&spec(folder.path())).await;
    let opened = Table::open(&spec(folder.path()), &store(folder.path())).await.unwrap().unwrap();
    assert_eq!(opened.id().await, created.id().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn d013_times_in_a_commit_are_those_of_its_making() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    let now = || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let before = now();
    commit(&table, 0).await;
    let after = now();
    let entry = &log(folder.path())[1];
    for (action, time) in [("commitInfo", "timestamp"), ("txn", "lastUpdated"), ("add", "modificationTime")] {
        let action = entry.iter().find_map(|line| line.get(action)).unwrap();
        let time = action[time].as_i64().unwrap();
        assert!((before..=after).contains(&time), "{time} is not between {before} and {after}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_files_are_compressed_and_name_their_writer_as_parquet_java_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    let pending = files(&table, &[1, 2, 3]);
    assert_eq!(pending.len(), 1, "a few rows are one file");
    let file = std::fs::File::open(folder.path().join(&pending[0].path)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata();
    assert!(metadata.file_metadata().created_by().unwrap().starts_with("crisol version "));
    let group = metadata.row_group(0);
    assert!(group.columns().iter().all(|column| matches!(column.compression(), Compression::ZSTD(_))));
    assert!(group.column(0).statistics().is_some());
}
