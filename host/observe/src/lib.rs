//! What the user sees of a running host: accounts, Spark's progress object, events. Types and arithmetic only; who
//! prints them is the command line's matter.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod accounts;
mod event;
mod progress;
mod source;

pub use accounts::{Accounts, ChangeCounts, GroupCounts, RuleCount};
pub use event::{Build, Event, Observer, Observers};
pub use progress::{HostProgress, Progress, SinkProgress, SourceProgress, rate};
pub use source::{Gap, GapReason, PartitionLag};
