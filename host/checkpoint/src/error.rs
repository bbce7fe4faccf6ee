//! Why a checkpoint cannot be used.

use uuid::Uuid;

use crate::position::PositionError;

/// Why a checkpoint could not be opened, read or written.
///
/// Files are named relative to the checkpoint's folder; the caller, who knows stream and folder, puts those in front.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Another run logged this entry first: it owns the checkpoint (C-038).
    #[error(
        "another host holds this checkpoint: `{file}` was written by {}, this is run {ours}; stop one of the two, or give \
         each its own checkpoint", named(.owner)
    )]
    Held {
        /// Entry that both wanted to write.
        file: String,
        /// Run that wrote it; `None` when it does not say (Spark's do not).
        owner: Option<Uuid>,
        /// This run.
        ours: Uuid,
    },
    /// C-034: a new id would commit batches again that tables already hold under the old one.
    #[error(
        "`metadata` is missing although `{file}` exists: without its id the host cannot tell which batches the tables \
         already hold; restore `metadata` from a backup, or start over with a new checkpoint folder and new tables"
    )]
    MissingMetadata {
        /// An entry that was found.
        file: String,
    },
    /// C-032: somebody removed marks, or wrote offsets.
    #[error(
        "newest entry of `offsets/` is {offsets}, newest of `commits/` is {}: batches between them were never marked as \
         done, which comes from edits by hand or a partial copy; restore the folder from one consistent backup",
        number(.commit)
    )]
    Gap {
        /// Newest logged batch.
        offsets: u64,
        /// Newest marked batch.
        commit: Option<u64>,
    },
    /// C-033: the start of the batch is unknown.
    #[error(
        "batch {} doesn't exist: `offsets/{batch}` needs `offsets/{}` for its start; restore that file from a backup, or \
         start over with a new checkpoint folder and new tables", .batch.saturating_sub(1), .batch.saturating_sub(1)
    )]
    MissingPrevious {
        /// Newest logged batch.
        batch: u64,
    },
    /// The start of batch 0 is unknown (K-032).
    #[error(
        "`offsets/0` exists but `sources/0/0` does not, so the start of batch 0 is unknown; restore that file from a \
         backup, or start over with a new checkpoint folder and new tables"
    )]
    MissingInitial,
    /// A mark or an outcome without its range.
    #[error(
        "`{file}` exists, but the newest entry of `offsets/` is {}; no batch is committed before its range is logged, so \
         files are missing; restore the folder from one consistent backup", number(.offsets)
    )]
    Unlogged {
        /// Entry that has no range.
        file: String,
        /// Newest logged batch.
        offsets: Option<u64>,
    },
    /// C-035: the log was written for another number of sources.
    #[error(
        "`{file}` was written by a stream with {found} sources, this one has {expected}; a stream with other sources \
         needs its own checkpoint"
    )]
    SourceCount {
        /// Entry.
        file: String,
        /// In the entry.
        found: usize,
        /// In the contract.
        expected: usize,
    },
    /// C-007: never guessed.
    #[error(
        "`{file}` has version `{found}`, this host reads `{supported}`; use the host (or Spark) that wrote it, or a newer \
         one"
    )]
    UnsupportedVersion {
        /// Entry.
        file: String,
        /// Version line of the entry.
        found: String,
        /// What this host reads.
        supported: &'static str,
    },
    /// The text is not what it should be.
    #[error("`{file}` cannot be read: {what}; restore it from a backup")]
    Malformed {
        /// Entry.
        file: String,
        /// What was found.
        what: String,
    },
    /// Logged positions do not fit each other or this host.
    #[error("`{file}`: {source}; a stream with another source needs its own checkpoint")]
    Position {
        /// Entry.
        file: String,
        /// What does not fit.
        source: PositionError,
    },
    /// A table lost a batch that the checkpoint vouches for.
    #[error(
        "batch {commit} is marked as done, but the newest batch that the table holds is {}: the table was restored to an \
         older version, replaced, or lost commits; restore table and checkpoint from backups of the same moment, or start \
         over with a new checkpoint and a new table", number(.txn)
    )]
    TableBehind {
        /// Newest marked batch.
        commit: u64,
        /// Newest batch in the table.
        txn: Option<i64>,
    },
    /// a table that knows batches that the checkpoint does not.
    #[error(
        "the table holds batch {txn}, but the checkpoint's newest logged batch is {} and its newest done batch is {}: the \
         checkpoint was restored from an older copy, and going on would skip rows; restore the newer checkpoint, or start \
         over with a new checkpoint and a new table", number(.logged), number(.commit)
    )]
    TableAhead {
        /// Newest marked batch.
        commit: Option<u64>,
        /// Newest logged batch.
        logged: Option<u64>,
        /// Newest batch in the table.
        txn: i64,
    },
    /// A quarantine lost rejected rows that the checkpoint vouches for.
    #[error(
        "batch {batch} is marked as done and had rejected rows, but the newest batch that the quarantine holds is {}: the \
         quarantine was restored to an older version, moved, replaced, or lost commits; put it back, or restore it and the \
         checkpoint from backups of the same moment; to go on without its lost rows, delete `outcome/{batch}` in the \
         checkpoint", number(.txn)
    )]
    QuarantineBehind {
        /// Newest marked batch with rejected rows.
        batch: u64,
        /// Newest batch in the quarantine.
        txn: Option<i64>,
    },
    /// A quarantine that holds a batch whose outcome the checkpoint does not know.
    #[error(
        "the quarantine holds batch {txn}, but the newest entry of `outcome/` is {}: the checkpoint was restored from an \
         older copy, and running the batch again might lose or double rows; restore the newer checkpoint, or start over \
         with a new checkpoint and new tables", number(.outcome)
    )]
    QuarantineAhead {
        /// Newest bound outcome.
        outcome: Option<u64>,
        /// Newest batch in the quarantine.
        txn: i64,
    },
    /// Storage did not do as asked. A write may have landed: it is found out on the next try.
    #[error("cannot {what} `{file}`: {source}")]
    Storage {
        /// What was tried.
        what: &'static str,
        /// Entry.
        file: String,
        /// The error below.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl CheckpointError {
    /// Whether another host owns the checkpoint: no reason to start again by itself.
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// Whether files of the checkpoint, or of the tables that it vouches for, are not as they must be: starting again
    /// does not help, a person must.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Held { .. } | Self::Storage { .. } => false,
            Self::MissingMetadata { .. }
            | Self::Gap { .. }
            | Self::MissingPrevious { .. }
            | Self::MissingInitial
            | Self::Unlogged { .. }
            | Self::SourceCount { .. }
            | Self::UnsupportedVersion { .. }
            | Self::Malformed { .. }
            | Self::Position { .. }
            | Self::TableBehind { .. }
            | Self::TableAhead { .. }
            | Self::QuarantineBehind { .. }
            | Self::QuarantineAhead { .. } => true,
        }
    }

    pub(crate) fn malformed(file: &str, what: impl std::fmt::Display) -> Self {
        Self::Malformed { file: file.to_owned(), what: what.to_string() }
    }

    pub(crate) fn storage(
        what: &'static str,
        file: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Storage { what, file: file.to_owned(), source: source.into() }
    }
}

fn named(owner: &Option<Uuid>) -> String {
    owner.map_or_else(|| "a run that does not name itself".to_owned(), |id| format!("run {id}"))
}

fn number(n: &Option<impl ToString>) -> String {
    n.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}
