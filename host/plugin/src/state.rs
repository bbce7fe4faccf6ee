//! What the host keeps for one instance.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::ResourceTable;
use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::filesystem::{WasiFilesystemCtx, WasiFilesystemCtxView};

use crate::bindings::{log, types};
use crate::deadline::Deadline;
use crate::engine::Engine;
use crate::guest_log::{ERROR, GuestLog, Identity};
use crate::limiter::Limiter;
use crate::limits::{HANDLES_MAX, Limits, count};
use crate::stderr::Stderr;
use crate::stubs::Random;
use crate::ticker::Ticker;

/// The level of a piece of what is written to standard error, which need not be a line.
const PIECE: u32 = 5;

/// Host side of one instance: its limits, and the stubs of what language runtimes ask for.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) limiter: Limiter,
    pub(crate) deadline: Deadline,
    pub(crate) stderr: Arc<Mutex<Stderr>>,
    pub(crate) log: GuestLog,
    pub(crate) random: Random,
    /// What every clock says, in microseconds since 1970 UTC.
    pub(crate) now_us: i64,
    /// For messages.
    pub(crate) stack_bytes_max: u64,
    pub(crate) resources: ResourceTable,
    filesystem: NoFiles,
}

struct NoFiles(WasiFilesystemCtx);

impl std::fmt::Debug for NoFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NoFiles")
    }
}

impl State {
    /// A store whose deadline starts now, which is when there is room for its memory.
    pub(crate) fn store(engine: &Engine, identity: &Arc<Identity>, limits: &Limits, now_us: i64) -> Store<Self> {
        let mut resources = ResourceTable::new();
        resources.set_max_capacity(HANDLES_MAX);
        let reserved = engine.pool().reserve(limits.memory_bytes_max);
        let state = Self {
            limiter: Limiter::new(limits, reserved),
            deadline: Deadline::from_now(limits.deadline_ms_max),
            stderr: Arc::new(Mutex::new(Stderr::new(count(limits.stderr_bytes_max)))),
            log: GuestLog::new(identity.clone(), limits),
            random: Random::fixed(),
            now_us,
            stack_bytes_max: engine.options().stack_bytes_max,
            resources,
            filesystem: NoFiles(WasiFilesystemCtx::default()),
        };
        let mut store = Store::new(engine.wasmtime(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(count(limits.output_bytes_max));
        store.set_epoch_deadline(Ticker::ticks(limits.deadline_ms_max));
        store.epoch_deadline_callback(|store| {
            Ok(match store.data().deadline.left_ms() {
                0 => UpdateDeadline::Interrupt,
                left => UpdateDeadline::Continue(Ticker::ticks(left)),
            })
        });
        store
    }

    /// Makes an instance that has worked before ready for the next call, whose deadline starts now.
    pub(crate) fn next_call(store: &mut Store<Self>, limits: &Limits, now_us: i64) {
        store.set_epoch_deadline(Ticker::ticks(limits.deadline_ms_max));
        let state = store.data_mut();
        state.deadline = Deadline::from_now(limits.deadline_ms_max);
        state.stderr.lock().unwrap_or_else(PoisonError::into_inner).clear();
        state.log.end_call();
        state.now_us = now_us;
    }

    /// What it wrote to stderr, or to the log as errors, last.
    pub(crate) fn said(&self) -> Option<String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).said()
    }

    /// Without preopened folders: no path can be opened.
    pub(crate) fn filesystem(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: &mut self.filesystem.0, table: &mut self.resources }
    }
}

impl log::Host for State {
    /// Errors may be the last words before a trap, so they are kept as what is written to stderr is.
    fn log(&mut self, level: u32, text: String) {
        if level >= ERROR {
            let mut stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
            stderr.write(text.as_bytes());
            if level == ERROR {
                stderr.write(b"\n");
            }
        }
        match level {
            PIECE => self.log.piece(&text),
            _ => self.log.line(level, &text),
        }
    }
}

impl types::Host for State {}
