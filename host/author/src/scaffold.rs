//! `host new`: a project from templates, with the sources of the SDK.

mod sdk;

use std::fs;
use std::path::{Path, PathBuf};

use crisol_plugin::Kind;
use minijinja::{Environment, UndefinedBehavior, context};
use rust_embed::RustEmbed;

use crate::project::{SDK, check_name};
use crate::{AuthorError, Lang};

/// Templates end with this, other files are copied as they are.
const TEMPLATE: &str = ".j2";

/// Crates of the SDK and of the language.
const NO_CRATES: [&str; 9] = ["crisol-sdk", "crisol-ipc", "std", "core", "alloc", "test", "self", "super", "crate"];

/// Words of the languages that no type can bear.
const TAKEN: [&str; 12] =
    ["Self", "None", "True", "False", "Some", "Ok", "Err", "Option", "Result", "String", "Vec", "Box"];

/// `LANG/common/…` and `LANG/KIND/…`, with the paths that files have in a project, and `samples/KIND.json`: the examples do the same
/// in every language.
#[derive(RustEmbed)]
#[folder = "templates"]
struct Templates;

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
    if wanted.lang == Lang::Rust && NO_CRATES.contains(&wanted.name) {
        return Err(AuthorError::Name { name: wanted.name.into(), why: "Cargo knows another crate of that name" });
    }
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
    let templates = templates(wanted);
    let source: String = templates.iter().map(|(_, text)| text.as_str()).collect();
    let type_name = type_name(wanted.name, wanted.kind, &source);
    let mut written = Vec::new();
    for (place, text) in &templates {
        let place = match place.strip_suffix(TEMPLATE) {
            Some(place) => {
                put(folder, place, fill(text, wanted, &type_name)?.as_bytes())?;
                place
            }
            None => {
                put(folder, place, text.as_bytes())?;
                place
            }
        };
        written.push(folder.join(place));
    }
    sdk::write(wanted.lang, &folder.join(SDK))?;
    written.sort();
    Ok(written)
}

/// The templates of a language and kind: where each goes, and what it holds.
fn templates(wanted: Scaffold<'_>) -> Vec<(String, String)> {
    let home = |part: &str| format!("{}/{part}/", wanted.lang.title().to_lowercase());
    let (common, own) = (home("common"), home(&wanted.kind.to_string()));
    let samples = format!("samples/{}.json", wanted.kind);
    let place = |path: &str| match path == samples {
        true => Some("tests/samples.json".to_string()),
        false => path.strip_prefix(&common).or(path.strip_prefix(&own)).map(ToString::to_string),
    };
    let template = |path: std::borrow::Cow<'static, str>| {
        let data = Templates::get(&path).map(|file| file.data).unwrap_or_default();
        Some((place(&path)?, String::from_utf8_lossy(&data).into_owned()))
    };
    Templates::iter().filter_map(template).collect()
}

fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), AuthorError> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(AuthorError::io(parent))?;
    }
    fs::write(&path, bytes).map_err(AuthorError::io(path))
}

fn fill(template: &str, wanted: Scaffold<'_>, type_name: &str) -> Result<String, AuthorError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let values = context! {
        name => wanted.name,
        kind => wanted.kind.to_string(),
        type => type_name,
        article => if wanted.kind == Kind::Aggregator { "An" } else { "A" },
        purpose => purpose(wanted.kind),
        contract => contract(wanted.name, wanted.kind),
    };
    let filled = environment.render_str(template, values);
    // The last line break of a template is not part of what it gives.
    let filled = filled.map(|text| text + "\n");
    filled.map_err(|error| AuthorError::Output { what: format!("a template of this program is wrong: {error:#}") })
}

/// The name of the type of a plugin: `sales-rules` is `SalesRules`, and `sale` a `SaleDecoder` where the source has a `Sale` already.
fn type_name(name: &str, kind: Kind, source: &str) -> String {
    let type_name = in_capitals(name);
    let mut words = source.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    if TAKEN.contains(&type_name.as_str()) || words.any(|word| word == type_name) {
        return type_name + &in_capitals(&kind.to_string());
    }
    type_name
}

fn in_capitals(name: &str) -> String {
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

/// A contract that names it.
fn contract(name: &str, kind: Kind) -> String {
    let stage = format!("\"stages\": [{{ \"{}\": \"{name}\" }}]", kind.stage_key());
    let (table, from, rest) = match kind {
        Kind::Decoder => ("silver.sales", "bronze.sales", ""),
        Kind::Transformer | Kind::Validator => ("silver.good_sales", "silver.sales", ""),
        Kind::Ranker | Kind::Aggregator => {
            ("gold.sales", "silver.sales", ",\n  \"write\": { \"mode\": \"replace_groups\", \"group_by\": [\"shop\"] }")
        }
    };
    format!("{{ \"name\": \"{table}\", \"from\": \"{from}\",\n  {stage}{rest} }}")
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
    fn a_type_bears_a_name_that_the_source_does_not_use_otherwise() {
        let source = "from crisol import Batch\nclass Sale:\n";
        for (name, expected) in [
            ("best-sales", "BestSales"),
            ("sales", "Sales"),
            ("sale", "SaleDecoder"),
            ("batch", "BatchDecoder"),
            ("none", "NoneDecoder"),
        ] {
            assert_eq!(type_name(name, Kind::Decoder, source), expected);
        }
    }

    #[test]
    fn names_that_cargo_cannot_build_are_refused() {
        let home = TempDir::new().unwrap();
        for name in ["crisol-sdk", "std", "test"] {
            let wanted = Scaffold { name, kind: Kind::Decoder, lang: Lang::Rust };
            let error = scaffold(wanted, &home.path().join(name)).unwrap_err().to_string();
            assert!(error.contains("Cargo"), "{error}");
            assert!(scaffold(Scaffold { lang: Lang::Go, ..wanted }, &home.path().join(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn every_language_has_every_kind_with_its_own_sdk() {
        for (lang, sdk) in [
            (Lang::Python, "sdk/python/crisol/__init__.py"),
            (Lang::JavaScript, "sdk/js/build.mjs"),
            (Lang::TypeScript, "sdk/js/build.mjs"),
            (Lang::Go, "sdk/go/go.mod"),
        ] {
            for kind in KINDS {
                let home = TempDir::new().unwrap();
                let folder = home.path().join("sales");
                let files = scaffold(Scaffold { name: "sales", kind, lang }, &folder).unwrap();
                assert!(files.contains(&folder.join(lang.source())), "{lang:?} {kind}: {files:?}");
                assert!(
                    files.contains(&folder.join("tests/samples.json")) && files.contains(&folder.join(".gitignore"))
                );
                for file in &files {
                    let text = fs::read_to_string(file).unwrap();
                    assert!(!text.contains("{{") || file.ends_with("README.md"), "{}: {text}", file.display());
                }
                let project = crate::Project::open(&folder).unwrap();
                assert_eq!((project.lang, project.kind), (lang, kind));
                assert!(project.sdk.join(sdk).is_file() && project.sdk.join("wit/types.wit").is_file());
                assert!(!project.sdk.join("sdk/js/tests").exists(), "tests of the SDK stay at home");
            }
        }
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
