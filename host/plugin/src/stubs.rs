//! Stubs of WASI: enough for language runtimes to start, and no way out.
//!
//! Nothing here blocks, reads the machine, or allocates by the size that a component names: streams are closed or
//! thrown away (the end of stderr is kept), waiting is over at once, clocks stand at the batch's timestamp, random
//! numbers have a fixed seed.

mod cli;
mod clocks;
mod io;
mod random;

pub(crate) use random::Random;
