//! An engine: checked contracts and components, ready to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_contract::{Positions, Trigger};
use crisol_observe::Observers;
use crisol_plugin::Registry;
use crisol_stream::{News, Parts, Stream, Summary, Upstream};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::builder::Restart;
use crate::handoff::Handoff;
use crate::open::{Opened, Opener};
use crate::plan::StreamPlan;
use crate::report::{ReportFile, StreamReport};
use crate::swap::{self, Kept, Shelf};
use crate::{EngineBuilder, EngineError, StreamHandle};

/// Runs the streams of a project.
#[derive(Debug)]
pub struct Engine {
    pub(crate) streams: Vec<StreamPlan>,
    pub(crate) positions: Positions,
    pub(crate) shelf: Shelf,
    pub(crate) registry: Arc<Registry>,
    /// Where a run writes which components serve.
    pub(crate) decisions: PathBuf,
    /// Where a run keeps the builds that serve.
    pub(crate) kept: Kept,
    pub(crate) trigger: Option<Trigger>,
    pub(crate) restart: Restart,
    pub(crate) observers: Observers,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) handoff: Option<Arc<Handoff>>,
}

/// A stream, for lists.
#[derive(Debug, Clone, Serialize)]
pub struct StreamInfo {
    /// Its name.
    pub name: String,
    /// The table that it fills.
    pub table: String,
    /// Where that table lies.
    pub path: String,
}

impl Engine {
    /// Starts to describe an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// What the contracts say and probably do not mean, each with its place.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What was noticed besides and does not keep the engine from running.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The streams, upstream before downstream.
    pub fn streams(&self) -> Vec<StreamInfo> {
        let info = |stream: &StreamPlan| StreamInfo {
            name: stream.name.clone(),
            table: stream.table.name.clone(),
            path: stream.table.path.clone(),
        };
        self.streams.iter().map(info).collect()
    }

    /// Runs all streams to their ends. With `available_now` that is when all that was pending at the start is in the
    /// last table.
    ///
    /// # Errors
    /// A stream could not be opened; then none was run. A stream that fails later says so in its summary.
    pub async fn run_streaming(&self) -> Result<Vec<Summary>, EngineError> {
        Self::join(self.start_streaming().await?).await
    }

    /// Starts all streams, each in a task of its own.
    ///
    /// # Errors
    /// A stream could not be opened; then none is started.
    pub async fn start_streaming(&self) -> Result<Vec<StreamHandle>, EngineError> {
        let (opened, swappables): (Vec<_>, Vec<_>) =
            self.open().await?.into_iter().map(|Opened { name, parts, swappable }| ((name, parts), swappable)).unzip();
        swap::watch(self, swappables).await;
        Ok(opened.into_iter().map(|(name, parts)| start(name, parts)).collect())
    }

    /// The same beside a host that runs the project: components are not exchanged, and what serves is not told.
    pub(crate) async fn start_beside(&self) -> Result<Vec<StreamHandle>, EngineError> {
        Ok(self.open().await?.into_iter().map(|Opened { name, parts, .. }| start(name, parts)).collect())
    }

    async fn open(&self) -> Result<Vec<Opened>, EngineError> {
        let mut opener = Opener::new(self);
        let mut examined = Vec::new();
        for plan in &self.streams {
            examined.push(opener.examine(plan).await?);
        }
        let mut opened = Vec::new();
        let mut news = BTreeMap::new();
        for stream in examined {
            let (send, receive) = watch::channel(News::default());
            let stream = opener.open(stream, &news, send).await?;
            news.insert(stream.name.clone(), Upstream { name: stream.name.clone(), news: receive });
            opened.push(stream);
        }
        // Not before all are open: a start that is refused tells nothing.
        for Opened { parts, swappable, .. } in &mut opened {
            report(parts, &swappable.plan.checkpoint);
        }
        Ok(opened)
    }
}

/// Lets a stream tell what it does, beside its checkpoint.
fn report(parts: &mut Parts, checkpoint: &Path) {
    let run_id = parts.checkpoint.run_id().to_string();
    let report = StreamReport::of(&parts.name, &parts.table_name, &run_id);
    parts.observers.add(ReportFile::begin(checkpoint, report));
}

fn start(name: String, parts: Parts) -> StreamHandle {
    let stop = CancellationToken::new();
    let task = tokio::spawn(Stream::new(parts).run(stop.clone()));
    StreamHandle { name, stop, task }
}
