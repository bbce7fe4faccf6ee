//! Folders that survive a power cut: a new name counts when the folder that holds it was synced.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Syncs one folder, so that the names in it are durable.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    File::open(folder)?.sync_all()
}

/// Creates a folder with its parents; every folder that got a new name in it is synced.
pub(crate) fn create(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(parent) = parent {
        create(parent)?;
    }
    match std::fs::create_dir(folder) {
        // Whoever made it first may not have synced yet: the name is made durable either way.
        Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(in_the_way(folder)),
        other => other?,
    }
    parent.map_or(Ok(()), sync)
}

fn in_the_way(file: &Path) -> Error {
    Error::new(ErrorKind::NotADirectory, format!("`{}` is a file, not a folder", file.display()))
}

/// Creates the folders from `root`, which exists, down to `folder`, and makes their names durable.
///
/// A folder that exists may have been made by a process that died before it synced: its name is synced once in the life
/// of this process.
pub(crate) fn create_below(root: &Path, folder: &Path) -> Result<()> {
    static DURABLE: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    if folder == root || !folder.starts_with(root) {
        return Ok(());
    }
    let known = || DURABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(folder) && folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(root);
    create_below(root, parent)?;
    match std::fs::create_dir(folder) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
        other => other?,
    }
    sync(parent)?;
    known().insert(folder.to_owned());
    Ok(())
}

/// Syncs a folder and the one that holds it; nothing when it does not exist. A parent that this user may not even read
/// was not made by a host, so its names are not ours to sync.
pub(crate) fn sync_up(folder: &Path) -> Result<()> {
    match sync(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        done => done?,
    }
    match folder.parent().map_or(Ok(()), sync) {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}
