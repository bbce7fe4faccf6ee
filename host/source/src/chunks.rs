//! Blocking readers behind a bounded channel: the reading thread waits when nobody takes its chunks, and stops when
//! the stream of chunks is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use futures::StreamExt;
use futures::stream;
use tokio::sync::mpsc;

use crate::{Chunks, SourceError};

/// Chunks read ahead of the taker: enough to hide one slow fetch, few enough to bound memory.
const AHEAD: usize = 3;

enum Message {
    Chunk(RecordBatch),
    Failed(SourceError),
    /// Without it the end of the channel is an error, so a thread that dies is never taken for the end of a range.
    End,
}

/// Why a reader stops before its end.
#[derive(Debug)]
pub(crate) enum Interrupted {
    /// Nobody takes the chunks any more.
    Dropped,
    Failed(SourceError),
}

impl From<SourceError> for Interrupted {
    fn from(error: SourceError) -> Self {
        Self::Failed(error)
    }
}

/// The reading thread's end of the channel.
pub(crate) struct ChunkSender(mpsc::Sender<Message>);

impl ChunkSender {
    /// Hands a chunk over; waits while the channel is full.
    pub(crate) fn send(&self, chunk: RecordBatch) -> Result<(), Interrupted> {
        self.0.blocking_send(Message::Chunk(chunk)).map_err(|_| Interrupted::Dropped)
    }

    /// Called where a reader may wait long without a chunk to send.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        if self.0.is_closed() { Err(Interrupted::Dropped) } else { Ok(()) }
    }
}

/// Runs a reader on a blocking thread. `what` names it in errors. A panic below (a damaged file in a decoder) is an
/// error of the stream, no more.
pub(crate) fn spawn<F>(what: String, read: F) -> Chunks
where
    F: FnOnce(&ChunkSender) -> Result<(), Interrupted> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(AHEAD);
    let name = what.clone();
    tokio::task::spawn_blocking(move || {
        let sender = ChunkSender(sender);
        let result = catch_unwind(AssertUnwindSafe(|| read(&sender)));
        let last = match result {
            Ok(Ok(())) => Message::End,
            Ok(Err(Interrupted::Dropped)) => return,
            Ok(Err(Interrupted::Failed(error))) => Message::Failed(error),
            Err(_) => Message::Failed(SourceError::data(format!("{name}: the decoder failed on damaged data"))),
        };
        // A receiver that is gone wants no last word.
        let _ = sender.0.blocking_send(last);
    });
    received(what, receiver)
}

fn received(what: String, receiver: mpsc::Receiver<Message>) -> Chunks {
    stream::unfold(Some((receiver, what)), |state| async move {
        let (mut receiver, what) = state?;
        match receiver.recv().await {
            Some(Message::Chunk(chunk)) => Some((Ok(chunk), Some((receiver, what)))),
            Some(Message::Failed(error)) => Some((Err(error), None)),
            Some(Message::End) => None,
            None => Some((Err(SourceError::external(format!("{what}: reading stopped before its end"))), None)),
        }
    })
    .boxed()
}

/// Runs blocking work off the async threads.
pub(crate) async fn off_thread<T, F>(work: F) -> Result<T, SourceError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, SourceError> + Send + 'static,
{
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|e| Err(SourceError::caused("a worker thread of the source ended early", e)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int32Array;

    use super::*;

    fn chunk(n: i32) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![n])) as _)]).unwrap()
    }

    #[tokio::test]
    async fn a_panic_in_a_reader_is_an_error_and_not_the_end() {
        let mut chunks = spawn("test".into(), |out| {
            out.send(chunk(1))?;
            panic!("damaged");
        });
        assert!(chunks.next().await.unwrap().is_ok());
        assert!(matches!(chunks.next().await, Some(Err(SourceError::Data { .. }))));
        assert!(chunks.next().await.is_none());
    }

    #[tokio::test]
    async fn a_channel_that_closes_without_the_end_mark_is_an_error() {
        let (sender, receiver) = mpsc::channel(1);
        sender.send(Message::Chunk(chunk(1))).await.unwrap();
        drop(sender);
        let mut chunks = received("test".into(), receiver);
        assert!(chunks.next().await.unwrap().is_ok());
        let error = chunks.next().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "test: reading stopped before its end");
    }

    #[tokio::test]
    async fn a_dropped_stream_stops_its_reader() {
        let (stopped, seen) = std::sync::mpsc::channel();
        let chunks = spawn("test".into(), move |out| {
            let result = (0..).try_for_each(|n| out.send(chunk(n)));
            let _ = stopped.send(matches!(result, Err(Interrupted::Dropped)));
            result
        });
        drop(chunks);
        assert!(seen.recv_timeout(std::time::Duration::from_secs(10)).expect("the reader ends within 10 s"));
    }
}
