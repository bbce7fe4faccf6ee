//! What the system counts of this process. Linux tells it in `/proc`; elsewhere nothing is told.

use std::fs;

/// Ticks of a processor's second, in which Linux tells times to programs: the same for all its architectures.
const TICKS_PER_SECOND: f64 = 100.0;

/// Figures of this process.
#[derive(Debug, Default)]
pub(crate) struct Process {
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) open_files: Option<u64>,
    pub(crate) start_seconds: Option<u64>,
}

impl Process {
    /// As they are now; `None` where there is no `/proc`.
    pub(crate) fn now() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let status = fs::read_to_string("/proc/self/status").ok();
        let boot = fs::read_to_string("/proc/stat").ok();
        let files = fs::read_dir("/proc/self/fd").ok();
        Some(Self {
            cpu_seconds: cpu_seconds(&stat),
            resident_bytes: status.as_deref().and_then(resident_bytes),
            open_files: files.map(|files| files.count() as u64),
            start_seconds: boot.as_deref().and_then(|boot| start_seconds(&stat, boot)),
        })
    }
}

/// A field of `/proc/self/stat`, counted as its manual does: from 1. The second one, a name, may hold anything.
fn field(stat: &str, number: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((field(stat, 14)? + field(stat, 15)?) / TICKS_PER_SECOND)
}

fn start_seconds(stat: &str, boot: &str) -> Option<u64> {
    let booted: u64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(booted + (field(stat, 22)? / TICKS_PER_SECOND) as u64)
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_whatever_the_program_is_called() {
        let stat = "42 (a) b) 7) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 12345 1000000 2000";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(start_seconds(stat, "cpu 1\nbtime 1700000000\n"), Some(1_700_000_123));
        assert_eq!(resident_bytes("Name: x\nVmRSS:\t    2048 kB\n"), Some(2_097_152));
        assert_eq!(
            (cpu_seconds("42 (x) S 1"), resident_bytes("VmRSS: many"), start_seconds(stat, "")),
            (None, None, None)
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_figures() {
        let process = Process::now().unwrap();
        assert!(process.resident_bytes.unwrap() > 100_000 && process.open_files.unwrap() > 2);
        assert!(process.cpu_seconds.unwrap() >= 0.0 && process.start_seconds.unwrap() > 1_600_000_000);
    }
}
