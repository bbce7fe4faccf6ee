//! The bundled aggregator `aggregate`: counts, sums, averages and extremes of each group, by Spark's rules.
//!
//! `measure` reads what a contract says and knows the types of results; `count`, `sum` and `extreme` fold the rows of
//! a group through `values`, which sees every type as whole numbers, floats or bytes; [`Aggregate`] puts them together.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod aggregate;
mod count;
mod extreme;
mod measure;
mod sum;
mod values;

pub use aggregate::{Aggregate, Options};

crisol_sdk::aggregator!(columns Aggregate, samples: "../tests/samples.json");
