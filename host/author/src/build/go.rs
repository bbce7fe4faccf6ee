//! Go: the compiler makes a core module for WASI preview 1.

use std::path::Path;
use std::process::Command;

use super::run::Tool;
use crate::{AuthorError, Project};

/// What the same sources are compiled by.
pub(super) const TOOL: &str = "go, wasip1, c-shared";

const GO: Tool = Tool {
    name: "go",
    what: "a plugin in Go",
    install: "apt-get install golang-go",
    hint: Some("it needs Go 1.26 or newer, and the modules that go.mod names"),
};

/// Without names, paths of the machine and a JSON library that Arrow would bring along.
const ARGUMENTS: [&str; 6] =
    ["build", "-tags=arrow_json_stdlib", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-buildvcs=false"];

/// Compiles the package in the plugin's folder.
pub(super) fn build(project: &Project, to: &Path) -> Result<(), AuthorError> {
    let mut command = Command::new("go");
    command.args(ARGUMENTS).arg("-o").arg(to).arg(".").current_dir(&project.folder);
    GO.run(command.env("GOOS", "wasip1").env("GOARCH", "wasm"))
}
