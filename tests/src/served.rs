//! A host that runs and serves metrics.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::{Host, Project, Run, wait_until};

const DEADLINE: Duration = Duration::from_secs(60);

/// `host run --metrics :0`.
#[derive(Debug)]
pub struct Served {
    run: Run,
    address: String,
    log: PathBuf,
}

impl Served {
    /// Starts it on a project with a trigger, changed by `host`, and waits until it tells its address.
    pub fn start(project: &Project, trigger: &str, host: impl FnOnce(Host) -> Host) -> Self {
        let log = project.path().join("host.log");
        let arguments = ["run", "--trigger", trigger, "--metrics", ":0", "-o", "json"];
        let run = host(project.host(&arguments)).in_bash(&format!("exec \"$@\" 2>'{}'", log.display())).start();
        let mut address = None;
        wait_until("the log tells where metrics are", DEADLINE, || {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let (_, rest) = text.split_once("metrics at http://").unwrap_or_default();
            address = rest.split_once("/metrics").map(|(address, _)| address.to_string());
            address.is_some()
        });
        Self { run, address: address.expect("it was told"), log }
    }

    /// The process.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Where it serves, `127.0.0.1:9464`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Status and body of an answer; status 0 when nobody answers.
    pub fn get(&self, target: &str) -> (u16, String) {
        let Ok(mut connection) = TcpStream::connect(&self.address) else { return (0, String::new()) };
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        let mut said = String::new();
        if connection.write_all(request.as_bytes()).and_then(|()| connection.read_to_string(&mut said)).is_err() {
            return (0, said);
        }
        let status = said.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let (_, body) = said.split_once("\r\n\r\n").unwrap_or_default();
        (status, body.to_string())
    }

    /// All series and their values.
    pub fn series(&self) -> Vec<(String, f64)> {
        let (_, text) = self.get("/metrics");
        let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
        lines.map(|(name, value)| (name.into(), value.parse().expect("a number"))).collect()
    }

    /// The value of a series; `None` when it is not there.
    pub fn value(&self, series: &str) -> Option<f64> {
        self.series().into_iter().find(|(name, _)| name == series).map(|(_, value)| value)
    }

    /// Waits until a series has a value.
    pub fn wait_for(&self, series: &str, value: f64) {
        wait_until(&format!("{series} {value}"), DEADLINE, || self.value(series) == Some(value));
    }

    /// Waits until `/readyz` says so.
    pub fn wait_until_ready(&self) {
        wait_until("the host is ready", DEADLINE, || self.get("/readyz").0 == 200);
    }

    /// Stops it; gives the streams of its accounts, and what it logged.
    pub fn stop(self) -> (Vec<Value>, String) {
        self.run.stop();
        self.end(0)
    }

    /// Waits for its end with this exit code; gives the streams of its accounts, and what it logged.
    pub fn end(self, code: i32) -> (Vec<Value>, String) {
        let output = self.run.end();
        let log = fs::read_to_string(&self.log).expect("its log");
        assert_eq!(output.status.code(), Some(code), "{log}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let accounts: Value = serde_json::from_str(text.lines().last().expect("accounts")).expect("JSON");
        (accounts["streams"].as_array().expect("streams").clone(), log)
    }
}
