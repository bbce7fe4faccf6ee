//! How the C library keeps memory that is free.

/// As many as there are cores on a small machine.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS_MAX: libc::c_int = 2;

/// Has all threads share a few arenas. Rows are made on one thread and freed on another, and the C library would give each
/// thread an arena of its own, which keeps the most that it ever held: a third of the peak of a run. `MALLOC_ARENA_MAX`
/// wins where it is set.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_arenas() {
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        // SAFETY: `mallopt` takes two numbers, no memory, and sets a limit of the allocator under the allocator's own
        // lock (mallopt(3)). `M_ARENA_MAX` is a limit that it knows; an unknown one would be ignored.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX) };
    }
}

/// Other allocators share memory between threads by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_arenas() {}
