//! Harness of the end-to-end tests: a project in a temporary folder, the real binary, a broker, an independent reader.
//!
//! `make test` builds the host and its components, starts one Apache Kafka and says where things are; a test that
//! misses something fails and says so, it is never skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a harness fails its test")]

mod broker;
mod clock;
pub mod document;
mod host;
mod kafka;
mod project;
mod proxy;
mod random;
mod secure;
mod served;
mod tables;
mod terminal;

pub use broker::Broker;
pub use clock::Clock;
pub use host::{Host, Run, copy, wait_until};
pub use kafka::{Record, Topic, Transaction};
pub use project::Project;
pub use proxy::Proxy;
pub use random::Random;
pub use secure::Secure;
pub use served::Served;
pub use tables::Tables;

use std::path::{Path, PathBuf};

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository").into()
}

/// A built program of this workspace.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let folder = test.ancestors().find(|folder| folder.join("deps").is_dir()).expect("a target folder");
    let path = folder.join(name);
    assert!(path.is_file(), "{} is missing: run `make test`, which builds it", path.display());
    path
}

/// What `make test` sets in the environment.
pub fn given(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run `make test`, which sets it"))
}

/// Lines of the generator of the examples' data: `orders` or `music`, the same for the same number.
pub fn generate(what: &str, rows: usize) -> String {
    let script = root().join("tests/data/generate.py");
    let output = std::process::Command::new(given("CRISOL_TEST_PYTHON"))
        .args([script.as_os_str(), what.as_ref(), rows.to_string().as_ref()])
        .output()
        .expect("Python can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A component that does not serve from the start: `faulty-orders` of the tests, `orders-v3` of `plugins/later`.
pub fn guest(name: &str) -> PathBuf {
    let target = binary("host").parent().and_then(Path::parent).expect("a target folder").to_path_buf();
    let folders = [root().join("plugins/later"), target.join("guests")];
    let mut paths = folders.iter().map(|folder| folder.join(name).with_extension("wasm"));
    let found = paths.find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name}.wasm is missing in {folders:?}: run `make test`, which builds it"))
}

/// A component with one more section of samples (`crisol:samples`) at its end.
pub fn carrying(mut wasm: Vec<u8>, samples: &serde_json::Value) -> Vec<u8> {
    let (name, data) = (b"crisol:samples", samples.to_string().into_bytes());
    let content = [&[name.len() as u8], name.as_slice(), &data].concat();
    let mut rest = content.len();
    wasm.push(0);
    while rest > 0x7f {
        wasm.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    wasm.push(rest as u8);
    wasm.extend(content);
    wasm
}
