//! What can go wrong before any sample has run.

use std::path::PathBuf;

use crisol_plugin::PluginError;
use crisol_store::StoreError;

/// Why a command for authors could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorError {
    /// A name that cannot be the name of a plugin.
    #[error("`{name}` cannot be the name of a plugin: {why}")]
    Name {
        /// As it was given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The folder to write to is there.
    #[error("{} is there already", folder.display())]
    Exists {
        /// Which.
        folder: PathBuf,
    },
    /// A folder that is no plugin.
    #[error("{} has no plugin.toml: it is not the folder of a plugin", folder.display())]
    NoProject {
        /// Which.
        folder: PathBuf,
    },
    /// `plugin.toml` cannot be understood.
    #[error("{}: {what}", path.display())]
    Manifest {
        /// Where it is.
        path: PathBuf,
        /// Which key, and what is wrong with it.
        what: String,
    },
    /// A tool of the language is not there.
    #[error("`{tool}` is needed to build {what} and cannot be started: {source}")]
    NoTool {
        /// Its name.
        tool: &'static str,
        /// What for.
        what: &'static str,
        /// How to get it.
        install: &'static str,
        /// Why it does not start.
        source: std::io::Error,
    },
    /// The tool says no; what it says of it went to standard error.
    #[error("`{command}` failed ({status}); what it says stands above")]
    Tool {
        /// What was called.
        command: String,
        /// Its end.
        status: String,
        /// What may help, if that can be told.
        hint: Option<&'static str>,
    },
    /// The tool made something else.
    #[error("{what}")]
    Output {
        /// What was found, and what should have been.
        what: String,
    },
    /// Samples that no file holds are to be written.
    #[error("the samples that travel in a component cannot be written anew")]
    Carried,
    /// A file of samples cannot be read.
    #[error("{}: {what}", path.display())]
    Samples {
        /// Which file.
        path: PathBuf,
        /// Which sample, and what is wrong with it.
        what: String,
    },
    /// The sandbox refuses the component.
    #[error(transparent)]
    Component(#[from] PluginError),
    /// A component cannot be put in its place.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file or folder.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl AuthorError {
    /// What a person can do about it, if that can be told.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Name { .. } => Some("small letters, digits and `-`, a letter first, as in `sales-decoder`".into()),
            Self::Exists { .. } => Some("choose another name, or another folder with `--path`".into()),
            Self::NoProject { .. } => Some(
                "`host new NAME --kind decoder` makes one; for the plugin of a component give its file, `X.wasm`"
                    .into(),
            ),
            Self::NoTool { install, .. } => Some(format!("get it with `{install}`")),
            Self::Carried => Some("name the folder of their files with `--samples DIR`, or the plugin's folder".into()),
            Self::Tool { hint, .. } => hint.map(Into::into),
            _ => None,
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
