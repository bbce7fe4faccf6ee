//! Delta's log checkpoints: written beside the stream, never two at a time, and never a reason to stop.

use deltalake::kernel::Metadata;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::log::Log;

const INTERVAL: i64 = 10;

#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    under_way: Mutex<Option<JoinHandle<()>>>,
}

impl Checkpoints {
    /// Starts a log checkpoint when a commit of ours made the version due (D-104, R-008).
    pub(crate) async fn after_commit(&self, table: &str, log: &Log, metadata: &Metadata, version: i64) {
        if version % interval(metadata) != 0 {
            return;
        }
        let mut under_way = self.under_way.lock().await;
        if under_way.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let (table, log) = (table.to_string(), log.clone());
        let runtime = tokio::runtime::Handle::current();
        // deltalake's checkpoint blocks where it stands, so it gets a thread that may.
        *under_way = Some(tokio::task::spawn_blocking(move || match runtime.block_on(log.write_checkpoint(version)) {
            Ok(()) => tracing::debug!(table, version, "log checkpoint written"),
            Err(error) => tracing::warn!(
                table,
                version,
                %error,
                "log checkpoint not written; the table is whole, reading its log takes longer"
            ),
        }));
    }

    /// Waits for the log checkpoint under way.
    pub(crate) async fn settled(&self, table: &str) {
        if let Some(task) = self.under_way.lock().await.take()
            && let Err(error) = task.await
        {
            tracing::warn!(table, %error, "log checkpoint not written; the table is whole, reading its log takes longer");
        }
    }
}

/// The table's own interval, when it has a usable one.
fn interval(metadata: &Metadata) -> i64 {
    let own = metadata.configuration().get("delta.checkpointInterval");
    own.and_then(|text| text.parse().ok()).filter(|n| *n > 0).unwrap_or(INTERVAL)
}
