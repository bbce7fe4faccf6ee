//! The folder of a plugin, and its `plugin.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::AuthorError;

const MANIFEST: &str = "plugin.toml";

/// A language that plugins are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Rust 1.95 or newer.
    Rust,
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    name: String,
    lang: Lang,
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
        let manifest: Result<Manifest, _> = toml_edit::de::from_str(&text);
        let Manifest { name, lang } =
            manifest.map_err(|error| AuthorError::Manifest { path: path.clone(), what: error.to_string() })?;
        check_name(&name)?;
        Ok(Self { folder: folder.into(), name, lang })
    }

    /// Where its component is put.
    pub fn component(&self) -> PathBuf {
        self.folder.join("build").join(format!("{}.wasm", self.name))
    }

    /// Where its samples are.
    pub fn samples(&self) -> PathBuf {
        self.folder.join("tests")
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
    fn a_manifest_says_name_and_language_and_nothing_else() {
        let text = "name = \"sales\"\nlang = \"rust\"\n";
        let project = open(text).unwrap();
        assert_eq!((project.name.as_str(), project.lang), ("sales", Lang::Rust));
        assert!(project.component().ends_with("build/sales.wasm"));
        for (wrong, told) in [
            (text.replace("lang", "language"), "unknown field `language`"),
            (text.replace("rust", "cobol"), "unknown variant `cobol`, expected `rust`"),
            (text.replace("sales", "../sales"), "cannot be the name of a plugin"),
            (String::new(), "missing field `name`"),
        ] {
            let error = open(&wrong).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
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
