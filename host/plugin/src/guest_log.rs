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
    /// A line of which only the beginning was written.
    begun: String,
}

/// The level of errors; higher ones count as it.
pub(crate) const ERROR: u32 = 4;

impl GuestLog {
    pub(crate) fn new(identity: Arc<Identity>, limits: &Limits) -> Self {
        let (lines_max, line_bytes_max) = (limits.log_lines_max, count(limits.log_line_bytes_max));
        Self { identity, lines_max, line_bytes_max, lines: 0, dropped: 0, begun: String::new() }
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

    /// A piece of what is written to standard error: its lines are put together.
    pub(crate) fn piece(&mut self, text: &str) {
        self.begun.push_str(text);
        let end = match self.begun.rfind('\n') {
            Some(end) => end + 1,
            None if self.begun.len() < self.line_bytes_max => return,
            None => self.begun.len(),
        };
        let rest = self.begun.split_off(end);
        let whole = std::mem::replace(&mut self.begun, rest);
        whole.lines().filter(|line| !line.trim().is_empty()).for_each(|line| self.line(ERROR, line));
    }

    /// Ends a call: tells what was dropped and starts to count again.
    pub(crate) fn end_call(&mut self) {
        if !self.begun.is_empty() {
            self.piece("\n");
        }
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
