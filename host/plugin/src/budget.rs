//! The memory of all instances of this process: who wants to start one waits until there is room for all that it may
//! use, so that no call fails for what others use.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of linear memory, given out in the order in which they were asked for.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes_max: u64,
    state: Mutex<State>,
    changed: Condvar,
    used: Used,
}

/// What instances really use.
#[derive(Debug, Default)]
pub(crate) struct Used {
    now: AtomicU64,
    peak: AtomicU64,
}

#[derive(Debug)]
struct State {
    free: u64,
    /// Who waits, the first in front.
    queue: VecDeque<u64>,
    next: u64,
}

/// Room for one instance; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(bytes_max: u64) -> Arc<Self> {
        let state = State { free: bytes_max, queue: VecDeque::new(), next: 0 };
        Arc::new(Self { bytes_max, state: Mutex::new(state), changed: Condvar::new(), used: Used::default() })
    }

    pub(crate) fn used(&self) -> &Used {
        &self.used
    }

    /// Waits for room, after `evict` had nothing more to give up. More than there is at all is all there is.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64, evict: impl Fn() -> bool) -> Reserved {
        let bytes = bytes.min(self.bytes_max);
        let mut state = self.state();
        let ticket = state.next;
        state.next += 1;
        state.queue.push_back(ticket);
        while state.queue.front() != Some(&ticket) || state.free < bytes {
            drop(state);
            let evicted = evict();
            state = self.state();
            let has_room = state.queue.front() == Some(&ticket) && state.free >= bytes;
            if !evicted && !has_room {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.queue.pop_front();
        state.free -= bytes;
        drop(state);
        self.changed.notify_all();
        Reserved { budget: Arc::clone(self), bytes }
    }

    /// Whether somebody waits: nothing that is idle should be kept then.
    pub(crate) fn is_short(&self) -> bool {
        !self.state().queue.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    /// Counts growth of the instance.
    pub(crate) fn grew(&self, bytes: u64) {
        self.budget.used.add(bytes);
    }

    /// Counts the end of an instance that used so much.
    pub(crate) fn ended(&self, bytes: u64) {
        self.budget.used.now.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.state().free += self.bytes;
        self.budget.changed.notify_all();
    }
}

impl Used {
    fn add(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    /// Bytes in use now.
    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Most bytes that were in use at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn what_does_not_fit_waits_and_nobody_overtakes_it() {
        let budget = Budget::new(100);
        let first = budget.reserve(60, || false);
        let (told, order) = mpsc::channel();
        thread::scope(|threads| {
            for (at, bytes) in [80, 10].into_iter().enumerate() {
                let (own, told) = (Arc::clone(&budget), told.clone());
                threads.spawn(move || {
                    let reserved = own.reserve(bytes, || false);
                    told.send(bytes).unwrap();
                    drop(reserved);
                });
                while budget.state().queue.len() <= at {
                    thread::yield_now();
                }
            }
            assert!(budget.is_short());
            assert!(order.try_recv().is_err(), "there is room for 10, but 80 came first");
            drop(first);
            assert_eq!([order.recv().unwrap(), order.recv().unwrap()].iter().sum::<u64>(), 90);
        });
        assert_eq!(budget.state().free, 100);
        assert!(!budget.is_short());
    }

    #[test]
    fn more_than_there_is_takes_all() {
        let budget = Budget::new(100);
        let all = budget.reserve(500, || false);
        assert_eq!(budget.state().free, 0);
        drop(all);
        assert_eq!(budget.state().free, 100);
    }

    #[test]
    fn what_is_idle_gives_way() {
        let budget = Budget::new(100);
        let idle = Mutex::new(Some(budget.reserve(100, || false)));
        let reserved = budget.reserve(40, || idle.lock().unwrap().take().is_some());
        assert!(idle.lock().unwrap().is_none());
        drop(reserved);
        assert_eq!(budget.state().free, 100);
    }

    #[test]
    fn use_is_counted_with_its_peak() {
        let budget = Budget::new(100);
        let reserved = budget.reserve(50, || false);
        reserved.grew(30);
        reserved.grew(10);
        reserved.ended(40);
        assert_eq!((budget.used().now(), budget.used().peak()), (0, 40));
    }
}
