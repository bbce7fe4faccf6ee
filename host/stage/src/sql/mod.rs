//! SQL of contracts: an expression over one row, checked once and evaluated for each chunk.
//!
//! The dialect is Spark's as far as DataFusion goes: exact names (backticks allowed), Spark's type names, ANSI errors
//! (P-050), `/` of two integers gives a double, time functions mean the batch's timestamp (C-022). What would make two
//! runs differ, or look at more than one row, is refused by name (E-001).

mod evaluate;
mod functions;
mod plan;
mod refusals;

pub(crate) use evaluate::{EvaluationError, Expression};
pub(crate) use plan::{Planner, nearest};

#[cfg(test)]
mod tests;
