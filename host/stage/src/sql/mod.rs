//! SQL of contracts: an expression over one row, checked once and evaluated for each chunk.
//!
//! The dialect is Spark's as far as DataFusion goes: exact names (backticks allowed), Spark's type names, ANSI errors
//! (P-050), `/` of two integers gives a double, a float beside a
//! decimal makes both doubles, a timestamp cast to a number gives seconds, time functions mean the batch's timestamp (C-022). What would make two
//! runs differ, or look at more than one row, is refused by name (E-001).

mod date_parts;
mod depth;
mod doubles;
mod evaluate;
mod functions;
mod patterns;
mod plan;
mod refusals;
mod seconds;
mod type_names;

pub(crate) use evaluate::{EvaluationError, Expression};
pub(crate) use plan::{Planner, nearest};
pub(crate) use seconds::needs_a_unit;

#[cfg(test)]
mod tests;
