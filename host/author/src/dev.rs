//! `host dev`: waits for changes of a plugin's sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::build::watched;
use crate::project::SDK;
use crate::{AuthorError, Bench, Project};

/// How often the sources are looked at. A plugin has a few files; looking works on every file system and in every container,
/// where telling does not.
const LOOK: Duration = Duration::from_millis(100);

/// Size and time of each source.
type Seen = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// The sources and samples of a plugin, without what tools write.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    seen: Seen,
}

impl Watch {
    /// Counts as changed from now on what changes from now on.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(folder: &Path) -> Result<Self, AuthorError> {
        Ok(Self { folder: folder.into(), seen: seen(folder)? })
    }

    /// Waits until a source has changed and the next look finds nothing more; an editor may write several files.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn changed(&mut self) -> Result<(), AuthorError> {
        let mut last = self.seen.clone();
        loop {
            let now = seen(&self.folder)?;
            if now == last && now != self.seen {
                self.seen = now;
                return Ok(());
            }
            last = now;
            std::thread::sleep(LOOK);
        }
    }
}

fn seen(folder: &Path) -> Result<Seen, AuthorError> {
    let mut found = Seen::new();
    look(folder, &mut found)?;
    // Sources of the SDK: nothing to change.
    let sdk = folder.join(SDK);
    found.retain(|path, _| !path.starts_with(&sdk));
    Ok(found)
}

fn look(folder: &Path, found: &mut Seen) -> Result<(), AuthorError> {
    for entry in fs::read_dir(folder).map_err(AuthorError::io(folder))? {
        let path = entry.map_err(AuthorError::io(folder))?.path();
        // What an editor has just taken away is no source.
        let Some(about) = fs::metadata(&path).ok().filter(|_| watched(&path)) else { continue };
        if about.is_dir() {
            look(&path, found)?;
        } else {
            found.insert(path, (about.len(), about.modified().ok()));
        }
    }
    Ok(())
}

impl Bench {
    /// Puts the component of a plugin into the folder of a project's components: over the file that bears its name, else over the one
    /// whose component does, else beside them. Gives where, and whether it is another one than was there.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn place(&self, project: &Project, folder: &Path) -> Result<(PathBuf, bool), AuthorError> {
        let built = project.component();
        let bytes = fs::read(&built).map_err(AuthorError::io(&built))?;
        let place = self.place_of(&project.name, folder)?;
        let changed = fs::read(&place).ok().as_ref() != Some(&bytes);
        if changed {
            crisol_store::replace(&place, &bytes)?;
        }
        Ok((place, changed))
    }

    fn place_of(&self, name: &str, folder: &Path) -> Result<PathBuf, AuthorError> {
        let own = folder.join(format!("{name}.wasm"));
        if own.is_file() {
            return Ok(own);
        }
        let files = crisol_plugin::files(folder)?;
        let bears = |file: &&PathBuf| self.load(file).is_ok_and(|component| component.name() == name);
        Ok(files.iter().find(bears).cloned().unwrap_or(own))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn sources_and_samples_are_watched_and_what_tools_write_is_not() {
        let home = TempDir::new().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/lib.rs", "one");
        let before = seen(home.path()).unwrap();
        for made in
            ["build/a.wasm", "target/x/y", "Cargo.lock", ".git/index", "src/.lib.rs.swp", "src/lib.rs~", "crisol/wit/a"]
        {
            write(made, "made");
        }
        assert_eq!(seen(home.path()).unwrap(), before);
        for source in ["tests/samples.json", "src/more.rs"] {
            let before = seen(home.path()).unwrap();
            write(source, "new");
            assert_ne!(seen(home.path()).unwrap(), before, "{source}");
        }
    }

    #[test]
    fn a_change_is_told_once() {
        let home = TempDir::new().unwrap();
        fs::write(home.path().join("a"), "1").unwrap();
        let mut watch = Watch::new(home.path()).unwrap();
        fs::write(home.path().join("a"), "22").unwrap();
        watch.changed().unwrap();
        assert_eq!(watch.seen, seen(home.path()).unwrap());
    }
}
