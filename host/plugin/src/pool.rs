//! Instances of components that declare `reuse`, between two calls.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::budget::{Budget, Reserved, Used};
use crate::instance::Instance;
use crate::limits::REUSE_CALLS_MAX;

/// All that are idle in this process, the longest idle one in front. They give way to whoever needs their memory.
#[derive(Debug)]
pub(crate) struct Pool {
    budget: Arc<Budget>,
    idle: Mutex<VecDeque<Idle>>,
    stages: AtomicU64,
}

/// Whose instances they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StageKey(u64);

#[derive(Debug)]
struct Idle {
    stage: StageKey,
    instance: Instance,
}

impl Pool {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self { budget, idle: Mutex::default(), stages: AtomicU64::default() }
    }

    /// A key for a stage that keeps instances.
    pub(crate) fn register(&self) -> StageKey {
        StageKey(self.stages.fetch_add(1, Ordering::Relaxed))
    }

    /// Room for an instance that may use so much memory; waits for it.
    pub(crate) fn reserve(&self, memory_bytes_max: u64) -> Reserved {
        self.budget.reserve(memory_bytes_max, || self.evict())
    }

    /// What all instances use.
    pub(crate) fn used(&self) -> &Used {
        self.budget.used()
    }

    /// An instance that has worked for the stage before, if one is idle.
    pub(crate) fn take(&self, stage: StageKey) -> Option<Instance> {
        let mut idle = self.idle();
        let at = idle.iter().rposition(|one| one.stage == stage)?;
        idle.remove(at).map(|one| one.instance)
    }

    /// Keeps an instance after a good call. It is given up when it has made its calls, or uses half of the memory that
    /// it may have: some runtimes leak.
    pub(crate) fn put(&self, stage: StageKey, instance: Instance, memory_bytes_max: u64) {
        let memory_bytes = instance.store.data().limiter.memory_bytes();
        if instance.calls >= REUSE_CALLS_MAX || memory_bytes > memory_bytes_max / 2 {
            return;
        }
        self.idle().push_back(Idle { stage, instance });
        // Only now, so that whoever begins to wait meanwhile either finds it or is seen here.
        if self.budget.is_short() {
            self.evict();
        }
    }

    /// Gives up what a stage kept.
    pub(crate) fn forget(&self, stage: StageKey) {
        let kept = std::mem::take(&mut *self.idle());
        let (own, others): (VecDeque<_>, VecDeque<_>) = kept.into_iter().partition(|one| one.stage == stage);
        self.idle().extend(others);
        drop(own);
    }

    fn evict(&self) -> bool {
        let oldest = self.idle().pop_front();
        oldest.is_some()
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
