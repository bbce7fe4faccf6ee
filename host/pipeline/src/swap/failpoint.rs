//! Named places of an exchange where a test may end the process, as `crisol-stream` has them in the protocol.

/// Passes a failpoint.
#[cfg(feature = "failpoints")]
pub(super) fn pass(name: &str) {
    fail::fail_point!(name, |_| std::process::abort());
}

/// Passes a failpoint: nothing without the feature.
#[cfg(not(feature = "failpoints"))]
pub(super) fn pass(_name: &str) {}
