//! Delta's log checkpoints: written beside the stream, never two at a time, and never a reason to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deltalake::kernel::Metadata;

use crate::log::Log;

const INTERVAL: i64 = 10;

#[derive(Debug, Clone, Default)]
pub(crate) struct Checkpoints {
    running: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Starts a log checkpoint when a commit of ours made the version due (D-104, R-008).
    pub(crate) fn after_commit(&self, table: &str, log: &Log, metadata: &Metadata, version: i64) {
        if version % interval(metadata) != 0 || self.running.swap(true, Ordering::AcqRel) {
            return;
        }
        let running = Running(self.running.clone());
        let (table, log) = (table.to_string(), log.clone());
        let runtime = tokio::runtime::Handle::current();
        // deltalake's checkpoint blocks where it stands, so it gets a thread that may.
        tokio::task::spawn_blocking(move || {
            let _running = running;
            match runtime.block_on(log.write_checkpoint(version)) {
                Ok(()) => tracing::debug!(table, version, "log checkpoint written"),
                Err(error) => tracing::warn!(
                    table,
                    version,
                    %error,
                    "log checkpoint not written; the table is whole, reading its log takes longer"
                ),
            }
        });
    }
}

struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The table's own interval, when it has a usable one.
fn interval(metadata: &Metadata) -> i64 {
    let own = metadata.configuration().get("delta.checkpointInterval");
    own.and_then(|text| text.parse().ok()).filter(|n| *n > 0).unwrap_or(INTERVAL)
}
