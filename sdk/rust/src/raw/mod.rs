//! What the export macros stand on: sessions over messages, and the bindings to the WIT. Authors need none of it.

pub mod groups;
pub mod session;

#[cfg(target_family = "wasm")]
mod exports;
#[cfg(target_family = "wasm")]
pub use exports::*;

/// Which kind of rows stage a component is.
pub trait Kind: 'static {
    /// As `describe` says it.
    const KIND: &'static str;
}

/// From bytes to rows.
#[derive(Debug)]
pub struct AsDecoder;

/// From rows to rows.
#[derive(Debug)]
pub struct AsTransformer;

impl Kind for AsDecoder {
    const KIND: &'static str = "decoder";
}

impl Kind for AsTransformer {
    const KIND: &'static str = "transformer";
}
