//! How long a stream waits for a source that does not answer, and how often it asks (T-009).

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use crisol_source::SourceError;
use tokio::time::Instant;

use crate::Failure;

const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How long an outage of the source may last before it ends the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The first failure ends it.
    None,
    /// So long without an answer ends it: a run that has an end.
    For(Duration),
    /// None ends it: the stream has no end either, and goes on by itself.
    Endless,
}

/// An outage under way, if any.
#[derive(Debug)]
pub(crate) struct Outage {
    patience: Patience,
    under_way: Option<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    since: Instant,
    tries: u32,
    pauses: ExponentialBackoff,
}

impl Outage {
    pub(crate) fn new(patience: Patience) -> Self {
        Self { patience, under_way: None }
    }

    /// What to do about a failure: tries so far and the pause before the next one, or `None` where the stream ends. Only a
    /// source that did not answer may come back by itself.
    pub(crate) fn wait(&mut self, failure: &Failure, now: Instant) -> Option<(u32, Duration)> {
        if !matches!(failure, Failure::Source(SourceError::External { .. })) || self.patience == Patience::None {
            return None;
        }
        let outage = self.under_way.get_or_insert_with(|| UnderWay { since: now, tries: 0, pauses: pauses() });
        outage.tries += 1;
        let pause = outage.pauses.next().unwrap_or(PAUSE_MAX);
        let waited = now.saturating_duration_since(outage.since);
        match self.patience {
            Patience::For(most) if waited >= most => None,
            Patience::For(most) => Some((outage.tries, pause.min(most.saturating_sub(waited)))),
            _ => Some((outage.tries, pause)),
        }
    }

    /// The source answered; true when that ends an outage.
    pub(crate) fn over(&mut self) -> bool {
        self.under_way.take().is_some()
    }
}

fn pauses() -> ExponentialBackoff {
    ExponentialBuilder::new().with_min_delay(PAUSE_MIN).with_max_delay(PAUSE_MAX).without_max_times().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Failure {
        Failure::Source(SourceError::External { what: "no answer".into(), source: None })
    }

    #[test]
    fn t009_pauses_grow_to_half_a_minute_and_begin_anew_after_an_answer() {
        let (mut outage, now) = (Outage::new(Patience::Endless), Instant::now());
        let pauses: Vec<u64> = (0..7).map(|_| outage.wait(&silent(), now).unwrap().1.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert!(outage.over() && !outage.over());
        assert_eq!(outage.wait(&silent(), now), Some((1, Duration::from_secs(1))));
    }

    #[test]
    fn a_run_with_an_end_gives_up_when_its_time_is_up_and_not_before() {
        let (mut outage, begun) = (Outage::new(Patience::For(Duration::from_secs(5))), Instant::now());
        assert_eq!(outage.wait(&silent(), begun), Some((1, Duration::from_secs(1))));
        let later = begun + Duration::from_millis(4_500);
        assert_eq!(outage.wait(&silent(), later), Some((2, Duration::from_millis(500))), "the last try is at the end");
        assert_eq!(outage.wait(&silent(), begun + Duration::from_secs(5)), None);
    }

    #[test]
    fn what_a_person_must_mend_is_not_waited_for() {
        let config = Failure::Source(SourceError::Config { what: "no such topic".into(), hint: String::new() });
        assert_eq!(Outage::new(Patience::Endless).wait(&config, Instant::now()), None);
        assert_eq!(Outage::new(Patience::None).wait(&silent(), Instant::now()), None);
    }
}
