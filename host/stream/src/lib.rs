//! One stream: batch after batch from its source through its stages into its table, exactly once.
//!
//! Knows sources, stages and tables by their traits only. `batch` holds the protocol, `flow` the rows on their way,
//! `regroup` those of a table of groups, `resume` what a start does with what an earlier run left, `pace` when a batch may
//! begin, `stages` how stages are exchanged while a stream runs. `replay` is the same protocol for rows of the quarantine,
//! `selection` which of them; `rebuild` is it for a slice of the table, `slices` which rows that is, `renew` (`partitions` for one write mode) how they are
//! made anew, also after a rebuild of the table above; `journal` what replays and rebuilds share.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod batch;
mod error;
mod failpoint;
mod flow;
mod journal;
mod open;
mod pace;
mod partitions;
mod patience;
mod rebuild;
mod regroup;
mod renew;
mod replay;
mod report;
mod resume;
mod run;
mod selection;
mod slices;
mod stages;
mod writing;

pub use error::{Failure, StreamError};
pub use open::{OpenTable, Opener};
pub use pace::{News, Pace, Upstream, UpstreamState};
pub use patience::Patience;
pub use rebuild::{Rebuild, RebuildParts, Rebuilt};
pub use replay::{Replay, ReplayParts, Replayed};
pub use run::{Parts, Stream, Summary};
pub use selection::Selection;
pub use slices::{Renewal, SliceSize, Slices};
pub use stages::{Stages, Swap, stages};
