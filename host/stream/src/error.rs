//! Why a stream ended.

use std::ops::Range;

use crisol_checkpoint::CheckpointError;
use crisol_source::SourceError;
use crisol_stage::StageError;
use crisol_table::TableError;

/// A stream's end in error: where, and why.
#[derive(Debug, thiserror::Error)]
#[error("stream `{stream}`{}", batch.map(|number| format!(", batch {number}")).unwrap_or_default())]
pub struct StreamError {
    /// Which stream.
    pub stream: String,
    /// Which batch, when one was under way.
    pub batch: Option<u64>,
    /// What failed.
    #[source]
    pub failure: Box<Failure>,
}

/// What failed inside a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The checkpoint cannot be read or written, contradicts itself, or belongs to another host.
    #[error("checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint cannot be opened.
    #[error("the checkpoint in `{folder}` cannot be opened")]
    OpenCheckpoint {
        /// Its folder.
        folder: String,
        /// The error below.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The source could not plan or read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A stage failed on these rows of the batch.
    #[error("{}", where_failed(rows, source))]
    Stage {
        /// Rows of the batch, counted from 0 in the order read; none when it failed on no rows in particular.
        rows: Range<u64>,
        /// What the stage says.
        #[source]
        source: StageError,
    },
    /// Components failed on more rows than may go to quarantine for that: nothing was committed.
    #[error("{what}")]
    Poison {
        /// How many, how many may, and what the first was.
        what: String,
    },
    /// The table or its quarantine could not be written or committed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Rows in and rows out do not add up: nothing was committed.
    #[error(
        "the accounts do not balance, nothing was committed: {rows_in} rows in, {accepted} accepted, {rejected} rejected, {filtered} filtered"
    )]
    Accounts {
        /// Rows read.
        rows_in: u64,
        /// Rows that gave rows.
        accepted: u64,
        /// Rows in quarantine.
        rejected: u64,
        /// Rows dropped on purpose.
        filtered: u64,
    },
    /// A new checkpoint would add to a table what it may already hold.
    #[error("the checkpoint is new, but table `{table}` already holds rows")]
    TableNotEmpty {
        /// The table.
        table: String,
    },
    /// A new table would lack the rows that the checkpoint counts as read.
    #[error("table `{table}` is missing: there is no Delta table in `{path}`, and the checkpoint counts rows as read")]
    TableMissing {
        /// The table.
        table: String,
        /// Where it should lie.
        path: String,
        /// Folder of the checkpoint.
        checkpoint: String,
    },
    /// Rows of the quarantine are no input of the stream any more.
    #[error("rows of the quarantine cannot be given to the first stage again")]
    Restore(#[source] arrow_schema::ArrowError),
    /// An unfinished replay is about a table that is no longer there.
    #[error("an unfinished replay is about another table (id `{replayed}`) than the one at `{path}` (id `{found}`)")]
    ReplayOfAnother {
        /// Id of the table that it is about.
        replayed: String,
        /// Where the table lies.
        path: String,
        /// Id of the table there.
        found: String,
        /// Folder of the replay's checkpoint.
        checkpoint: String,
    },
    /// Another kind of work on the table was cut short, and comes first.
    #[error("{work} of table `{table}` is unfinished")]
    Unfinished {
        /// The table.
        table: String,
        /// What is unfinished.
        work: &'static str,
        /// How it is finished.
        hint: String,
    },
    /// The table above rebuilt some of its rows, and this stream cannot make anew what it made of them.
    #[error("the table above rebuilt some of its rows, and this stream cannot follow: {why}")]
    NotRenewed {
        /// Why.
        why: String,
        /// What a person can do.
        hint: String,
    },
    /// The stream committed batch after batch during work beside it that it must not move on from.
    #[error("the stream of table `{table}` moved on {times} times meanwhile: nothing was changed")]
    Restless {
        /// The table.
        table: String,
        /// How often it was tried.
        times: u32,
    },
    /// A stream above ended in error.
    #[error("stopped, because the stream above it, `{upstream}`, failed")]
    Upstream {
        /// Which stream.
        upstream: String,
    },
    /// A defect of the host.
    #[error("internal error: {what}")]
    Internal {
        /// What was found.
        what: String,
    },
}

/// A failure that is about no rows in particular has nothing to add to the stage's own words.
fn where_failed(rows: &Range<u64>, source: &StageError) -> String {
    if rows.is_empty() { source.to_string() } else { format!("rows {}..{} of the batch", rows.start, rows.end) }
}

impl Failure {
    /// What a person can do, where more is known than the message says.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint().map(str::to_owned),
            Self::Stage { source: StageError::Config { hint, .. }, .. }
            | Self::Table(TableError::Mismatch { hint, .. }) => Some(hint.clone()),
            Self::Poison { .. } | Self::Stage { source: StageError::Plugin { .. }, .. } => Some(
                "nothing of this batch was committed; put a mended component in its place, or the one before with `host plugins \
                 rollback`, and start again: the same rows are read again"
                    .into(),
            ),
            Self::TableNotEmpty { .. } => Some(
                "restore the checkpoint folder; or run with `--reread` to read everything again and append; or with \
                 `--rebuild` to replace what the table holds"
                    .into(),
            ),
            Self::TableMissing { checkpoint, .. } => Some(format!(
                "if the table lies elsewhere, correct `path.tables` or its contract's `path`; if it is lost, restore it, \
                 or remove the checkpoint in `{checkpoint}` to read all again"
            )),
            Self::Restore(_) => Some(
                "the columns of what the stream reads were changed since these rows were refused; choose others with \
                 `--code`, `--stage`, `--since` and `--until`, or put the columns back"
                    .into(),
            ),
            Self::Unfinished { hint, .. } | Self::NotRenewed { hint, .. } => Some(hint.clone()),
            Self::Restless { .. } => Some("stop the host, or try again when less is coming in".into()),
            Self::ReplayOfAnother { checkpoint, .. } => Some(format!(
                "put the table back; or, when it was made anew on purpose, remove the folder `{checkpoint}`"
            )),
            _ => None,
        }
    }
}
