//! The thread that advances the engine's epoch, so that deadlines pass.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two ticks: deadlines are as exact as this.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Ends its thread when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Calls `tick` every [`TICK`].
    pub(crate) fn start(tick: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("plugin-epoch".into()).spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ticks after which `milliseconds` have surely passed.
    pub(crate) fn ticks(milliseconds: u64) -> u64 {
        milliseconds.div_ceil(TICK.as_millis() as u64).saturating_add(1)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    #[test]
    fn ticks_until_it_is_dropped() {
        let count = Arc::new(AtomicU64::new(0));
        let counter = count.clone();
        let ticker = Ticker::start(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        let start = Instant::now();
        while count.load(Ordering::SeqCst) < 3 {
            assert!(start.elapsed() < Duration::from_secs(10), "the ticker does not tick");
            std::thread::yield_now();
        }
        drop(ticker);
        assert_eq!(Arc::strong_count(&count), 1, "the thread has ended and given back what it held");
    }

    #[test]
    fn a_deadline_is_never_shorter_than_asked() {
        assert_eq!(Ticker::ticks(0), 1);
        assert_eq!(Ticker::ticks(1), 2);
        assert_eq!(Ticker::ticks(200), 21);
        assert_eq!(Ticker::ticks(u64::MAX), u64::MAX.div_ceil(10) + 1);
    }
}
