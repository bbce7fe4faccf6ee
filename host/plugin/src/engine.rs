//! The WebAssembly engine of this process: what is switched on, and the ticker of deadlines.

use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{Config, Inlining};

use crate::PluginError;
use crate::limits::STACK_BYTES_MAX;
use crate::linker::linker;
use crate::state::State;
use crate::ticker::Ticker;

/// Compiles components and stops those that take too long. One for each process; clones share it. Its ticker thread
/// ends with the last clone and the last component.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    engine: wasmtime::Engine,
    linker: Linker<State>,
    _ticker: Ticker,
}

impl Engine {
    /// Starts the engine and its ticker.
    ///
    /// # Errors
    /// The machine cannot run it: no thread, or an unsupported processor.
    pub fn new() -> Result<Self, PluginError> {
        let failed = |what: String| PluginError::Engine { what };
        let engine = wasmtime::Engine::new(&config()).map_err(|error| failed(format!("{error:#}")))?;
        let linker = linker(&engine).map_err(|error| failed(format!("{error:#}")))?;
        let ticking = engine.clone();
        let ticker = Ticker::start(move || ticking.increment_epoch()).map_err(|error| failed(error.to_string()))?;
        Ok(Self { shared: Arc::new(Shared { engine, linker, _ticker: ticker }) })
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
/// Inlining by the runtime is off too. It makes a decoder 3 to 5 % faster, and compiling a component of 1 MB takes
/// 1.1 GiB with it, 60 MiB without: more than a whole pipeline may use.
fn config() -> Config {
    let mut config = Config::new();
    switch_off(&mut config);
    config
        .epoch_interruption(true)
        .compiler_inlining(Inlining::No)
        .memory_init_cow(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .signals_based_traps(true);
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
