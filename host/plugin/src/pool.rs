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
        let mut idle = self.idle();
        // Under one lock: whoever looks for room meanwhile must find what the others keep.
        let (own, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut *idle).into_iter().partition(|one| one.stage == stage);
        *idle = others;
        drop(idle);
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::EngineOptions;
    use crate::engine::Engine;
    use crate::guest_log::Identity;
    use crate::limits::Limits;
    use crate::state::State;

    #[test]
    fn whoever_looks_for_room_finds_idle_instances_also_while_a_stage_gives_up_its_own() {
        let limits = Limits { memory_bytes_max: 1 << 20, ..Limits::default() };
        let options = EngineOptions { total_memory_bytes_max: limits.memory_bytes_max, ..EngineOptions::default() };
        let engine = Engine::with(options).unwrap();
        let identity = Arc::new(Identity { name: "any".into(), digest: String::new() });
        let (kept, gone) = (engine.pool().register(), engine.pool().register());
        for round in 0..2_000 {
            // All that there is, idle.
            let store = State::store(&engine, &identity, &limits, 0);
            engine.pool().put(kept, Instance::new(store), limits.memory_bytes_max);
            let (told, done) = mpsc::channel();
            let waiting = engine.clone();
            thread::spawn(move || {
                drop(waiting.pool().reserve(1));
                told.send(()).unwrap();
            });
            let deadline = Instant::now() + Duration::from_secs(60);
            while done.try_recv().is_err() {
                engine.pool().forget(gone);
                assert!(Instant::now() < deadline, "round {round}: it waits for what is idle");
            }
            engine.pool().forget(kept);
        }
    }
}
