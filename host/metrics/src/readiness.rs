//! Whether the host is ready: contracts and components are loaded, and each stream holds its checkpoint and has reached
//! its source once.
//!
//! What fails later shows, and does not make the host unready: a stream that waits goes on by itself, and one that
//! failed must not take its healthy neighbours with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crisol_observe::{Event, StreamState, waiting_text};

/// What is known of the host's readiness.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    loaded: bool,
    stopping: bool,
    streams: BTreeMap<String, Standing>,
}

/// How a stream stands.
#[derive(Debug, Default)]
struct Standing {
    /// It was ready once.
    was_ready: bool,
    state: StreamState,
    /// Why it waits or failed.
    why: Option<String>,
}

impl Standing {
    fn observe(&mut self, event: &Event) {
        self.state = self.state.after(event);
        self.was_ready |= matches!(event, Event::Ready { .. });
        match event {
            Event::Waiting { reason, tries, retry_in, .. } => {
                self.why = Some(waiting_text(reason, *tries, *retry_in));
            }
            Event::Ended { error, .. } => self.why.clone_from(error),
            _ if self.state != StreamState::Waiting => self.why = None,
            _ => {}
        }
    }

    /// Whether nothing is to be waited for; a stream that ended has nothing more to reach.
    fn is_settled(&self) -> bool {
        self.was_ready || !self.state.is_alive()
    }

    fn mark(&self) -> &'static str {
        match self.state {
            StreamState::Failed => "FAIL",
            StreamState::Waiting => "wait",
            _ if self.is_settled() => "ok",
            _ => "wait",
        }
    }
}

impl Readiness {
    /// Contracts and components are loaded; these streams will run.
    pub(crate) fn loaded<'a>(&mut self, streams: impl IntoIterator<Item = &'a str>) {
        self.loaded = true;
        for stream in streams {
            self.streams.entry(stream.into()).or_default();
        }
    }

    /// The host was asked to stop.
    pub(crate) fn stopping(&mut self) {
        self.stopping = true;
    }

    /// Takes note of an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        if let Some(stream) = event.stream() {
            self.streams.entry(stream.into()).or_default().observe(event);
        }
    }

    /// Whether it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.loaded && !self.stopping && self.streams.values().all(Standing::is_settled)
    }

    /// What is missing; with `verbose` also what is not.
    pub(crate) fn report(&self, verbose: bool) -> String {
        let mut text = String::new();
        if verbose || !self.loaded {
            let mark = if self.loaded { "ok" } else { "wait" };
            let _ = writeln!(text, "{mark:4} contracts and components");
        }
        if self.stopping {
            text.push_str("wait stopping: batches that are committing are finished\n");
        }
        for (name, stream) in self.streams.iter().filter(|(_, stream)| verbose || !stream.is_settled()) {
            let why = stream.why.as_ref().map_or_else(String::new, |why| format!(": {}", why.replace('\n', " ")));
            let _ = writeln!(text, "{:4} stream {name}: {}{why}", stream.mark(), stream.state);
        }
        text.push_str(if self.is_ready() { "ready\n" } else { "not ready\n" });
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crisol_observe::Accounts;

    use super::*;

    fn ended(stream: &str, error: Option<&str>) -> Event {
        let error = error.map(str::to_owned);
        Event::Ended { stream: stream.into(), accounts: Accounts::default(), batches: 0, error }
    }

    fn ready(stream: &str) -> Event {
        Event::Ready { stream: stream.into() }
    }

    #[test]
    fn a_host_is_ready_once_all_is_loaded_and_every_stream_reached_its_source() {
        let mut host = Readiness::default();
        assert!(!host.is_ready());
        assert_eq!(host.report(false), "wait contracts and components\nnot ready\n");
        host.loaded(["bronze", "silver"]);
        host.observe(&ready("bronze"));
        assert!(!host.is_ready());
        assert_eq!(host.report(false), "wait stream silver: starting\nnot ready\n");
        let (reason, retry_in) = ("no broker\nanswers".into(), Duration::from_secs(8));
        host.observe(&Event::Waiting { stream: "silver".into(), reason, tries: 4, retry_in });
        assert_eq!(
            host.report(false),
            "wait stream silver: waiting: no broker answers (4 tries, next in 8 s)\nnot ready\n"
        );
        host.observe(&ready("silver"));
        assert!(host.is_ready());
        assert_eq!(host.report(false), "ready\n");
        assert_eq!(
            host.report(true),
            "ok   contracts and components\nok   stream bronze: running\nok   stream silver: running\nready\n"
        );
    }

    #[test]
    fn a_stream_that_waits_later_or_fails_shows_and_leaves_the_host_ready() {
        let mut host = Readiness::default();
        host.loaded(["a", "b", "c"]);
        host.observe(&ready("a"));
        host.observe(&ready("b"));
        host.observe(&ended("c", Some("the disk is full")));
        let reason = "no broker".into();
        host.observe(&Event::Waiting { stream: "a".into(), reason, tries: 1, retry_in: Duration::from_secs(1) });
        assert!(host.is_ready());
        let report = host.report(true);
        assert!(report.contains("wait stream a: waiting: no broker (1 try, next in 1 s)\n"), "{report}");
        assert!(report.contains("FAIL stream c: failed: the disk is full\n"), "{report}");
        host.observe(&Event::Recovered { stream: "a".into() });
        assert!(host.report(true).contains("ok   stream a: running\n"));
    }

    #[test]
    fn a_host_that_was_asked_to_stop_is_not_ready() {
        let mut host = Readiness::default();
        host.loaded(["a"]);
        host.observe(&ready("a"));
        host.stopping();
        assert!(!host.is_ready());
        assert!(host.report(false).starts_with("wait stopping"), "{}", host.report(false));
        host.observe(&ended("a", None));
        assert!(!host.is_ready());
    }
}
