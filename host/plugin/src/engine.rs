//! The WebAssembly engine of this process: what is switched on, and the ticker of deadlines.

use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{Config, Inlining};

use crate::budget::Budget;
use crate::limits::{Limits, count};
use crate::linker::linker;
use crate::pool::Pool;
use crate::state::State;
use crate::ticker::Ticker;
use crate::{Compiler, PluginError};

const STACK_BYTES: u64 = 512 << 10;
const TOTAL_MEMORY_BYTES: u64 = 1 << 30;

/// Compiles components and stops those that take too long. One for each process; clones share it. Its ticker thread
/// ends with the last clone and the last component.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What holds for all components of an engine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Linear memory of all instances together: calls wait for room. At least what one instance may use.
    pub total_memory_bytes_max: u64,
    /// Native stack of a component's code. Threads that call components must have twice as much.
    pub stack_bytes_max: u64,
    /// The process that compiles; `None`: components are compiled in this process, where nothing limits the compiler.
    pub compiler: Option<Compiler>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let total_memory_bytes_max = TOTAL_MEMORY_BYTES.max(threads * Limits::default().memory_bytes_max);
        Self { total_memory_bytes_max, stack_bytes_max: STACK_BYTES, compiler: None }
    }
}

struct Shared {
    engine: wasmtime::Engine,
    linker: Linker<State>,
    pool: Pool,
    options: EngineOptions,
    _ticker: Ticker,
}

impl Engine {
    /// Starts an engine with default options.
    ///
    /// # Errors
    /// As for [`Self::with`].
    pub fn new() -> Result<Self, PluginError> {
        Self::with(EngineOptions::default())
    }

    /// Starts an engine and its ticker.
    ///
    /// # Errors
    /// The machine cannot run it: no thread, or an unsupported processor.
    pub fn with(options: EngineOptions) -> Result<Self, PluginError> {
        let failed = |what: String| PluginError::Engine { what };
        let mut config = config();
        config.max_wasm_stack(count(options.stack_bytes_max));
        let engine = wasmtime::Engine::new(&config).map_err(|error| failed(format!("{error:#}")))?;
        let linker = linker(&engine).map_err(|error| failed(format!("{error:#}")))?;
        let ticking = engine.clone();
        let ticker = Ticker::start(move || ticking.increment_epoch()).map_err(|error| failed(error.to_string()))?;
        let pool = Pool::new(Budget::new(options.total_memory_bytes_max));
        Ok(Self { shared: Arc::new(Shared { engine, linker, pool, options, _ticker: ticker }) })
    }

    /// Linear memory of all instances: bytes in use now, and the most that was in use at one time.
    pub fn memory_bytes(&self) -> (u64, u64) {
        let used = self.shared.pool.used();
        (used.now(), used.peak())
    }

    pub(crate) fn options(&self) -> &EngineOptions {
        &self.shared.options
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.shared.engine
    }

    pub(crate) fn linker(&self) -> &Linker<State> {
        &self.shared.linker
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

/// On is what compilers of common languages need: SIMD, bulk memory, multi-value, reference types. Off is the rest:
/// most advisories against the runtime sit there.
///
/// Inlining by the runtime is off too. It makes the bundled components no faster, and compiling one of 1 MB takes 1.1 GiB
/// with it, 60 MiB without.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    switch_off(&mut config);
    config.epoch_interruption(true).compiler_inlining(Inlining::No).memory_init_cow(true).signals_based_traps(true);
    config
}

fn switch_off(config: &mut Config) {
    config
        .wasm_gc(false)
        .wasm_function_references(false)
        .wasm_exceptions(false)
        .wasm_threads(false)
        .wasm_shared_everything_threads(false)
        .wasm_stack_switching(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false)
        .wasm_component_model_error_context(false)
        .wasm_component_model_gc(false)
        .wasm_component_model_map(false)
        .wasm_component_model_memory64(false)
        .wasm_component_model_fixed_length_lists(false)
        .wasm_component_model_implements(false)
        .concurrency_support(false)
        .shared_memory(false)
        .gc_support(false);
}

#[cfg(test)]
mod tests;
