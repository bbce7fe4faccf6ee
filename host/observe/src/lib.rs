//! What the user sees of a running host: accounts, Spark's progress object, events. Types and arithmetic only; who
//! prints them is the command line's matter.

mod accounts;

pub use accounts::{Accounts, RuleCount};
