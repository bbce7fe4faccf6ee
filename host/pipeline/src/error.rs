//! What can go wrong before and while streams run, and how grave it is.

use std::io;
use std::path::{Path, PathBuf};

use crisol_contract::Problems;
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
    /// Contracts or settings are wrong; all of it at once.
    #[error("{0}")]
    Contracts(Problems),
    /// Contracts and components do not fit; all of it at once.
    #[error("{0}")]
    Refused(Refusals),
    /// The folder of the components cannot be used.
    #[error("components in `{}`", dir.display())]
    Components {
        /// The folder.
        dir: PathBuf,
        /// What the plugin room says.
        source: PluginError,
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

/// Contracts that do not fit the components or tables they name.
#[derive(Debug)]
pub struct Refusals(pub Vec<Refusal>);

/// One such contract key.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The contract's file.
    pub file: PathBuf,
    /// Key in that file; empty when no single key is at fault.
    pub key: String,
    /// What does not fit.
    pub message: String,
    /// What a person can do.
    pub hint: String,
}

impl std::fmt::Display for Refusals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut files: Vec<_> = self.0.iter().map(|refusal| &refusal.file).collect();
        files.dedup();
        for (place, file) in files.into_iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            let problems: Vec<_> = self.0.iter().filter(|refusal| refusal.file == *file).collect();
            let plural = if problems.len() == 1 { "problem" } else { "problems" };
            write!(f, "error: {} {plural} in {}", problems.len(), file.display())?;
            for problem in problems {
                write!(f, "\n  ")?;
                if !problem.key.is_empty() {
                    write!(f, "`{}`: ", problem.key)?;
                }
                write!(f, "{}", problem.message.replace('\n', "\n  "))?;
                if !problem.hint.is_empty() {
                    write!(f, "\n  {}", problem.hint)?;
                }
            }
        }
        write!(f, "\nhint: `host check` checks contracts and plugins without reading data")
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
            Self::Stream(error) => kind(error),
            Self::Internal { .. } => ErrorKind::Failed,
            _ => ErrorKind::Refused,
        }
    }

    /// What a person can do, where more is known than the message says.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoProject { .. } => Some("name the folder of `crisol.toml` with --project DIR".into()),
            Self::UnknownStream { known, .. } => Some(format!("choose one of {}", names(known))),
            Self::UnknownTable { hint, .. } => Some(hint.clone()),
            Self::Stream(error) => error.failure.hint(),
            _ => None,
        }
    }

    /// For programs: `{"schema": "crisol.error/v1", "errors": […]}`, each `code, message, file, line, column, key,
    /// hint`.
    pub fn to_json(&self) -> Value {
        let errors = match self {
            Self::Contracts(problems) => serde_json::to_value(problems).unwrap_or_default(),
            Self::Refused(Refusals(refusals)) => refusals.iter().map(refusal_json).collect(),
            other => json!([{ "code": other.code(), "message": chain(other), "hint": other.hint() }]),
        };
        json!({ "schema": "crisol.error/v1", "errors": errors })
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoProject { .. } => "no_project",
            Self::Read { .. } => "unreadable",
            Self::Contracts(_) => "contract",
            Self::Refused(_) => "refused",
            Self::Components { .. } => "components",
            Self::UnknownStream { .. } => "unknown_stream",
            Self::UnknownTable { .. } => "unknown_table",
            Self::Stream(error) => code(error),
            Self::Internal { .. } => "internal",
        }
    }
}

/// How grave a stream's error is.
pub fn kind(error: &StreamError) -> ErrorKind {
    match error.failure.as_ref() {
        Failure::Checkpoint(error) if error.is_held() => ErrorKind::Held,
        Failure::Source(SourceError::Concurrent { .. }) => ErrorKind::Held,
        Failure::Source(SourceError::DataLoss { .. }) => ErrorKind::DataLoss,
        Failure::Source(SourceError::Config { .. })
        | Failure::Stage { source: StageError::Config { .. }, .. }
        | Failure::Table(TableError::Mismatch { .. })
        | Failure::TableNotEmpty { .. } => ErrorKind::Refused,
        _ => ErrorKind::Failed,
    }
}

/// A stream's error for programs.
pub fn error_json(error: &StreamError) -> Value {
    json!({ "code": code(error), "message": chain(error), "batch": error.batch, "hint": error.failure.hint() })
}

fn code(error: &StreamError) -> &'static str {
    match (kind(error), error.failure.as_ref()) {
        (ErrorKind::Held, _) => "held",
        (ErrorKind::DataLoss, _) => "data_loss",
        (_, Failure::Checkpoint(_)) => "checkpoint",
        (_, Failure::Source(_)) => "source",
        (_, Failure::Stage { .. }) => "stage",
        (_, Failure::Table(_) | Failure::TableNotEmpty { .. }) => "table",
        (_, Failure::Accounts { .. }) => "accounts",
        (_, Failure::Upstream { .. }) => "upstream",
        _ => "internal",
    }
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn refusal_json(refusal: &Refusal) -> Value {
    json!({
        "code": "refused",
        "message": refusal.message,
        "file": refusal.file,
        "key": refusal.key,
        "hint": refusal.hint,
    })
}

fn names(known: &[String]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Opening a store is part of opening what lies in it.
pub(crate) fn store(table: &str, path: &str, source: StoreError) -> TableError {
    TableError::External {
        table: table.into(),
        what: format!("open the folder `{path}`"),
        source: Some(Box::new(source)),
    }
}
