//! What every implementation of `TableWriter` keeps, run on the memory double and on a local Delta table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use async_trait::async_trait;
use common::faulty::{self, Faulty};
use common::{batch, files, note};
use crisol_table::{CommitOutcome, Fault, MemoryTable, Table, TableWriter};
use futures::future::join_all;

/// One table, several hosts.
#[async_trait]
trait Place: Send + Sync {
    /// Another host's view of the same table.
    async fn host(&self) -> Box<dyn TableWriter>;
    /// Ids that readers see, sorted.
    async fn ids(&self) -> Vec<i64>;
    /// The next commit lands or not, and its answer is an error.
    fn fail_next(&self, lands: bool);
}

struct Memory(MemoryTable);

#[async_trait]
impl Place for Memory {
    async fn host(&self) -> Box<dyn TableWriter> {
        Box::new(self.0.clone())
    }

    async fn ids(&self) -> Vec<i64> {
        let rows = self.0.rows();
        let ids = rows.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec());
        let mut ids: Vec<i64> = ids.collect();
        ids.sort_unstable();
        ids
    }

    fn fail_next(&self, lands: bool) {
        self.0.fail_next(if lands { Fault::AnswerLost } else { Fault::Refused });
    }
}

struct Delta {
    folder: tempfile::TempDir,
    store: crisol_store::Store,
    faults: Faulty,
}

impl Delta {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (store, faults) = Faulty::wrap(common::store(folder.path()));
        Self { folder, store, faults }
    }
}

#[async_trait]
impl Place for Delta {
    async fn host(&self) -> Box<dyn TableWriter> {
        let spec = common::partitioned(self.folder.path());
        Box::new(Table::open_or_create(&spec, &self.store).await.unwrap())
    }

    async fn ids(&self) -> Vec<i64> {
        common::visible_ids(self.folder.path()).await
    }

    fn fail_next(&self, lands: bool) {
        self.faults.next(if lands { faulty::Fault::AnswerLost } else { faulty::Fault::Refused });
    }
}

macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        mod memory {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(&Memory(MemoryTable::new(common::schema()))).await;
            })*
        }
        mod delta {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(&Delta::new()).await;
            })*
        }
    };
}

contract!(
    d001_rows_and_transaction_land_in_one_commit,
    d002_a_batch_written_again_is_skipped,
    d002_an_older_batch_is_skipped,
    d003_of_two_writers_of_one_batch_one_lands,
    d004_each_application_has_its_own_transactions,
    d010_an_empty_batch_keeps_its_transaction,
    pending_files_without_a_commit_are_not_seen,
    d069_a_lost_answer_does_not_double_the_batch,
    a_refused_commit_leaves_nothing_and_may_be_tried_again,
    writers_of_different_applications_all_land,
);

fn committed(outcome: CommitOutcome) -> bool {
    matches!(outcome, CommitOutcome::Committed { .. })
}

