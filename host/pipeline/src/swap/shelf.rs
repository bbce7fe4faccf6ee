//! The folder of the components as it was looked at last.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crisol_plugin::{
    Component, Engine, EngineOptions, PluginError, Refused, Registry, files, printable_path, user_cache,
};

use super::Decisions;

/// The files of a folder, and what tells that one of them has changed.
pub(super) type Look = BTreeMap<PathBuf, Stamp>;

/// Differs when a file, or the file that a link leads to, is another one or was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    target: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
    changed_ns: i128,
}

/// Components by file, loaded once as long as the file stays as it is. Clones share the components.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    folder: PathBuf,
    options: EngineOptions,
    engine: Option<Engine>,
    look: Look,
    loaded: BTreeMap<PathBuf, Result<Arc<Component>, String>>,
}

impl Shelf {
    /// The shelf of a folder that does not exist yet.
    pub(crate) fn without(folder: &Path, options: EngineOptions) -> Self {
        Self { folder: folder.into(), options, engine: None, look: Look::new(), loaded: BTreeMap::new() }
    }

    /// Loads the components of a folder, and says which of them serve.
    ///
    /// # Errors
    /// The folder cannot be read, or components cannot be run on this machine.
    pub(crate) fn open(folder: &Path, options: EngineOptions) -> Result<(Self, Registry), PluginError> {
        let mut shelf = Self::without(folder, options);
        // Also when there is no file yet: a machine that cannot run components says so at the start.
        shelf.engine()?;
        let refused = shelf.load(shelf.look_again()?);
        for Refused { path, reason } in &refused {
            tracing::warn!(path = printable_path(path), %reason, "a component is refused");
        }
        let registry = Registry::without(folder).successor(&shelf.components(), refused);
        Ok((shelf, registry))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the folder holds now.
    pub(super) fn look_again(&self) -> Result<Look, PluginError> {
        let stamps = files(&self.folder)?.into_iter().filter_map(|path| Stamp::of(&path).map(|stamp| (path, stamp)));
        Ok(stamps.collect())
    }

    /// The look at which everything was loaded.
    pub(super) fn look(&self) -> &Look {
        &self.look
    }

    /// Loads what is not as it was at the last look. Those that cannot be loaded are given back.
    pub(super) fn load(&mut self, look: Look) -> Vec<Refused> {
        let changed: Vec<&PathBuf> =
            look.iter().filter(|(path, stamp)| self.look.get(*path) != Some(*stamp)).map(|(path, _)| path).collect();
        let mut refused = Vec::new();
        for path in changed {
            let loaded = self.engine().and_then(|engine| Component::load(path, &engine, user_cache().as_deref()));
            let kept = loaded.map(Arc::new).map_err(|reason| {
                let text = reason.to_string();
                refused.push(Refused { path: path.clone(), reason });
                text
            });
            self.loaded.insert(path.clone(), kept);
        }
        self.loaded.retain(|path, _| look.contains_key(path));
        self.look = look;
        refused
    }

    /// The components of all files that could be loaded.
    pub(crate) fn components(&self) -> Vec<Arc<Component>> {
        self.loaded.values().flatten().cloned().collect()
    }

    /// The component of a file.
    pub(crate) fn component(&self, path: &Path) -> Option<&Component> {
        self.loaded.get(path)?.as_ref().ok().map(Arc::as_ref)
    }

    /// Loads a file that is none of the folder's.
    pub(crate) fn load_apart(&mut self, path: &Path) -> Result<Component, PluginError> {
        let engine = self.engine()?;
        Component::load(path, &engine, user_cache().as_deref())
    }

    /// Components that a host refused, and why, as long as their files are the same.
    pub(crate) fn refused_by<'a>(&'a self, host: &'a Decisions) -> impl Iterator<Item = (&'a Component, &'a str)> {
        let refused = |component: &'a Arc<Component>| Some((component.as_ref(), host.refusal(component)?));
        self.loaded.values().flatten().filter_map(refused)
    }

    /// What serves beside a host: no component that it refused.
    pub(crate) fn beside(&self, host: &Decisions) -> Registry {
        let taken: Vec<_> = self.components().into_iter().filter(|one| host.refusal(one).is_none()).collect();
        Registry::without(&self.folder).successor(&taken, Vec::new())
    }

    /// The other files, and why.
    pub(super) fn unloadable(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.loaded.iter().filter_map(|(path, loaded)| Some((path.as_path(), loaded.as_ref().err()?.as_str())))
    }

    fn engine(&mut self) -> Result<Engine, PluginError> {
        let engine = self.engine.take().map_or_else(|| Engine::with(self.options.clone()), Ok)?;
        self.engine = Some(engine.clone());
        Ok(engine)
    }
}

impl Stamp {
    /// `None`: the file is gone already.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Some(Self {
            target: fs::canonicalize(path).ok()?,
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_look_tells_files_that_are_new_written_to_replaced_or_gone() {
        let dir = TempDir::new().unwrap();
        let shelf = Shelf::without(dir.path(), EngineOptions::default());
        let (file, other) = (dir.path().join("a.wasm"), dir.path().join("b.tmp"));
        let mut looks = vec![shelf.look_again().unwrap()];
        let mut look = || looks.push(shelf.look_again().unwrap());
        fs::write(&file, "one").unwrap();
        look();
        fs::write(&file, "more").unwrap();
        look();
        fs::write(&other, "more").unwrap();
        fs::rename(&other, &file).unwrap();
        look();
        fs::remove_file(&file).unwrap();
        look();
        for pair in looks.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        assert_eq!(looks.iter().map(Look::len).collect::<Vec<_>>(), [0, 1, 1, 1, 0]);
        assert_eq!(looks[4], looks[0]);
    }

    #[test]
    fn a_look_follows_links_as_config_maps_make_them() {
        let dir = TempDir::new().unwrap();
        let shelf = Shelf::without(dir.path(), EngineOptions::default());
        for version in ["..1", "..2"] {
            fs::create_dir(dir.path().join(version)).unwrap();
            fs::write(dir.path().join(version).join("a.wasm"), "same").unwrap();
        }
        let (data, next) = (dir.path().join("..data"), dir.path().join("..next"));
        symlink("..1", &data).unwrap();
        symlink("..data/a.wasm", dir.path().join("a.wasm")).unwrap();
        let before = shelf.look_again().unwrap();
        assert_eq!(before.len(), 1);
        assert_eq!(shelf.look_again().unwrap(), before);
        symlink("..2", &next).unwrap();
        fs::rename(&next, &data).unwrap();
        assert_ne!(shelf.look_again().unwrap(), before);
    }

    #[test]
    fn a_file_that_is_no_component_is_loaded_again_only_when_it_changes() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("a.wasm");
        fs::write(&file, "nothing").unwrap();
        let (mut shelf, registry) = Shelf::open(dir.path(), EngineOptions::default()).unwrap();
        assert_eq!(registry.refused().len(), 1);
        assert!(shelf.load(shelf.look_again().unwrap()).is_empty());
        assert_eq!(shelf.unloadable().map(|(path, _)| path).collect::<Vec<_>>(), [file.as_path()]);
        fs::write(&file, "nothing else").unwrap();
        assert_eq!(shelf.load(shelf.look_again().unwrap()).len(), 1);
        fs::remove_file(&file).unwrap();
        assert!(shelf.load(shelf.look_again().unwrap()).is_empty());
        assert_eq!(shelf.unloadable().count(), 0);
    }
}
