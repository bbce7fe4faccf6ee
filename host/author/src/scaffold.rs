//! `host new`: a project from templates, with the sources of the SDK.

use std::fs;
use std::path::{Path, PathBuf};

use crisol_plugin::Kind;
use minijinja::{Environment, UndefinedBehavior, context};
use rust_embed::RustEmbed;

use crate::project::check_name;
use crate::{AuthorError, Lang};

/// Templates end with this, other files are copied as they are.
const TEMPLATE: &str = ".j2";
/// Where the SDK goes, in the folder of a plugin.
const SDK: &str = "crisol";

#[derive(RustEmbed)]
#[folder = "templates/rust"]
struct RustTemplates;

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
struct RustSdk;

const IPC_MANIFEST: &str = include_str!("../../../sdk/ipc/Cargo.toml");
const RUST_MANIFEST: &str = include_str!("../../../sdk/rust/Cargo.toml");
/// Versions and lints of both.
const WORKSPACE: &str = include_str!("../../../Cargo.toml");
const LICENSE: &str = include_str!("../../../LICENSE");

/// What is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Scaffold<'a> {
    /// Name of the component.
    pub name: &'a str,
    /// What it is for.
    pub kind: Kind,
    /// What it is written in.
    pub lang: Lang,
}

/// Writes a project into a folder, which must not be there yet. Gives the files that the author may change.
///
/// # Errors
/// A name that cannot be one, a folder that is there, a disk that says no. Nothing is left behind then.
pub fn scaffold(wanted: Scaffold<'_>, folder: &Path) -> Result<Vec<PathBuf>, AuthorError> {
    check_name(wanted.name)?;
    if folder.symlink_metadata().is_ok() {
        return Err(AuthorError::Exists { folder: folder.into() });
    }
    let result = write(wanted, folder);
    if result.is_err() {
        // It was not there before.
        let _ = fs::remove_dir_all(folder);
    }
    result
}

fn write(wanted: Scaffold<'_>, folder: &Path) -> Result<Vec<PathBuf>, AuthorError> {
    let Lang::Rust = wanted.lang;
    let kind = wanted.kind.to_string();
    let mut written = Vec::new();
    for path in RustTemplates::iter() {
        let Some((home, rest)) = path.split_once('/') else { continue };
        let place = match rest {
            "lib.rs.j2" => "src/lib.rs".to_string(),
            "samples.json" => "tests/samples.json".to_string(),
            rest => rest.trim_end_matches(TEMPLATE).to_string(),
        };
        if home != "common" && home != kind {
            continue;
        }
        let text = RustTemplates::get(&path).map(|file| String::from_utf8_lossy(&file.data).into_owned());
        let text = text.unwrap_or_default();
        let text = if path.ends_with(TEMPLATE) { fill(&text, wanted)? } else { text };
        put(folder, &place, text.as_bytes())?;
        written.push(folder.join(place));
    }
    let sdk = folder.join(SDK);
    embedded::<Wit>(&sdk)?;
    embedded::<Ipc>(&sdk)?;
    embedded::<RustSdk>(&sdk)?;
    put(&sdk, "sdk/ipc/Cargo.toml", IPC_MANIFEST.as_bytes())?;
    put(&sdk, "sdk/rust/Cargo.toml", RUST_MANIFEST.as_bytes())?;
    put(&sdk, "LICENSE", LICENSE.as_bytes())?;
    put(&sdk, "Cargo.toml", sdk_workspace()?.as_bytes())?;
    written.sort();
    Ok(written)
}

fn embedded<E: RustEmbed>(folder: &Path) -> Result<(), AuthorError> {
    for path in E::iter() {
        let data = E::get(&path).map(|file| file.data).unwrap_or_default();
        put(folder, &path, &data)?;
    }
    Ok(())
}

fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), AuthorError> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(AuthorError::io(parent))?;
    }
    fs::write(&path, bytes).map_err(AuthorError::io(path))
}

