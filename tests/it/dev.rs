//! `host dev`: each change of a plugin is built, tested, and put where a host takes it, if its samples hold.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use crisol_tests::{binary, root, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(120);

/// A plugin that a command makes of a file: the bundled decoder of orders.
fn plugin(folder: &Path) {
    fs::create_dir_all(folder.join("tests")).unwrap();
    fs::write(
        folder.join("plugin.toml"),
        "name = \"orders\"\nlang = \"other\"\nkind = \"decoder\"\ncommand = \"cp source.wasm build/core.wasm\"\noutput = \"build/core.wasm\"\n",
    )
    .unwrap();
    fs::copy(root().join("plugins/orders.wasm"), folder.join("source.wasm")).unwrap();
    write_samples(folder, "o-1");
}

/// One sample, which holds when the id is `o-1`.
fn write_samples(folder: &Path, id: &str) {
    let sample = format!(
        r#"{{ "name": "one", "given": [{{ "payload": {{ "json": {{ "order_id": "o-1", "event_ts": "2026-03-14", "amount": 1, "schema_version": 1 }} }} }}], "expect": {{ "rows": [{{ "order_id": "{id}" }}] }} }}"#
    );
    fs::write(folder.join("tests/samples.json"), sample).unwrap();
}

struct Dev {
    child: Child,
    out: std::path::PathBuf,
}

impl Dev {
    fn start(home: &Path) -> Self {
        let out = home.join("out");
        let mut command = Command::new(binary("host"));
        command.args(["dev", "plugin", "--project", "shop"]).current_dir(home);
        let child = command.stdout(File::create(&out).unwrap()).stderr(File::create(home.join("err")).unwrap()).spawn();
        Self { child: child.unwrap(), out }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.out).unwrap_or_default()
    }

    /// Waits until so many changes have been worked on; gives what was said of the last one.
    fn rounds(&self, count: usize) -> String {
        let waits = "waiting for a change";
        wait_until(&format!("{count} rounds of host dev"), DEADLINE, || self.said().matches(waits).count() >= count);
        self.said().split(waits).nth(count - 1).unwrap_or_default().to_string()
    }

    fn end(mut self) -> Option<i32> {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), Signal::SIGINT).unwrap();
        self.child.wait().unwrap().code()
    }
}

#[test]
fn each_change_is_built_tested_and_placed_if_its_samples_hold() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    plugin(&home.join("plugin"));
    fs::create_dir_all(home.join("shop/plugins")).unwrap();
    fs::write(home.join("shop/crisol.toml"), "").unwrap();
    // Whatever its file is called, it is that component.
    let served = home.join("shop/plugins/any-name.wasm");
    fs::copy(root().join("plugins/orders.wasm"), &served).unwrap();
    let before = fs::read(&served).unwrap();

    let dev = Dev::start(home);
    let said = dev.rounds(1);
    assert!(
        said.contains("1 of 1 samples hold") && said.contains("a host that runs takes it at its next batch"),
        "{said}"
    );
    let placed = fs::read(&served).unwrap();
    assert!(placed != before, "the build has another sample in it");
    assert_eq!(fs::read_dir(home.join("shop/plugins")).unwrap().count(), 1, "no second file of one name");

    write_samples(&home.join("plugin"), "o-2");
    let said = dev.rounds(2);
    assert!(said.contains("FAIL  one") && said.contains("put nowhere: its samples do not hold"), "{said}");
    assert_eq!(fs::read(&served).unwrap(), placed);

    write_samples(&home.join("plugin"), "o-1");
    let said = dev.rounds(3);
    assert!(said.contains("1 of 1 samples hold") && said.contains("as before"), "{said}");

    fs::write(home.join("plugin/plugin.toml"), "name = 7").unwrap();
    dev.rounds(4);
    let told = fs::read_to_string(home.join("err")).unwrap();
    assert!(told.contains("plugin.toml"), "a mistake does not end it: {told}");
    assert_eq!(dev.end(), Some(0));
}
