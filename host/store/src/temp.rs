//! Files under a temporary name, and the ways in which they get their real one.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::folder;

/// A new file beside its destination, removed when it is dropped before it got its name.
///
/// The name `.<destination>.tmp#<digits>` is hidden twice: engines and file sources skip what begins with a dot, and
/// `object_store` lists nothing that ends in `#<digits>`. What a crash leaves behind is never read and may be deleted.
#[derive(Debug)]
pub(crate) struct TempFile {
    file: File,
    path: PathBuf,
    destination: PathBuf,
    /// Whether `path` is still ours to remove: once it is gone, another process may use the name.
    unnamed: bool,
}

/// What naming does when the destination exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and the call fails with `AlreadyExists`.
    Keep,
    /// It is replaced.
    Replace,
}

impl TempFile {
    /// Creates the file; its folders below `root` are made as needed, and are durable.
    pub(crate) fn create(root: &Path, destination: &Path) -> Result<Self> {
        let (folder, name) = split(destination)?;
        folder::create_below(root, folder)?;
        loop {
            let path = folder.join(temporary_name(name));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, path, destination: destination.to_owned(), unnamed: true }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Writes at a place of the file.
    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, data, offset)
    }

    /// Syncs the data, gives the file its name and syncs the folder: in this order, so that a name never stands for
    /// data that a power cut could take.
    pub(crate) fn publish(mut self, existing: Existing) -> Result<std::fs::Metadata> {
        self.file.sync_all()?;
        let metadata = self.file.metadata()?;
        match existing {
            Existing::Replace => std::fs::rename(&self.path, &self.destination)?,
            Existing::Keep => {
                link_new(&self.path, &self.destination)?;
                // What stays behind is a second, hidden name of the same file.
                let _ = std::fs::remove_file(&self.path);
            }
        }
        self.unnamed = false;
        folder::sync(split(&self.destination)?.0)?;
        Ok(metadata)
    }
}

impl Write for TempFile {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if self.unnamed {
            // A left-over is harmless.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Links `from` to a name that must be new. When it is taken, the holder's name is synced before that is reported:
/// the caller will read it back and build on it, although the one who wrote it may have died before his own sync.
pub(crate) fn link_new(from: &Path, destination: &Path) -> Result<()> {
    let linked = std::fs::hard_link(from, destination);
    if let Err(e) = &linked
        && e.kind() == ErrorKind::AlreadyExists
    {
        folder::sync(split(destination)?.0)?;
    }
    linked
}

/// Folder and file name of a path.
pub(crate) fn split(path: &Path) -> Result<(&Path, &std::ffi::OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => Err(std::io::Error::new(ErrorKind::InvalidInput, "the path names no file")),
    }
}

/// A name that no other file of this process has; another process' is found out when the file is created.
fn temporary_name(name: &std::ffi::OsStr) -> std::ffi::OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".tmp#{}{:06}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    temporary
}
