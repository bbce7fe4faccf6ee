//! The sources of the SDKs, within the binary.

use std::path::Path;

use rust_embed::RustEmbed;

use super::put;
use crate::{AuthorError, Lang};

#[derive(RustEmbed)]
#[folder = "../../wit"]
#[prefix = "wit/"]
struct Wit;

#[derive(RustEmbed)]
#[folder = "../../sdk/ipc/src"]
#[prefix = "sdk/ipc/src/"]
struct Ipc;

#[derive(RustEmbed)]
#[folder = "../../sdk/rust/src"]
#[prefix = "sdk/rust/src/"]
struct Rust;

#[derive(RustEmbed)]
#[folder = "../../sdk/go"]
#[prefix = "sdk/go/"]
struct Go;

#[derive(RustEmbed)]
#[folder = "../../sdk/python/crisol"]
#[prefix = "sdk/python/crisol/"]
struct Python;

#[derive(RustEmbed)]
#[folder = "../../sdk/js"]
#[prefix = "sdk/js/"]
struct Js;

const IPC_MANIFEST: &str = include_str!("../../../../sdk/ipc/Cargo.toml");
const RUST_MANIFEST: &str = include_str!("../../../../sdk/rust/Cargo.toml");
/// Versions and lints of both.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");
const LICENSE: &str = include_str!("../../../../LICENSE");

/// Writes what the plugins of a language need into a folder: `wit/` and `sdk/`.
pub(super) fn write(lang: Lang, folder: &Path) -> Result<(), AuthorError> {
    embedded::<Wit>(folder)?;
    put(folder, "LICENSE", LICENSE.as_bytes())?;
    match lang {
        Lang::Rust => rust(folder),
        Lang::Go => embedded::<Go>(folder),
        Lang::JavaScript | Lang::TypeScript => embedded::<Js>(folder),
        Lang::Python => embedded::<Python>(folder),
        Lang::Other => Ok(()),
    }
}

fn rust(folder: &Path) -> Result<(), AuthorError> {
    embedded::<Ipc>(folder)?;
    embedded::<Rust>(folder)?;
    put(folder, "sdk/ipc/Cargo.toml", IPC_MANIFEST.as_bytes())?;
    put(folder, "sdk/rust/Cargo.toml", RUST_MANIFEST.as_bytes())?;
    put(folder, "Cargo.toml", workspace()?.as_bytes())
}

fn embedded<E: RustEmbed>(folder: &Path) -> Result<(), AuthorError> {
    for path in E::iter().filter(|path| is_source(path)) {
        let data = E::get(&path).map(|file| file.data).unwrap_or_default();
        put(folder, &path, &data)?;
    }
    Ok(())
}

/// Not a test of the SDK itself, nor what a tool left beside it.
fn is_source(path: &str) -> bool {
    let left_out = ["tests", "__pycache__", "node_modules"];
    !path.ends_with("_test.go") && !path.split('/').any(|part| left_out.contains(&part))
}

/// The workspace of the SDK for Rust alone: the packages' versions and dependencies, as this repository pins them.
fn workspace() -> Result<String, AuthorError> {
    let wrong = |what: String| AuthorError::Output { what: format!("the SDK of this program is wrong: {what}") };
    let mut whole: toml_edit::DocumentMut =
        WORKSPACE.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
    let mut members = toml_edit::Array::new();
    members.extend(["sdk/ipc", "sdk/rust"]);
    whole["workspace"]["members"] = toml_edit::value(members);
    whole.remove("profile");
    let dependencies =
        whole["workspace"]["dependencies"].as_table_mut().ok_or_else(|| wrong("no dependencies".into()))?;
    // Only what the two packages name: the rest is the host's.
    let named = [IPC_MANIFEST, RUST_MANIFEST].concat();
    dependencies.retain(|name, _| named.contains(&format!("\n{name}.workspace")) || name == "crisol-ipc");
    Ok(whole.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdks_workspace_holds_what_it_needs_and_nothing_of_the_host() {
        let text = workspace().unwrap();
        assert!(text.contains("arrow-array") && text.contains("wit-bindgen") && text.contains("crisol-ipc"), "{text}");
        let of_the_host = ["\nwasmtime = ", "\ndeltalake = ", "[profile", "host/plugin"];
        assert!(!of_the_host.iter().any(|words| text.contains(words)), "{text}");
    }
}
