//! `host run`: streams until they end or someone stops them, then the accounts.

use std::sync::Arc;

use crisol::{Engine, EngineError, Observer, StreamHandle, Summary};
use crisol_metrics::{ListenError, Monitor};
use indicatif::MultiProgress;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Global, Output, Run};
use crate::exit::{self, Exit};
use crate::{tables, watch};

/// Runs the streams.
pub(crate) async fn run(global: &Global, run: &Run, bars: &MultiProgress) -> Result<Exit, EngineError> {
    // Before anything else: a signal while components are compiled is a wish to stop, too.
    let signals = Signals::new();
    let monitor = match monitor(run).await {
        Ok(monitor) => monitor,
        Err(error) => {
            exit::print(&error, Some(error.hint()));
            return Ok(Exit::WrongUsage);
        }
    };
    let mut builder = engine(global).streams(run.streams.clone()).reread(run.reread).rebuild(run.rebuild);
    if let Some(trigger) = run.trigger {
        builder = builder.trigger(trigger);
    }
    for observer in watch::observers(global, bars) {
        builder = builder.observer(observer);
    }
    if let Some(monitor) = &monitor {
        builder = builder.observer(Arc::clone(monitor) as Arc<dyn Observer>);
    }
    let engine = builder.build()?;
    tell(&engine);
    if let Some(monitor) = &monitor {
        let streams = engine.streams();
        monitor.loaded(streams.iter().map(|stream| stream.name.as_str()));
    }
    let handles = engine.start_streaming().await?;
    let stopping = || monitor.iter().for_each(|monitor| monitor.stopping());
    finish(global, handles, signals, bars, stopping).await
}

/// Waits for the streams, and tells what became of their rows; a wish to stop is told to `stopping`, too.
pub(crate) async fn finish(
    global: &Global,
    handles: Vec<StreamHandle>,
    signals: Signals,
    bars: &MultiProgress,
    stopping: impl Fn(),
) -> Result<Exit, EngineError> {
    let ended = wait(handles, signals, stopping).await;
    bars.clear().unwrap_or_default();
    let Some(summaries) = ended? else { return Ok(Exit::Interrupted) };
    for error in summaries.iter().filter_map(|summary| summary.error.as_ref()) {
        exit::print(error, error.failure.hint().as_deref());
    }
    match global.output {
        Output::Text => tables::print_accounts(&summaries),
        Output::Json => tables::print_accounts_json(&summaries),
    }
    Ok(Exit::of_run(&summaries))
}

/// What serves metrics and probes, from now on.
async fn monitor(run: &Run) -> Result<Option<Arc<Monitor>>, ListenError> {
    match &run.metrics {
        Some(address) => crisol_metrics::start(address).await.map(Some),
        None => Ok(None),
    }
}

/// Says what was noticed before anything runs.
pub(crate) fn tell(engine: &Engine) {
    for warning in engine.warnings() {
        tracing::warn!("{warning}");
    }
    for note in engine.notes() {
        tracing::info!("{note}");
    }
}

/// The engine that the global flags describe.
pub(crate) fn engine(global: &Global) -> crisol::EngineBuilder {
    let mut builder = Engine::builder().project(&global.project).compile_with(crate::OWN_PROGRAM, crate::COMPILE);
    if let Some(plugins) = &global.plugins {
        builder = builder.plugins(plugins);
    }
    for (key, value) in &global.sets {
        builder = builder.set(key, value);
    }
    builder
}

/// Waits for all streams. The first signal asks them to stop, and is told to `stopping`; `None` at the second.
async fn wait(
    handles: Vec<StreamHandle>,
    mut signals: Signals,
    stopping: impl Fn(),
) -> Result<Option<Vec<Summary>>, EngineError> {
    let stops: Vec<_> = handles.iter().map(StreamHandle::stopper).collect();
    let mut ends = Box::pin(Engine::join(handles));
    let mut asked = false;
    loop {
        tokio::select! {
            summaries = &mut ends => return summaries.map(Some),
            () = signals.next() => {
                if asked {
                    tracing::warn!("stopped at once; batches under way are finished at the next start");
                    return Ok(None);
                }
                asked = true;
                stopping();
                tracing::info!("stopping: batches that are committing are finished; a second signal stops at once");
                stops.iter().for_each(crisol::Stopper::stop);
            }
        }
    }
}

/// Wishes to stop: SIGTERM, Ctrl-C, and the SIGHUP of a terminal that closes.
pub(crate) struct Signals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    hang_up: Option<Signal>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let listen = |kind| signal(kind).inspect_err(|error| tracing::warn!("cannot listen to signals: {error}")).ok();
        Self {
            terminate: listen(SignalKind::terminate()),
            interrupt: listen(SignalKind::interrupt()),
            hang_up: if hang_up_ignored() { None } else { listen(SignalKind::hangup()) },
        }
    }

    async fn next(&mut self) {
        async fn one(signal: Option<&mut Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = one(self.terminate.as_mut()) => {}
            () = one(self.interrupt.as_mut()) => {}
            () = one(self.hang_up.as_mut()) => {}
        }
    }
}

/// Whether the host was started to outlive its terminal, by `nohup` for one. Known on Linux only.
fn hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // SIGHUP is signal 1, the lowest bit.
    ignored & 1 == 1
}

/// Listeners, for the builder.
pub(crate) type Observers = Vec<Arc<dyn Observer>>;