fn fill(template: &str, wanted: Scaffold<'_>) -> Result<String, AuthorError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let values = context! {
        name => wanted.name,
        kind => wanted.kind.to_string(),
        type => type_name(wanted.name),
        article => if wanted.kind == Kind::Aggregator { "An" } else { "A" },
        purpose => purpose(wanted.kind),
        stage => stage(wanted.name, wanted.kind),
    };
    let filled = environment.render_str(template, values);
    // The last line break of a template is not part of what it gives.
    let filled = filled.map(|text| text + "\n");
    filled.map_err(|error| AuthorError::Output { what: format!("a template of this program is wrong: {error:#}") })
}

/// `sales-decoder` as the name of a type: `SalesDecoder`.
fn type_name(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(word).collect()
}

fn purpose(kind: Kind) -> &'static str {
    match kind {
        Kind::Decoder => "messages become rows with typed columns.",
        Kind::Transformer => "rows become other rows, none, one or several of each.",
        Kind::Validator => "rows that break a rule go to quarantine, the others pass.",
        Kind::Ranker => "some rows of each group stay, each with its place.",
        Kind::Aggregator => "each group becomes one row.",
    }
}

/// How a contract names it.
fn stage(name: &str, kind: Kind) -> String {
    let (stage, group) = match kind {
        Kind::Decoder => ("decode", ""),
        Kind::Transformer => ("transform", ""),
        Kind::Validator => ("validate", ""),
        Kind::Ranker => ("rank", ",\n  \"group_by\": [\"shop\"], \"mode\": \"replace_groups\""),
        Kind::Aggregator => ("aggregate", ",\n  \"group_by\": [\"shop\"], \"mode\": \"replace_groups\""),
    };
    format!(
        "{{ \"name\": \"silver.sales\", \"from\": \"bronze.sales\",\n  \"stages\": [{{ \"{stage}\": \"{name}\" }}]{group}, … }}"
    )
}

/// The workspace of the SDK alone: the packages' versions and dependencies, as this repository pins them.
fn sdk_workspace() -> Result<String, AuthorError> {
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
    use tempfile::TempDir;

    use super::*;

    const KINDS: [Kind; 5] = [Kind::Decoder, Kind::Transformer, Kind::Validator, Kind::Ranker, Kind::Aggregator];

    #[test]
    fn each_kind_is_a_small_project_with_the_sdk_beside_it() {
        for kind in KINDS {
            let home = TempDir::new().unwrap();
            let folder = home.path().join("best-sales");
            let files = scaffold(Scaffold { name: "best-sales", kind, lang: Lang::Rust }, &folder).unwrap();
            let files: Vec<_> =
                files.iter().map(|file| file.strip_prefix(&folder).unwrap().display().to_string()).collect();
            let expected = [
                ".cargo/config.toml",
                ".gitignore",
                "Cargo.toml",
                "README.md",
                "plugin.toml",
                "src/lib.rs",
                "tests/samples.json",
            ];
            assert_eq!(files, expected, "{kind}");
            let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
            assert!(source.contains("pub struct BestSales") && source.contains("\"best-sales\""), "{source}");
            assert!(!source.contains("{{"), "{source}");
            assert_eq!(crate::Project::open(&folder).unwrap().name, "best-sales");
            assert!(
                folder.join("crisol/sdk/rust/src/lib.rs").is_file() && folder.join("crisol/wit/types.wit").is_file()
            );
        }
    }

    #[test]
    fn the_sdks_workspace_holds_what_it_needs_and_nothing_of_the_host() {
        let text = sdk_workspace().unwrap();
        assert!(text.contains("arrow-array") && text.contains("wit-bindgen") && text.contains("crisol-ipc"), "{text}");
        let of_the_host = ["\nwasmtime = ", "\ndeltalake = ", "[profile", "host/plugin"];
        assert!(!of_the_host.iter().any(|words| text.contains(words)), "{text}");
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let home = TempDir::new().unwrap();
        fs::write(home.path().join("mine"), "precious").unwrap();
        let wanted = Scaffold { name: "mine", kind: Kind::Decoder, lang: Lang::Rust };
        let error = scaffold(wanted, &home.path().join("mine")).unwrap_err();
        assert!(matches!(error, AuthorError::Exists { .. }), "{error}");
        assert_eq!(fs::read_to_string(home.path().join("mine")).unwrap(), "precious");
    }
}
