//! Which of several components serves. Pure: what serves next follows from what served and from the files there are now.

use std::path::{Path, PathBuf};

use semver::Version;

use crate::SchemaVersions;

/// What a file claims to serve.
pub(super) trait Claim: Clone {
    fn path(&self) -> &Path;
    fn name(&self) -> &str;
    fn version(&self) -> &Version;
    fn digest(&self) -> &str;
    fn schema_versions(&self) -> SchemaVersions;
}

/// Components by name, and of one name in the order in which they are asked: the first that handles a schema version
/// serves it.
#[derive(Debug, Clone)]
pub(super) struct Lineup<T> {
    /// One for each file.
    pub(super) present: Vec<T>,
    /// Those whose files were removed, the last one first. They come after all others.
    pub(super) departed: Vec<T>,
}

/// A file that may not serve: `other` makes the same claim with other bytes.
#[derive(Debug)]
pub(super) struct Ambiguous<T> {
    pub(super) file: T,
    pub(super) other: PathBuf,
}

impl<T> Default for Lineup<T> {
    fn default() -> Self {
        Self { present: Vec::new(), departed: Vec::new() }
    }
}

impl<T: Claim> Lineup<T> {
    /// The lineup for the files that there are now, and those that are refused.
    ///
    /// - A file with the same bytes, also under another name, keeps its place.
    /// - A file replaced in place goes first, whatever its version says.
    /// - A new file goes behind those of higher version that handle a schema version of its own, and before all others.
    ///   One whose version and schema versions another file claims with other bytes is refused.
    /// - What a removed file held goes on behind all others. What was replaced is gone, unless it bore another name.
    pub(super) fn successor(&self, now: &[T]) -> (Self, Vec<Ambiguous<T>>) {
        let (mut next, rest) = self.kept(now);
        let (replaced, new): (Vec<T>, Vec<T>) = rest.into_iter().partition(|file| self.at(file.path()).is_some());
        let mut refused = Vec::new();
        for file in by_version(new).into_iter().rev() {
            let known = next.present.iter().any(|other| other.digest() == file.digest());
            match rival(&file, now).filter(|_| !known) {
                Some(other) => refused.push(Ambiguous { other: other.to_path_buf(), file }),
                None => next.insert(file),
            }
        }
        for file in by_version(replaced) {
            let first = next.first_of(file.name());
            next.present.insert(first, file);
        }
        next.departed = self.departed_from(&next, now);
        (next, refused)
    }

    /// Everyone in the order in which they are asked, equal bytes once.
    pub(super) fn ranked(&self) -> impl Iterator<Item = &T> {
        let all: Vec<&T> = self.present.iter().chain(&self.departed).collect();
        let first = |at: usize, one: &T| !all.iter().take(at).any(|other| same(*other, one));
        let ranked: Vec<&T> = all.iter().enumerate().filter(|(at, one)| first(*at, one)).map(|(_, one)| *one).collect();
        ranked.into_iter()
    }

    /// Files that stay where they are in the order, and the others.
    fn kept(&self, now: &[T]) -> (Self, Vec<T>) {
        let mut rest: Vec<T> = now.to_vec();
        let mut next = Self::default();
        for old in &self.present {
            let unchanged = |file: &T| file.path() == old.path() && same(file, old);
            let moved = |file: &T| same(file, old) && self.at(file.path()).is_none();
            if let Some(at) = rest.iter().position(unchanged) {
                rest.swap_remove(at);
                next.present.push(old.clone());
            } else if let Some(at) = rest.iter().position(moved) {
                next.present.push(rest.swap_remove(at));
            }
        }
        (next, rest)
    }

    fn at(&self, path: &Path) -> Option<&T> {
        self.present.iter().find(|file| file.path() == path)
    }

    /// Where the first of a name stands, or would stand.
    pub(super) fn first_of(&self, name: &str) -> usize {
        self.present.partition_point(|file| file.name() < name)
    }

    fn insert(&mut self, file: T) {
        let first = self.first_of(file.name());
        let namesakes = self.present.iter().skip(first).take_while(|other| other.name() == file.name());
        let comes_before =
            |other: &T| other.version() >= file.version() && other.schema_versions().overlaps(file.schema_versions());
        let higher = namesakes.enumerate().filter(|(_, other)| comes_before(other)).last();
        let place = first + higher.map_or(0, |(at, _)| at + 1);
        self.present.insert(place, file);
    }

    fn departed_from(&self, next: &Self, now: &[T]) -> Vec<T> {
        let removed = |old: &&T| {
            let successor = now.iter().find(|file| file.path() == old.path());
            successor.is_none_or(|file| file.name() != old.name())
        };
        let back = |old: &&T| !next.present.iter().any(|file| same(file, *old));
        self.present.iter().filter(removed).chain(&self.departed).filter(back).cloned().collect()
    }
}

/// Those of `ranked` that serve at least one schema version, and those that stand behind others with all of theirs.
pub(super) fn serving<'a, T: Claim>(ranked: impl Iterator<Item = &'a T>) -> (Vec<&'a T>, Vec<&'a T>) {
    let mut serving: Vec<&T> = Vec::new();
    let mut shadowed = Vec::new();
    for one in ranked {
        let namesakes = serving.iter().filter(|other| other.name() == one.name());
        let before: Vec<SchemaVersions> = namesakes.map(|other| other.schema_versions()).collect();
        if covered(one.schema_versions(), &before) { shadowed.push(one) } else { serving.push(one) }
    }
    (serving, shadowed)
}

fn same<T: Claim>(one: &T, other: &T) -> bool {
    one.name() == other.name() && one.digest() == other.digest()
}

/// The lowest version first; of equal versions the last path first.
fn by_version<T: Claim>(mut files: Vec<T>) -> Vec<T> {
    files.sort_by(|a, b| a.version().cmp(b.version()).then_with(|| b.path().cmp(a.path())));
    files
}

/// Another file with the same claim and other bytes.
fn rival<'a, T: Claim>(file: &T, files: &'a [T]) -> Option<&'a Path> {
    let is_rival = |other: &&T| {
        other.name() == file.name()
            && other.version() == file.version()
            && other.digest() != file.digest()
            && other.schema_versions().overlaps(file.schema_versions())
    };
    files.iter().find(is_rival).map(Claim::path)
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
