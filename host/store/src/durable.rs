//! `object_store`'s local store, made durable.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::{Path as FsPath, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, RenameTargetMode, Result,
};

use crate::temp::{Existing, TempFile, link_new, split};
use crate::upload::Upload;
use crate::{StoreError, folder};

/// A local folder as an [`ObjectStore`] whose writes survive a power cut when they have returned.
///
/// - `put` syncs the data, then names the file (a hard link for [`PutMode::Create`], a rename for
///   [`PutMode::Overwrite`]), then syncs the folder, and any folder that it made.
/// - Large uploads, copies and renames do the same.
/// - `AlreadyExists` is returned after the file that exists was made durable itself: it may be believed.
/// - An error after the file got its name leaves it there: the outcome is unknown until it is read back.
/// - Deletes are not synced. What a power cut brings back is what the host would delete again.
#[derive(Debug, Clone)]
pub struct DurableLocal {
    inner: LocalFileSystem,
    root: PathBuf,
}

impl DurableLocal {
    /// Over an existing folder.
    pub fn new(root: &FsPath) -> Result<Self> {
        let inner = LocalFileSystem::new_with_prefix(root)?;
        let resolved = root.canonicalize();
        let root = resolved.map_err(|e| Error::Generic { store: "DurableLocal", source: Box::new(e) })?;
        Ok(Self { inner, root })
    }

    fn refuse(&self, operation: &str) -> Error {
        Error::NotImplemented { operation: operation.to_owned(), implementer: self.to_string() }
    }
}

impl fmt::Display for DurableLocal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DurableLocal({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for DurableLocal {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let existing = match opts.mode {
            PutMode::Create => Existing::Keep,
            PutMode::Overwrite => Existing::Replace,
            PutMode::Update(_) => return Err(self.refuse("`put_opts` with mode `PutMode::Update`")),
        };
        if !opts.attributes.is_empty() {
            return Err(self.refuse("`put_opts` with attributes"));
        }
        let path = self.inner.path_to_filesystem(location)?;
        let root = self.root.clone();
        blocking(path, move |path| {
            let mut file = TempFile::create(&root, path)?;
            payload.iter().try_for_each(|part| file.write_all(part))?;
            file.publish(existing)
        })
        .await
        .map(|metadata| PutResult { e_tag: Some(e_tag(&metadata)), version: None })
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        if !opts.attributes.is_empty() {
            return Err(self.refuse("`put_multipart_opts` with attributes"));
        }
        let path = self.inner.path_to_filesystem(location)?;
        let root = self.root.clone();
        let file = blocking(path.clone(), move |path| TempFile::create(&root, path)).await?;
        Ok(Box::new(Upload::new(path, file)))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    /// A copy is new data: an existing file may never have been synced by whoever wrote it.
    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let existing = match options.mode {
            CopyMode::Create => Existing::Keep,
            CopyMode::Overwrite => Existing::Replace,
        };
        let source = self.inner.path_to_filesystem(from)?;
        let destination = self.inner.path_to_filesystem(to)?;
        let mut read = blocking(source, |source| std::fs::File::open(source)).await?;
        let root = self.root.clone();
        blocking(destination, move |destination| {
            let mut file = TempFile::create(&root, destination)?;
            std::io::copy(&mut read, &mut file)?;
            file.publish(existing).map(drop)
        })
        .await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let source = self.inner.path_to_filesystem(from)?;
        let destination = self.inner.path_to_filesystem(to)?;
        let synced = source.clone();
        blocking(source.clone(), |source| std::fs::File::open(source)?.sync_all()).await?;
        let root = self.root.clone();
        blocking(destination, move |destination| {
            folder::create_below(&root, split(destination)?.0)?;
            match options.target_mode {
                RenameTargetMode::Overwrite => std::fs::rename(&synced, destination)?,
                RenameTargetMode::Create => {
                    link_new(&synced, destination)?;
                    std::fs::remove_file(&synced)?;
                }
            }
            // The new name first: between the two syncs the file may have both names, and never none.
            folder::sync(split(destination)?.0)?;
            folder::sync(split(&synced)?.0)
        })
        .await
    }
}

/// Runs file work on the blocking pool, and puts its error into `object_store`'s words.
pub(crate) async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&FsPath) -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    let shown = path.display().to_string();
    let done = tokio::task::spawn_blocking(move || work(&path)).await?;
    done.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => Error::AlreadyExists { path: shown, source: source.into() },
        ErrorKind::NotFound => Error::NotFound { path: shown, source: source.into() },
        _ => Error::Generic {
            store: "DurableLocal",
            source: Box::new(StoreError::Io { what: "write", path: shown, source }),
        },
    })
}

/// The same form as `LocalFileSystem` gives when the file is read.
pub(crate) fn e_tag(metadata: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let modified = metadata.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let micros = modified.unwrap_or_default().as_micros();
    format!("{:x}-{micros:x}-{:x}", metadata.ino(), metadata.len())
}
