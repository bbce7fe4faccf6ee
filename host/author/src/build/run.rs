//! Runs the tools of languages.

use std::process::{Command, ExitStatus};

use crate::AuthorError;

/// A tool, and how people get it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is needed for.
    pub(super) what: &'static str,
    /// The command that installs it.
    pub(super) install: &'static str,
    /// What may help when it fails.
    pub(super) hint: Option<&'static str>,
}

impl Tool {
    /// Runs a command of it to its end; what it says on standard output goes to standard error, where a build tells.
    pub(super) fn run(self, command: &mut Command) -> Result<(), AuthorError> {
        command.stdout(std::io::stderr());
        let status = command.status().map_err(|source| self.missing(source))?;
        self.ended(command, status)
    }

    /// It cannot be started.
    pub(super) fn missing(self, source: std::io::Error) -> AuthorError {
        let Self { name: tool, what, install, .. } = self;
        AuthorError::NoTool { tool, what, install, source }
    }

    /// How it ended.
    pub(super) fn ended(self, command: &Command, status: ExitStatus) -> Result<(), AuthorError> {
        if status.success() {
            return Ok(());
        }
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let command = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Err(AuthorError::Tool { command, status: status.to_string(), hint: self.hint })
    }
}
