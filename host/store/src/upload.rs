//! Uploads in parts.

use std::io::{Error as IoError, Result as IoResult};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::FutureExt;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use crate::durable::{blocking, e_tag};
use crate::temp::{Existing, TempFile};

/// A file that comes in parts. Nobody sees it before `complete`; dropped without it, the file is removed.
#[derive(Debug)]
pub(crate) struct Upload {
    path: PathBuf,
    state: Arc<Mutex<State>>,
    /// Where the next part begins: parts are written at their place, in whatever order they are run.
    end: u64,
}

#[derive(Debug)]
struct State {
    /// `None` after the upload was completed or aborted.
    file: Option<TempFile>,
    written: u64,
}

impl State {
    fn write(&mut self, data: &PutPayload, mut at: u64) -> IoResult<()> {
        let file = self.file.as_ref().ok_or_else(ended)?;
        for bytes in data {
            file.write_at(bytes, at)?;
            at += bytes.len() as u64;
        }
        self.written += data.content_length() as u64;
        Ok(())
    }

    fn publish(&mut self, expected: u64) -> IoResult<std::fs::Metadata> {
        let file = self.file.take().ok_or_else(ended)?;
        if self.written != expected {
            return Err(IoError::other(format!("{} of {expected} bytes were written", self.written)));
        }
        file.publish(Existing::Replace)
    }
}

fn ended() -> IoError {
    IoError::other("the upload was completed or aborted before")
}

impl Upload {
    pub(crate) fn new(path: PathBuf, file: TempFile) -> Self {
        Self { path, state: Arc::new(Mutex::new(State { file: Some(file), written: 0 })), end: 0 }
    }
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let at = self.end;
        self.end += data.content_length() as u64;
        let state = Arc::clone(&self.state);
        let path = self.path.clone();
        blocking(path, move |_| state.lock().unwrap_or_else(PoisonError::into_inner).write(&data, at)).boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let state = Arc::clone(&self.state);
        let expected = self.end;
        blocking(self.path.clone(), move |_| state.lock().unwrap_or_else(PoisonError::into_inner).publish(expected))
            .await
            .map(|metadata| PutResult { e_tag: Some(e_tag(&metadata)), version: None })
    }

    async fn abort(&mut self) -> Result<()> {
        let state = Arc::clone(&self.state);
        blocking(self.path.clone(), move |_| {
            state.lock().unwrap_or_else(PoisonError::into_inner).file.take().map(drop).ok_or_else(ended)
        })
        .await
    }
}
