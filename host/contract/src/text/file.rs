//! A file of the project: its tree, and positions in it.

use std::path::{Component, Path, PathBuf};

use super::json::{self, Flaw};
use super::{At, Data, Entry, Node, encoding, toml};
use crate::keys::KeyFile;
use crate::problem::{Code, Problem};

/// A file that was read.
#[derive(Debug)]
pub(crate) struct File {
    /// As people know it: relative to the project where it lies in it.
    pub(crate) shown: String,
    /// Absolute, without `.` and `..`.
    pub(crate) path: PathBuf,
    /// Whose keys it has.
    pub(crate) kind: KeyFile,
    pub(crate) root: Node,
    text: String,
}

impl File {
    /// Parses what a file holds; `None` when that is no text, or its syntax is broken.
    pub(crate) fn parse(
        dir: &Path,
        path: &Path,
        bytes: &[u8],
        kind: KeyFile,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let (text, not_text) = encoding::text(bytes);
        let path = absolute(dir, &path.to_string_lossy());
        let shown = shown(dir, &path);
        let nothing = Node { at: At::Offset(0), data: Data::Object(Vec::new()) };
        let mut file = Self { shown, path, kind, root: nothing, text: text.to_owned() };
        if let Some(encoding::Fault { offset, message, hint }) = not_text {
            problems.push(file.problem_at(&At::Offset(offset), Code::Syntax, message).hinting(hint));
            return None;
        }
        // TOML allows a byte order mark. The rest of a contract is read nevertheless, to find all that is wrong.
        if let Some(rest) = text.strip_prefix(encoding::MARK).filter(|_| kind != KeyFile::Settings) {
            problems
                .push(file.problem_at(&At::Offset(0), Code::Syntax, encoding::MARK_FOUND).hinting(encoding::MARK_HINT));
            file.text = rest.to_owned();
        }
        let text = file.text.as_str();
        let parsed = match kind {
            KeyFile::Settings => toml::parse(text).map(|root| (root, Vec::new())),
            KeyFile::Ingestion | KeyFile::Table => json::parse(text),
        };
        match parsed {
            Ok((root, twice)) => {
                problems.extend(twice.into_iter().map(|flaw| file.flaw(Code::DuplicateKey, flaw)));
                file.root = root;
                Some(file)
            }
            Err(flaw) => {
                problems.push(file.flaw(Code::Syntax, flaw));
                None
            }
        }
    }

    /// A file that does not exist, for what is brought by `--set` and the environment.
    pub(crate) fn absent(dir: &Path, name: &str, kind: KeyFile) -> Self {
        Self {
            shown: name.to_owned(),
            path: dir.join(name),
            kind,
            root: Node { at: At::Outside(name.into()), data: Data::Object(Vec::new()) },
            text: String::new(),
        }
    }

    fn flaw(&self, code: Code, flaw: Flaw) -> Problem {
        let mut problem = self.problem_at(&At::Offset(flaw.offset), code, flaw.message);
        problem.key = flaw.key;
        problem
    }

    /// A problem at a place of this file; without a key.
    pub(crate) fn problem_at(&self, at: &At, code: Code, message: impl Into<String>) -> Problem {
        let message = message.into();
        let (file, line, column) = match at {
            At::Offset(offset) => {
                let (line, column) = self.line_and_column(*offset);
                (self.shown.clone(), Some(line), Some(column))
            }
            At::Outside(label) => (label.to_string(), None, None),
        };
        Problem { code, message, file, line, column, key: None, hint: None }
    }

    /// A problem of the value at a path of keys (`columns[1].name`), or of the nearest thing above it.
    pub(crate) fn problem(&self, key: &str, code: Code, message: impl Into<String>) -> Problem {
        let mut problem = self.problem_at(&self.locate(key), code, message);
        problem.key = Some(key.to_owned());
        problem
    }

    fn locate(&self, key: &str) -> At {
        let (mut node, mut rest) = (&self.root, key);
        while let Some((below, left)) = step(node, rest) {
            (node, rest) = (below, left);
        }
        node.at.clone()
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..self.text.floor_char_boundary(offset)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    }
}

/// The value under the first step of a path of keys, and the rest of the path. Names may have dots in them.
fn step<'a, 'k>(node: &'a Node, path: &'k str) -> Option<(&'a Node, &'k str)> {
    match &node.data {
        Data::List(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            Some((items.get(index.parse::<usize>().ok()?)?, rest))
        }
        Data::Object(entries) => {
            let path = path.strip_prefix('.').unwrap_or(path);
            let below = |entry: &'a Entry| {
                let rest = path.strip_prefix(entry.name.as_str()).filter(|_| !entry.name.is_empty())?;
                (rest.is_empty() || rest.starts_with(['.', '['])).then_some((&entry.value, rest))
            };
            entries.iter().filter_map(below).min_by_key(|(_, rest)| rest.len())
        }
        _ => None,
    }
}

/// A path as people know it: relative to the project where it lies in it.
pub(crate) fn shown(dir: &Path, path: &Path) -> String {
    let path = absolute(dir, &path.to_string_lossy());
    path.strip_prefix(absolute(dir, "")).unwrap_or(&path).to_string_lossy().replace('\\', "/")
}

/// `path` on `dir`, without `.` and `..`; nothing is asked of the disk.
pub(crate) fn absolute(dir: &Path, path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in dir.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
