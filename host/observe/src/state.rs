//! What a stream does at the moment, in one word: the same in metrics, in probes and in `host status`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Event;

/// What a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamState {
    /// It takes up its checkpoint and asks its source for the first time.
    #[default]
    Starting,
    /// It works on batches.
    Running,
    /// Nothing has waited for some seconds.
    Idle,
    /// Something outside does not answer; it tries again by itself.
    Waiting,
    /// It ended in error, and only a start goes on with it.
    Failed,
    /// It ended well, or was stopped.
    Ended,
}

impl StreamState {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Starting, Self::Running, Self::Idle, Self::Waiting, Self::Failed, Self::Ended];

    /// What it does after an event of the stream.
    #[must_use]
    pub fn after(self, event: &Event) -> Self {
        match event {
            Event::Started { .. } => Self::Starting,
            // Going on with a batch is a try like others, until rows come.
            Event::Planned { rerun: true, .. } if self == Self::Waiting => self,
            Event::Rows { .. } if self == Self::Waiting => Self::Running,
            Event::Ready { .. } | Event::Recovered { .. } | Event::Planned { .. } | Event::Committed(_) => {
                Self::Running
            }
            Event::Idle { .. } => Self::Idle,
            Event::Waiting { .. } => Self::Waiting,
            Event::Ended { error: Some(_), .. } => Self::Failed,
            Event::Ended { error: None, .. } => Self::Ended,
            _ => self,
        }
    }

    /// Whether the stream goes on.
    pub fn is_alive(self) -> bool {
        !matches!(self, Self::Failed | Self::Ended)
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Ended => "ended",
        }
    }
}

/// Why a stream waits, for people: `the broker does not answer (4 tries, next in 8 s)`.
pub fn waiting_text(reason: &str, tries: u32, retry_in: Duration) -> String {
    let tries = if tries == 1 { "1 try".to_string() } else { format!("{tries} tries") };
    format!("{reason} ({tries}, next in {:.0} s)", retry_in.as_secs_f64().ceil())
}

impl std::fmt::Display for StreamState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accounts;

    fn ended(error: Option<&str>) -> Event {
        let error = error.map(str::to_owned);
        Event::Ended { stream: "s".into(), accounts: Accounts::default(), batches: 0, error }
    }

    fn states(events: &[Event]) -> Vec<&'static str> {
        let next = |state: &mut StreamState, event| {
            *state = state.after(event);
            Some(state.name())
        };
        events.iter().scan(StreamState::default(), next).collect()
    }

    #[test]
    fn a_stream_starts_works_waits_for_its_source_goes_on_rests_and_ends() {
        let stream = || "s".to_string();
        let waiting = Event::Waiting {
            stream: stream(),
            reason: "the broker does not answer".into(),
            tries: 1,
            retry_in: Duration::from_secs(1),
        };
        let events = [
            Event::Started { stream: stream(), table: "t".into() },
            waiting,
            Event::Recovered { stream: stream() },
            Event::Ready { stream: stream() },
            Event::Rows { stream: stream(), rows: 1 },
            Event::Idle { stream: stream() },
            Event::Lag { stream: stream(), partitions: Vec::new() },
            Event::Planned { stream: stream(), batch: 0, rows: None, backlog_rows: None, rerun: false },
            ended(None),
        ];
        let expected = ["starting", "waiting", "running", "running", "running", "idle", "idle", "running", "ended"];
        assert_eq!(states(&events), expected);
        assert_eq!(states(&[ended(Some("no"))]), ["failed"]);
    }

    #[test]
    fn a_batch_that_is_tried_again_is_waited_for_until_its_rows_come() {
        let stream = || "s".to_string();
        let events = [
            Event::Waiting { stream: stream(), reason: "no answer".into(), tries: 1, retry_in: Duration::from_secs(1) },
            Event::Planned { stream: stream(), batch: 0, rows: None, backlog_rows: None, rerun: true },
            Event::Rows { stream: stream(), rows: 1 },
        ];
        assert_eq!(states(&events), ["waiting", "waiting", "running"]);
    }

    #[test]
    fn why_a_stream_waits_is_said_with_tries_and_pause() {
        let text = |tries, milliseconds| waiting_text("no broker", tries, Duration::from_millis(milliseconds));
        assert_eq!(text(1, 500), "no broker (1 try, next in 1 s)");
        assert_eq!(text(4, 7_800), "no broker (4 tries, next in 8 s)");
    }

    #[test]
    fn words_are_those_of_json() {
        for state in StreamState::ALL {
            assert_eq!(serde_json::to_value(state).expect("a word"), state.name());
        }
        assert!(StreamState::Waiting.is_alive() && !StreamState::Failed.is_alive() && !StreamState::Ended.is_alive());
    }
}
