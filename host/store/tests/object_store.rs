//! What callers of an object store rely on, held against the durable local one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytes::Bytes;
use crisol_store::{Store, open};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutPayload};
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    (dir, store)
}

async fn read(store: &Store, path: &str) -> Bytes {
    store.object.get(&Path::from(path)).await.unwrap().bytes().await.unwrap()
}

async fn listed(store: &Store) -> Vec<String> {
    let mut names: Vec<_> =
        store.object.list(None).map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap();
    names.sort();
    names
}

fn all_names(dir: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => names.extend(all_names(&path)),
            false => names.push(path.file_name().unwrap().to_str().unwrap().to_owned()),
        }
    }
    names.sort();
    names
}

#[tokio::test]
async fn create_makes_folders_and_refuses_what_exists() {
    let (dir, store) = store();
    let path = Path::from("_delta_log/00000000000000000000.json");
    store.object.put_opts(&path, "one".into(), PutMode::Create.into()).await.unwrap();
    let again = store.object.put_opts(&path, "two".into(), PutMode::Create.into()).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    assert_eq!(read(&store, path.as_ref()).await, "one");
    assert_eq!(all_names(dir.path()), ["00000000000000000000.json"], "nothing temporary is left");
}

#[tokio::test]
async fn of_many_creators_exactly_one_wins_and_its_text_stands() {
    let (_dir, store) = store();
    let path = Path::from("offsets/7");
    let tries = (0..32).map(|i| {
        let (object, path) = (store.object.clone(), path.clone());
        tokio::spawn(async move {
            let payload = PutPayload::from(format!("writer {i}"));
            object.put_opts(&path, payload, PutMode::Create.into()).await.map(|_| i)
        })
    });
    let results: Vec<_> = futures::future::join_all(tries).await.into_iter().map(Result::unwrap).collect();
    let winners: Vec<_> = results.iter().filter_map(|r| r.as_ref().ok()).collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(read(&store, "offsets/7").await, format!("writer {}", winners[0]));
    assert!(results.iter().all(|r| matches!(r, Ok(_) | Err(Error::AlreadyExists { .. }))));
}

#[tokio::test]
async fn overwrite_replaces_and_gives_the_tag_that_a_read_gives() {
    let (_dir, store) = store();
    let path = Path::from("a/_last_checkpoint");
    store.object.put(&path, "one".into()).await.unwrap();
    let put = store.object.put(&path, "two".into()).await.unwrap();
    assert_eq!(read(&store, "a/_last_checkpoint").await, "two");
    assert_eq!(put.e_tag, store.object.head(&path).await.unwrap().e_tag);
}

#[tokio::test]
async fn parts_land_in_order_whatever_order_they_run_in() {
    let (dir, store) = store();
    let path = Path::from("big.parquet");
    let mut upload = store.object.put_multipart(&path).await.unwrap();
    let parts: Vec<_> = (0..8u8).map(|i| upload.put_part(Bytes::from(vec![i; 1000]).into())).collect();
    for part in parts.into_iter().rev() {
        part.await.unwrap();
    }
    assert_eq!(listed(&store).await, [] as [&str; 0], "not seen before it is complete");
    upload.complete().await.unwrap();
    let expected: Vec<u8> = (0..8u8).flat_map(|i| vec![i; 1000]).collect();
    assert_eq!(read(&store, "big.parquet").await, expected);
    assert_eq!(all_names(dir.path()), ["big.parquet"]);
}

#[tokio::test]
async fn an_upload_with_a_lost_part_does_not_complete() {
    let (dir, store) = store();
    let mut upload = store.object.put_multipart(&Path::from("big.parquet")).await.unwrap();
    upload.put_part("one".into()).await.unwrap();
    drop(upload.put_part("two".into()));
    let error = upload.complete().await.unwrap_err();
    assert!(error.to_string().contains("3 of 6 bytes"), "{error}");
    drop(upload);
    assert_eq!(all_names(dir.path()), [] as [&str; 0]);
}

#[tokio::test]
async fn an_aborted_upload_leaves_nothing() {
    let (dir, store) = store();
    let mut upload = store.object.put_multipart(&Path::from("big.parquet")).await.unwrap();
    upload.put_part("one".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert_eq!(all_names(dir.path()), [] as [&str; 0]);
    assert!(upload.complete().await.is_err());
}

#[tokio::test]
async fn copy_and_rename_make_folders_and_refuse_what_exists_when_asked() {
    let (_dir, store) = store();
    let (a, b, c) = (Path::from("a"), Path::from("x/b"), Path::from("y/z/c"));
    store.object.put(&a, "one".into()).await.unwrap();
    store.object.copy_if_not_exists(&a, &b).await.unwrap();
    assert!(matches!(store.object.copy_if_not_exists(&a, &b).await, Err(Error::AlreadyExists { .. })));
    store.object.copy(&a, &b).await.unwrap();
    store.object.rename_if_not_exists(&b, &c).await.unwrap();
    assert!(matches!(store.object.rename_if_not_exists(&a, &c).await, Err(Error::AlreadyExists { .. })));
    assert_eq!(listed(&store).await, ["a", "y/z/c"]);
    store.object.rename(&c, &a).await.unwrap();
    assert_eq!(listed(&store).await, ["a"]);
    let missing = store.object.copy(&Path::from("none"), &b).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    let missing = store.object.rename(&Path::from("none"), &b).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

#[tokio::test]
async fn what_a_crash_leaves_is_hidden_from_listings_and_from_engines() {
    let (dir, store) = store();
    let log = dir.path().join("_delta_log");
    std::fs::create_dir(&log).unwrap();
    let name = ".00000000000000000000.json.tmp#4711000000";
    std::fs::write(log.join(name), "half").unwrap();
    assert_eq!(listed(&store).await, [] as [&str; 0]);
    let shallow = store.object.list_with_delimiter(Some(&Path::from("_delta_log"))).await.unwrap();
    assert!(shallow.objects.is_empty());
    let path = Path::from("_delta_log/00000000000000000000.json");
    store.object.put_opts(&path, "whole".into(), PutMode::Create.into()).await.unwrap();
    assert_eq!(listed(&store).await, [path.as_ref()]);
    assert!(log.join(name).exists(), "another process may still be writing it");
}

#[tokio::test]
async fn reading_listing_and_deleting_are_the_local_stores() {
    let (_dir, store) = store();
    for name in ["t/1", "t/2", "t/3"] {
        store.object.put(&Path::from(name), name.to_owned().into()).await.unwrap();
    }
    assert_eq!(store.object.get_range(&Path::from("t/2"), 1..3).await.unwrap(), "/2");
    let after: Vec<_> = store.object.list_with_offset(Some(&Path::from("t")), &Path::from("t/1")).collect().await;
    assert_eq!(after.len(), 2);
    store.object.delete(&Path::from("t/1")).await.unwrap();
    assert!(matches!(store.object.get(&Path::from("t/1")).await, Err(Error::NotFound { .. })));
    assert_eq!(listed(&store).await, ["t/2", "t/3"]);
}
