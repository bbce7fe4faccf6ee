//! The bundled ranker `top-n`: the first rows of each group, by Spark's `row_number`, `rank` or `dense_rank`.
//!
//! `options` is what a contract says, `order` how rows compare, `sort` sorts them, `position` has the three functions;
//! [`TopN`] puts them together.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod options;
mod order;
mod position;
mod sort;
mod top_n;

pub use options::{Functions, Options};
pub use position::Function;
pub use top_n::TopN;

crisol_sdk::ranker!(columns TopN, samples: "../tests/samples.json");
