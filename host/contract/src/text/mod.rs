//! JSON and TOML texts as one tree that knows where each key and value stands.

mod encoding;
mod file;
mod json;
mod node;
mod toml;

pub(crate) use file::{File, absolute, shown};
pub(crate) use json::parse_embedded;
pub(crate) use node::{At, Data, Entry, Node};
