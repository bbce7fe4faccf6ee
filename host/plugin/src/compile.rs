//! Compiling, which no deadline of the sandbox reaches: in a process of its own, whose memory and time are limited.
//!
//! The compiler is the part of the runtime that works longest on bytes that nobody has checked, and an error in it, or
//! code that is made to be slow to compile, should cost a process and not the host.

use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};

use crate::Engine;
use crate::engine::config;
use crate::limits::{FILE_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::text::printable;

/// How many times the processor time a compiler may take on a clock: it may have to wait for others.
const WALL_FACTOR: u64 = 5;

/// How a process says that it gets no more memory.
const NO_MEMORY: &str = "memory allocation of";

/// The process that compiles: a program that calls [`compile_in_child`].
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program, of the same build as this process.
    pub program: PathBuf,
    /// What tells the program that it is to compile.
    pub argument: String,
    /// Memory of the process.
    pub memory_bytes_max: u64,
    /// Processor time of the process.
    pub seconds_max: u64,
}

const MEMORY_BYTES_MAX: u64 = 2 << 30;
const SECONDS_MAX: u64 = 120;

impl Compiler {
    /// A program that compiles when it is called with this argument, with the limits that hold by default.
    pub fn new(program: impl Into<PathBuf>, argument: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            argument: argument.into(),
            memory_bytes_max: MEMORY_BYTES_MAX,
            seconds_max: SECONDS_MAX,
        }
    }

    /// The machine code of a component.
    pub(crate) fn run(&self, wasm: &[u8]) -> Result<Vec<u8>, String> {
        let mut child =
            self.start().map_err(|error| format!("the process that compiles cannot be started: {error}"))?;
        let (code, said, status) = std::thread::scope(|threads| {
            let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            // A child that refuses its input says why on its own.
            threads.spawn(move || input.map(|mut input| input.write_all(wasm)));
            let said = threads.spawn(move || errors.map(|errors| read_at_most(errors, MESSAGE_BYTES_MAX as u64)));
            let (done, is_done) = mpsc::channel();
            let code = threads.spawn(move || {
                let code = output.map(|output| read_at_most(output, u64::MAX));
                let _ = done.send(());
                code
            });
            let wall = Duration::from_secs(self.seconds_max.saturating_mul(WALL_FACTOR));
            let late = is_done.recv_timeout(wall).is_err() && child.kill().is_ok();
            let taken = |read: std::thread::Result<Option<Vec<u8>>>| read.ok().flatten().unwrap_or_default();
            let (code, said) = (taken(code.join()), taken(said.join()));
            (code, said, child.wait().map(|status| (status, late)))
        });
        let (status, late) = status.map_err(|error| error.to_string())?;
        if status.success() { Ok(code) } else { Err(self.failed(status, late, &String::from_utf8_lossy(&said))) }
    }

    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.program)
            .arg(&self.argument)
            .arg(self.memory_bytes_max.to_string())
            .arg(self.seconds_max.to_string())
            // Nothing of the environment concerns it, secrets least of all.
            .env_clear()
            .env("RAYON_NUM_THREADS", rayon::current_num_threads().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    fn failed(&self, status: ExitStatus, late: bool, said: &str) -> String {
        use std::os::unix::process::ExitStatusExt as _;
        let said = printable(said.trim(), MESSAGE_BYTES_MAX);
        match status.signal() {
            Some(signal) if late || signal == nix::libc::SIGXCPU => format!(
                "compiling it took more than {} s of processor time; if it is that large, raise \
                 `limits.compile_seconds_max` of crisol.toml",
                self.seconds_max
            ),
            Some(nix::libc::SIGABRT) if said.contains(NO_MEMORY) => format!(
                "compiling it took more than {} bytes of memory ({said}); if it is that large, raise \
                 `limits.compile_memory_bytes_max` of crisol.toml",
                self.memory_bytes_max
            ),
            Some(signal) => format!("the process that compiles was ended by signal {signal}: {said}"),
            None => said,
        }
    }
}

fn read_at_most(from: impl std::io::Read, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What could be read is judged by the status of the process.
    let _ = from.take(bytes_max).read_to_end(&mut bytes);
    bytes
}

/// The machine code of a component: made by the engine's compiler, or where it has none in this process.
pub(crate) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>, String> {
    match &engine.options().compiler {
        Some(compiler) => compiler.run(wasm),
        None => precompile(engine.wasmtime(), wasm),
    }
}

/// What the program of a [`Compiler`] does: limits itself, reads a component from standard input, and writes its machine
/// code to standard output.
///
/// # Errors
/// Text for people: limits that are no numbers, or bytes that are no component that can be run here.
pub fn compile_in_child(memory_bytes_max: &str, seconds_max: &str) -> Result<(), String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no limit"));
    let (memory, seconds) = (number(memory_bytes_max)?, number(seconds_max)?);
    for (resource, limit) in
        [(Resource::RLIMIT_DATA, memory), (Resource::RLIMIT_CPU, seconds), (Resource::RLIMIT_CORE, 0)]
    {
        // At the soft limit of time comes the signal that tells what it was, at the hard one only the end.
        setrlimit(resource, limit, limit.saturating_add(1))
            .map_err(|error| format!("the limits of the process cannot be set: {error}"))?;
    }
    let mut wasm = Vec::new();
    std::io::stdin().take(FILE_BYTES_MAX).read_to_end(&mut wasm).map_err(|error| error.to_string())?;
    let engine = wasmtime::Engine::new(&config()).map_err(|error| format!("{error:#}"))?;
    let code = precompile(&engine, &wasm)?;
    std::io::stdout().write_all(&code).map_err(|error| error.to_string())
}

fn precompile(engine: &wasmtime::Engine, wasm: &[u8]) -> Result<Vec<u8>, String> {
    match catch_unwind(AssertUnwindSafe(|| engine.precompile_component(wasm))) {
        Ok(Ok(code)) => Ok(code),
        Ok(Err(error)) => Err(printable(&format!("{error:#}"), MESSAGE_BYTES_MAX)),
        Err(_) => Err("the compiler panicked on it".to_string()),
    }
}
