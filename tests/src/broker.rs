//! An Apache Kafka of a test's own, to be ended, frozen and started again.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::{Secure, wait_until};

/// A broker, ended with the test.
#[derive(Debug)]
pub struct Broker {
    dir: TempDir,
    addresses: Vec<String>,
}

impl Broker {
    /// Starts one.
    pub fn start() -> Self {
        Self::start_with("", &[])
    }

    /// Starts one with lines added to its `server.properties`, and with listeners `NAME` or `NAME@ADVERTISED` beside the
    /// plain one.
    pub fn start_with(properties: &str, listeners: &[&str]) -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let added = dir.path().join("added.properties");
        fs::write(&added, properties).expect("a file can be written");
        let mut arguments = vec!["start", path(dir.path()), path(&added)];
        arguments.extend(listeners);
        let said = script(dir.path(), "kafka.sh", &arguments);
        Self { dir, addresses: said.split_whitespace().map(str::to_owned).collect() }
    }

    /// Starts a secured one, and says what it has.
    pub fn secured() -> (Self, Secure) {
        let dir = TempDir::new().expect("a temporary folder");
        script(dir.path(), "kafka-secure.sh", &["start", path(dir.path())]);
        let secure = Secure::in_folder(dir.path());
        (Self { addresses: vec![secure.address("plaintext").to_owned()], dir }, secure)
    }

    /// Where clients find it.
    pub fn brokers(&self) -> &str {
        &self.addresses[0]
    }

    /// Where a listener is, the plain one being 0.
    pub fn address(&self, listener: usize) -> &str {
        &self.addresses[listener]
    }

    /// Ends it at once, as a loss of power would end the process.
    pub fn kill(&self) {
        let pid = self.pid();
        let _ = kill(pid, Signal::SIGKILL);
        wait_until("the broker is gone", Duration::from_secs(30), || kill(pid, None) == Err(Errno::ESRCH));
    }

    /// Starts it again, on the same ports.
    pub fn restart(&self) {
        script(self.dir.path(), "kafka.sh", &["restart", path(self.dir.path())]);
    }

    /// Stops its process, which keeps all connections.
    pub fn freeze(&self) {
        kill(self.pid(), Signal::SIGSTOP).expect("the broker runs");
    }

    /// Lets its process go on.
    pub fn thaw(&self) {
        kill(self.pid(), Signal::SIGCONT).expect("the broker runs");
    }

    fn pid(&self) -> Pid {
        let text = fs::read_to_string(self.dir.path().join("broker.pid")).expect("the broker was started");
        Pid::from_raw(text.trim().parse().expect("a process id"))
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a script. Its output goes to a file: the broker that it starts would keep a pipe open.
fn script(dir: &Path, name: &str, arguments: &[&str]) -> String {
    let said = dir.join("script.out");
    let out = fs::File::create(&said).expect("a file can be made");
    let error = out.try_clone().expect("a file can be written by two");
    let mut command = Command::new(crate::root().join("scripts").join(name));
    command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(error);
    let status = command.status().expect("the script can be started");
    let said = fs::read_to_string(said).expect("what it said");
    assert!(status.success(), "{name} {arguments:?}: {said}");
    said
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}
