//! Counts what an instance asks for, and refuses what is too much.

use wasmtime::ResourceLimiter;

use crate::budget::Reserved;
use crate::limits::{Limits, count};

const TABLES_MAX: usize = 64;
const MEMORIES_MAX: usize = 16;

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
    table_elements_max: u64,
    core_instances_max: u64,
    memory_bytes: u64,
    refusal: Option<Refusal>,
    reserved: Reserved,
}

impl Limiter {
    /// For an instance that has room for its memory.
    pub(crate) fn new(limits: &Limits, reserved: Reserved) -> Self {
        Self {
            memory_bytes_max: limits.memory_bytes_max,
            table_elements_max: limits.table_elements_max,
            core_instances_max: limits.core_instances_max,
            memory_bytes: 0,
            refusal: None,
            reserved,
        }
    }

    /// Bytes of linear memory now; memory never shrinks.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        self.reserved.ended(self.memory_bytes);
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
        self.reserved.grew(more);
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired as u64 > self.table_elements_max {
            self.refusal = Some(Refusal::Table(desired as u64));
            wasmtime::bail!("table limit");
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn instances(&self) -> usize {
        count(self.core_instances_max)
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
    use crate::budget::Budget;

    fn limiter() -> Limiter {
        let limits = Limits { memory_bytes_max: 100, ..Limits::default() };
        Limiter::new(&limits, Budget::new(100).reserve(100, || false))
    }

    #[test]
    fn memories_are_counted_together() {
        let mut limiter = limiter();
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 30, None).unwrap());
        assert!(limiter.memory_growing(30, 50, None).is_err());
        assert_eq!(limiter.refusal(), Some(&Refusal::Memory(110)));
        assert_eq!(limiter.memory_bytes(), 90);
    }

    #[test]
    fn a_memory_that_reaches_its_own_maximum_is_refused_without_a_trap() {
        let mut limiter = limiter();
        assert!(!limiter.memory_growing(0, 60, Some(50)).unwrap());
        assert_eq!(limiter.memory_bytes(), 0);
        assert_eq!(limiter.refusal(), None);
    }

    #[test]
    fn tables_have_a_limit_of_their_own() {
        let mut limiter = limiter();
        assert!(limiter.table_growing(0, 100, None).unwrap());
        assert!(limiter.table_growing(100, 100_001, None).is_err());
        assert_eq!(limiter.refusal(), Some(&Refusal::Table(100_001)));
    }
}
