//! The folder of a plugin, and its `plugin.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use crisol_plugin::Kind;
use serde::Deserialize;

use crate::AuthorError;

const MANIFEST: &str = "plugin.toml";
/// Where `host new` puts the sources of the SDK.
pub(crate) const SDK: &str = "crisol";

/// A language that plugins are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Rust 1.95 or newer.
    Rust,
    /// Python 3.11 or newer.
    Python,
    /// JavaScript, with Node.js 20 or newer for the build.
    JavaScript,
    /// TypeScript, likewise.
    TypeScript,
    /// Go 1.26 or newer.
    Go,
    /// Any other: a command makes a core module or a component.
    Other,
}

/// How a plugin in another language is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// A line for the shell, in the plugin's folder.
    pub command: String,
    /// What it makes, below the plugin's folder.
    pub output: PathBuf,
}

/// A folder with `plugin.toml`.
#[derive(Debug, Clone)]
pub struct Project {
    /// Where it is.
    pub folder: PathBuf,
    /// What the component is called.
    pub name: String,
    /// What it is written in.
    pub lang: Lang,
    /// What it is for.
    pub kind: Kind,
    /// The folder with `wit/` and `sdk/`.
    pub sdk: PathBuf,
    /// How it is built; only of [`Lang::Other`].
    pub recipe: Option<Recipe>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    name: String,
    lang: Lang,
    kind: Kind,
    crisol: Option<PathBuf>,
    command: Option<String>,
    output: Option<PathBuf>,
}

impl Project {
    /// Reads `plugin.toml` of a folder.
    ///
    /// # Errors
    /// There is none, or it has a key that is not known or a value that does not fit.
    pub fn open(folder: &Path) -> Result<Self, AuthorError> {
        let path = folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(AuthorError::NoProject { folder: folder.into() });
            }
            Err(source) => return Err(AuthorError::Io { path, source }),
        };
        let wrong = |what: String| AuthorError::Manifest { path: path.clone(), what };
        let manifest: Manifest = toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        check_name(&manifest.name)?;
        let recipe = recipe(manifest.lang, manifest.command, manifest.output).map_err(wrong)?;
        let sdk = folder.join(manifest.crisol.as_deref().unwrap_or(Path::new(SDK)));
        let (name, lang, kind) = (manifest.name, manifest.lang, manifest.kind);
        Ok(Self { folder: folder.into(), name, lang, kind, sdk, recipe })
    }

    /// Where its component is put.
    pub fn component(&self) -> PathBuf {
        self.made().join(format!("{}.wasm", self.name))
    }

    /// Where its samples are.
    pub fn samples(&self) -> PathBuf {
        self.folder.join("tests")
    }

    /// Where everything goes that is made.
    pub(crate) fn made(&self) -> PathBuf {
        self.folder.join("build")
    }
}

fn recipe(lang: Lang, command: Option<String>, output: Option<PathBuf>) -> Result<Option<Recipe>, String> {
    match (lang, command, output) {
        (Lang::Other, Some(command), Some(output)) => Ok(Some(Recipe { command, output })),
        (Lang::Other, ..) => {
            Err("`lang = \"other\"` needs `command`, which builds it, and `output`, what that makes".into())
        }
        (_, None, None) => Ok(None),
        _ => {
            Err("`command` and `output` are for `lang = \"other\"`; other languages have a command of their own".into())
        }
    }
}

impl Lang {
    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Go => "Go",
            Self::Other => "another language",
        }
    }

    /// The file with the logic of a new plugin, below its folder.
    pub fn source(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Python => "plugin.py",
            Self::JavaScript => "src/plugin.js",
            Self::TypeScript => "src/plugin.ts",
            Self::Go => "plugin.go",
            Self::Other => "",
        }
    }
}

/// A name that is one for components, crates and files.
pub(crate) fn check_name(name: &str) -> Result<(), AuthorError> {
    let why = match name.as_bytes() {
        [] => "it is empty",
        [first, ..] if !first.is_ascii_lowercase() => "it does not begin with a small letter",
        bytes if bytes.len() > 64 => "it has more than 64 letters",
        [.., b'-'] => "it ends with `-`",
        bytes if !bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-') => {
            "it has characters other than small letters, digits and `-`"
        }
        _ => return Ok(()),
    };
    Err(AuthorError::Name { name: name.into(), why })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn open(text: &str) -> Result<Project, String> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(MANIFEST), text).unwrap();
        Project::open(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_says_name_language_and_kind_and_nothing_else() {
        let text = "name = \"sales\"\nlang = \"rust\"\nkind = \"ranker\"\n";
        let project = open(text).unwrap();
        assert_eq!((project.name.as_str(), project.lang, project.kind), ("sales", Lang::Rust, Kind::Ranker));
        assert!(project.component().ends_with("build/sales.wasm") && project.sdk.ends_with("crisol"));
        assert!(open(&format!("{text}crisol = \"../..\"")).unwrap().sdk.ends_with("../.."));
        for (wrong, told) in [
            (text.replace("lang", "language"), "unknown field `language`"),
            (text.replace("rust", "cobol"), "unknown variant `cobol`, expected one of `rust`"),
            (text.replace("ranker", "sorter"), "unknown variant `sorter`"),
            (text.replace("sales", "../sales"), "cannot be the name of a plugin"),
            (format!("{text}command = \"make\""), "`command` and `output` are for `lang = \"other\"`"),
            (String::new(), "missing field `name`"),
        ] {
            let error = open(&wrong).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn another_language_says_how_it_is_built() {
        let text = "name = \"sales\"\nlang = \"other\"\nkind = \"decoder\"\ncommand = \"make\"\n";
        assert!(open(text).unwrap_err().contains("needs `command`, which builds it, and `output`"));
        let recipe = open(&format!("{text}output = \"build/core.wasm\"")).unwrap().recipe.unwrap();
        assert_eq!((recipe.command.as_str(), recipe.output), ("make", PathBuf::from("build/core.wasm")));
    }

    #[test]
    fn names_are_those_of_crates() {
        for name in ["a", "sales-decoder", "v2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "Sales", "2v", "a_b", "a b", "a-", "é", "../a", &"a".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
