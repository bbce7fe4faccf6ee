//! Writes what a stream tells.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crisol_observe::{Event, Observer};
use jiff::Timestamp;

use super::{StreamReport, path, rfc3339};
use crate::replace::replace;

/// Progress is written at most so often; another state is, at once.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// A stream is heard at least so often.
const HEARD_EVERY: Duration = Duration::from_secs(10);

/// The file of a running stream.
#[derive(Debug)]
pub(crate) struct ReportFile {
    path: PathBuf,
    told: Mutex<Told>,
}

#[derive(Debug)]
struct Told {
    report: StreamReport,
    /// It is not yet written.
    new: bool,
    written: Instant,
    /// That it cannot be written was said.
    warned: bool,
}

impl ReportFile {
    /// The file beside a checkpoint; it lives as long as someone tells it events. Needs tokio.
    pub(crate) fn begin(checkpoint: &Path, report: StreamReport) -> Arc<Self> {
        let told = Told { report, new: true, written: Instant::now(), warned: false };
        let file = Arc::new(Self { path: path(checkpoint), told: Mutex::new(told) });
        file.refresh();
        tokio::spawn(keep(Arc::downgrade(&file)));
        file
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is new, and that the stream still lives.
    pub(super) fn refresh(&self) {
        let mut told = self.told();
        let silent = told.written.elapsed() >= HEARD_EVERY;
        if told.report.state.is_alive() && (told.new || silent) {
            self.write(&mut told);
        }
    }

    fn write(&self, told: &mut Told) {
        told.report.updated = rfc3339(Timestamp::now());
        told.written = Instant::now();
        told.new = false;
        let written = serde_json::to_vec(&told.report).map_err(Into::into).and_then(|text| replace(&self.path, &text));
        if let Err(error) = written
            && !std::mem::replace(&mut told.warned, true)
        {
            let file = self.path.display();
            tracing::warn!(%file, "cannot be written, `host status` will not show what the stream does: {error}");
        }
    }
}

impl Observer for ReportFile {
    fn observe(&self, event: &Event) {
        if matches!(event, Event::Rows { .. }) {
            return;
        }
        let mut told = self.told();
        told.new = true;
        if told.report.take_in(event) {
            self.write(&mut told);
        }
    }
}

/// Refreshes the file until its stream is gone.
async fn keep(file: Weak<ReportFile>) {
    loop {
        tokio::time::sleep(PROGRESS_EVERY).await;
        match file.upgrade() {
            Some(file) => file.refresh(),
            None => return,
        }
    }
}
