//! Builds that served, kept for a way back: `{path.checkpoint}/components/<SHA-256>.wasm`, and which of them served
//! when in `history.json` beside them. No stream depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_contract::Project;
use crisol_plugin::Component;
use crisol_store::StoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::decisions::in_utf8;
use super::failpoint::pass;

/// States that are kept of one component, the one that serves included.
const STATES_MAX: usize = 5;
const SCHEMA: &str = "crisol.components/v1";

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    folder: PathBuf,
}

/// What served, by component; of each the last states, the newest last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct History {
    schema: String,
    components: BTreeMap<String, Vec<ServedState>>,
}

/// The builds of one component that served at the same time, each for schema versions of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedState {
    /// Since when, ISO 8601.
    pub since: String,
    /// Its builds, in the order in which they are asked.
    pub builds: Vec<KeptBuild>,
}

/// A build that served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBuild {
    /// Its semantic version.
    pub version: String,
    /// Schema versions that it handles.
    pub schema_versions: String,
    /// SHA-256 of its file, lower-case hex.
    pub digest: String,
    /// Name of its file in the folder of the components.
    pub file: PathBuf,
}

/// Why builds cannot be kept or given back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptError {
    #[error("`{}` is damaged: {what}", file.display())]
    Damaged { file: PathBuf, what: String },
    #[error("`{}` cannot be read", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error(transparent)]
    Write(#[from] StoreError),
}

impl Kept {
    /// Where runs of this project keep builds.
    pub(crate) fn of(project: &Project) -> Self {
        Self { folder: project.paths.checkpoint.join("components") }
    }

    /// What served; nothing where nothing was kept yet.
    pub(crate) fn history(&self) -> Result<History, KeptError> {
        let file = self.folder.join("history.json");
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(History::default()),
            Err(source) => return Err(KeptError::Read { file, source }),
        };
        let damaged = |what: String| KeptError::Damaged { file: file.clone(), what };
        let history: History = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        match history.schema == SCHEMA {
            true => Ok(history),
            false => Err(damaged(format!("`{}` is not `{SCHEMA}`", history.schema))),
        }
    }

    /// Where a build lies, if it is kept.
    pub(crate) fn file(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.wasm"))
    }

    /// The bytes of a build that was kept, as they were.
    pub(crate) fn bytes(&self, digest: &str) -> Result<Vec<u8>, KeptError> {
        let file = self.file(digest);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(source) => return Err(KeptError::Read { file, source }),
        };
        match sha256(&bytes) {
            found if found == digest => Ok(bytes),
            found => Err(KeptError::Damaged { file, what: format!("its SHA-256 is {found}") }),
        }
    }

    /// Keeps the bytes of those that serve, durably.
    pub(super) fn keep(&self, serving: &[Arc<Component>]) -> Result<(), KeptError> {
        serving.iter().try_for_each(|component| self.keep_bytes(component))
    }

    /// Takes down what serves now, and lets go of what no state names any more.
    pub(super) fn take_down(&self, serving: &[Arc<Component>], now: &str) -> Result<(), KeptError> {
        let before = match self.history() {
            Err(error @ KeptError::Damaged { .. }) => {
                tracing::warn!("{error}; what served before cannot be rolled back to any more");
                History::default()
            }
            found => found?,
        };
        let mut history = before.clone();
        history.serve(serving.iter().map(|component| (component.name(), KeptBuild::of(component))), now);
        if history == before {
            return Ok(());
        }
        pass("plugins/take_down/before");
        let file = self.folder.join("history.json");
        let text = serde_json::to_vec_pretty(&history)
            .map_err(|error| KeptError::Damaged { file: file.clone(), what: error.to_string() })?;
        crisol_store::replace(&file, &text)?;
        pass("plugins/take_down/after");
        self.let_go(&history);
        Ok(())
    }

    fn keep_bytes(&self, component: &Component) -> Result<(), KeptError> {
        let kept = self.file(component.digest());
        if self.bytes(component.digest()).is_ok() {
            return Ok(());
        }
        match fs::read(component.path()) {
            Ok(bytes) if sha256(&bytes) == component.digest() => Ok(crisol_store::replace(&kept, &bytes)?),
            // It goes on although its file is gone, or is about to be exchanged.
            _ => {
                let file = component.path().display();
                tracing::warn!(%file, "its file is not what serves any more: it cannot be rolled back to");
                Ok(())
            }
        }
    }

    /// What stays although it should go takes room, and no more.
    fn let_go(&self, history: &History) {
        let named = history.digests();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let digest = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let build = path.extension().is_some_and(|extension| extension == "wasm") && digest.len() == 64;
            if build && !named.contains(digest) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self { schema: SCHEMA.into(), components: BTreeMap::new() }
    }
}

impl History {
    /// The last states of a component, the newest last; none when it never served.
    pub(crate) fn of(&self, component: &str) -> &[ServedState] {
        self.components.get(component).map_or(&[], Vec::as_slice)
    }

