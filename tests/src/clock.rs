//! A system clock that a test sets, for one host.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The clock of a host; the machine's own is left alone.
#[derive(Debug)]
pub struct Clock {
    dir: TempDir,
    skew: File,
}

/// Adds the seconds that a file holds to what the system says. Rust asks the time of day nowhere else.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static volatile int64_t *skew;
static int (*system_clock)(clockid_t, struct timespec *);
__attribute__((constructor)) static void begin(void) {
    system_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("CRISOL_TEST_CLOCK");
    int file = name ? open(name, O_RDONLY) : -1;
    void *held = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (held != MAP_FAILED) skew = held;
}
int clock_gettime(clockid_t which, struct timespec *time) {
    int failed = system_clock(which, time);
    if (!failed && skew && which == CLOCK_REALTIME) time->tv_sec += *skew;
    return failed;
}
"#;

impl Clock {
    /// A clock that is right.
    pub fn new() -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let (source, library) = (dir.path().join("clock.c"), dir.path().join("clock.so"));
        fs::write(&source, SOURCE).expect("a file can be written");
        let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(compiled.expect("cc runs").success());
        let skew = File::create(dir.path().join("skew")).expect("a file can be made");
        let clock = Self { dir, skew };
        clock.set(0);
        clock
    }

    /// From now on it is so many seconds ahead of the machine's, or behind.
    pub fn set(&self, seconds: i64) {
        self.skew.write_all_at(&seconds.to_ne_bytes(), 0).expect("a file can be written");
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.dir.path().join("clock.so")
    }

    pub(crate) fn file(&self) -> PathBuf {
        Path::new(self.dir.path()).join("skew")
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}