async fn d001_rows_and_transaction_land_in_one_commit(place: &dyn Place) {
    let table = place.host().await;
    assert_eq!(table.transaction("q").await.unwrap(), None);

    let outcome = table.commit(&files(&*table, &[1, 2, 3]), &batch("q", 0), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    assert_eq!(place.ids().await, [1, 2, 3]);
    assert_eq!(place.host().await.transaction("q").await.unwrap(), Some(0));
}

async fn d002_a_batch_written_again_is_skipped(place: &dyn Place) {
    let first = place.host().await;
    assert!(committed(first.commit(&files(&*first, &[1]), &batch("q", 0), &note("s", 0)).await.unwrap()));

    // A new process with other content for the same batch (D-006).
    let second = place.host().await;
    let outcome = second.commit(&files(&*second, &[7, 8]), &batch("q", 0), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::AlreadyCommitted { version: 1 });
    assert_eq!(place.ids().await, [1]);
}

async fn d002_an_older_batch_is_skipped(place: &dyn Place) {
    let table = place.host().await;
    assert!(committed(table.commit(&files(&*table, &[1]), &batch("q", 5), &note("s", 5)).await.unwrap()));

    let outcome = table.commit(&files(&*table, &[2]), &batch("q", 4), &note("s", 4)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::AlreadyCommitted { version: 1 });
    assert_eq!(table.transaction("q").await.unwrap(), Some(5));
    assert_eq!(place.ids().await, [1]);
}

async fn d003_of_two_writers_of_one_batch_one_lands(place: &dyn Place) {
    for number in 0..10 {
        let (a, b) = (place.host().await, place.host().await);
        let (of_a, of_b) = (files(&*a, &[number]), files(&*b, &[number]));
        let (transaction, note) = (batch("q", number), note("s", 0));

        let (a, b) = tokio::join!(a.commit(&of_a, &transaction, &note), b.commit(&of_b, &transaction, &note));

        assert_ne!(committed(a.unwrap()), committed(b.unwrap()), "batch {number}");
    }
    assert_eq!(place.ids().await, (0..10).collect::<Vec<i64>>());
}

async fn d004_each_application_has_its_own_transactions(place: &dyn Place) {
    let table = place.host().await;
    assert!(committed(table.commit(&files(&*table, &[1]), &batch("q", 3), &note("s", 3)).await.unwrap()));
    assert!(committed(table.commit(&files(&*table, &[2]), &batch("other", 0), &note("t", 0)).await.unwrap()));

    assert_eq!(table.transaction("q").await.unwrap(), Some(3));
    assert_eq!(table.transaction("other").await.unwrap(), Some(0));
    assert_eq!(table.transaction("nobody").await.unwrap(), None);
}

async fn d010_an_empty_batch_keeps_its_transaction(place: &dyn Place) {
    let table = place.host().await;
    assert!(table.writer().unwrap().finish().unwrap().is_empty());

    assert!(committed(table.commit(&[], &batch("q", 0), &note("s", 0)).await.unwrap()));

    assert!(place.ids().await.is_empty());
    assert_eq!(place.host().await.transaction("q").await.unwrap(), Some(0));
    let again = table.commit(&[], &batch("q", 0), &note("s", 0)).await.unwrap();
    assert_eq!(again, CommitOutcome::AlreadyCommitted { version: 1 });
}

async fn pending_files_without_a_commit_are_not_seen(place: &dyn Place) {
    let table = place.host().await;
    let lost = files(&*table, &[1, 2]);
    assert_eq!(lost.iter().map(|f| f.rows).sum::<u64>(), 2);
    drop(table);

    assert!(place.ids().await.is_empty());
    let table = place.host().await;
    assert_eq!(table.transaction("q").await.unwrap(), None);
    assert!(committed(table.commit(&files(&*table, &[1, 2]), &batch("q", 0), &note("s", 0)).await.unwrap()));
    assert_eq!(place.ids().await, [1, 2]);
}

async fn d069_a_lost_answer_does_not_double_the_batch(place: &dyn Place) {
    let table = place.host().await;
    let pending = files(&*table, &[1, 2]);
    place.fail_next(true);

    // It may be known at once, or only on the next try; it may never land twice.
    let first = table.commit(&pending, &batch("q", 0), &note("s", 0)).await;
    let second = table.commit(&pending, &batch("q", 0), &note("s", 0)).await.unwrap();

    if let Ok(outcome) = first {
        assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    }
    assert_eq!(second, CommitOutcome::AlreadyCommitted { version: 1 });
    assert_eq!(place.ids().await, [1, 2]);
}

async fn a_refused_commit_leaves_nothing_and_may_be_tried_again(place: &dyn Place) {
    let table = place.host().await;
    let pending = files(&*table, &[1, 2]);
    place.fail_next(false);

    table.commit(&pending, &batch("q", 0), &note("s", 0)).await.expect_err("nothing landed");

    assert!(place.ids().await.is_empty());
    assert_eq!(table.transaction("q").await.unwrap(), None);
    assert!(committed(table.commit(&pending, &batch("q", 0), &note("s", 0)).await.unwrap()));
    assert_eq!(place.ids().await, [1, 2]);
}

async fn writers_of_different_applications_all_land(place: &dyn Place) {
    let hosts = join_all((0..6).map(|_| place.host())).await;
    let commits = hosts.iter().enumerate().map(|(i, host)| async move {
        let id = i as i64;
        let pending = files(&**host, &[id]);
        committed(host.commit(&pending, &batch(&format!("q{id}"), 0), &note("s", 0)).await.unwrap())
    });

    assert!(join_all(commits).await.into_iter().all(|landed| landed));

    assert_eq!(place.ids().await, (0..6).collect::<Vec<i64>>());
}
