//! Where checkpoints and tables lie: an object store that is durable, and a writer for big data files.
//!
//! `object_store`'s own local store never syncs. Here a write counts only when it would survive a power cut:
//! data are synced before they get their name, and the folder is synced before the call returns.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod data_file;
mod durable;
mod folder;
mod remove;
mod replace;
mod temp;
mod upload;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use url::Url;

pub use data_file::DataFile;
pub use durable::DurableLocal;
pub use replace::replace;

/// A folder, and the durable store over it.
#[derive(Debug, Clone)]
pub struct Store {
    /// Paths are relative to `root`.
    pub object: Arc<dyn ObjectStore>,
    /// The folder, absolute, symbolic links resolved.
    pub root: PathBuf,
    /// `root` as a `file://` URL that ends with `/`.
    pub url: Url,
}

impl Store {
    /// Makes durable what a folder shows now.
    ///
    /// Another process may have died after it named a file and before it synced the folder. Its file is seen and could
    /// still vanish in a power cut, so nothing may be built on what was *found* (an entry of a checkpoint, a version of
    /// a table) before this returned. A folder that does not exist is no error.
    pub async fn settle(&self, folder: &str) -> Result<(), StoreError> {
        let path = self.root.join(folder);
        let shown = path.clone();
        let done = tokio::task::spawn_blocking(move || folder::sync_up(&path)).await;
        let result = done.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        result.map_err(|source| StoreError::io("sync folder", &shown, source))
    }

    /// A writer for a data file at `path`, relative to the root. See [`DataFile`].
    pub fn data_file(&self, path: &str) -> Result<DataFile, StoreError> {
        DataFile::create(&self.root, path)
    }
}

/// Opens the folder at an absolute path or a `file://` URL; it is made, durably, when it does not exist.
pub fn open(path: &str) -> Result<Store, StoreError> {
    let folder = local_path(path)?;
    folder::create(&folder).map_err(|source| StoreError::io("create folder", &folder, source))?;
    let root = folder.canonicalize().map_err(|source| StoreError::io("resolve folder", &folder, source))?;
    let url = Url::from_directory_path(&root).map_err(|()| StoreError::NotAbsolute { path: path.to_owned() })?;
    let object = DurableLocal::new(&root).map_err(|source| StoreError::io("open folder", &root, source.into()))?;
    Ok(Store { object: Arc::new(object), root, url })
}

fn local_path(path: &str) -> Result<PathBuf, StoreError> {
    if let Some((scheme, _)) = path.split_once("://") {
        if !scheme.eq_ignore_ascii_case("file") {
            return Err(StoreError::Scheme { scheme: scheme.to_owned(), path: path.to_owned() });
        }
        let url = Url::parse(path).map_err(|e| StoreError::Url { path: path.to_owned(), what: e.to_string() })?;
        return url
            .to_file_path()
            .map_err(|()| StoreError::Url { path: path.to_owned(), what: "it names no local path".to_owned() });
    }
    if !Path::new(path).is_absolute() {
        return Err(StoreError::NotAbsolute { path: path.to_owned() });
    }
    Ok(PathBuf::from(path))
}

/// Why a folder or file could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A kind of storage that is not there yet.
    #[error("`{path}`: storage `{scheme}` is not supported yet; use an absolute local path or a file:// URL")]
    Scheme {
        /// Scheme of the URL.
        scheme: String,
        /// As given.
        path: String,
    },
    /// A `file://` URL that cannot be used.
    #[error("`{path}` cannot be used as a folder: {what}; use an absolute local path")]
    Url {
        /// As given.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// A relative path: it would depend on where the process was started.
    #[error("`{path}` is not an absolute path; write it from the root, such as /data/tables")]
    NotAbsolute {
        /// As given.
        path: String,
    },
    /// A path that leaves its root or names no file.
    #[error("`{path}` is no path of a file below `{root}`")]
    Outside {
        /// As given.
        path: String,
        /// Folder that it must stay in.
        root: String,
    },
    /// The file system refused.
    #[error("cannot {what} `{path}`: {source}; {}", advice(.source))]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: String,
        /// The error below.
        source: std::io::Error,
    },
}

impl StoreError {
    fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what, path: path.display().to_string(), source }
    }
}

fn advice(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "give another path, or move away what lies there",
        ErrorKind::PermissionDenied => "let this user write there, or give another path",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk",
        _ => "check that the disk has room and that this user may write there",
    }
}

#[cfg(test)]
mod tests;
