//! Streams that run.

use crisol_stream::Summary;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Engine, EngineError};

/// A running stream.
#[derive(Debug)]
pub struct StreamHandle {
    pub(crate) name: String,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Summary>,
}

/// Asks a stream to stop, from wherever it is needed.
#[derive(Debug, Clone)]
pub struct Stopper(CancellationToken);

impl Stopper {
    /// The batch that is committing is finished, one that is still reading is left for the next start.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

impl StreamHandle {
    /// Name of the stream.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What asks it to stop.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// Its task broke, which is a defect of the host; a stream's own failure is in the summary.
    pub async fn wait(self) -> Result<Summary, EngineError> {
        self.task.await.map_err(|error| EngineError::internal(format!("stream `{}`: {error}", self.name)))
    }
}

impl Engine {
    /// Waits for the end of all, in their order.
    ///
    /// # Errors
    /// As [`StreamHandle::wait`], once all have ended.
    pub async fn join(handles: Vec<StreamHandle>) -> Result<Vec<Summary>, EngineError> {
        let ends = futures::future::join_all(handles.into_iter().map(StreamHandle::wait)).await;
        ends.into_iter().collect()
    }

    /// Asks all to stop, and waits for their ends.
    ///
    /// # Errors
    /// As [`Engine::join`].
    pub async fn stop_streaming(handles: Vec<StreamHandle>) -> Result<Vec<Summary>, EngineError> {
        handles.iter().for_each(|handle| handle.stopper().stop());
        Self::join(handles).await
    }
}
