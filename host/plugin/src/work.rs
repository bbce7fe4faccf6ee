//! What a component costs: the calls of all its instances, counted since someone asked last.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::instance::Instance;

/// What calls of a component came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Calls, those that failed included; of groups each push and each end of a session.
    pub calls: u64,
    /// Rows that they were given.
    pub rows: u64,
    /// Time in the sandbox, on the clock.
    pub time: Duration,
    /// Most linear memory that one instance had.
    pub memory_bytes: u64,
}

/// Counts the work of one component.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    calls: AtomicU64,
    rows: AtomicU64,
    nanoseconds: AtomicU64,
    memory_bytes: AtomicU64,
}

impl Meter {
    /// Does some work in an instance and counts it.
    pub(crate) fn count<T>(&self, instance: &mut Instance, rows: usize, work: impl FnOnce(&mut Instance) -> T) -> T {
        let begin = Instant::now();
        let done = work(instance);
        let nanoseconds = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.memory_bytes.fetch_max(instance.store.data().limiter.memory_bytes(), Ordering::Relaxed);
        done
    }

    /// What was counted; the count begins anew.
    pub(crate) fn take(&self) -> Work {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Work {
            calls: take(&self.calls),
            rows: take(&self.rows),
            time: Duration::from_nanos(take(&self.nanoseconds)),
            memory_bytes: take(&self.memory_bytes),
        }
    }
}
