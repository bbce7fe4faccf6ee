//! What a way back means for the files of a folder. Pure: what is to be written and taken out follows from what served
//! and from the files there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::swap::{KeptBuild, ServedState, digests};

/// A file of the folder that holds a build of the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Present {
    /// Its name in the folder.
    pub(super) file: PathBuf,
    pub(super) digest: String,
    /// The host that runs, or ran last, waits with it for its turn.
    pub(super) waits: bool,
}

/// What a start would make of builds of the component, by their digests.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) serving: BTreeSet<String>,
    /// They make one claim with different bytes, so that none of them serves.
    pub(super) ambiguous: BTreeSet<String>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan<'a> {
    /// What serves afterwards.
    pub(super) target: &'a ServedState,
    /// Builds whose bytes go into their files.
    pub(super) write: Vec<&'a KeptBuild>,
    /// Files that are taken out.
    pub(super) take_out: Vec<PathBuf>,
}

/// Why there is no way back: what is wrong, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoWay(pub(super) String, pub(super) String);

/// The way back from `states`, the last of which served last. `start` says what a start would make of builds.
///
/// Without `to` it leads to the state before; where the folder does not hold what serves, it leads to that first: a file
/// that was refused, removed, or that no host has seen yet is undone before anything that serves is.
pub(super) fn plan<'a>(
    states: &'a [ServedState],
    to: Option<&str>,
    present: &[Present],
    start: &dyn Fn(&[&str]) -> Start,
) -> Result<Plan<'a>, NoWay> {
    let Some((current, earlier)) = states.split_last() else {
        let hint = "`host plugins` shows the builds that are kept";
        return Err(NoWay("no build of it served yet".into(), hint.into()));
    };
    let target = match to {
        Some(to) => chosen(current, earlier, to)?,
        None if !holds(present, current, start) => current,
        None => earlier.last().ok_or_else(|| {
            let hint = "a build is kept once it serves; put an older file in its place";
            NoWay("nothing served before the build that serves now".into(), hint.into())
        })?,
    };
    let write: Vec<&KeptBuild> = target.builds.iter().filter(|build| !is_present(present, build)).collect();
    let stays = present.iter().filter(|file| !write.iter().any(|build| build.file == file.file)).collect();
    let take_out = in_the_way(target, &write, stays, start)?;
    Ok(Plan { target, write, take_out })
}

/// Files that must go so that a start lets the target serve, and nothing else.
fn in_the_way(
    target: &ServedState,
    write: &[&KeptBuild],
    mut stays: Vec<&Present>,
    start: &dyn Fn(&[&str]) -> Start,
) -> Result<Vec<PathBuf>, NoWay> {
    let wanted = digests(&target.builds);
    let mut take_out = Vec::new();
    loop {
        let there =
            stays.iter().map(|file| file.digest.as_str()).chain(write.iter().map(|build| build.digest.as_str()));
        let Start { serving, ambiguous } = start(&there.collect::<Vec<_>>());
        if serving.iter().map(String::as_str).eq(wanted.iter().copied()) {
            return Ok(take_out);
        }
        let in_the_way = |file: &&Present| {
            !wanted.contains(file.digest.as_str())
                && (serving.contains(&file.digest) || ambiguous.contains(&file.digest))
        };
        let (goes, rest): (Vec<&Present>, Vec<&Present>) = stays.into_iter().partition(in_the_way);
        if let Some(other) = goes.iter().find(|file| file.waits) {
            let what = format!("`{}`, which waits, would serve after the next start", other.file.display());
            return Err(NoWay(
                what,
                "take that file out of the folder first: nothing that serves changes by it".into(),
            ));
        }
        if goes.is_empty() {
            let hint = "see what `host check` and `host plugins` say of the folder";
            return Err(NoWay("a start would not let these builds serve".into(), hint.into()));
        }
        take_out.extend(goes.iter().map(|file| file.file.clone()));
        stays = rest;
    }
}

/// Whether the folder holds what serves, and nothing besides that a start would let serve or stumble over.
fn holds(present: &[Present], current: &ServedState, start: &dyn Fn(&[&str]) -> Start) -> bool {
    let Start { serving, ambiguous } = start(&present.iter().map(|file| file.digest.as_str()).collect::<Vec<_>>());
    let serves = digests(&current.builds);
    let untaken = |file: &Present| {
        !file.waits
            && !serves.contains(file.digest.as_str())
            && (serving.contains(&file.digest) || ambiguous.contains(&file.digest))
    };
    current.builds.iter().all(|build| is_present(present, build)) && !present.iter().any(untaken)
}

/// In its file or in another one: file names mean nothing.
fn is_present(present: &[Present], build: &KeptBuild) -> bool {
    present.iter().any(|file| file.digest == build.digest)
}

/// The newest state with a build of this version or digest; the one that serves only where there is no other.
fn chosen<'a>(current: &'a ServedState, earlier: &'a [ServedState], to: &str) -> Result<&'a ServedState, NoWay> {
    let is_meant = |build: &&KeptBuild| build.version == to || (to.len() >= 4 && build.digest.starts_with(to));
    let serves = digests(&current.builds);
    let meant = |state: &'a ServedState| state.builds.iter().find(is_meant).map(|build| (build, state));
    let others = earlier.iter().rev().filter(|state| digests(&state.builds) != serves).filter_map(meant);
    let found: Vec<(&KeptBuild, &ServedState)> = others.collect();
    match found.first() {
        Some((first, state)) if found.iter().all(|(build, _)| build.digest == first.digest) => Ok(state),
        Some(_) => {
            let hint = format!("name one by its digest: {}", listed(found.iter().map(|(build, _)| *build)));
            Err(NoWay(format!("`{to}` means several builds"), hint))
        }
        None => meant(current).map(|(_, state)| state).ok_or_else(|| {
            let all =
                earlier.iter().rev().flat_map(|state| &state.builds).filter(|b| !serves.contains(b.digest.as_str()));
            let hint = match listed(all) {
                none if none.is_empty() => "no other build of it is kept".into(),
                builds => format!("kept are {builds}"),
            };
            NoWay(format!("no build `{to}` of it is kept"), hint)
        }),
    }
}

/// Each build once.
fn listed<'a>(builds: impl Iterator<Item = &'a KeptBuild>) -> String {
    let mut all: Vec<String> = Vec::new();
    for build in builds {
        let text = format!("{} ({})", build.version, short(&build.digest));
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all.join(", ")
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// The path under which a file that is taken out stays, which no host looks at.
pub(super) fn aside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".rolled-back");
    file.with_file_name(name)
}

#[cfg(test)]
mod tests;
