//! JavaScript and TypeScript: the sources are bundled, and QuickJS runs them in a component.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::run::Tool;
use super::tools;
use crate::{AuthorError, Project};

/// What the same sources are built by.
pub(super) const TOOL: &str = "componentize-qjs-0.4.5";
const PACKAGES: [&str; 3] = ["componentize-qjs@0.4.5", "esbuild@0.28.2", "typescript@7.0.2"];

const NPM: Tool = Tool {
    name: "npm",
    what: "a plugin in JavaScript or TypeScript",
    install: "apt-get install nodejs npm",
    hint: None,
};
const NODE: Tool = Tool { name: "node", ..NPM };

/// Builds it with the script of the SDK.
pub(super) fn build(project: &Project, to: &Path) -> Result<(), AuthorError> {
    let mut command = Command::new("node");
    command.arg(project.sdk.join("sdk/js/build.mjs")).arg(modules()?).arg(&project.folder).arg(&project.sdk);
    NODE.run(command.arg(project.kind.to_string()).arg(to))
}

fn modules() -> Result<PathBuf, AuthorError> {
    let folder = tools::installed(TOOL, |folder| {
        let mut command = Command::new("npm");
        command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(folder).args(PACKAGES);
        NPM.run(&mut command)
    })?;
    Ok(folder.join("node_modules"))
}
