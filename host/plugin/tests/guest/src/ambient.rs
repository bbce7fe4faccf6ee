//! What a component can find out about the machine that it runs on.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Read;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Everything in one line.
pub fn told() -> String {
    let before = Instant::now();
    std::thread::sleep(Duration::from_secs(3600));
    let slept = before.elapsed().as_micros();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let mut line = String::new();
    let stdin = std::io::stdin().read_to_string(&mut line).unwrap_or(0);
    println!("to nowhere");
    format!(
        "now={now} slept={slept} env={} args={} stdin={stdin} read={} write={} seed={:x}",
        std::env::vars().count(),
        std::env::args().count(),
        std::fs::read("/etc/hostname").is_ok(),
        std::fs::write("/tmp/out-of-the-box", "x").is_ok(),
        RandomState::new().hash_one(1),
    )
}
