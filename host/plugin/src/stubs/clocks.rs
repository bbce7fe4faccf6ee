//! Clocks that stand still at the batch's timestamp; sleeping is over at once.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};

use crate::state::State;

const MICROSECOND_NS: u64 = 1_000;

impl State {
    /// Times before 1970 are shown as 1970: WASI has no others.
    fn now_since_1970_us(&self) -> u64 {
        u64::try_from(self.now_us).unwrap_or(0)
    }
}

impl wall_clock::Host for State {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let now = self.now_since_1970_us();
        let nanoseconds = (now % 1_000_000) as u32 * 1_000;
        Ok(wall_clock::Datetime { seconds: now / 1_000_000, nanoseconds })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: MICROSECOND_NS as u32 })
    }
}

impl monotonic_clock::Host for State {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.now_since_1970_us().saturating_mul(MICROSECOND_NS))
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(MICROSECOND_NS)
    }

    fn subscribe_instant(&mut self, _when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }

    fn subscribe_duration(&mut self, _duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }
}
