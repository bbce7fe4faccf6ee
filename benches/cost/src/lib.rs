//! What the benches of components share: input, clock, machine.

pub mod data;
pub mod timing;

/// Anything that ends a bench.
pub type Error = Box<dyn std::error::Error>;
