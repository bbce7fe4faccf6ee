//! Instances of components that declare `reuse`, between two calls.

use std::sync::{Mutex, PoisonError};

use crate::instance::Instance;
use crate::limits::REUSE_CALLS_MAX;

/// At most as many as there were calls at the same time. Empty for components that do not declare `reuse`.
#[derive(Debug)]
pub(crate) struct Pool {
    reuse: bool,
    memory_bytes_max: u64,
    idle: Mutex<Vec<Instance>>,
}

impl Pool {
    /// Instances are given up when half of the memory that they may have is used: some runtimes leak.
    pub(crate) fn new(reuse: bool, memory_bytes_max: u64) -> Self {
        Self { reuse, memory_bytes_max: memory_bytes_max / 2, idle: Mutex::default() }
    }

    /// An instance that has worked before, if one is idle.
    pub(crate) fn take(&self) -> Option<Instance> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives back an instance after a good call.
    pub(crate) fn put(&self, instance: Instance) {
        let spent =
            instance.calls >= REUSE_CALLS_MAX || instance.store.data().limiter.memory_bytes() > self.memory_bytes_max;
        if self.reuse && !spent {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(instance);
        }
    }
}
