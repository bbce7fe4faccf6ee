//! What can go wrong before and while streams run, and how grave it is.

use std::io;
use std::path::{Path, PathBuf};

use crisol_checkpoint::CheckpointError;
use crisol_contract::{Positions, Problem, Problems};
use crisol_observe::in_one_line;
use crisol_plugin::PluginError;
use crisol_source::SourceError;
use crisol_stage::StageError;
use crisol_store::StoreError;
use crisol_stream::{Failure, StreamError};
use crisol_table::TableError;
use serde_json::{Value, json};

/// Why an engine could not be built, or not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The folder is no project.
    #[error("`{}` is not a project: {what}", dir.display())]
    NoProject {
        /// The folder.
        dir: PathBuf,
        /// What is missing.
        what: String,
    },
    /// A file of the project cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Contracts or settings are wrong, or do not fit the components, tables or clients that they name; all at once.
    #[error("{0}")]
    Contracts(Problems),
    /// The folder of the components cannot be used.
    #[error("components in `{}`", dir.display())]
    Components {
        /// The folder.
        dir: PathBuf,
        /// What the plugin room says.
        source: Box<PluginError>,
    },
    /// A component that was named by its file is refused.
    #[error(transparent)]
    Component(Box<PluginError>),
    /// A component cannot be tried on the rows of a table.
    #[error("`{table}` cannot be tried: {what}")]
    NotTried {
        /// The table.
        table: String,
        /// Why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A stream was named that no contract describes.
    #[error("no stream is called `{name}`")]
    UnknownStream {
        /// As named.
        name: String,
        /// All there are.
        known: Vec<String>,
    },
    /// A table was named that no contract describes, or that does not exist yet.
    #[error("table `{name}`: {what}")]
    UnknownTable {
        /// As named.
        name: String,
        /// Why it cannot be shown.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// The quarantine of this table cannot be replayed.
    #[error("rows of the quarantine of `{table}` cannot be replayed: {what}")]
    NotReplayed {
        /// The table.
        table: String,
        /// Why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A row in quarantine cannot be written as a sample.
    #[error("a row of the quarantine of `{table}` cannot be written as a test: {what}")]
    NotASample {
        /// The table.
        table: String,
        /// Which row, and why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A slice of this table cannot be rebuilt.
    #[error("table `{table}` cannot be rebuilt in part: {what}")]
    NotRebuilt {
        /// The table.
        table: String,
        /// Why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A build of this component cannot be put back.
    #[error("component `{component}` is not rolled back: {what}")]
    NotRolledBack {
        /// The component.
        component: String,
        /// Why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A range cannot be read into this table.
    #[error("table `{table}` cannot be backfilled: {what}")]
    NotBackfilled {
        /// The table.
        table: String,
        /// Why.
        what: String,
        /// What a person can do.
        hint: String,
    },
    /// A stream could not be opened.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A defect of the host.
    #[error("internal error: {what}")]
    Internal {
        /// What was found.
        what: String,
    },
}

/// A key of a contract that does not fit what it names; where it stands is looked up later.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// What is refused.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A key of a contract; the whole contract when the key is empty.
    Key { file: PathBuf, key: String },
    /// An option of the Kafka client of an ingestion contract, wherever it is set.
    ClientOption { ingestion: PathBuf, option: String },
}

impl Refusal {
    fn problem(self, positions: &Positions) -> Problem {
        let Self { place, message, hint } = self;
        let problem = match place {
            Place::Key { file, key } => positions.refused(&file, &key, message),
            Place::ClientOption { ingestion, option } => positions.refused_client_option(&ingestion, &option, message),
        };
        Problem { hint: (!hint.is_empty()).then_some(hint), ..problem }
    }
}

/// How grave an error is, for exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Refused before any row was read: starting again does not help.
    Refused,
    /// Another host holds the checkpoint.
    Held,
    /// Rows that should be read are gone.
    DataLoss,
    /// It ran and failed.
    Failed,
}

impl EngineError {
    /// A defect of the host.
    pub fn internal(what: impl std::fmt::Display) -> Self {
        Self::Internal { what: what.to_string() }
    }

    /// Contracts that do not fit what they name.
    pub(crate) fn refused(positions: &Positions, refusals: Vec<Refusal>) -> Self {
        let problems = refusals.into_iter().map(|refusal| refusal.problem(positions)).collect();
        Self::Contracts(positions.problems(problems))
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }

    /// A stream that could not be opened.
    pub(crate) fn opening(stream: &str, failure: impl Into<Failure>) -> Self {
        Self::Stream(StreamError { stream: stream.into(), batch: None, failure: Box::new(failure.into()) })
    }

    /// How grave it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            // Opening a stream reads no row.
            Self::Stream(error) if in_the_way(error) => ErrorKind::Refused,
            Self::Stream(error) => kind(error),
            Self::Internal { .. } => ErrorKind::Failed,
            _ => ErrorKind::Refused,
        }
    }

    /// What a person can do, where more is known than the message says.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoProject { .. } => Some("name the folder of `crisol.toml` with --project DIR".into()),
            Self::Components { .. } => Some("name the folder of the components (`*.wasm`) with --plugins DIR".into()),
            Self::UnknownStream { known, .. } => Some(format!("choose one of {}", names(known))),
            Self::UnknownTable { hint, .. }
            | Self::NotReplayed { hint, .. }
            | Self::NotASample { hint, .. }
            | Self::NotTried { hint, .. }
            | Self::NotRebuilt { hint, .. }
            | Self::NotRolledBack { hint, .. }
            | Self::NotBackfilled { hint, .. } => Some(hint.clone()),
            Self::Stream(error) => error.failure.hint(),
            _ => None,
        }
    }

    /// For programs: `{"schema": "crisol.error/v1", "errors": […]}`, each `code, message, file, line, column, key,
    /// hint`.
    pub fn to_json(&self) -> Value {
        let errors = match self {
            Self::Contracts(problems) => serde_json::to_value(problems).unwrap_or_default(),
            other => json!([{ "code": other.code(), "message": in_one_line(other), "hint": other.hint() }]),
        };
        json!({ "schema": "crisol.error/v1", "errors": errors })
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoProject { .. } => "no_project",
            Self::Read { .. } => "unreadable",
            Self::Contracts(_) => "contract",
            Self::Components { .. } => "components",
            Self::Component(_) => "component_refused",
            Self::NotTried { .. } => "not_tried",
            Self::UnknownStream { .. } => "unknown_stream",
            Self::UnknownTable { .. } => "unknown_table",
            Self::NotReplayed { .. } => "not_replayed",
            Self::NotASample { .. } => "not_a_sample",
            Self::NotRebuilt { .. } => "not_rebuilt",
            Self::NotRolledBack { .. } => "not_rolled_back",
            Self::NotBackfilled { .. } => "not_backfilled",
            Self::Stream(error) => code(error),
            Self::Internal { .. } => "internal",
        }
    }
}

