//! The stages of a stream that runs: exchanged between two batches, never within one.

use std::sync::Arc;

use arrow_array::RecordBatch;
use crisol_stage::Chain;
use tokio::sync::watch;

/// Rows that are kept of the last batch, for trying other stages on.
const SAMPLE_ROWS_MAX: usize = 1_000;

/// The stream's end.
#[derive(Debug)]
pub struct Stages {
    chain: watch::Receiver<Arc<Chain>>,
    sample: watch::Sender<Option<RecordBatch>>,
}

/// The other end: whoever holds it may exchange the stages.
#[derive(Debug)]
pub struct Swap {
    chain: watch::Sender<Arc<Chain>>,
    sample: watch::Receiver<Option<RecordBatch>>,
}

/// Stages that begin with `chain`, and what exchanges them.
pub fn stages(chain: Arc<Chain>) -> (Stages, Swap) {
    let (put, take) = watch::channel(chain);
    let (keep, look) = watch::channel(None);
    (Stages { chain: take, sample: keep }, Swap { chain: put, sample: look })
}

impl Stages {
    /// The chain of the batch that begins now.
    pub(crate) fn now(&self) -> Arc<Chain> {
        Arc::clone(&self.chain.borrow())
    }

    /// Keeps the first rows of a batch.
    pub(crate) fn keep_sample(&self, rows: &RecordBatch) {
        self.sample.send_replace(Some(rows.slice(0, rows.num_rows().min(SAMPLE_ROWS_MAX))));
    }
}

impl Swap {
    /// The chain that serves.
    pub fn serving(&self) -> Arc<Chain> {
        Arc::clone(&self.chain.borrow())
    }

    /// Lets another chain serve from the next batch.
    pub fn serve(&self, chain: Arc<Chain>) {
        self.chain.send_replace(chain);
    }

    /// The first rows of the last batch; `None` before the first one.
    pub fn sample(&self) -> Option<RecordBatch> {
        self.sample.borrow().clone()
    }

    /// Whether the stream has ended.
    pub fn has_ended(&self) -> bool {
        self.chain.is_closed()
    }
}
