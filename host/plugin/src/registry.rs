//! The components of a `plugins/` folder, and which of them serve.

mod lineup;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semver::{Version, VersionReq};

use self::lineup::{Ambiguous, Claim, Lineup, serving};
use crate::columns::nearest;
use crate::text::printable;
use crate::{Component, Engine, Kind, PluginError, SchemaVersions};

/// Which components serve. It does not change: a change in the folder makes a [`successor`](Self::successor).
#[derive(Debug, Default)]
pub struct Registry {
    folder: Option<PathBuf>,
    lineup: Lineup<Arc<Component>>,
    serving: Vec<Arc<Component>>,
    shadowed: Vec<Arc<Component>>,
    refused: Vec<Refused>,
}

/// A file that does not serve.
#[derive(Debug)]
pub struct Refused {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub reason: PluginError,
}

/// Every `*.wasm` directly in a folder, sorted; links are followed.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, PluginError> {
    let failed = |source| PluginError::Read { path: folder.into(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Registry {
    /// Loads every file of a folder; file names mean nothing. A file that cannot serve is refused and does not keep
    /// the others from serving.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn load(folder: &Path, engine: &Engine, cache: Option<&Path>) -> Result<Self, PluginError> {
        let mut loaded = Vec::new();
        let mut refused = Vec::new();
        for path in files(folder)? {
            match Component::load(&path, engine, cache) {
                Ok(component) => loaded.push(Arc::new(component)),
                Err(reason) => refused.push(Refused { path, reason }),
            }
        }
        Ok(Self::without(folder).successor(&loaded, refused))
    }

    /// No components; `folder` is where they would be looked for.
    pub fn without(folder: &Path) -> Self {
        Self { folder: Some(folder.into()), ..Self::default() }
    }

    /// What serves when the folder holds these components now, one for each file that could be loaded, and files that
    /// could not.
    ///
    /// Where schema versions overlap the higher semantic version serves; a file replaced in place always does. Of new
    /// files with one version and different bytes none serves. What a removed file handled is given to the next lower
    /// one; where there is none, its component goes on.
    #[must_use]
    pub fn successor(&self, present: &[Arc<Component>], unloadable: Vec<Refused>) -> Self {
        let (lineup, ambiguous) = self.lineup.successor(present);
        let mut refused = unloadable;
        refused.extend(ambiguous.into_iter().map(Refused::from));
        refused.sort_by(|a, b| a.path.cmp(&b.path));
        Self::of(self.folder.clone(), lineup, refused)
    }

    /// The same with a component in front of its namesakes: it gets all schema versions that it handles, as a file that is
    /// replaced in place does, and the others keep the rest.
    #[must_use]
    pub fn with_first(&self, component: Arc<Component>) -> Self {
        let mut lineup = self.lineup.clone();
        lineup.present.retain(|other| other.digest() != component.digest());
        lineup.present.insert(lineup.first_of(component.name()), component);
        Self::of(self.folder.clone(), lineup, Vec::new())
    }

    /// The same without the removed components that `used` does not name by their digests.
    #[must_use]
    pub fn without_departed(self, used: impl Fn(&str) -> bool) -> Self {
        let Self { folder, mut lineup, refused, .. } = self;
        lineup.departed.retain(|component| used(component.digest()));
        Self::of(folder, lineup, refused)
    }

    fn of(folder: Option<PathBuf>, lineup: Lineup<Arc<Component>>, refused: Vec<Refused>) -> Self {
        let (serving, shadowed) = serving(lineup.ranked());
        let is_present = |one: &&&Arc<Component>| lineup.present.iter().any(|other| Arc::ptr_eq(other, one));
        let shadowed = shadowed.iter().filter(is_present).map(|one| Arc::clone(one)).collect();
        let serving = serving.into_iter().cloned().collect();
        Self { folder, lineup, serving, shadowed, refused }
    }

    /// Components that serve at least one schema version, by name, in the order in which they are asked.
    pub fn serving(&self) -> &[Arc<Component>] {
        &self.serving
    }

    /// Components whose schema versions are all served by others of the same name.
    pub fn shadowed(&self) -> &[Arc<Component>] {
        &self.shadowed
    }

    /// One for each file that serves or may serve when others go.
    pub fn present(&self) -> &[Arc<Component>] {
        &self.lineup.present
    }

    /// Whether this component goes on although its file is gone.
    pub fn has_departed(&self, component: &Component) -> bool {
        self.lineup.departed.iter().any(|departed| departed.digest() == component.digest())
    }

    /// Files that are refused, and why.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The component that a contract names: the first in the order in which they are asked. With a range of versions,
    /// also one that another one outside the range shadows.
    ///
    /// # Errors
    /// No component of that name, of that kind, or in that range.
    pub fn find(&self, name: &str, version: Option<&VersionReq>, kind: Kind) -> Result<Arc<Component>, PluginError> {
        self.serving_versions(name, version, kind).map(|mut found| found.swap_remove(0))
    }

    /// All components of the name, kind and range that serve a schema version, at least one: the first that handles a
    /// schema version serves it.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub fn serving_versions(
        &self,
        name: &str,
        version: Option<&VersionReq>,
        kind: Kind,
    ) -> Result<Vec<Arc<Component>>, PluginError> {
        let named: Vec<&Arc<Component>> = self.lineup.ranked().filter(|component| component.name() == name).collect();
        let Some(first) = named.first() else { return Err(self.not_found(name)) };
        if !named.iter().any(|component| component.kind() == kind) {
            return Err(PluginError::WrongKind { name: name.to_string(), is: first.kind(), wanted: kind });
        }
        let fits = |component: &&Arc<Component>| {
            component.kind() == kind && version.is_none_or(|range| range.matches(component.version()))
        };
        let (found, _) = serving(named.iter().copied().filter(fits));
        if found.is_empty() {
            return Err(PluginError::NoVersion {
                name: name.to_string(),
                wanted: version.cloned().unwrap_or_default(),
                have: listed(named.iter().map(|component| component.version().to_string())),
            });
        }
        Ok(found.into_iter().cloned().collect())
    }

    fn not_found(&self, name: &str) -> PluginError {
        let mut names: Vec<&str> = self.lineup.ranked().map(|component| component.name()).collect();
        names.sort_unstable();
        names.dedup();
        let absent = self.folder.as_ref().is_some_and(|folder| !folder.exists());
        let hint = match (near(name, &names), names.is_empty(), self.refused.len()) {
            (Some(near), ..) => format!("did you mean `{near}`?"),
            (None, true, 0) if absent => "there is no such folder; name another one with `--plugins`".to_string(),
            (None, true, 0) => "there are none".to_string(),
            (None, true, files) => {
                let first = self.refused.first().map(|refused| format!("; the first: {}", refused.reason));
                format!("{files} of the files there are refused{}", first.unwrap_or_default())
            }
            (None, false, _) => format!("there are {}", listed(names.iter().map(ToString::to_string))),
        };
        PluginError::NotFound { name: printable(name, 100), folder: self.folder.clone(), hint: Some(hint) }
    }
}

/// The name that was probably meant: a few letters away, or longer or shorter than what was written.
fn near<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let part_of = |other: &&&str| !name.is_empty() && (other.contains(name) || name.contains(**other));
    nearest(name, names.iter().copied()).or_else(|| names.iter().find(part_of).copied())
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl Claim for Arc<Component> {
    fn path(&self) -> &Path {
        Component::path(self)
    }

    fn name(&self) -> &str {
        Component::name(self)
    }

    fn version(&self) -> &Version {
        Component::version(self)
    }

    fn digest(&self) -> &str {
        Component::digest(self)
    }

    fn schema_versions(&self) -> SchemaVersions {
        Component::schema_versions(self)
    }
}

impl From<Ambiguous<Arc<Component>>> for Refused {
    fn from(Ambiguous { file, other }: Ambiguous<Arc<Component>>) -> Self {
        let path = file.path().to_path_buf();
        let (name, version) = (file.name().to_string(), file.version().clone());
        Self { path: path.clone(), reason: PluginError::Ambiguous { path, other, name, version } }
    }
}
