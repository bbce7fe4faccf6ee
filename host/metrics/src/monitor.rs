//! Listens to the events of all streams and answers what is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crisol_observe::{Event, Observer};
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use crate::exposition::Exposition;
use crate::figures::Figures;
use crate::readiness::Readiness;

/// What is known of a running host.
#[derive(Debug)]
pub struct Monitor {
    figures: Arc<Mutex<Figures>>,
    readiness: Mutex<Readiness>,
    registry: Registry,
}

impl Default for Monitor {
    fn default() -> Self {
        Self::new()
    }
}

impl Monitor {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        let figures = Arc::<Mutex<Figures>>::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Exposition(Arc::clone(&figures))));
        Self { figures, readiness: Mutex::default(), registry }
    }

    /// Contracts and components are loaded; these streams will run.
    pub fn loaded<'a>(&self, streams: impl IntoIterator<Item = &'a str>) {
        self.readiness().loaded(streams);
    }

    /// The host was asked to stop: from now on it is not ready.
    pub fn stopping(&self) {
        self.readiness().stopping();
    }

    /// All metrics in the text format of OpenMetrics.
    ///
    /// # Errors
    /// None that is known: text is written to memory.
    pub fn metrics(&self) -> Result<String, std::fmt::Error> {
        let mut metrics = String::new();
        text::encode(&mut metrics, &self.registry)?;
        Ok(metrics)
    }

    /// Whether the host is ready, and a line for all that is missing; with `verbose` also for what is not.
    pub fn ready(&self, verbose: bool) -> (bool, String) {
        let readiness = self.readiness();
        (readiness.is_ready(), readiness.report(verbose))
    }

    fn readiness(&self) -> MutexGuard<'_, Readiness> {
        self.readiness.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Monitor {
    fn observe(&self, event: &Event) {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).observe(event);
        self.readiness().observe(event);
    }
}
