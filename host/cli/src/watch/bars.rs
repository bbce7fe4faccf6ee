//! One line a stream on a terminal: bar, rows per second, what waits, last commit.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crisol::{Event, Observer, waiting_text};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::{plugins, thousands, trouble};
use crate::tables::plain;

const REDRAW: Duration = Duration::from_millis(250);
const KNOWN: &str = "{prefix:24!} {bar:20} {human_pos:>11}/{human_len:11} {rate}, {eta} left{wide_msg}";
const UNKNOWN: &str = "{prefix:24!} {spinner} {human_pos:>11} rows {rate}{wide_msg}";

/// Draws bars.
pub(super) struct Bars {
    bars: MultiProgress,
    streams: Mutex<HashMap<String, Line>>,
}

struct Line {
    bar: ProgressBar,
    commit: String,
    waiting: Option<u64>,
    /// For what it waits that does not answer.
    silent: Option<String>,
}

impl Bars {
    pub(super) fn new(bars: MultiProgress) -> Self {
        Self { bars, streams: Mutex::default() }
    }

    fn with(&self, stream: &str, change: impl FnOnce(&mut Line)) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = streams.get_mut(stream) {
            change(line);
            line.bar.set_message(line.message());
        }
    }

    fn start(&self, stream: &str) {
        let bar = self.bars.add(ProgressBar::new_spinner()).with_prefix(stream.to_string()).with_style(style(UNKNOWN));
        bar.enable_steady_tick(REDRAW);
        let line = Line { bar, commit: "no commit yet".into(), waiting: None, silent: None };
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.into(), line);
    }
}

impl Line {
    fn message(&self) -> String {
        if let Some(silent) = &self.silent {
            return format!(", waiting for the source: {}", plain(silent));
        }
        let waiting = self.waiting.map_or_else(String::new, |rows| format!(", {} waiting", thousands(rows)));
        format!("{waiting}, {}", self.commit)
    }
}

impl Observer for Bars {
    fn observe(&self, event: &Event) {
        match event {
            Event::Started { stream, .. } => self.start(stream),
            Event::Planned { stream, backlog_rows, rows, .. } => self.with(stream, |line| {
                line.waiting = *backlog_rows;
                if let Some(rows) = backlog_rows.or(*rows) {
                    line.bar.set_length(line.bar.position() + rows);
                    line.bar.set_style(style(KNOWN));
                }
            }),
            Event::Rows { stream, rows } => self.with(stream, |line| line.bar.inc(*rows)),
            Event::Committed(progress) => {
                self.with(progress.name.as_deref().unwrap_or_default(), |line| {
                    line.commit = format!("batch {} is version {}", progress.batch_id, progress.host.table_version);
                    line.waiting = progress.host.backlog_rows;
                });
            }
            Event::Waiting { stream, reason, tries, retry_in } => {
                trouble::log(event);
                self.with(stream, |line| line.silent = Some(waiting_text(reason, *tries, *retry_in)));
            }
            Event::Recovered { stream } => {
                trouble::log(event);
                self.with(stream, |line| line.silent = None);
            }
            Event::Warning { .. } => trouble::log(event),
            Event::Swapped { .. } | Event::PluginRefused { .. } => plugins::log(event),
            Event::Idle { .. }
            | Event::Ready { .. }
            | Event::Lag { .. }
            | Event::Unbalanced { .. }
            | Event::Serving { .. } => {}
            Event::Ended { stream, error, .. } => self.with(stream, |line| {
                (line.waiting, line.silent) = (None, None);
                line.commit = format!("{}, {}", line.commit, if error.is_some() { "FAIL" } else { "ok" });
                let message = line.message();
                line.bar.finish_with_message(message);
            }),
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{} rows/s", thousands(state.per_sec() as u64));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::ProgressDrawTarget;

    #[test]
    fn a_bar_says_for_what_its_stream_waits_until_it_goes_on() {
        let bars = Bars::new(MultiProgress::with_draw_target(ProgressDrawTarget::hidden()));
        let message = || bars.streams.lock().unwrap().get("orders").map(Line::message);
        let stream = || "orders".to_string();
        bars.observe(&Event::Started { stream: stream(), table: "t".into() });
        let (reason, retry_in) = ("no broker".into(), Duration::from_secs(8));
        bars.observe(&Event::Waiting { stream: stream(), reason, tries: 4, retry_in });
        let waits = ", waiting for the source: no broker (4 tries, next in 8 s)";
        assert_eq!(message().as_deref(), Some(waits));
        bars.observe(&Event::Recovered { stream: stream() });
        assert_eq!(message().as_deref(), Some(", no commit yet"));
    }
}
