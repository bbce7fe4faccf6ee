//! Python: `componentize-py` puts an interpreter and the sources into a component.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::run::Tool;
use super::tools;
use crate::{AuthorError, Project};

/// What the same sources are built by.
pub(super) const TOOL: &str = "componentize-py-0.25.1";
const PACKAGE: &str = "componentize-py==0.25.1";

const PYTHON: Tool = Tool {
    name: "python3",
    what: "a plugin in Python",
    install: "apt-get install python3 python3-venv",
    hint: Some("it needs Python 3.11 or newer with `venv`: `apt-get install python3-venv`"),
};
const COMPONENTIZE: Tool = Tool { name: "componentize-py", hint: None, ..PYTHON };

/// Builds the module `plugin` of the plugin's folder.
pub(super) fn build(project: &Project, to: &Path) -> Result<(), AuthorError> {
    let wit = project.sdk.join("wit");
    let mut command = Command::new(componentize()?);
    command.arg("-d").arg(&wit).arg("-w").arg(project.kind.to_string()).arg("componentize").arg("--stub-wasi");
    for path in [&project.folder, &project.sdk.join("sdk/python")] {
        command.arg("-p").arg(path);
    }
    command.arg("crisol.export").arg("-o").arg(to);
    COMPONENTIZE.run(&mut command)
}

fn componentize() -> Result<PathBuf, AuthorError> {
    let folder = tools::installed(TOOL, |folder| {
        PYTHON.run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        PYTHON.run(pip.args(["-m", "pip", "install", "--disable-pip-version-check", PACKAGE]))
    })?;
    Ok(folder.join("bin/componentize-py"))
}
