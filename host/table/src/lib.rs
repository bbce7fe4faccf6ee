//! Delta tables: created from contracts, written in pending files, committed once.
//!
//! deltalake is named here and in `source/table` only. Every commit carries an [`AppTransaction`]; a commit is tied to
//! the very version of the log at which the transaction was seen to be absent (D-001 … D-003, R-030, R-032).
//!
//! `writer` holds the traits that streams know; [`Table`] is their Delta form and [`MemoryTable`] the double for tests.
//! `create` and `check` decide what a table is, `log` and `tail` what it holds now, `entry` the text of a commit,
//! `commit` how it lands, `merge` what a commit does that changes rows, `maintain` what one does that changes none,
//! `checkpoint` Delta's log checkpoints, `files` the Parquet, `held` the rows of the table, `read` and `history` what people look at.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod ahead;
mod check;
mod checkpoint;
mod clear;
mod commit;
mod create;
mod entry;
mod error;
mod files;
mod held;
mod history;
mod log;
mod maintain;
mod memory;
mod merge;
mod origin;
mod read;
mod scan;
mod spec;
mod table;
mod tail;
mod upgrade;
mod writer;

pub use error::TableError;
pub use files::KeepFiles;
pub use held::HeldFile;
pub use history::{History, LoggedCommit};
pub use maintain::Compaction;
pub use memory::{Fault, MemoryCommit, MemoryTable};
pub use merge::{DELETED, RowChanges};
pub use read::TableSummary;
pub use spec::{TableSpec, WriteMode};
pub use table::Table;
pub use writer::{AppTransaction, CommitNote, CommitOutcome, FileWriter, PendingFile, Standing, TableWriter};
