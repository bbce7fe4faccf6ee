//! What a running host decided about the files in the folder of the components, written down for `host plugins`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crisol_contract::Project;
use crisol_observe::ColumnChanges;
use crisol_plugin::{Component, Registry};
use serde::{Deserialize, Serialize};

use super::{Refusals, Shelf};
use crate::replace::replace;

/// Which components serve a host that runs or ran, as it wrote it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    /// When it was written, ISO 8601.
    pub written: String,
    /// The folder.
    pub folder: PathBuf,
    /// Components that serve, in the order in which they are asked.
    pub serving: Vec<Decided>,
    /// Components that wait: others of their names come before them for all of their schema versions.
    pub waiting: Vec<Decided>,
    /// Files that are refused.
    pub refused: Vec<RefusedFile>,
}

/// A component that serves or waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Its own name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// Schema versions that it handles.
    pub schema_versions: String,
    /// SHA-256 of its file.
    pub digest: String,
    /// Its file.
    pub file: PathBuf,
    /// Whether it goes on although its file is gone.
    pub file_removed: bool,
    /// Since when, ISO 8601.
    pub since: String,
}

/// A file that may not serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedFile {
    /// The file.
    pub file: PathBuf,
    /// SHA-256 of it; absent when it could not be loaded.
    #[serde(default)]
    pub digest: Option<String>,
    /// Why.
    pub reason: String,
    /// Columns of the table, and those that it would get; absent where the reason is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnChanges>,
    /// Since when, ISO 8601.
    pub since: String,
}

/// Where a run of this project writes its decisions.
pub(crate) fn decisions_file(project: &Project) -> PathBuf {
    project.paths.checkpoint.join("plugins.json")
}

/// A path as JSON can hold it: what is not UTF-8 is replaced, so that one odd name costs no other its place.
pub(super) fn in_utf8(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().into_owned())
}

impl Decisions {
    /// Decisions at this moment; what was so before keeps the time since which it is so.
    pub(super) fn now(shelf: &Shelf, registry: &Registry, refused: &Refusals, before: Option<&Self>) -> Self {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let since = |found: Option<String>| found.unwrap_or_else(|| now.clone());
        let decided = |component: &Component, before: Option<&Vec<Decided>>| {
            let same = |other: &&Decided| other.digest == component.digest();
            Decided {
                name: component.name().into(),
                version: component.version().to_string(),
                schema_versions: component.schema_versions().to_string(),
                digest: component.digest().into(),
                file: in_utf8(component.path()),
                file_removed: registry.has_departed(component),
                since: since(before.into_iter().flatten().find(same).map(|other| other.since.clone())),
            }
        };
        let refused = refused.iter().map(|(file, reason)| {
            let shown = in_utf8(file);
            let same = |other: &&RefusedFile| other.file == shown && other.reason == reason.text;
            let known = before.and_then(|before| before.refused.iter().find(same));
            RefusedFile {
                file: shown.clone(),
                digest: shelf.component(file).map(|component| component.digest().into()),
                reason: reason.text.clone(),
                columns: reason.columns.clone(),
                since: since(known.map(|known| known.since.clone())),
            }
        });
        let (serving, waiting) = (before.map(|before| &before.serving), before.map(|before| &before.waiting));
        Self {
            written: now.clone(),
            folder: in_utf8(shelf.folder()),
            serving: registry.serving().iter().map(|component| decided(component, serving)).collect(),
            waiting: registry.shadowed().iter().map(|component| decided(component, waiting)).collect(),
            refused: refused.collect(),
        }
    }

    /// Why a component was refused, as long as its file is the same.
    pub(crate) fn refusal(&self, component: &Component) -> Option<&str> {
        let same = |refused: &&RefusedFile| refused.digest.as_deref() == Some(component.digest());
        self.refused.iter().find(same).map(|refused| refused.reason.as_str())
    }

    /// Writes them; a reader sees all of them or those before.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(file, &serde_json::to_vec_pretty(self)?)
    }

    /// Those of the last run, if there was one.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        let bytes = fs::read(file).ok()?;
        serde_json::from_slice(&bytes)
            .inspect_err(|error| tracing::warn!(file = %file.display(), "cannot be understood: {error}"))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_name_that_is_not_utf8_costs_no_other_its_place() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("plugins.json");
        let options = crisol_plugin::EngineOptions::default();
        let (shelf, registry) = (Shelf::without(dir.path(), options), Registry::without(dir.path()));
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"odd\xff.wasm"));
        let reason = || "no component".to_string().into();
        let refused = BTreeMap::from([(PathBuf::from("a.wasm"), reason()), (odd, reason())]);
        Decisions::now(&shelf, &registry, &refused, None).write(&file).unwrap();
        let read = Decisions::read(&file).unwrap();
        let names: Vec<_> = read.refused.iter().map(|one| one.file.to_str().unwrap()).collect();
        assert_eq!(names, ["a.wasm", "odd\u{fffd}.wasm"]);
    }

    #[test]
    fn decisions_are_read_as_they_were_written_and_keep_the_time_since_which_they_hold() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("checkpoints/plugins.json");
        assert_eq!(Decisions::read(&file), None);
        let (shelf, registry) =
            (Shelf::without(dir.path(), crisol_plugin::EngineOptions::default()), Registry::without(dir.path()));
        let mut refused = BTreeMap::from([(PathBuf::from("a.wasm"), "no component".to_string().into())]);
        let mut first = Decisions::now(&shelf, &registry, &refused, None);
        first.refused[0].since = "2026-01-01T00:00:00.000Z".into();
        first.write(&file).unwrap();
        assert_eq!(Decisions::read(&file).as_ref(), Some(&first));
        refused.insert("b.wasm".into(), "no component".to_string().into());
        let second = Decisions::now(&shelf, &registry, &refused, Some(&first));
        second.write(&file).unwrap();
        assert_eq!(Decisions::read(&file).as_ref(), Some(&second));
        assert_eq!(second.refused[0], first.refused[0]);
        assert_eq!(second.refused[1].since, second.written);
        let entries = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(entries, 1, "nothing else is left behind");
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Decisions::read(&file), None);
    }
}
