//! What the user sees of a running host: accounts, Spark's progress object, events. Types and arithmetic only; who
//! prints them is the command line's matter.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod accounts;
mod causes;
mod columns;
mod event;
mod lag;
mod progress;
mod source;
mod state;

pub use accounts::{Accounts, ChangeCounts, GroupCounts, RuleCount};
pub use causes::{causes, in_one_line};
pub use columns::{ColumnChange, ColumnChanges};
pub use event::{Build, Event, Observer, Observers, Served};
pub use lag::Lag;
pub use progress::{HostProgress, Phases, Progress, SinkProgress, SourceProgress, rate};
pub use source::{Gap, GapReason, PartitionLag};
pub use state::{StreamState, waiting_text};
