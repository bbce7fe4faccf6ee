//! The instances of one stage between two of its calls.

use crate::Component;
use crate::engine::Engine;
use crate::instance::Instance;
use crate::limits::Limits;
use crate::pool::StageKey;
use crate::state::State;
use crate::stubs::Random;

/// What a stage keeps whose component declares `reuse`. What is idle is given up with it.
#[derive(Debug)]
pub(crate) struct Kept {
    engine: Engine,
    stage: StageKey,
}

impl Kept {
    /// `None` when each call is to have a fresh instance.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let engine = component.engine().clone();
        component.reuse().then(|| Self { stage: engine.pool().register(), engine })
    }

    /// One that has worked before, if any is idle, ready for a call that starts now. Its random numbers are those of a fresh
    /// one.
    pub(crate) fn take(&self, limits: &Limits, timestamp_us: i64) -> Option<Instance> {
        let mut instance = self.engine.pool().take(self.stage)?;
        State::next_call(&mut instance.store, limits, timestamp_us);
        instance.store.data_mut().random = Random::fixed();
        Some(instance)
    }

    /// Keeps one whose call, or session of groups, ended well.
    pub(crate) fn put(&self, mut instance: Instance, limits: &Limits) {
        instance.store.data_mut().log.end_call();
        self.engine.pool().put(self.stage, instance, limits.memory_bytes_max);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.engine.pool().forget(self.stage);
    }
}
