//! What this process uses.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts what is asked for and given back, and remembers the largest request.
struct Counted;

static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);
static LARGEST_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        LARGEST_BYTES.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

pub(crate) fn forget_largest_request() {
    LARGEST_BYTES.store(0, Ordering::Relaxed);
}

/// The most that was asked for at once since it was forgotten.
pub(crate) fn largest_request_bytes() -> usize {
    LARGEST_BYTES.load(Ordering::Relaxed)
}

/// Held by tests that look at the process, and by those that would be seen.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads and memory.
#[derive(Debug)]
pub(crate) struct Process {
    threads: u64,
    /// Asked for and not given back; memories of guests are not among it.
    live_bytes: isize,
    /// All of the process, also what the allocator keeps for later.
    resident_bytes: u64,
    /// The most that it ever was.
    peak_bytes: u64,
}

impl Process {
    pub(crate) fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let number = |key: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().unwrap()
        };
        Self {
            threads: number("Threads"),
            live_bytes: LIVE_BYTES.load(Ordering::Relaxed),
            resident_bytes: number("VmRSS") << 10,
            peak_bytes: number("VmHWM") << 10,
        }
    }

    /// What guests took was given back, and was never much more than their limits allow.
    pub(crate) fn assert_not_grown_since(&self, before: &Self) {
        // A few belong to the test runner, which starts and ends them as it likes; there were more than a thousand cells.
        assert!(self.threads <= before.threads + 4, "threads: {before:?}, {self:?}");
        let kept = self.live_bytes - before.live_bytes;
        assert!(kept <= 16 << 20, "{kept} bytes were not given back: {before:?}, {self:?}");
        let resident = self.resident_bytes.saturating_sub(before.resident_bytes);
        assert!(resident <= 768 << 20, "{resident} bytes more: {before:?}, {self:?}");
        let peak = self.peak_bytes.saturating_sub(before.resident_bytes);
        assert!(peak <= 1 << 30, "{peak} bytes more in between: {before:?}, {self:?}");
    }
}
