//! Processor time of this thread, and what machine it was taken on.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use crate::Error;

/// Seconds of this thread that `work` takes. What it gives is dropped outside of them.
pub fn of<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<f64, Error> {
    let start = ThreadTime::try_now()?;
    let given = std::hint::black_box(work()?);
    let seconds = start.try_elapsed()?.as_secs_f64();
    drop(given);
    Ok(seconds)
}

/// The least seconds of each of some ways to do the same, which take turns for so long.
pub fn fastest<const N: usize>(
    time: Duration,
    mut ways: [&mut dyn FnMut() -> Result<f64, Error>; N],
) -> Result<[f64; N], Error> {
    let mut best = [f64::MAX; N];
    let started = Instant::now();
    while started.elapsed() < time {
        for (way, best) in ways.iter_mut().zip(&mut best) {
            *best = best.min(way()?);
        }
    }
    Ok(best)
}

/// Processor and build, for the record.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let level = if cfg!(all(target_feature = "avx2", target_feature = "bmi2", target_feature = "fma")) {
        "x86-64-v3"
    } else {
        "no x86-64-v3: the ratios are not those that count"
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{}, {cores} cores, {}; native code is built for {level}", model.unwrap_or("?"), std::env::consts::OS)
}
