//! Log lines for where there is no terminal: each commit of a batch, at most one line a stream in ten seconds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crisol::{Event, Observer, Progress};

use super::{plugins, thousands, trouble};

const EVERY: Duration = Duration::from_secs(10);

/// Writes log lines.
#[derive(Default)]
pub(super) struct Lines {
    last: Mutex<HashMap<String, Instant>>,
}

impl Lines {
    fn due(&self, stream: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.get(stream).is_none_or(|then| then.elapsed() >= EVERY);
        if due {
            last.insert(stream.into(), Instant::now());
        }
        due
    }
}

impl Observer for Lines {
    fn observe(&self, event: &Event) {
        match event {
            Event::Started { stream, table } => tracing::info!(stream, table, "started"),
            Event::Planned { stream, batch, rerun: true, .. } => {
                tracing::info!(stream, batch, "going on with the batch that an earlier run logged");
            }
            Event::Committed(progress) => {
                trouble::log(event);
                if self.due(progress.name.as_deref().unwrap_or_default()) {
                    tracing::info!("{}", line(progress));
                }
            }
            Event::Idle { stream } => tracing::info!(stream, "nothing waits"),
            Event::Waiting { .. }
            | Event::Recovered { .. }
            | Event::Warning { .. }
            | Event::Ended { error: Some(_), .. } => trouble::log(event),
            Event::Swapped { .. } | Event::PluginRefused { .. } => plugins::log(event),
            Event::Ended { stream, accounts, batches, error: None } => tracing::info!(
                stream,
                batches,
                rows = accounts.rows_in,
                written = accounts.rows_written,
                rejected = accounts.rows_rejected(),
                filtered = accounts.rows_filtered(),
                "ended"
            ),
            Event::Ready { .. }
            | Event::Lag { .. }
            | Event::Unbalanced { .. }
            | Event::Serving { .. }
            | Event::Planned { .. }
            | Event::Rows { .. } => {}
        }
    }
}

fn line(progress: &Progress) -> String {
    let stream = progress.name.as_deref().unwrap_or_default();
    let rows = thousands(progress.num_input_rows);
    let rate = progress.processed_rows_per_second.map_or_else(String::new, |rate| format!(", {rate:.0} rows/s"));
    let lag = progress.host.backlog_rows.map_or_else(String::new, |lag| format!(", {} waiting", thousands(lag)));
    let (batch, version) = (progress.batch_id, progress.host.table_version);
    format!("{stream}: batch {batch}, {rows} rows{rate}{lag}, committed as version {version}")
}
