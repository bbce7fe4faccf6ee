//! `{path.landing}`, `${env:NAME}`, `${env:NAME:-default}` and `${file:PATH}` in values.
//!
//! What a placeholder stands for may be a secret: problems in filling it name the placeholder and never its value, and
//! the values of Kafka options stand in no problem at all.

use std::path::{Path, PathBuf};

use crate::suggest;
use crate::text::absolute;

/// The outside world, as far as placeholders and overrides need it.
pub trait Lookup {
    /// Value of an environment variable.
    fn env(&self, name: &str) -> Option<String>;

    /// Names of all environment variables.
    fn env_vars(&self) -> Vec<String>;

    /// Content of a file, for `${file:PATH}`; the path is absolute.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    fn file(&self, path: &Path) -> Result<String, String>;

    /// Where placeholders in options of the Kafka client are looked up: who reads from no broker needs none of them.
    fn for_kafka(&self) -> &dyn Lookup;

    /// Whether what it gives is real: where options of the Kafka client are not looked up, their meaning cannot be judged.
    fn has_secrets(&self) -> bool {
        true
    }

    /// Where a path leads when symbolic links are followed; the path itself as far as nothing lies there yet.
    fn real(&self, path: &Path) -> PathBuf;
}

/// `[path]`, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownPaths {
    pub(crate) landing: Option<PathBuf>,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) tables: Option<PathBuf>,
}

/// What values are filled from.
#[derive(Clone, Copy)]
pub(crate) struct Fill<'a> {
    pub(crate) dir: &'a Path,
    pub(crate) lookup: &'a dyn Lookup,
    pub(crate) paths: &'a KnownPaths,
}

/// What else than placeholders braces may mean in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Braces {
    /// Nothing: `{` and `${` begin a placeholder.
    Placeholder,
    /// A regular expression's own: only what is clearly a placeholder is one.
    Own,
}

impl Fill<'_> {
    /// The same for options of the Kafka client.
    pub(crate) fn for_kafka(&self) -> Self {
        Self { lookup: self.lookup.for_kafka(), ..*self }
    }

    /// The text with its placeholders filled; an error is a message for people.
    pub(crate) fn fill(&self, text: &str, braces: Braces) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(['{', '$']) {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let (taken, value) = self.one(from, braces)?;
            out.push_str(&value);
            rest = from.get(taken..).unwrap_or_default();
        }
        out.push_str(rest);
        Ok(out)
    }

    /// What stands at the start of `text`: bytes taken, and what they mean.
    fn one(&self, text: &str, braces: Braces) -> Result<(usize, String), String> {
        let secret = text.starts_with("${");
        let opening = if secret { 2 } else { 1 };
        let clear = ["${env:", "${file:", "{path."].iter().any(|start| text.starts_with(start));
        let is_placeholder = clear || (braces == Braces::Placeholder && (secret || text.starts_with('{')));
        if !is_placeholder {
            return Ok((1, text.get(..1).unwrap_or_default().to_owned()));
        }
        let Some(end) = text.find('}') else {
            return Err("a placeholder is not closed by `}`".to_owned());
        };
        let inner = text.get(opening..end).unwrap_or_default();
        let value = if secret { self.outside(inner)? } else { self.path(inner)? };
        Ok((end + 1, value))
    }

    fn outside(&self, inner: &str) -> Result<String, String> {
        match inner.split_once(':') {
            Some(("env", rest)) => {
                let (name, default) = match rest.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (rest, None),
                };
                let value = self.lookup.env(name).filter(|value| !value.is_empty());
                value.or_else(|| default.map(str::to_owned)).ok_or_else(|| {
                    format!("environment variable `{name}` is not set; `${{env:{name}:-}}` would make it optional")
                })
            }
            Some(("file", path)) => {
                let text = self
                    .lookup
                    .file(&absolute(self.dir, path))
                    .map_err(|reason| format!("cannot read `{path}` of `${{file:…}}`: {reason}"))?;
                Ok(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            _ => Err(format!("unknown placeholder `${{{inner}}}`; there are `${{env:NAME}}` and `${{file:PATH}}`")),
        }
    }

    fn path(&self, inner: &str) -> Result<String, String> {
        const NAMES: [&str; 3] = ["path.landing", "path.checkpoint", "path.tables"];
        let known = match inner {
            "path.landing" => &self.paths.landing,
            "path.checkpoint" => &self.paths.checkpoint,
            "path.tables" => &self.paths.tables,
            _ => {
                let near = suggest::did_you_mean(inner, NAMES);
                return Err(format!("unknown placeholder `{{{inner}}}`{near}"));
            }
        };
        match known {
            Some(path) => Ok(path.to_string_lossy().into_owned()),
            None => Err(format!("`{{{inner}}}` is used here and `{inner}` is not set in crisol.toml")),
        }
    }
}

impl std::fmt::Debug for Fill<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fill").field("dir", &self.dir).field("paths", &self.paths).finish_non_exhaustive()
    }
}
