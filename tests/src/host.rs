//! The real binary.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::Clock;

/// Longest time that one command may take.
const DEADLINE: Duration = Duration::from_secs(180);

/// A command line of `host`, not yet run.
#[derive(Debug)]
pub struct Host {
    command: Command,
}

/// A `host` that runs.
#[derive(Debug)]
pub struct Run {
    child: Option<Child>,
    line: String,
}

impl Host {
    /// `host ARGUMENTS…` on a project, with the bundled components.
    pub fn new(project: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(crate::binary("host"));
        command.args(arguments).arg("--project").arg(project);
        command.env("CRISOL_PLUGINS", crate::root().join("plugins"));
        command.env_remove("FAILPOINTS").env_remove("RUST_LOG").env("NO_COLOR", "1");
        command.stdin(Stdio::null());
        Self { command }
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it under another program, which gets `arguments` and then the host's own command line.
    #[must_use]
    pub fn under(self, program: &str, arguments: &[&str], file: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).arg(file).arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null());
        Self { command }
    }

    /// Runs it in bash, `command` being `exec "$@" 2>/dev/full` for one.
    #[must_use]
    pub fn in_bash(self, command: &str) -> Self {
        self.under("bash", &["-c", command], Path::new("bash"))
    }

    /// Takes from root the right to write where the mode of a folder forbids it. Others do not have it anyway.
    #[must_use]
    pub fn heeding_modes(self) -> Self {
        let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if root {
            return self.under("setpriv", &["--inh-caps=-dac_override"], Path::new("--bounding-set=-dac_override"));
        }
        self
    }

    /// Gives it a clock of its own.
    #[must_use]
    pub fn clock(self, clock: &Clock) -> Self {
        self.env("LD_PRELOAD", clock.library()).env("CRISOL_TEST_CLOCK", clock.file())
    }

    /// Takes components from another folder.
    #[must_use]
    pub fn plugins(self, dir: &Path) -> Self {
        self.env("CRISOL_PLUGINS", dir)
    }

    /// Ends the process at a named failpoint, `stream/step/before`, after it was passed `passes` times.
    #[must_use]
    pub fn abort_at(self, failpoint: &str, passes: u32) -> Self {
        let action = if passes == 0 { "return".to_string() } else { format!("{passes}*off->return") };
        self.env("FAILPOINTS", format!("{failpoint}={action}"))
    }

    /// Starts it.
    pub fn start(mut self) -> Run {
        let line = format!("{:?}", self.command);
        let child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Run { child: Some(child.unwrap_or_else(|error| panic!("{line}: {error}"))), line }
    }

    /// Runs it to its end.
    pub fn run(self) -> Output {
        self.start().end()
    }

    /// Runs it and asserts that it did what was asked.
    pub fn succeed(self) -> Output {
        let line = format!("{:?}", self.command);
        let output = self.run();
        assert!(output.status.success(), "{line}\n{}", both(&output));
        output
    }

    /// Runs it and asserts its exit code; gives all that it said.
    pub fn fail_with(self, code: i32) -> String {
        let line = format!("{:?}", self.command);
        let output = self.run();
        assert_eq!(output.status.code(), Some(code), "{line}\n{}", both(&output));
        both(&output)
    }
}

impl Run {
    /// Process id.
    pub fn pid(&self) -> Pid {
        let id = self.child.as_ref().expect("it runs").id();
        Pid::from_raw(i32::try_from(id).expect("a process id"))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the process runs");
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut().expect("it was started");
        child.try_wait().expect("its state is known").is_some()
    }

    /// Asks it to stop; one that has ended already is let be.
    pub fn stop(&self) {
        let _ = kill(self.pid(), Signal::SIGTERM);
    }

    /// Waits for its end.
    pub fn end(mut self) -> Output {
        let child = self.child.take().expect("it runs");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
        let line = self.line.clone();
        // The pipes are drained by `wait_with_output`; a watchdog ends a process that hangs.
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            let hung = ended.recv_timeout(DEADLINE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if hung {
                let _ = kill(pid, Signal::SIGKILL);
            }
            hung
        });
        let output = child.wait_with_output().expect("the process ends");
        drop(done);
        assert!(!watchdog.join().expect("a watchdog"), "{line}\nwas ended after {DEADLINE:?}\n{}", both(&output));
        output
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Standard output and error.
pub(crate) fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Waits until something holds.
pub fn wait_until(what: &str, deadline: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + deadline;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {deadline:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let path = entry.expect("an entry").path();
        let target: PathBuf = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a file can be copied");
        }
    }
}
