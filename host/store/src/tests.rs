//! Tests of opening a store.

use std::io::Write;

use super::*;

#[test]
fn a_missing_folder_is_made_and_named_by_path_or_url() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a b/c");
    let store = open(folder.to_str().unwrap()).unwrap();
    assert!(folder.is_dir());
    assert_eq!(store.root, folder.canonicalize().unwrap());
    let by_url = open(store.url.as_str()).unwrap();
    assert_eq!(by_url.root, store.root);
    assert!(store.url.as_str().ends_with("/a%20b/c/"), "{}", store.url);
}

#[tokio::test]
async fn a_folder_is_removed_whole_and_its_neighbours_stay() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("silver.orders");
    std::fs::create_dir_all(dir.path().join(".silver.orders.removed-0/left")).unwrap();
    std::fs::write(dir.path().join("silver.orders_2"), "x").unwrap();
    for _ in 0..2 {
        let store = open(folder.to_str().unwrap()).unwrap();
        std::fs::create_dir_all(folder.join("offsets")).unwrap();
        std::fs::write(folder.join("offsets/0"), "x").unwrap();
        store.remove().await.unwrap();
        assert!(!folder.exists());
    }
    assert_eq!(names(dir.path()), [".silver.orders.removed-0", "silver.orders_2"]);
    let gone = open(folder.to_str().unwrap()).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    assert!(gone.remove().await.unwrap_err().to_string().contains("silver.orders"));
}

#[test]
fn other_storage_is_refused_by_name() {
    let error = open("s3://bucket/tables").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`s3://bucket/tables`: storage `s3` is not supported yet; use an absolute local path or a file:// URL"
    );
}

#[test]
fn relative_paths_and_urls_of_other_machines_are_refused() {
    assert!(matches!(open("tables/x").unwrap_err(), StoreError::NotAbsolute { .. }));
    assert!(matches!(open("").unwrap_err(), StoreError::NotAbsolute { .. }));
    assert!(matches!(open("file://elsewhere/tables").unwrap_err(), StoreError::Url { .. }));
}

#[test]
fn a_file_where_the_folder_should_be_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("taken");
    std::fs::write(&file, "x").unwrap();
    let error = open(file.join("below").to_str().unwrap()).unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert!(open(file.to_str().unwrap()).is_err());
}

#[test]
fn a_data_file_shows_only_when_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    let mut file = store.data_file("day=1/part-0.parquet").unwrap();
    file.write_all(&[7; 3_000_000]).unwrap();
    let path = dir.path().join("day=1/part-0.parquet");
    assert!(!path.exists());
    assert_eq!(file.written(), 3_000_000);
    assert_eq!(file.finish().unwrap(), 3_000_000);
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 3_000_000]);
    assert_eq!(names(&dir.path().join("day=1")), ["part-0.parquet"]);
}

#[test]
fn a_data_file_that_is_dropped_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    let mut file = store.data_file("part-0.parquet").unwrap();
    file.write_all(b"some").unwrap();
    drop(file);
    assert_eq!(names(dir.path()), [] as [&str; 0]);
}

#[test]
fn a_data_file_never_replaces_another() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("part-0.parquet"), "first").unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    let mut file = store.data_file("part-0.parquet").unwrap();
    file.write_all(b"second").unwrap();
    assert!(matches!(file.finish(), Err(StoreError::Io { .. })));
    assert_eq!(std::fs::read(dir.path().join("part-0.parquet")).unwrap(), b"first");
    assert_eq!(names(dir.path()), ["part-0.parquet"]);
}

#[test]
fn a_data_file_stays_below_its_root() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    for path in ["../out", "/etc/out", "a/../../out", "", "a/..", "./a"] {
        assert!(matches!(store.data_file(path), Err(StoreError::Outside { .. })), "{path:?}");
    }
}

#[tokio::test]
async fn settling_a_folder_that_is_not_there_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path().to_str().unwrap()).unwrap();
    store.settle("offsets").await.unwrap();
    store.settle("").await.unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
