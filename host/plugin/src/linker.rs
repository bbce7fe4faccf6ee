//! What a component can reach: the log, and stubs of WASI.

use wasmtime::component::{HasData, HasSelf, Linker, ResourceTable};
use wasmtime_wasi::filesystem::WasiFilesystem;
use wasmtime_wasi::p2::bindings::sync::filesystem;
use wasmtime_wasi::p2::bindings::sync::io;
use wasmtime_wasi::p2::bindings::{cli, clocks, random};

use wasmtime_wasi_io::bindings::wasi::io::error;

use crate::bindings::{log, types};
use crate::state::State;

/// Everything on the list of [`crate::imports`], and nothing else.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    types::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    log::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    add_io(l)?;
    add_cli(l)?;
    clocks::wall_clock::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    clocks::monotonic_clock::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    random::random::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    random::insecure::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    random::insecure_seed::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    Ok(linker)
}

struct Resources;

impl HasData for Resources {
    type Data<'a> = &'a mut ResourceTable;
}

fn add_io(l: &mut Linker<State>) -> wasmtime::Result<()> {
    // Errors of streams are resources only; none is ever made.
    error::add_to_linker::<State, Resources>(l, |state| &mut state.resources)?;
    io::poll::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    io::streams::add_to_linker::<State, HasSelf<State>>(l, |state| state)
}

fn add_cli(l: &mut Linker<State>) -> wasmtime::Result<()> {
    cli::environment::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::exit::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::stdin::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::stdout::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::stderr::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::terminal_input::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::terminal_output::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::terminal_stdin::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::terminal_stdout::add_to_linker::<State, HasSelf<State>>(l, |state| state)?;
    cli::terminal_stderr::add_to_linker::<State, HasSelf<State>>(l, |state| state)
}
