//! A sandbox for components that are being worked on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_plugin::{Component, Engine, EngineOptions, user_cache};

use crate::{AuthorError, Compiler};

/// Loads components under the limits of production. One for each command.
#[derive(Debug)]
pub struct Bench {
    engine: Engine,
    cache: Option<PathBuf>,
}

impl Bench {
    /// `compiler` is the process that compiles; code is kept in the user's cache, as that of a host.
    ///
    /// # Errors
    /// The machine cannot run the sandbox.
    pub fn new(compiler: Option<Compiler>) -> Result<Self, AuthorError> {
        let engine = Engine::with(EngineOptions { compiler, ..EngineOptions::default() })?;
        Ok(Self { engine, cache: user_cache() })
    }

    /// A component whose samples have not run.
    pub(crate) fn load(&self, path: &Path) -> Result<Arc<Component>, AuthorError> {
        Ok(Arc::new(Component::untested(path, &self.engine, self.cache.as_deref())?))
    }
}
