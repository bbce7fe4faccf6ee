//! A writer at work beside what feeds it.

use crisol_table::{FileWriter, TableError};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::Failure;
use crate::flow::{Files, Message, QUEUE_CHUNKS, join, write};

/// Files of a table, and perhaps of its quarantine, while they are written.
pub(crate) struct Writing {
    send: mpsc::Sender<Message>,
    written: JoinHandle<Result<Option<Files>, TableError>>,
}

impl Writing {
    /// Starts the writer of the table's rows.
    pub(crate) fn begin(table: Box<dyn FileWriter>) -> Self {
        let (send, receive) = mpsc::channel(QUEUE_CHUNKS);
        Self { send, written: spawn_blocking(move || write(table, receive)) }
    }

    /// One that lets all rows go, and ends with no files.
    pub(crate) fn nowhere() -> Self {
        let (send, mut receive) = mpsc::channel(QUEUE_CHUNKS);
        let drain = move || {
            while receive.blocking_recv().is_some_and(|message| !matches!(message, Message::End)) {}
            Ok(Some((Vec::new(), Vec::new())))
        };
        Self { send, written: spawn_blocking(drain) }
    }

    /// Hands something over. A writer that failed takes no more; its error is told at the end.
    pub(crate) async fn send(&self, message: Message) {
        let _closed = self.send.send(message).await;
    }

    /// The other end, for whoever gives rows itself.
    pub(crate) fn sender(&self) -> &mpsc::Sender<Message> {
        &self.send
    }

    /// Finishes the files; they are given up when what fed them failed.
    pub(crate) async fn end<T>(self, fed: Result<T, Failure>) -> Result<(T, Files), Failure> {
        if fed.is_ok() {
            self.send(Message::End).await;
        }
        drop(self.send);
        let files = join(self.written).await?;
        let fed = fed?;
        let files = files?.ok_or_else(|| Failure::Internal { what: "the writer ended before the rows did".into() })?;
        Ok((fed, files))
    }
}
