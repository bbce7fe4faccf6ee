//! How long a call may take, in processor time of the thread that makes it: a component cannot sleep, and one that has to
//! wait for a busy machine is not to blame. So the same rows meet the same end on a quiet machine and on a busy one.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The end of a call. Made and asked by the thread that makes the call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// Processor time of the thread.
    at: Duration,
}

impl Deadline {
    pub(crate) fn from_now(milliseconds: u64) -> Self {
        Self { at: used().saturating_add(Duration::from_millis(milliseconds)) }
    }

    /// What is left, in whole milliseconds, the last begun one counted.
    pub(crate) fn left_ms(&self) -> u64 {
        let left = self.at.saturating_sub(used());
        u64::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Processor time of this thread. Without such a clock every call would be stopped at once; Linux always has it.
fn used() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::MAX, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_brings_it_nearer() {
        let deadline = Deadline::from_now(1_000);
        std::thread::sleep(Duration::from_millis(50));
        let slept = deadline.left_ms();
        assert!(slept > 950, "{slept}");
        let mut count = 0_u64;
        while deadline.left_ms() > 900 {
            count = std::hint::black_box(count + 1);
        }
        assert!(count > 0);
        assert_eq!(Deadline::from_now(0).left_ms(), 0);
    }
}
