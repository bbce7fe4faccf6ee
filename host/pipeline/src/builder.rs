//! Builds an engine: reads contracts and components, checks everything against everything, reads no row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_contract::{Positions, Project, Trigger, resolve};
use crisol_observe::{Observer, Observers};
use crisol_plugin::{Registry, printable_path};

use crate::engine::Engine;
use crate::files::{self, Kafka, Surroundings};
use crate::handoff::Handoff;
use crate::plan::StreamPlan;
use crate::swap::{self, Kept, Shelf};
use crate::{EngineError, open, plan, sandbox};

/// What an engine is made from. Everything has a default: the project in the current folder, its own `plugins/`.
#[derive(Debug, Default)]
pub struct EngineBuilder {
    project: Option<PathBuf>,
    plugins: Option<PathBuf>,
    sets: Vec<(String, String)>,
    streams: Vec<String>,
    trigger: Option<Trigger>,
    restart: Restart,
    beside_a_host: bool,
    compiler: Option<(PathBuf, String)>,
    observers: Observers,
}

/// What a new checkpoint does with a table that already holds rows of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Restart {
    /// It is refused.
    #[default]
    Refuse,
    /// All is read again and appended.
    Reread,
    /// What the table holds is taken out first.
    Rebuild,
}

impl EngineBuilder {
    /// The project's folder.
    #[must_use]
    pub fn project(mut self, dir: impl AsRef<Path>) -> Self {
        self.project = Some(dir.as_ref().into());
        self
    }

    /// The folder of the components.
    #[must_use]
    pub fn plugins(mut self, dir: impl AsRef<Path>) -> Self {
        self.plugins = Some(dir.as_ref().into());
        self
    }

    /// Sets a key of `crisol.toml`, `path.tables`; the last one wins.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.sets.push((key.into(), value.into()));
        self
    }

    /// Sets an option of the Kafka client, `bootstrap.servers`.
    #[must_use]
    pub fn kafka(self, option: &str, value: impl Into<String>) -> Self {
        self.set(format!("kafka.{option}"), value)
    }

    /// Runs only these streams, and what they need upstream.
    #[must_use]
    pub fn streams(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.streams.extend(names);
        self
    }

    /// Wins over the triggers of the contracts.
    #[must_use]
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.trigger = Some(trigger);
        self
    }

    /// Lets a new checkpoint read all again and append, though the table already holds rows of its stream.
    #[must_use]
    pub fn reread(mut self, reread: bool) -> Self {
        if reread {
            self.restart = Restart::Reread;
        }
        self
    }

    /// Lets a new checkpoint take out what the table holds before it reads all again.
    #[must_use]
    pub fn rebuild(mut self, rebuild: bool) -> Self {
        if rebuild {
            self.restart = Restart::Rebuild;
        }
        self
    }

    /// For work beside a host: components that it refused are left out, as they would be in the host.
    #[must_use]
    pub fn beside_a_host(mut self) -> Self {
        self.beside_a_host = true;
        self
    }

    /// Compiles components in processes of their own, whose memory and time `[limits]` bound: `program`, of the same build
    /// as this one, calls [`compile_in_child`](crate::compile_in_child) with the two arguments after `argument`. Without
    /// it they are compiled in this process, and a file that is made to be slow to compile holds it up.
    #[must_use]
    pub fn compile_with(mut self, program: impl AsRef<Path>, argument: impl Into<String>) -> Self {
        self.compiler = Some((program.as_ref().into(), argument.into()));
        self
    }

    /// Adds a listener.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.add(observer);
        self
    }

    /// Reads and checks all contracts and components.
    ///
    /// # Errors
    /// [`EngineError::Contracts`] with every problem at once.
    pub fn build(self) -> Result<Engine, EngineError> {
        let names = self.streams.clone();
        self.assemble(|_, all| {
            let known = all.iter().map(|stream| stream.name.clone()).collect();
            plan::select(all, &names).map_err(|name| EngineError::UnknownStream { name, known })
        })
    }

    /// The engine of the streams that `choose` takes from all of the project.
    pub(crate) fn assemble(
        self,
        choose: impl FnOnce(&Project, Vec<StreamPlan>) -> Result<Vec<StreamPlan>, EngineError>,
    ) -> Result<Engine, EngineError> {
        let (project, positions, warnings) = self.resolve(Kafka::Read)?;
        let mut notes = Vec::new();
        let (shelf, mut registry) = self.shelf(&project.dir, Some(&project))?;
        let (decisions, kept) = (swap::decisions_file(&project), Kept::of(&project));
        if let Some(host) = swap::Decisions::read(&decisions) {
            let now = if self.beside_a_host { "left out" } else { "judged anew, without a batch to try it on" };
            for (component, reason) in shelf.refused_by(&host) {
                tracing::warn!(path = printable_path(component.path()), %reason, "a host refused this component; it is {now}");
            }
            if self.beside_a_host {
                registry = shelf.beside(&host);
            }
        }
        for refused in registry.refused() {
            notes.push(format!("component `{}` is refused: {}", printable_path(&refused.path), refused.reason));
        }
        let streams = choose(&project, plan::streams(&project))?;
        let refusals = open::check(&streams, &registry, &mut notes);
        if !refusals.is_empty() {
            return Err(EngineError::refused(&positions, refusals));
        }
        let Self { trigger, restart, observers, .. } = self;
        let handoff = Handoff::new(project.handoff.bytes_max).map(Arc::new);
        let registry = Arc::new(registry);
        Ok(Engine {
            streams,
            positions,
            shelf,
            registry,
            decisions,
            kept,
            trigger,
            restart,
            observers,
            warnings,
            notes,
            handoff,
        })
    }

    /// The contracts alone, where their keys stand, and what is worth a warning about them.
    pub(crate) fn resolve(&self, kafka: Kafka) -> Result<(Project, Positions, Vec<String>), EngineError> {
        let dir = self.project_dir();
        let texts = files::read(&dir)?;
        let dir = dir.canonicalize().map_err(|error| EngineError::read(&dir, error))?;
        let resolved = resolve(&dir, &texts, &self.sets, &Surroundings { kafka }).map_err(EngineError::Contracts)?;
        let warnings = resolved.warnings.iter().map(ToString::to_string).collect();
        Ok((resolved.project, resolved.positions, warnings))
    }

    pub(crate) fn project_dir(&self) -> PathBuf {
        self.project.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// The components of the folder named, or of the project's own, under the limits of `project` where it can be read.
    pub(crate) fn shelf(&self, dir: &Path, project: Option<&Project>) -> Result<(Shelf, Registry), EngineError> {
        let own = dir.join("plugins");
        let options = sandbox::options(project, self.compiler.as_ref());
        if self.plugins.is_none() && !own.exists() {
            // A project without stages needs none.
            return Ok((Shelf::without(&own, options), Registry::without(&own)));
        }
        let dir = self.plugins.clone().unwrap_or(own);
        Shelf::open(&dir, options).map_err(|source| EngineError::Components { dir, source: Box::new(source) })
    }
}
