//! What is wrong in a project, for people and for programs.

use std::fmt;

use serde::Serialize;

/// One mistake, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What kind of mistake; stable, for programs.
    pub code: Code,
    /// What is wrong; lower case, no final stop.
    pub message: String,
    /// File as shown to people, or `--set`, or the environment variable that brought the value.
    pub file: String,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// Path of the key, `expectations[0].condition`.
    pub key: Option<String>,
    /// What a person can do, or choose from.
    pub hint: Option<String>,
}

/// Kind of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The text is no JSON or no TOML.
    Syntax,
    /// A key is given twice, in one spelling or in two.
    DuplicateKey,
    /// No such key.
    UnknownKey,
    /// A key that must be given is absent.
    MissingKey,
    /// The value has another type.
    WrongType,
    /// The type is right and the value is not.
    InvalidValue,
    /// A file that is named does not exist or cannot be read.
    MissingFile,
    /// A name that is used is not defined.
    Unresolved,
    /// Two places contradict each other.
    Conflict,
    /// A name that belongs to the host.
    Reserved,
    /// Known, and refused for the reason given.
    Refused,
    /// Known, and not in this release.
    NotSupported,
}

impl Problem {
    pub(crate) fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn position(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{line}:{column}"),
            _ => String::new(),
        }
    }

    fn text(&self) -> String {
        match &self.key {
            Some(key) => format!("`{key}`: {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// `FILE:LINE:COLUMN: text`, on one line, without the hint.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position();
        let colon = if position.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{position}: {}", self.file, self.text())
    }
}

/// All mistakes of a project, at least one: settings, ingestion contracts, tables, each by position.
///
/// Its `Display` is what a terminal shows; it serialises as the list of its problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(transparent)]
#[error("{}", render(.0))]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self(problems)
    }

    /// The mistakes.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }
}

/// Files in the order given, what is in none of them first; within a file the position decides.
pub(crate) fn sort(problems: &mut [Problem], files: &[String]) {
    let place = |problem: &Problem| files.iter().position(|file| *file == problem.file);
    problems.sort_by(|a, b| {
        let (left, right) = (place(a), place(b));
        let outside = if left.is_none() && right.is_none() { a.file.cmp(&b.file) } else { left.cmp(&right) };
        outside.then(a.line.cmp(&b.line)).then(a.column.cmp(&b.column))
    });
}

fn render(problems: &[Problem]) -> String {
    let mut out = String::new();
    for block in problems.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = block.first() else { continue };
        let plural = if block.len() == 1 { "problem" } else { "problems" };
        out.push_str(&format!("error: {} {plural} in {}\n", block.len(), first.file));
        let width = block.iter().map(|problem| problem.position().len()).max().unwrap_or(0);
        for problem in block {
            let (text, hint) = (problem.text(), problem.hint.as_deref().unwrap_or_default());
            let mut position = problem.position();
            for line in text.lines().chain(hint.lines()) {
                out.push_str(&format!("  {position:width$}  {line}\n"));
                position.clear();
            }
        }
    }
    out.truncate(out.trim_end().len());
    out
}
