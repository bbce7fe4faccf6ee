//! What components may use: for each stage, and of the host as a whole.

use crate::problem::Code;
use crate::read::{Object, Spelling};

const GIB: u64 = 1 << 30;
/// Less is not enough for the start of any component.
const TOTAL_MEMORY_BYTES_MIN: u64 = 256 << 20;

/// `[limits]` of the project, defaults for every stage; or those of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one instance.
    pub memory_bytes_max: u64,
    /// Processor time of one call.
    pub deadline_ms_max: u64,
    /// Bytes that one call may return.
    pub output_bytes_max: u64,
    /// Rows that one call may return.
    pub output_rows_max: u64,
    /// Different codes among the rejections of one call.
    pub codes_max: u64,
    /// Bytes of one code.
    pub code_bytes_max: u64,
    /// The text of a rejection is cut to so many bytes.
    pub text_bytes_max: u64,
    /// Log lines of one call; the others are counted.
    pub log_lines_max: u64,
    /// A log line is cut to so many bytes.
    pub log_line_bytes_max: u64,
    /// Bytes kept of what one call writes to stderr, the last ones.
    pub stderr_bytes_max: u64,
    /// Elements of one table of an instance.
    pub table_elements_max: u64,
    /// Core instances that one component may consist of.
    pub core_instances_max: u64,
}

/// What all components together may use: `[limits]` of the project only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Linear memory of all instances together; `None`: 1 GiB, or what one instance for each processor may use.
    pub total_memory_bytes_max: Option<u64>,
    /// Native stack of a component's code: how deep it may recurse.
    pub stack_bytes_max: Option<u64>,
    /// Memory of the process that compiles a component.
    pub compile_memory_bytes_max: Option<u64>,
    /// Processor time of the process that compiles a component.
    pub compile_seconds_max: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 268_435_456,
            deadline_ms_max: 10_000,
            output_bytes_max: 134_217_728,
            output_rows_max: 1_048_576,
            codes_max: 100,
            code_bytes_max: 64,
            text_bytes_max: 2_048,
            log_lines_max: 100,
            log_line_bytes_max: 2_048,
            stderr_bytes_max: 4_096,
            table_elements_max: 100_000,
            core_instances_max: 64,
        }
    }
}

/// Limits of a stage or of the project; what is not given is taken from `default`.
pub(crate) fn read_limits(object: &Object<'_>, default: &Limits) -> Limits {
    let one = |name: &str, default: u64, most: u64| given(object, name, 1, most).unwrap_or(default);
    Limits {
        memory_bytes_max: one("memory_bytes_max", default.memory_bytes_max, 4 * GIB),
        deadline_ms_max: one("deadline_ms_max", default.deadline_ms_max, 3_600_000),
        output_bytes_max: one("output_bytes_max", default.output_bytes_max, 4 * GIB),
        output_rows_max: one("output_rows_max", default.output_rows_max, 1 << 31),
        codes_max: one("codes_max", default.codes_max, 10_000),
        code_bytes_max: one("code_bytes_max", default.code_bytes_max, 1_024),
        text_bytes_max: one("text_bytes_max", default.text_bytes_max, 65_536),
        log_lines_max: one("log_lines_max", default.log_lines_max, 100_000),
        log_line_bytes_max: one("log_line_bytes_max", default.log_line_bytes_max, 65_536),
        stderr_bytes_max: one("stderr_bytes_max", default.stderr_bytes_max, 1 << 20),
        table_elements_max: one("table_elements_max", default.table_elements_max, 10_000_000),
        core_instances_max: one("core_instances_max", default.core_instances_max, 1_000),
    }
}

/// Limits of the host, from the settings whose defaults for stages are `stages`.
pub(crate) fn read_host_limits(object: &Object<'_>, stages: &Limits) -> HostLimits {
    let one = |name: &str, least: u64, most: u64| given(object, name, least, most);
    let total = one("total_memory_bytes_max", TOTAL_MEMORY_BYTES_MIN, 1 << 50);
    let own = stages.memory_bytes_max;
    if let Some(value) = object.get("total_memory_bytes_max")
        && total.is_some_and(|total| total < own)
    {
        let what = format!("all instances together may use less than one of them, `memory_bytes_max` = {own}");
        value.refuse(Code::Conflict, what);
    }
    HostLimits {
        total_memory_bytes_max: total,
        stack_bytes_max: one("stack_bytes_max", 65_536, 1 << 20),
        compile_memory_bytes_max: one("compile_memory_bytes_max", TOTAL_MEMORY_BYTES_MIN, 1 << 50),
        compile_seconds_max: one("compile_seconds_max", 1, 3_600),
    }
}

fn given(object: &Object<'_>, name: &str, least: u64, most: u64) -> Option<u64> {
    let value = object.get(name)?;
    let number = value.count(least, Spelling::Json)?;
    if number > most {
        value.refuse(Code::InvalidValue, format!("expected a whole number of at most {most}"));
        return None;
    }
    Some(number)
}
