//! Native code in the place of a component: what the suites compare components with, and what the stream's tests run.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::{ComponentId, RowWorker, WorkerError, WorkerOutput};

type Work = dyn Fn(&RecordBatch, i64) -> Result<WorkerOutput, WorkerError> + Send + Sync;

/// A [`RowWorker`] that is a function.
#[derive(Clone)]
pub struct NativeWorker {
    id: ComponentId,
    reads: Vec<String>,
    writes: SchemaRef,
    work: Arc<Work>,
}

impl NativeWorker {
    /// A worker called `name` that reads some columns and gives others; `work` gets the rows and the batch's timestamp.
    pub fn new(
        name: &str,
        reads: &[&str],
        writes: SchemaRef,
        work: impl Fn(&RecordBatch, i64) -> Result<WorkerOutput, WorkerError> + Send + Sync + 'static,
    ) -> Self {
        let id = ComponentId { name: name.to_owned(), version: "0.0.0".to_owned(), digest: "native".to_owned() };
        let reads = reads.iter().map(ToString::to_string).collect();
        Self { id, reads, writes, work: Arc::new(work) }
    }
}

impl RowWorker for NativeWorker {
    fn id(&self) -> ComponentId {
        self.id.clone()
    }

    fn reads(&self) -> Vec<String> {
        self.reads.clone()
    }

    fn writes(&self) -> SchemaRef {
        Arc::clone(&self.writes)
    }

    fn call(&self, rows: &RecordBatch, timestamp_us: i64) -> Result<WorkerOutput, WorkerError> {
        (self.work)(rows, timestamp_us)
    }
}

impl std::fmt::Debug for NativeWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeWorker").field("id", &self.id).finish_non_exhaustive()
    }
}
