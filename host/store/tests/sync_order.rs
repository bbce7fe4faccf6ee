//! The order of system calls: data are synced before they get a name, names before the call returns.
//!
//! A power cut cannot be played here, so the order is read from strace's log.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::io::Write;
use std::path::{Path as FsPath, PathBuf};
use std::process::Command;

use crisol_store::open;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode};

/// Set for the process that strace watches: the folder in which it writes.
const FOLDER: &str = "CRISOL_TEST_SYNC_FOLDER";

/// Runs one of the writers below under strace, and gives the calls that matter, in order, with paths in `folder`.
fn calls_of(writer: &str) -> Vec<String> {
    let usable = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    assert!(
        usable.is_ok_and(|out| out.status.success()),
        "strace cannot be used here: install it (apt-get install strace)"
    );
    let dir = tempfile::tempdir().unwrap();
    let (folder, log) = (dir.path().canonicalize().unwrap().join("root"), dir.path().join("strace.log"));
    let out = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-s",
            "256",
            "-e",
            "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2,mkdir,mkdirat",
        ])
        .arg("-o")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", writer, "--nocapture"])
        .env(FOLDER, &folder)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let calls: Vec<_> = std::fs::read_to_string(&log).unwrap().lines().filter_map(|line| call(line, &folder)).collect();
    println!("{writer}:\n  {}", calls.join("\n  "));
    calls
}

/// `fsync a/.b.tmp`, `link a/b`, `rename a/b`, `mkdir a`; what failed or lies elsewhere is left out.
fn call(line: &str, folder: &FsPath) -> Option<String> {
    let folder = folder.to_str()?;
    let (_, line) = line.split_once(' ')?;
    let name = line.trim_start().split('(').next()?;
    if !line.contains(" = 0") && !line.contains("<unfinished") {
        return None;
    }
    let at = line.rfind(folder)?;
    let path: String = line[at + folder.len()..].chars().take_while(|c| !matches!(c, '"' | '>' | '#')).collect();
    let verb = match name {
        "fsync" | "fdatasync" => "sync",
        "link" | "linkat" => "link",
        "rename" | "renameat" | "renameat2" => "rename",
        "mkdir" | "mkdirat" => "mkdir",
        _ => return None,
    };
    Some(format!("{verb} {}", if path.is_empty() { "/" } else { &path }))
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn writer_of_a_new_entry() {
    let Some(folder) = folder() else { return };
    let store = open(folder.to_str().unwrap()).unwrap();
    let path = Path::from("a/b/0");
    let put = store.object.put_opts(&path, "text".into(), PutMode::Create.into());
    runtime().block_on(put).map(drop).unwrap();
}

#[test]
fn a_new_entry_is_synced_then_linked_then_its_folder_is_synced() {
    let calls = calls_of("writer_of_a_new_entry");
    assert_eq!(
        calls,
        [
            "mkdir /",
            "mkdir /a",
            "sync /",
            "mkdir /a/b",
            "sync /a", // each new folder, then the one that holds it
            "sync /a/b/.0.tmp",
            "link /a/b/0",
            "sync /a/b",
        ]
    );
}

#[test]
fn writer_of_an_entry_that_exists() {
    let Some(folder) = folder() else { return };
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("0"), "another's").unwrap();
    let store = open(folder.to_str().unwrap()).unwrap();
    let path = Path::from("0");
    let put = store.object.put_opts(&path, "text".into(), PutMode::Create.into());
    assert!(matches!(runtime().block_on(put), Err(object_store::Error::AlreadyExists { .. })));
}

#[test]
fn an_entry_that_exists_is_durable_before_it_is_reported() {
    let calls = calls_of("writer_of_an_entry_that_exists");
    assert_eq!(calls, ["mkdir /", "sync /.0.tmp", "sync /"]);
}

#[test]
fn writer_of_a_replaced_file() {
    let Some(folder) = folder() else { return };
    let store = open(folder.to_str().unwrap()).unwrap();
    runtime().block_on(store.object.put(&Path::from("0"), "text".into())).map(drop).unwrap();
}

#[test]
fn a_replaced_file_is_synced_then_renamed_then_its_folder_is_synced() {
    let calls = calls_of("writer_of_a_replaced_file");
    assert_eq!(calls, ["mkdir /", "sync /.0.tmp", "rename /0", "sync /"]);
}

#[test]
fn writer_of_an_upload() {
    let Some(folder) = folder() else { return };
    let store = open(folder.to_str().unwrap()).unwrap();
    runtime().block_on(async {
        let mut upload = store.object.put_multipart(&Path::from("0")).await.unwrap();
        upload.put_part("text".into()).await.unwrap();
        upload.complete().await.map(drop).unwrap();
    });
}

#[test]
fn an_upload_is_synced_then_renamed_then_its_folder_is_synced() {
    let calls = calls_of("writer_of_an_upload");
    assert_eq!(calls, ["mkdir /", "sync /.0.tmp", "rename /0", "sync /"]);
}

#[test]
fn writer_of_copies_and_renames() {
    let Some(folder) = folder() else { return };
    std::fs::create_dir_all(folder.join("a")).unwrap();
    std::fs::write(folder.join("a/0"), "never synced").unwrap();
    let store = open(folder.to_str().unwrap()).unwrap();
    runtime().block_on(async {
        store.object.copy_if_not_exists(&Path::from("a/0"), &Path::from("a/1")).await.unwrap();
        store.object.rename_if_not_exists(&Path::from("a/0"), &Path::from("b/2")).await.unwrap();
    });
}

#[test]
fn copies_and_renames_are_durable() {
    let calls = calls_of("writer_of_copies_and_renames");
    let expected = [
        "sync /a/.1.tmp",
        "link /a/1",
        "sync /a", // copy
        "sync /a/0",
        "mkdir /b",
        "sync /",
        "link /b/2",
        "sync /b",
        "sync /a", // rename
    ];
    let begin = calls.iter().position(|call| call == expected[0]).unwrap();
    assert_eq!(calls[begin..], expected);
}

#[test]
fn writer_of_a_data_file() {
    let Some(folder) = folder() else { return };
    let store = open(folder.to_str().unwrap()).unwrap();
    let mut file = store.data_file("day=1/part").unwrap();
    file.write_all(&[1; 100]).unwrap();
    file.finish().unwrap();
}

#[test]
fn a_data_file_is_durable_when_it_is_finished() {
    let calls = calls_of("writer_of_a_data_file");
    assert_eq!(
        calls,
        ["mkdir /", "mkdir /day=1", "sync /", "sync /day=1/.part.tmp", "link /day=1/part", "sync /day=1"]
    );
}

#[test]
fn writer_of_nothing() {
    let Some(folder) = folder() else { return };
    std::fs::create_dir_all(folder.join("offsets")).unwrap();
    let store = open(folder.to_str().unwrap()).unwrap();
    runtime().block_on(store.settle("offsets")).unwrap();
}

#[test]
fn what_is_found_is_made_durable_by_settling_its_folder() {
    let calls = calls_of("writer_of_nothing");
    assert_eq!(calls[calls.len() - 2..], ["sync /offsets", "sync /"]);
}
