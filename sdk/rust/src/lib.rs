//! Write a Crisol stage in Rust.
//!
//! Two ways. *Rows*: a [`record!`] and a [`Decoder`], [`Transformer`] or [`Validator`] that sees one row at a time, or a
//! [`Ranker`] or [`Aggregator`] that sees the rows of one group; the short way. *Columns* ([`columns`]): typed Arrow
//! arrays in, columns out; for speed, and where the columns are only known from the options. Both are exported with
//! [`decoder!`], [`transformer!`], [`validator!`], [`ranker!`] and [`aggregator!`], and tested natively with
//! [`testing`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod about;
pub mod columns;
mod export;
pub mod groups;
pub mod json;
mod log;
pub mod raw;
pub mod record;
pub mod rows;
pub mod scan;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod value;

pub use about::{About, Batch, Column, Failure, NoOptions, Plan};
pub use crisol_ipc::{Fate, Rejected, Rejections, types};
pub use groups::{Aggregator, Ranker};
pub use log::{Level, log};
pub use record::{JsonRecord, Record};
pub use rows::{Decoder, Rejection, Transformer, Validator};
pub use value::{Bytes, Date, Decimal, Map, Text, Timestamp};

/// The parts of Arrow that stages over columns need.
pub mod arrow {
    pub use arrow_array::*;
    pub use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
    pub use arrow_select::take::take;
}
