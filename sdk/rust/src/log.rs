//! Lines for the host's log.

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Level {
    Trace = 0,
    Debug = 1,
    Info = 2,
    Warn = 3,
    Error = 4,
}

/// Writes a line to the host's log; natively to stderr. The host cuts long lines and drops floods.
pub fn log(level: Level, text: &str) {
    #[cfg(target_family = "wasm")]
    crate::raw::described::crisol::stage::log::log(level as u32, text);
    #[cfg(not(target_family = "wasm"))]
    eprintln!("{level:?}: {text}");
}
