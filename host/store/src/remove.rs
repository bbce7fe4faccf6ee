//! Taking out a whole folder so that nobody ever sees half of it.

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::{Store, StoreError, folder};

impl Store {
    /// Removes the store's folder with all that is in it. It loses its name in one durable step; what a crash leaves
    /// after that has another name, begins with a dot, and may be deleted.
    ///
    /// # Errors
    /// The folder could not be renamed: nothing was removed.
    pub async fn remove(self) -> std::result::Result<(), StoreError> {
        let root = self.root;
        let shown = root.clone();
        let done = tokio::task::spawn_blocking(move || remove(&root)).await;
        let result = done.unwrap_or_else(|e| Err(Error::other(e)));
        result.map_err(|source| StoreError::io("remove folder", &shown, source))
    }
}

fn remove(root: &Path) -> Result<()> {
    let aside = aside(root)?;
    std::fs::rename(root, &aside)?;
    root.parent().map_or(Ok(()), folder::sync)?;
    // Nobody reads it any more, so that what stays only takes room.
    let _ = std::fs::remove_dir_all(&aside);
    Ok(())
}

/// A free name beside the folder.
fn aside(root: &Path) -> Result<PathBuf> {
    let name = root.file_name().ok_or_else(|| Error::new(ErrorKind::InvalidInput, "it has no name of its own"))?;
    let mut free = (0_u32..).map(|n| {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".removed-{n}"));
        root.with_file_name(hidden)
    });
    free.find(|path| !path.exists()).ok_or_else(|| Error::from(ErrorKind::AlreadyExists))
}
