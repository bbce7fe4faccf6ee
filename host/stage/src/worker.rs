//! What works behind a stage over rows.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::{ComponentId, Rejection};

/// What works behind a stage: a sandboxed component, or native code in its place.
///
/// Row by row and without memory: it gets the columns of [`RowWorker::reads`] and gives those of [`RowWorker::writes`].
pub trait RowWorker: Send + Sync + std::fmt::Debug {
    /// Who it is.
    fn id(&self) -> ComponentId;

    /// Names of the input columns that it wants to see, in its order.
    fn reads(&self) -> Vec<String>;

    /// Its options, a JSON object as text.
    fn options(&self) -> String {
        "{}".to_owned()
    }

    /// Columns that it gives; none for a validator.
    fn writes(&self) -> SchemaRef;

    /// Works on the rows of a chunk, at least one. Blocking; called on worker threads, several at a time.
    ///
    /// # Errors
    /// The trap, the limit or the wrong answer, with the component's own words. Nothing of the call is used.
    fn call(&self, rows: &RecordBatch, timestamp_us: i64) -> Result<WorkerOutput, WorkerError>;

    /// The same for some of `whole` rows on which a call failed, in as much less time.
    ///
    /// # Errors
    /// As for [`RowWorker::call`].
    fn call_part(&self, rows: &RecordBatch, whole: usize, timestamp_us: i64) -> Result<WorkerOutput, WorkerError> {
        let _ = whole;
        self.call(rows, timestamp_us)
    }
}

/// Why a worker gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerError {
    /// The code under which a row goes to quarantine that alone brings this about; `None` where no row can be to blame:
    /// the stream stops.
    pub poison_code: Option<&'static str>,
    /// For people.
    pub what: String,
}

impl From<String> for WorkerError {
    /// A fault of the worker, for which no row is to blame.
    fn from(what: String) -> Self {
        Self { poison_code: None, what }
    }
}

impl From<&str> for WorkerError {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

/// What a [`RowWorker`] gives.
#[derive(Debug)]
pub struct WorkerOutput {
    /// The written columns and, for each row, the input row it came from; `None`: verdicts only, rows that are not
    /// rejected go on.
    pub rows: Option<(RecordBatch, Vec<u32>)>,
    /// Rejected rows; one may appear several times, for several reasons.
    pub rejected: Vec<Rejection>,
}
