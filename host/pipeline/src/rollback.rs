//! `host plugins rollback`: the build that served before is put back. What serves follows from the folder, here as ever:
//! a host that runs takes the change like any other, the next start finds it.

mod plan;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_observe::in_one_line;
use crisol_plugin::{Component, PluginError, Registry};
use serde::Serialize;

use self::plan::{NoWay, Plan, Present, Start, aside, plan};
use crate::files::Kafka;
use crate::swap::{Decisions, Kept, KeptBuild, KeptError, ServedState, Shelf, decisions_file};
use crate::{EngineBuilder, EngineError};

/// What a rollback did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RolledBack {
    /// The component.
    pub component: String,
    /// What served last.
    pub from: ServedState,
    /// What serves from now on; the same as `from` where the folder did not hold what served.
    pub to: ServedState,
    /// Files that got the bytes of a build back. What they held is beside them, as `<file>.rolled-back`.
    pub written: Vec<PathBuf>,
    /// Files that were taken out: they are `<file>.rolled-back` now.
    pub taken_out: Vec<PathBuf>,
}

impl RolledBack {
    /// Whether the folder was as it should be.
    pub fn changes_nothing(&self) -> bool {
        self.written.is_empty() && self.taken_out.is_empty()
    }
}

impl EngineBuilder {
    /// Puts the build of a component back that served before, or the one that `to` means: a version, or the beginning of
    /// a digest. Where the folder does not hold what served last, that is put back instead. With `dry_run` nothing is
    /// written.
    ///
    /// # Errors
    /// There is no such build, its bytes are gone or damaged, the next start would let another build serve, or the folder
    /// cannot be written to.
    pub fn rollback(self, component: &str, to: Option<&str>, dry_run: bool) -> Result<RolledBack, EngineError> {
        let (project, ..) = self.resolve(Kafka::Unread)?;
        let kept = Kept::of(&project);
        let refused =
            |what: String, hint: String| EngineError::NotRolledBack { component: component.into(), what, hint };
        let unkept = |error: KeptError| not_kept(component, &error);
        let history = kept.history().map_err(unkept)?;
        let states = history.of(component);
        if states.is_empty() {
            let known = history.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let hint = format!("a host keeps builds from when they serve; those kept are of {}", or_none(known));
            return Err(refused("no build of that name served yet".into(), hint));
        }
        let (shelf, _) = self.shelf(&project.dir, Some(&project))?;
        let decisions = Decisions::read(&decisions_file(&project));
        let present = present(component, &shelf, decisions.as_ref());
        let starting = Starting { component, kept: &kept, shelf: RefCell::new(shelf), failed: RefCell::new(None) };
        let way = plan(states, to, &present, &|digests| starting.start(digests));
        if let Some(error) = starting.failed.take() {
            return Err(error);
        }
        let way = way.map_err(|NoWay(what, hint)| refused(what, hint))?;
        let shelf = starting.shelf.into_inner();
        check_files(component, &shelf, &way)?;
        let folder = shelf.folder();
        if !dry_run {
            carry_out(component, folder, &kept, &way)?;
        }
        Ok(RolledBack {
            component: component.into(),
            from: states.last().cloned().unwrap_or_else(|| way.target.clone()),
            to: way.target.clone(),
            written: way.write.iter().map(|build| folder.join(&build.file)).collect(),
            taken_out: way.take_out.iter().map(|file| folder.join(file)).collect(),
        })
    }
}

/// The files of a component.
fn present(component: &str, shelf: &Shelf, decisions: Option<&Decisions>) -> Vec<Present> {
    let waits = |digest: &str| decisions.is_some_and(|host| host.waiting.iter().any(|one| one.digest == digest));
    let own = shelf.components().into_iter().filter(|one| one.name() == component);
    let present = own.map(|one| Present {
        file: one.path().file_name().unwrap_or_default().into(),
        digest: one.digest().into(),
        waits: waits(one.digest()),
    });
    present.collect()
}

/// Looks forward to the next start.
struct Starting<'a> {
    component: &'a str,
    kept: &'a Kept,
    shelf: RefCell<Shelf>,
    /// Why a build that is kept cannot be run.
    failed: RefCell<Option<EngineError>>,
}

