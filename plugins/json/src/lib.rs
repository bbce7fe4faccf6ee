//! The bundled decoder `json`: payloads of JSON into typed columns, by the rules of Spark's `from_json`.
//!
//! `stage` is the component: its options, what it reads and writes. [`Decoder`] is its core: `row` reads the text of
//! a row through the tokens of `lexer` straight into `column`s, without a tree and without allocation. What each
//! type takes stands in `scalar`, with `decimal` and `time`. A row is decoded whole or rejected whole.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod column;
mod decimal;
mod decode;
mod escape;
mod fault;
mod lexer;
mod object;
mod row;
mod scalar;
mod stage;
mod time;
mod written;

pub use decode::Decoder;
pub use stage::{Json, Options};

crisol_sdk::decoder!(columns Json, samples: "../tests/samples.json");
