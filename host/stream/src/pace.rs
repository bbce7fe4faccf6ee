//! When the next batch may begin, and when a stream is done.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Under load batches come at least this far apart.
const BATCH_GAP: Duration = Duration::from_millis(100);
/// How often a source is asked while nothing waits.
const POLL: Duration = Duration::from_millis(100);
/// How often a table is asked although its stream told nothing: someone else may write it.
const POLL_TABLE: Duration = Duration::from_secs(1);

/// What sets a stream's pace.
#[derive(Debug)]
pub enum Pace {
    /// All that is pending at the start, then done.
    AvailableNow,
    /// Until stopped; batches begin at least this far apart.
    Continuous(Duration),
    /// As the upstream goes; done when it has ended and nothing is left.
    Follow(Upstream),
}

/// A stream seen by the streams below it.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its name.
    pub name: String,
    /// What it tells.
    pub news: watch::Receiver<News>,
}

/// What a stream tells those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct News {
    /// Commits in this run: a new number is a new version to read.
    pub commits: u64,
    /// Whether more may come.
    pub state: UpstreamState,
}

/// Whether more may come from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpstreamState {
    /// It runs.
    #[default]
    Running,
    /// It has ended well: its table has what it will have.
    Ended,
    /// It failed.
    Failed,
}

impl Pace {
    /// What the upstream says at this moment; asked *before* planning, so that "nothing waits" and "it has ended"
    /// together mean that nothing will come.
    pub(crate) fn upstream(&mut self) -> UpstreamState {
        match self {
            Self::Follow(upstream) => upstream.news.borrow_and_update().state,
            _ => UpstreamState::Running,
        }
    }

    /// Whether a stream with nothing waiting is done, given what the upstream said before planning.
    pub(crate) fn done(&self, upstream: UpstreamState) -> bool {
        match self {
            Self::AvailableNow => true,
            Self::Continuous(_) => false,
            Self::Follow(_) => upstream == UpstreamState::Ended,
        }
    }

    /// Waits until it is worth asking the source again.
    pub(crate) async fn wait_for_rows(&mut self) {
        match self {
            Self::Follow(upstream) => {
                // An error says that the upstream's task is gone; its last news stand, the next look sees them.
                let _ = tokio::time::timeout(POLL_TABLE, upstream.news.changed()).await;
            }
            _ => tokio::time::sleep(POLL).await,
        }
    }

    /// Waits until the next batch may begin, after one that began at `last`.
    pub(crate) async fn wait_for_turn(&self, last: Option<Instant>) {
        let gap = match self {
            Self::Continuous(every) => (*every).max(BATCH_GAP),
            Self::AvailableNow => Duration::ZERO,
            Self::Follow(_) => BATCH_GAP,
        };
        if let Some(last) = last {
            tokio::time::sleep_until(last + gap).await;
        }
    }
}
