//! Rows leave a quarantine: exactly those that were named, once, whoever writes beside.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{batch, files, log, note, rows, spec, table, visible_ids};
use crisol_table::{CommitOutcome, RowChanges, Table, TableSpec, TableWriter, WriteMode};

fn emptying(folder: &std::path::Path) -> TableSpec {
    TableSpec { write: WriteMode::TakeOut, ..spec(folder) }
}

async fn add(table: &Table, number: i64, ids: &[i64]) {
    let outcome = table.commit(&files(table, ids), &batch("stream", number), &note("s", 0)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_row_named_takes_out_one_that_equals_it_and_files_without_one_stay() {
    let folder = tempfile::tempdir().unwrap();
    let filling = table(&spec(folder.path())).await;
    add(&filling, 0, &[1, 2, 2, 3]).await;
    add(&filling, 1, &[4, 5]).await;
    let quarantine = table(&emptying(folder.path())).await;
    assert_eq!(quarantine.incoming(), rows(&[]).schema());
    let leaving = files(&quarantine, &[2, 3, 9]);

    let outcome = quarantine.commit(&leaving, &batch("replay", 0), &note("s", 0)).await.unwrap();

    let changes = RowChanges { deleted: 2, ..RowChanges::default() };
    assert_eq!(outcome, CommitOutcome::Merged { version: 3, changes });
    assert_eq!(visible_ids(folder.path()).await, [1, 2, 4, 5], "of two equal rows one stays");
    let log = log(folder.path());
    let removed = log[3].iter().filter(|action| action.get("remove").is_some()).count();
    assert_eq!(removed, 1, "the second file is not rewritten");
    assert!(log[3].iter().all(|action| action.get("cdc").is_none() && action.get("metaData").is_none()));
    assert!(log.iter().flatten().all(|action| action["protocol"]["minWriterVersion"] != 4), "it tells no changes");
}

#[tokio::test(flavor = "multi_thread")]
async fn d001_a_batch_takes_out_its_rows_once() {
    let folder = tempfile::tempdir().unwrap();
    let filling = table(&spec(folder.path())).await;
    add(&filling, 0, &[1, 1, 2]).await;
    let quarantine = table(&emptying(folder.path())).await;
    let leaving = files(&quarantine, &[1]);
    let first = quarantine.commit(&leaving, &batch("replay", 0), &note("s", 0)).await.unwrap();
    assert!(matches!(first, CommitOutcome::Merged { version: 2, .. }), "{first:?}");

    let again = quarantine.commit(&leaving, &batch("replay", 0), &note("s", 0)).await.unwrap();

    assert_eq!(again, CommitOutcome::AlreadyCommitted { version: 2 });
    assert_eq!(visible_ids(folder.path()).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r030_rows_that_came_meanwhile_and_files_that_were_rewritten_are_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let filling = table(&spec(folder.path())).await;
    add(&filling, 0, &[1, 2, 3]).await;
    let quarantine = table(&emptying(folder.path())).await;
    let other = table(&emptying(folder.path())).await;
    let leaving = files(&quarantine, &[1]);
    let theirs = files(&other, &[2]);
    // Both have opened the same version; the other one rewrites the file first, and a stream adds to the table.
    let theirs = other.commit(&theirs, &batch("other", 0), &note("s", 0)).await.unwrap();
    assert!(matches!(theirs, CommitOutcome::Merged { version: 2, .. }), "{theirs:?}");
    add(&filling, 1, &[4]).await;

    let outcome = quarantine.commit(&leaving, &batch("replay", 0), &note("s", 0)).await.unwrap();

    assert!(matches!(outcome, CommitOutcome::Merged { version: 4, .. }), "{outcome:?}");
    assert_eq!(visible_ids(folder.path()).await, [3, 4]);
    // The stream goes on.
    add(&filling, 2, &[5]).await;
    assert_eq!(visible_ids(folder.path()).await, [3, 4, 5]);
}