impl Starting<'_> {
    /// What a start makes of these builds.
    fn start(&self, digests: &[&str]) -> Start {
        let mut builds: Vec<Arc<Component>> = Vec::new();
        for digest in digests {
            match self.build(digest) {
                Ok(build) => builds.push(build),
                Err(error) => {
                    self.failed.borrow_mut().get_or_insert(error);
                }
            }
        }
        let registry = Registry::without(self.shelf.borrow().folder()).successor(&builds, Vec::new());
        let ambiguous =
            registry.refused().iter().filter(|refused| matches!(refused.reason, PluginError::Ambiguous { .. }));
        let digest_at =
            |path: &Path| builds.iter().find(|build| build.path() == path).map(|build| build.digest().into());
        Start {
            serving: registry.serving().iter().map(|build| build.digest().into()).collect(),
            ambiguous: ambiguous.filter_map(|refused| digest_at(&refused.path)).collect(),
        }
    }

    /// A build of the folder, or one that is kept.
    fn build(&self, digest: &str) -> Result<Arc<Component>, EngineError> {
        let there = self.shelf.borrow().components().into_iter().find(|one| one.digest() == digest);
        if let Some(component) = there {
            return Ok(component);
        }
        // Damage is told as such, and not as a component that cannot be run.
        self.kept.bytes(digest).map_err(|error| not_kept(self.component, &error))?;
        let loaded = self.shelf.borrow_mut().load_apart(&self.kept.file(digest));
        loaded.map(Arc::new).map_err(|error| EngineError::NotRolledBack {
            component: self.component.into(),
            what: format!("the build that is kept cannot be run by this host: {error}"),
            hint: "choose another one with `--to`; `host plugins` shows those that are kept".into(),
        })
    }
}

/// Nothing is touched that is not the component's, or that another one puts there.
fn check_files(component: &str, shelf: &Shelf, way: &Plan<'_>) -> Result<(), EngineError> {
    let refused = |what: String, hint: &str| {
        Err(EngineError::NotRolledBack { component: component.into(), what, hint: hint.into() })
    };
    for file in way.write.iter().map(|build| &build.file).chain(&way.take_out) {
        let path = shelf.folder().join(file);
        if file.file_name() != Some(file.as_os_str()) {
            return refused(format!("`{}` is no name of a file", file.display()), "the history of builds is damaged");
        }
        if let Some(other) = shelf.component(&path).filter(|other| other.name() != component) {
            let what = format!("`{}` holds the component `{}` now", path.display(), other.name());
            return refused(what, "move that file to another name first");
        }
        if let Ok(target) = fs::read_link(&path) {
            let what = format!("`{}` is a link to `{}`", path.display(), target.display());
            let hint = "what set the link would set it again: roll back there (with a config map, its contents; else, the link)";
            return refused(what, hint);
        }
    }
    Ok(())
}

/// What is needed comes before what is in the way goes, so that a rollback that is cut short can be called again.
fn carry_out(component: &str, folder: &Path, kept: &Kept, way: &Plan<'_>) -> Result<(), EngineError> {
    let failed = |what: String, build: Option<&KeptBuild>| EngineError::NotRolledBack {
        component: component.into(),
        what,
        hint: match build {
            Some(build) => format!(
                "the build lies in `{}`: bring it into the folder as its other files are brought there",
                kept.file(&build.digest).display()
            ),
            None => "take the file out of the folder as its files are brought there".into(),
        },
    };
    for build in &way.write {
        let bytes = kept.bytes(&build.digest).map_err(|error| not_kept(component, &error))?;
        let file = folder.join(&build.file);
        let old = match fs::read(&file) {
            Ok(old) => crisol_store::replace(&aside(&file), &old),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => return Err(failed(format!("cannot read `{}`: {error}", file.display()), Some(build))),
        };
        let written = old.and_then(|()| crisol_store::replace(&file, &bytes));
        written.map_err(|error| failed(error.to_string(), Some(build)))?;
    }
    for file in way.take_out.iter().map(|file| folder.join(file)) {
        let renamed = fs::rename(&file, aside(&file));
        renamed.map_err(|error| failed(format!("cannot rename `{}`: {error}", file.display()), None))?;
    }
    Ok(())
}

fn not_kept(component: &str, error: &KeptError) -> EngineError {
    let hint = match error {
        KeptError::Damaged { .. } => "choose another build with `--to`, or put a good copy of the file in its place",
        _ => {
            "choose another build with `--to`, or put the file in its place by hand; `host plugins` shows what is kept"
        }
    };
    EngineError::NotRolledBack { component: component.into(), what: in_one_line(error), hint: hint.into() }
}

fn or_none(known: String) -> String {
    if known.is_empty() { "none".into() } else { known }
}
