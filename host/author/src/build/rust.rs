//! Rust: `cargo build` for `wasm32-wasip2`, which makes a component at once.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::run::Tool;
use crate::{AuthorError, Profile, Project};

const CARGO: Tool = Tool {
    name: "cargo",
    what: "a plugin in Rust",
    install: "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
    hint: Some("if the target is missing, get it with `rustup target add wasm32-wasip2`"),
};
const ARGUMENTS: [&str; 4] = ["build", "--target", "wasm32-wasip2", "--message-format=json-render-diagnostics"];

/// A line of what cargo says to programs.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    manifest_path: PathBuf,
}

/// The component that cargo made, in its own folder.
pub(super) fn build(project: &Project, profile: Profile) -> Result<PathBuf, AuthorError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let profile = if profile == Profile::Dev { "plugin-dev" } else { "plugin" };
    command.args(ARGUMENTS).args(["--profile", profile]).current_dir(&project.folder).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|source| CARGO.missing(source))?;
    let mut made = None;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line.map_err(AuthorError::io(&project.folder))?;
        made = serde_json::from_str(&line).ok().and_then(|message| component(&message, project)).or(made);
    }
    let status = child.wait().map_err(AuthorError::io(&project.folder))?;
    CARGO.ended(&command, status)?;
    made.ok_or_else(|| AuthorError::Output {
        what: format!("cargo made no component of {}: its crate type is `cdylib`, in Cargo.toml", project.name),
    })
}

/// What a message tells of the plugin's own component.
fn component(message: &Message, project: &Project) -> Option<PathBuf> {
    let own = message.manifest_path.parent()?.canonicalize().ok()? == project.folder.canonicalize().ok()?;
    let is_it = own && message.reason == "compiler-artifact";
    message.filenames.iter().find(|file| is_it && file.extension().is_some_and(|name| name == "wasm")).cloned()
}
