//! Why a call ended without an answer: from the runtime's errors and the component's own to [`CallError`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use wasmtime::Trap;

use crate::CallError;
use crate::bindings::Failure;
use crate::limiter::Refusal;
use crate::limits::{FAILURE_CODE_BYTES_MAX, Limits, MESSAGE_BYTES_MAX};
use crate::state::State;
use crate::text::printable;

const ATTRIBUTES_MAX: usize = 16;
/// The runtime has no type for this error; a test holds the words.
const FUEL_EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";
/// The same holds for this one.
const TOO_MANY_INSTANCES: &str = "instance count too high at ";

/// The same holds for these two: a memory that cannot be reserved, and `ENOMEM`, the only error of the system for it.
const NOT_RESERVED: &str = "mmap failed to reserve 0x";
const NO_MEMORY: &str = "(os error 12)";

/// What stopped a component.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The runtime stopped it.
    Runtime(wasmtime::Error),
    /// It gave up by itself.
    Failed(Failure),
}

impl From<wasmtime::Error> for Stop {
    fn from(error: wasmtime::Error) -> Self {
        Self::Runtime(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Calls a component and reads its answer. Nothing is known to panic on an answer; if something does, it costs this
/// call and not the process.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(CallError::Host { what: "the host panicked on its answer".to_string() }))
}

/// Names the limit or the trap. `output_bytes_max` is what the store was given as hostcall fuel.
pub(crate) fn explain(stop: Stop, state: &State, limits: &Limits) -> CallError {
    let error = match stop {
        Stop::Failed(failure) => return failed(failure),
        Stop::Runtime(error) => error,
    };
    tracing::debug!(error = %printable(&format!("{error:?}"), 4 * MESSAGE_BYTES_MAX), "a component was stopped");
    let said = state.said();
    if let Some(refusal) = state.limiter.refusal() {
        return refused(refusal, limits, said);
    }
    let trap = error.downcast_ref::<Trap>().copied();
    if trap == Some(Trap::Interrupt) {
        return CallError::Deadline { limit_ms: limits.deadline_ms_max, share_of_ms: None, said };
    }
    let root = error.root_cause().to_string();
    if root.contains(FUEL_EXHAUSTED) {
        let limit = limits.output_bytes_max;
        return CallError::Output { actual: None, limit, unit: "bytes", of: "a call", setting: "output_bytes_max" };
    }
    if let Some((_, asked)) = root.split_once(TOO_MANY_INSTANCES) {
        let (asked, limit) = (asked.parse().unwrap_or(limits.core_instances_max + 1), limits.core_instances_max);
        let raise = Some("core_instances_max");
        return CallError::Memory { asked, limit, unit: "core instances", raise, said };
    }
    if trap == Some(Trap::StackOverflow) {
        return CallError::Stack { limit: state.stack_bytes_max, said };
    }
    if trap.is_none() && root.ends_with(NO_MEMORY) {
        return CallError::AddressSpace { reserved: reserved(&error) };
    }
    CallError::Trap { what: trap_text(trap, &root), said }
}

/// How much the runtime wanted to reserve, in its own words.
fn reserved(error: &wasmtime::Error) -> Option<u64> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let digits = text.strip_prefix(NOT_RESERVED)?.split(' ').next()?.to_string();
        u64::from_str_radix(&digits, 16).ok()
    })
}

fn trap_text(trap: Option<Trap>, root: &str) -> String {
    match trap {
        Some(Trap::UnreachableCodeReached) => "it panicked or aborted (`unreachable`)".to_string(),
        _ => printable(root.trim_start_matches("wasm trap: "), MESSAGE_BYTES_MAX),
    }
}

fn refused(refusal: &Refusal, limits: &Limits, said: Option<String>) -> CallError {
    match *refusal {
        Refusal::Memory(asked) => {
            let (limit, raise) = (limits.memory_bytes_max, Some("memory_bytes_max"));
            CallError::Memory { asked, limit, unit: "bytes of memory", raise, said }
        }
        Refusal::Table(asked) => {
            let (limit, raise) = (limits.table_elements_max, Some("table_elements_max"));
            CallError::Memory { asked, limit, unit: "table elements", raise, said }
        }
    }
}

fn failed(failure: Failure) -> CallError {
    let short = |text: &str| printable(text, FAILURE_CODE_BYTES_MAX);
    let attributes = failure.attributes.iter().take(ATTRIBUTES_MAX);
    CallError::Failure {
        code: short(&failure.code),
        text: printable(&failure.text, MESSAGE_BYTES_MAX),
        attributes: attributes.map(|(name, value)| (short(name), printable(value, MESSAGE_BYTES_MAX / 8))).collect(),
    }
}
