//! A store that counts what it is asked, and whose next put of a log entry goes wrong.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use crisol_store::Store;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Nothing is written, and the answer is an error.
    Refused,
    /// It is written, and the answer is an error.
    AnswerLost,
    /// It is written, and the answer is that it exists already.
    ToldToExist,
    /// Somebody else's entry gets this version first.
    Rival(Bytes),
}

#[derive(Debug, Clone)]
pub(crate) struct Faulty {
    inner: Arc<dyn ObjectStore>,
    next: Arc<Mutex<Option<Fault>>>,
    calls: Arc<AtomicUsize>,
}

impl Faulty {
    /// Wraps a store; the second value sets what goes wrong next.
    pub(crate) fn wrap(store: Store) -> (Store, Faulty) {
        let faulty = Faulty { inner: store.object.clone(), next: Arc::default(), calls: Arc::default() };
        (Store { object: Arc::new(faulty.clone()), ..store }, faulty)
    }

    pub(crate) fn next(&self, fault: Fault) {
        *self.next.lock().unwrap() = Some(fault);
    }

    /// How often the store was asked for anything.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faulty({})", self.inner)
    }
}

fn lost() -> Error {
    Error::Generic { store: "Faulty", source: "connection reset".into() }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.count();
        let entry = location.as_ref().starts_with("_delta_log/") && location.as_ref().ends_with(".json");
        let fault = if entry { self.next.lock().unwrap().take() } else { None };
        match fault {
            None => self.inner.put_opts(location, payload, opts).await,
            Some(Fault::Refused) => Err(lost()),
            Some(Fault::AnswerLost) => {
                self.inner.put_opts(location, payload, opts).await?;
                Err(lost())
            }
            Some(Fault::ToldToExist) => {
                self.inner.put_opts(location, payload, opts).await?;
                Err(Error::AlreadyExists { path: location.to_string(), source: "412".into() })
            }
            Some(Fault::Rival(text)) => {
                self.inner.put(location, text.into()).await?;
                self.inner.put_opts(location, payload, opts).await
            }
        }
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.count();
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        panic!("a table deletes nothing")
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.count();
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.count();
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.count();
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
