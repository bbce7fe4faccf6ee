//! What the sandbox may use as a whole, from the settings of a project.

use std::path::PathBuf;

use crisol_contract::{HostLimits, Project};
use crisol_plugin::{Compiler, EngineOptions};

/// The options of the sandbox; `compiler` is a program and the argument that makes it compile.
pub(crate) fn options(project: Option<&Project>, compiler: Option<&(PathBuf, String)>) -> EngineOptions {
    let limits = project.map(|project| project.host_limits.clone()).unwrap_or_default();
    let HostLimits { total_memory_bytes_max, stack_bytes_max, compile_memory_bytes_max, compile_seconds_max } = limits;
    let default = EngineOptions::default();
    EngineOptions {
        total_memory_bytes_max: total_memory_bytes_max
            .unwrap_or_else(|| default.total_memory_bytes_max.max(project.map_or(0, largest))),
        stack_bytes_max: stack_bytes_max.unwrap_or(default.stack_bytes_max),
        compiler: compiler.map(|(program, argument)| {
            let compiler = Compiler::new(program, argument);
            Compiler {
                memory_bytes_max: compile_memory_bytes_max.unwrap_or(compiler.memory_bytes_max),
                seconds_max: compile_seconds_max.unwrap_or(compiler.seconds_max),
                ..compiler
            }
        }),
    }
}

/// What the instance may use that may use most.
fn largest(project: &Project) -> u64 {
    let stages = project.tables.iter().flat_map(|table| &table.stages);
    stages.map(|stage| stage.limits.memory_bytes_max).fold(project.limits.memory_bytes_max, u64::max)
}
