//! Components are compiled in a process of its own, with limits of memory and time.

use std::fs;
use std::path::Path;

use crisol_tests::{Host, Project, root};

/// A component whose only function is long enough to keep the compiler busy.
fn bomb() -> Vec<u8> {
    let step = "i32.const 7 i32.add local.get 0 i32.mul local.tee 0 ".repeat(300_000);
    let module = format!("(core module (func (export \"f\") (param i32) (result i32) local.get 0 {step}))");
    wat::parse_str(format!("(component {module})")).expect("a component")
}

struct Folder {
    project: Project,
}

impl Folder {
    fn with(component: &[u8]) -> Self {
        let project = Project::lines();
        fs::create_dir(project.path().join("plugins")).expect("a folder");
        fs::write(project.path().join("plugins/a.wasm"), component).expect("it can be written");
        Self { project }
    }

    /// Without a cache, so that all is compiled.
    fn plugins(&self, sets: &[&str]) -> Host {
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let arguments: Vec<&str> = ["plugins"].into_iter().chain(sets).collect();
        let host = self.project.host(&arguments).plugins(&self.project.path().join("plugins"));
        host.env("XDG_CACHE_HOME", Path::new("/dev/null"))
    }
}

#[test]
fn a_component_that_takes_too_long_to_compile_is_refused_by_name_of_the_limit() {
    let folder = Folder::with(&bomb());
    let output = folder.plugins(&["limits.compile_seconds_max=1"]).run();
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("compiling it took more than 1 s of processor time"), "{said}");
    assert!(said.contains("`limits.compile_seconds_max`"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_component_that_takes_too_much_memory_to_compile_is_refused_by_name_of_the_limit() {
    let folder = Folder::with(&bomb());
    let output = folder.plugins(&["limits.compile_memory_bytes_max=268435456"]).run();
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("compiling it took more than 268435456 bytes of memory"), "{said}");
    assert!(said.contains("`limits.compile_memory_bytes_max`"), "{said}");
}

#[test]
fn an_honest_component_is_compiled_under_the_same_limits() {
    let orders = fs::read(root().join("plugins/orders.wasm")).expect("the bundled component");
    let folder = Folder::with(&orders);
    folder.plugins(&["limits.compile_memory_bytes_max=268435456"]).succeed();
    assert!(!Path::new("/dev/null/crisol").exists());
}
