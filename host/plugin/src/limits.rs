//! What a component may use: the limits that a stage can set, and those that are fixed.

use wasmtime::ResourceLimiter;

/// Most rows in one call of a row stage.
pub const ROWS_MAX: usize = 16_384;
/// Largest component file.
pub(crate) const FILE_BYTES_MAX: u64 = 64 << 20;
/// Most that `describe` and `plan` may give.
pub(crate) const DESCRIPTION_BYTES_MAX: usize = 1 << 20;
/// Largest JSON Schema of options.
pub(crate) const OPTIONS_SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Largest options, as JSON text.
pub(crate) const OPTIONS_BYTES_MAX: usize = 1 << 20;
/// Most columns that a stage may read, and write.
pub(crate) const COLUMNS_MAX: usize = 1_000;
/// Longest name of a column, in bytes.
pub(crate) const COLUMN_NAME_BYTES_MAX: usize = 200;
/// Longest code of a rejection, in bytes.
pub(crate) const CODE_BYTES_MAX: usize = 64;
/// Texts of rejections and failures are cut to so many bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 2 << 10;
/// Of what a component writes to stderr in one call, the last bytes are kept.
pub(crate) const STDERR_BYTES_MAX: usize = 4 << 10;
/// Log lines of one call; the others are counted.
pub(crate) const LOG_LINES_MAX: u32 = 100;
/// Log lines are cut to so many bytes.
pub(crate) const LOG_LINE_BYTES_MAX: usize = 2 << 10;
/// Host resources (streams, pollables) alive at one time.
pub(crate) const HANDLES_MAX: usize = 1_000;
/// Random bytes of one request.
pub(crate) const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// Calls of one instance of a component that declares `reuse`.
pub(crate) const REUSE_CALLS_MAX: u32 = 64;
/// Native stack of a component's code.
pub(crate) const STACK_BYTES_MAX: usize = 512 << 10;

/// Elements of one table.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 100_000;
const TABLES_MAX: usize = 64;
const MEMORIES_MAX: usize = 16;
const INSTANCES_MAX: usize = 64;

/// What one call of a stage may use. Breaking one ends the call with an error that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All linear memories of the instance together.
    pub memory_bytes_max: u64,
    /// Wall time of one call, the start of the instance included. Each call of a session of groups has it anew.
    pub deadline_ms_max: u64,
    /// Bytes that one call may give back, and all calls of a session of groups together.
    pub output_bytes_max: u64,
    /// Rows that one call may give back, and all calls of a session of groups together.
    pub output_rows_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 268_435_456,
            deadline_ms_max: 10_000,
            output_bytes_max: 134_217_728,
            output_rows_max: 1_048_576,
        }
    }
}

/// Which growth was refused; kept, because what reaches the caller is only a trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Linear memory: so many bytes in all were asked for.
    Memory(u64),
    /// A table: so many elements were asked for.
    Table(u64),
}

/// Counts what an instance grows to and traps it when it asks for more.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_bytes_max: u64,
    memory_bytes: u64,
    refusal: Option<Refusal>,
}

impl Limiter {
    pub(crate) fn new(memory_bytes_max: u64) -> Self {
        Self { memory_bytes_max, memory_bytes: 0, refusal: None }
    }

    /// Bytes of linear memory now; memory never shrinks.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let asked = self.memory_bytes.saturating_add(more);
        if asked > self.memory_bytes_max {
            self.refusal = Some(Refusal::Memory(asked));
            wasmtime::bail!("memory limit");
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.memory_bytes = asked;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS_MAX {
            self.refusal = Some(Refusal::Table(desired as u64));
            wasmtime::bail!("table limit");
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn instances(&self) -> usize {
        INSTANCES_MAX
    }

    fn tables(&self) -> usize {
        TABLES_MAX
    }

    fn memories(&self) -> usize {
        MEMORIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_counted_together() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 30, None).unwrap());
        assert!(limiter.memory_growing(30, 50, None).is_err());
        assert_eq!(limiter.refusal(), Some(&Refusal::Memory(110)));
        assert_eq!(limiter.memory_bytes(), 90);
    }

    #[test]
    fn a_memory_that_reaches_its_own_maximum_is_refused_without_a_trap() {
        let mut limiter = Limiter::new(100);
        assert!(!limiter.memory_growing(0, 60, Some(50)).unwrap());
        assert_eq!(limiter.memory_bytes(), 0);
        assert_eq!(limiter.refusal(), None);
    }

    #[test]
    fn tables_have_a_limit_of_their_own() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.table_growing(0, 100, None).unwrap());
        assert!(limiter.table_growing(100, TABLE_ELEMENTS_MAX + 1, None).is_err());
        assert_eq!(limiter.refusal(), Some(&Refusal::Table(TABLE_ELEMENTS_MAX as u64 + 1)));
    }
}
