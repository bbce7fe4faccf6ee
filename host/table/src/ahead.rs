//! Work on a thread of its own beside a merge: rows are decoded there before they are asked for, and encoded after they
//! were given away.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use arrow_array::RecordBatch;

use crate::files::{Files, Layout};
use crate::scan::Failure;
use crate::{FileWriter, PendingFile, TableError};

/// Batches that wait.
const QUEUE: usize = 2;

/// The same items, made on a thread. Dropped early, it ends that thread.
pub(crate) fn ahead(
    rows: impl Iterator<Item = Result<RecordBatch, Failure>> + Send + 'static,
) -> Result<impl Iterator<Item = Result<RecordBatch, Failure>>, Failure> {
    let (send, receive) = sync_channel(QUEUE);
    let work = move || {
        for rows in rows {
            if send.send(rows).is_err() {
                break;
            }
        }
    };
    let thread = Builder::new().name("table-read".into()).spawn(work)?;
    Ok(Ahead { receive, thread: Some(thread) })
}

struct Ahead {
    receive: Receiver<Result<RecordBatch, Failure>>,
    thread: Option<JoinHandle<()>>,
}

impl Iterator for Ahead {
    type Item = Result<RecordBatch, Failure>;

    /// The end of the queue is the end of the rows only if the thread came to its own end.
    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(rows) = self.receive.recv() {
            return Some(rows);
        }
        let ended = self.thread.take()?.join();
        ended.err().map(|_| Err("the thread that read it panicked".into()))
    }
}

/// New files that a thread writes.
pub(crate) struct Behind {
    layout: Arc<Layout>,
    send: SyncSender<Message>,
    thread: Option<JoinHandle<Given>>,
}

/// The files; `None` when they were given up.
type Given = Result<Option<Vec<PendingFile>>, TableError>;

enum Message {
    Rows(RecordBatch),
    End,
}

impl Behind {
    /// Files are begun with the first rows.
    pub(crate) fn new(layout: &Arc<Layout>) -> Result<Self, TableError> {
        let mut files = Box::new(Files::new(Arc::clone(layout))?);
        let (send, receive) = sync_channel(QUEUE);
        // Without `End` the merge has failed: the files are given up.
        let work = move || {
            for message in receive {
                match message {
                    Message::Rows(rows) => files.write(&rows)?,
                    Message::End => return files.finish().map(Some),
                }
            }
            Ok(None)
        };
        let thread = Builder::new().name("table-write".into()).spawn(work).map_err(|e| layout.failed(e))?;
        Ok(Self { layout: Arc::clone(layout), send, thread: Some(thread) })
    }

    /// Gives rows away. What goes wrong with them is told here, with later rows, or by `finish`.
    pub(crate) fn write(&mut self, rows: RecordBatch) -> Result<(), TableError> {
        if rows.num_rows() == 0 || self.send.send(Message::Rows(rows)).is_ok() {
            return Ok(());
        }
        self.end().and(Err(self.layout.failed("its rows were given up")))
    }

    /// Ends the files and makes them durable.
    pub(crate) fn finish(mut self) -> Result<Vec<PendingFile>, TableError> {
        // A closed queue means that the thread failed, and its own error says why.
        let _ = self.send.send(Message::End);
        self.end()
    }

    /// Leaves nothing behind. Waits until that is so, which a mere drop does not.
    #[cfg(test)]
    pub(crate) fn give_up(self) {
        let Self { send, thread, .. } = self;
        drop(send);
        assert!(thread.unwrap().join().unwrap().unwrap().is_none());
    }

    fn end(&mut self) -> Result<Vec<PendingFile>, TableError> {
        let given = self.thread.take().map(JoinHandle::join).transpose();
        let given = given.map_err(|_| self.layout.failed("the thread that wrote it panicked"))?;
        let files = given.transpose()?.flatten();
        files.ok_or_else(|| self.layout.failed("its rows were given up"))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    fn batch(value: i64) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![value])) as ArrayRef)]).unwrap()
    }

    #[test]
    fn rows_read_ahead_come_in_order_and_end() {
        let read: Vec<_> = ahead((0..100).map(|n| Ok(batch(n)))).unwrap().map(Result::unwrap).collect();
        assert_eq!(read, (0..100).map(batch).collect::<Vec<_>>());
    }

    #[test]
    fn a_reader_that_panics_is_an_error_and_no_end() {
        let rows = (0..3).map(|n| if n < 2 { Ok(batch(n)) } else { panic!("on purpose") });
        let read: Vec<_> = ahead(rows).unwrap().collect();
        assert_eq!(read.len(), 3);
        assert!(read[1].is_ok());
        assert!(read[2].as_ref().unwrap_err().to_string().contains("panicked"));
    }

    #[test]
    fn a_reader_that_nobody_listens_to_ends() {
        let (done, ended) = std::sync::mpsc::channel();
        let rows = std::iter::repeat_with(move || {
            let _held = &done;
            Ok(batch(1))
        });
        drop(ahead(rows).unwrap());
        let closed = ended.recv_timeout(std::time::Duration::from_secs(60)).map(|(): ()| ());
        assert_eq!(closed, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