    /// All components that ever served.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.components.keys().map(String::as_str)
    }

    /// The last states of each.
    pub(crate) fn components(self) -> BTreeMap<String, Vec<ServedState>> {
        self.components
    }

    /// Takes down what serves now. A component that serves no more keeps its last state as the newest.
    fn serve<'a>(&mut self, serving: impl Iterator<Item = (&'a str, KeptBuild)>, now: &str) {
        let mut states = BTreeMap::<&str, Vec<KeptBuild>>::new();
        for (name, build) in serving {
            states.entry(name).or_default().push(build);
        }
        for (name, builds) in states {
            let states = self.components.entry(name.into()).or_default();
            match states.last_mut() {
                // A file that was renamed holds what it held.
                Some(last) if digests(&last.builds) == digests(&builds) => last.builds = builds,
                _ => states.push(ServedState { since: now.into(), builds }),
            }
            states.drain(..states.len().saturating_sub(STATES_MAX));
        }
    }

    fn digests(&self) -> BTreeSet<&str> {
        self.components.values().flatten().flat_map(|state| digests(&state.builds)).collect()
    }
}

impl KeptBuild {
    fn of(component: &Component) -> Self {
        Self {
            version: component.version().to_string(),
            schema_versions: component.schema_versions().to_string(),
            digest: component.digest().into(),
            file: in_utf8(Path::new(component.path().file_name().unwrap_or_default())),
        }
    }
}

/// The digests of builds, whatever their order.
pub(crate) fn digests(builds: &[KeptBuild]) -> BTreeSet<&str> {
    builds.iter().map(|build| build.digest.as_str()).collect()
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(digest: &str, file: &str) -> KeptBuild {
        KeptBuild { version: "1.0.0".into(), schema_versions: "all".into(), digest: digest.into(), file: file.into() }
    }

    fn states(history: &History) -> Vec<Vec<&str>> {
        history.of("orders").iter().map(|state| digests(&state.builds).into_iter().collect()).collect()
    }

    #[test]
    fn a_state_is_taken_down_when_another_set_of_builds_serves_and_the_oldest_goes() {
        let mut history = History::default();
        let mut serve = |builds: &[&str]| {
            history.serve(builds.iter().map(|digest| ("orders", build(digest, "a.wasm"))), "now");
            states(&history).into_iter().map(|state| state.concat()).collect::<Vec<_>>()
        };
        assert_eq!(serve(&["a"]), ["a"]);
        assert_eq!(serve(&["a"]), ["a"]);
        assert_eq!(serve(&["a", "b"]), ["a", "ab"]);
        assert_eq!(serve(&["b", "a"]), ["a", "ab"], "the order of the builds makes no other state");
        assert_eq!(serve(&[]), ["a", "ab"], "what serves no more is the last that served");
        assert_eq!(serve(&["a"]), ["a", "ab", "a"]);
        for digest in ["c", "d", "e"] {
            serve(&[digest]);
        }
        assert_eq!(serve(&["f"]), ["a", "c", "d", "e", "f"]);
    }

    #[test]
    fn a_file_that_is_renamed_makes_no_other_state() {
        let mut history = History::default();
        history.serve([("orders", build("a", "a.wasm"))].into_iter(), "first");
        history.serve([("orders", build("a", "b.wasm"))].into_iter(), "second");
        let [state] = history.of("orders") else { panic!("{history:?}") };
        assert_eq!((state.since.as_str(), state.builds[0].file.to_str()), ("first", Some("b.wasm")));
    }

    #[test]
    fn bytes_come_back_as_they_were_and_damage_is_told() {
        let dir = tempfile::TempDir::new().unwrap();
        let kept = Kept { folder: dir.path().join("components") };
        let digest = sha256(b"build");
        assert!(matches!(kept.bytes(&digest), Err(KeptError::Read { .. })));
        crisol_store::replace(&kept.file(&digest), b"build").unwrap();
        assert_eq!(kept.bytes(&digest).unwrap(), b"build");
        fs::write(kept.file(&digest), b"built").unwrap();
        assert!(kept.bytes(&digest).unwrap_err().to_string().contains("is damaged: its SHA-256 is"));
        fs::write(kept.folder.join("history.json"), b"{").unwrap();
        assert!(matches!(kept.history(), Err(KeptError::Damaged { .. })));
        fs::write(kept.folder.join("history.json"), br#"{"schema":"crisol.components/v9","components":{}}"#).unwrap();
        assert!(kept.history().unwrap_err().to_string().contains("v9"));
    }

    #[test]
    fn builds_that_no_state_names_are_let_go_and_nothing_else_is() {
        let dir = tempfile::TempDir::new().unwrap();
        let kept = Kept { folder: dir.path().into() };
        let [named, other] = ["named", "other"].map(|text| sha256(text.as_bytes()));
        let files =
            [kept.file(&named), kept.file(&other), dir.path().join("mine.wasm"), dir.path().join("history.json")];
        for file in &files {
            fs::write(file, "x").unwrap();
        }
        let mut history = History::default();
        history.serve([("orders", build(&named, "a.wasm"))].into_iter(), "now");
        kept.let_go(&history);
        assert_eq!(files.map(|file| file.exists()), [true, false, true, true]);
    }
}
