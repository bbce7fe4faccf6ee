//! The components of a `plugins/` folder, and which of them serve.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semver::{Version, VersionReq};

use crate::columns::nearest;
use crate::text::printable;
use crate::{Component, Engine, Kind, PluginError, SchemaVersions};

/// What was found in a folder. It does not change: a change in the folder makes a new registry.
#[derive(Debug, Default)]
pub struct Registry {
    folder: Option<PathBuf>,
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

impl Registry {
    /// Loads every `*.wasm` directly in a folder; file names mean nothing else. A file that cannot serve is refused
    /// and does not keep the others from serving.
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
        let selection = select(loaded);
        refused.extend(selection.refused);
        refused.sort_by(|a, b| a.path.cmp(&b.path));
        for Refused { path, reason } in &refused {
            tracing::warn!(path = %path.display(), %reason, "a component is refused");
        }
        let folder = Some(folder.into());
        Ok(Self { folder, serving: selection.serving, shadowed: selection.shadowed, refused })
    }

    /// No components, for want of a folder; `folder` is where they would be looked for.
    pub fn without(folder: &Path) -> Self {
        Self { folder: Some(folder.into()), ..Self::default() }
    }

    /// Components that serve at least one schema version, by name, the highest version first.
    pub fn serving(&self) -> &[Arc<Component>] {
        &self.serving
    }

    /// Components whose schema versions are all served by higher versions of the same name.
    pub fn shadowed(&self) -> &[Arc<Component>] {
        &self.shadowed
    }

    /// Files that are refused, and why.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The highest version of a component that a contract names. With a range of versions, also one that a higher
    /// version outside the range shadows.
    ///
    /// # Errors
    /// No component of that name, of that kind, or in that range.
    pub fn find(&self, name: &str, version: Option<&VersionReq>, kind: Kind) -> Result<Arc<Component>, PluginError> {
        self.serving_versions(name, version, kind).map(|mut found| found.swap_remove(0))
    }

    /// All components of the name, kind and range, at least one, the highest version first: the first that handles a
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
        let named: Vec<&Arc<Component>> = self.accepted().filter(|component| component.name() == name).collect();
        let Some(first) = named.first() else { return Err(self.not_found(name)) };
        if !named.iter().any(|component| component.kind() == kind) {
            return Err(PluginError::WrongKind { name: name.to_string(), is: first.kind(), wanted: kind });
        }
        let of_kind = named.iter().filter(|component| component.kind() == kind);
        let fits = |component: &&&Arc<Component>| version.is_none_or(|range| range.matches(component.version()));
        let mut found: Vec<Arc<Component>> = of_kind.filter(fits).map(|component| Arc::clone(component)).collect();
        found.sort_by(|a, b| b.version().cmp(a.version()));
        if found.is_empty() {
            return Err(PluginError::NoVersion {
                name: name.to_string(),
                wanted: version.cloned().unwrap_or_default(),
                have: listed(named.iter().map(|component| component.version().to_string())),
            });
        }
        Ok(found)
    }

    fn accepted(&self) -> impl Iterator<Item = &Arc<Component>> {
        self.serving.iter().chain(&self.shadowed)
    }

    fn not_found(&self, name: &str) -> PluginError {
        let mut names: Vec<&str> = self.accepted().map(|component| component.name()).collect();
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

fn files(folder: &Path) -> Result<Vec<PathBuf>, PluginError> {
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

/// What a component claims to serve.
trait Claim {
    fn path(&self) -> &Path;
    fn name(&self) -> &str;
    fn version(&self) -> &Version;
    fn digest(&self) -> &str;
    fn schema_versions(&self) -> SchemaVersions;
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

#[derive(Debug)]
struct Selection<T> {
    serving: Vec<T>,
    shadowed: Vec<T>,
    refused: Vec<Refused>,
}

/// Several files may bear one name. Where their schema versions overlap the higher version serves; equal versions with
/// different bytes are refused; equal bytes are one component.
fn select<T: Claim>(mut claims: Vec<T>) -> Selection<T> {
    claims.sort_by(|a, b| (a.name(), b.version(), a.path()).cmp(&(b.name(), a.version(), b.path())));
    claims.dedup_by(|a, b| a.name() == b.name() && a.digest() == b.digest());
    let rivals: Vec<Option<PathBuf>> = claims.iter().map(|claim| rival(claim, &claims)).collect();
    let mut selection = Selection { serving: Vec::new(), shadowed: Vec::new(), refused: Vec::new() };
    for (claim, rival) in claims.into_iter().zip(rivals) {
        if let Some(other) = rival {
            selection.refused.push(ambiguous(&claim, other));
        } else if covered(claim.schema_versions(), &higher(&claim, &selection.serving)) {
            selection.shadowed.push(claim);
        } else {
            selection.serving.push(claim);
        }
    }
    selection
}

/// Another file with the same claim and other bytes.
fn rival<T: Claim>(claim: &T, claims: &[T]) -> Option<PathBuf> {
    let is_rival = |other: &&T| {
        other.name() == claim.name()
            && other.version() == claim.version()
            && other.digest() != claim.digest()
            && other.schema_versions().overlaps(claim.schema_versions())
    };
    claims.iter().find(is_rival).map(|other| other.path().to_path_buf())
}

fn ambiguous<T: Claim>(claim: &T, other: PathBuf) -> Refused {
    let path = claim.path().to_path_buf();
    let (name, version) = (claim.name().to_string(), claim.version().clone());
    Refused { path: path.clone(), reason: PluginError::Ambiguous { path, other, name, version } }
}

fn higher<T: Claim>(claim: &T, serving: &[T]) -> Vec<SchemaVersions> {
    serving.iter().filter(|other| other.name() == claim.name()).map(Claim::schema_versions).collect()
}

/// Whether each of the versions is handled by one of the others.
fn covered(versions: SchemaVersions, others: &[SchemaVersions]) -> bool {
    if others.contains(&SchemaVersions::All) {
        return true;
    }
    let SchemaVersions::Range { first, last } = versions else { return false };
    let mut next = first;
    loop {
        let end = others.iter().filter(|other| other.contains(next)).filter_map(|other| match other {
            SchemaVersions::Range { last, .. } => Some(*last),
            SchemaVersions::All => None,
        });
        match end.max() {
            None => return false,
            Some(end) if end >= last => return true,
            Some(end) => next = end + 1,
        }
    }
}

#[cfg(test)]
mod tests;