/// Whether a path of the project cannot be used as it is: what lies there, or its permissions, do not change by
/// starting again.
fn in_the_way(error: &(dyn std::error::Error + 'static)) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| matches!(kind, IsADirectory | NotADirectory | PermissionDenied | ReadOnlyFilesystem))
}

/// How grave a stream's error is.
pub fn kind(error: &StreamError) -> ErrorKind {
    match error.failure.as_ref() {
        Failure::Checkpoint(error) => kind_of_checkpoint(error),
        Failure::OpenCheckpoint { source, .. } => {
            source.downcast_ref::<CheckpointError>().map_or(ErrorKind::Failed, kind_of_checkpoint)
        }
        Failure::Source(SourceError::Concurrent { .. }) => ErrorKind::Held,
        Failure::Source(SourceError::DataLoss { .. }) => ErrorKind::DataLoss,
        Failure::Source(SourceError::Config { .. })
        | Failure::Stage { source: StageError::Config { .. }, .. }
        | Failure::Table(TableError::Mismatch { .. })
        | Failure::Restore(_)
        | Failure::ReplayOfAnother { .. }
        | Failure::Unfinished { .. }
        | Failure::NotRenewed { .. }
        | Failure::TableNotEmpty { .. }
        | Failure::TableMissing { .. } => ErrorKind::Refused,
        _ => ErrorKind::Failed,
    }
}

/// What is damaged stays so; what a disk did not do this time it may do the next time.
fn kind_of_checkpoint(error: &CheckpointError) -> ErrorKind {
    match error {
        error if error.is_held() => ErrorKind::Held,
        error if error.is_damage() => ErrorKind::Refused,
        _ => ErrorKind::Failed,
    }
}

/// A stream's error for programs.
pub fn error_json(error: &StreamError) -> Value {
    json!({ "code": code(error), "message": in_one_line(error), "batch": error.batch, "hint": error.failure.hint() })
}

fn code(error: &StreamError) -> &'static str {
    match (kind(error), error.failure.as_ref()) {
        (ErrorKind::Held, _) => "held",
        (ErrorKind::DataLoss, _) => "data_loss",
        (_, Failure::Checkpoint(_) | Failure::OpenCheckpoint { .. }) => "checkpoint",
        (_, Failure::Source(_)) => "source",
        (_, Failure::Stage { .. } | Failure::Poison { .. }) => "stage",
        (_, Failure::Table(_) | Failure::TableNotEmpty { .. } | Failure::TableMissing { .. }) => "table",
        (_, Failure::Restore(_) | Failure::ReplayOfAnother { .. }) => "replay",
        (_, Failure::Unfinished { .. }) => "unfinished",
        (_, Failure::NotRenewed { .. } | Failure::Restless { .. }) => "rebuild",
        (_, Failure::Accounts { .. }) => "accounts",
        (_, Failure::Upstream { .. }) => "upstream",
        _ => "internal",
    }
}

fn names(known: &[String]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The folder of a table that cannot be opened.
pub(crate) fn no_table_folder(table: &str, source: StoreError) -> TableError {
    let what = "its folder cannot be opened".into();
    TableError::External { table: table.into(), what, source: Some(Box::new(source)) }
}

#[cfg(test)]
mod tests;
