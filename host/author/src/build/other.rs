//! Any other language: a command of the author's.

use std::path::PathBuf;
use std::process::Command;

use super::run::Tool;
use crate::{AuthorError, Project};

const SHELL: Tool =
    Tool { name: "sh", what: "what plugin.toml calls `command`", install: "apt-get install dash", hint: None };

/// Runs the command, which decides itself what has to be built anew; gives what it made.
pub(super) fn build(project: &Project) -> Result<PathBuf, AuthorError> {
    let Some(recipe) = &project.recipe else {
        return Err(AuthorError::Output { what: format!("plugin.toml of {} names no command", project.name) });
    };
    SHELL.run(Command::new("sh").arg("-c").arg(&recipe.command).current_dir(&project.folder))?;
    let made = project.folder.join(&recipe.output);
    if !made.is_file() {
        let what =
            format!("`{}` was done, and {} is not there: `output` of plugin.toml", recipe.command, made.display());
        return Err(AuthorError::Output { what });
    }
    Ok(made)
}
