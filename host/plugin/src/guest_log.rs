//! Log lines of components, on their way to the host's log: cut, escaped and counted.

use std::sync::Arc;

use crate::limits::{Limits, count};
use crate::text::printable;

/// Which component, for log lines and messages.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Its name, or its file as long as the name is not known.
    pub(crate) name: String,
    /// SHA-256 of its file, lower-case hex.
    pub(crate) digest: String,
}

/// The log of one call.
#[derive(Debug)]
pub(crate) struct GuestLog {
    identity: Arc<Identity>,
    lines_max: u64,
    line_bytes_max: usize,
    lines: u64,
    dropped: u64,
}

impl GuestLog {
    pub(crate) fn new(identity: Arc<Identity>, limits: &Limits) -> Self {
        let (lines_max, line_bytes_max) = (limits.log_lines_max, count(limits.log_line_bytes_max));
        Self { identity, lines_max, line_bytes_max, lines: 0, dropped: 0 }
    }

    /// One line, unless there were too many already.
    pub(crate) fn line(&mut self, level: u32, text: &str) {
        if self.lines == self.lines_max {
            self.dropped += 1;
            return;
        }
        self.lines += 1;
        let text = printable(text, self.line_bytes_max);
        let (plugin, digest) = (&self.identity.name, &self.identity.digest);
        match level {
            0 => tracing::trace!(guest = true, plugin, digest, "{text}"),
            1 => tracing::debug!(guest = true, plugin, digest, "{text}"),
            2 => tracing::info!(guest = true, plugin, digest, "{text}"),
            3 => tracing::warn!(guest = true, plugin, digest, "{text}"),
            _ => tracing::error!(guest = true, plugin, digest, "{text}"),
        }
    }

    /// Ends a call: tells what was dropped and starts to count again.
    pub(crate) fn end_call(&mut self) {
        if self.dropped > 0 {
            let (plugin, digest, dropped) = (&self.identity.name, &self.identity.digest, self.dropped);
            tracing::warn!(
                plugin,
                digest,
                dropped,
                "log lines of a component were dropped: {} a call are kept; `limits.log_lines_max` of the stage allows more",
                self.lines_max
            );
        }
        self.lines = 0;
        self.dropped = 0;
    }
}

impl Drop for GuestLog {
    fn drop(&mut self) {
        self.end_call();
    }
}
