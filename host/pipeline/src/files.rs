//! The project's files and the environment, read for the contract room, which does no I/O.

use std::fs;
use std::path::{Path, PathBuf};

use crisol_contract::{Lookup, SourceText, Texts};

use crate::EngineError;

/// Reads `crisol.toml` and every contract below `ingestion/` and `tables/`, in the order of their paths.
pub(crate) fn read(project: &Path) -> Result<Texts, EngineError> {
    if !project.is_dir() {
        return Err(EngineError::NoProject { dir: project.into(), what: "there is no such folder".into() });
    }
    let settings = project.join("crisol.toml");
    let settings = if settings.exists() { Some(text(settings)?) } else { None };
    let (ingestion, tables) = (contracts(&project.join("ingestion"))?, contracts(&project.join("tables"))?);
    if settings.is_none() && ingestion.is_empty() && tables.is_empty() {
        let what = "it has no `crisol.toml`, no `ingestion/` and no `tables/`".into();
        return Err(EngineError::NoProject { dir: project.into(), what });
    }
    Ok(Texts { settings, ingestion, tables })
}

fn contracts(dir: &Path) -> Result<Vec<SourceText>, EngineError> {
    let mut paths = Vec::new();
    if dir.is_dir() {
        collect(dir, &mut paths)?;
    }
    paths.sort();
    paths.into_iter().map(text).collect()
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> Result<(), EngineError> {
    let entries = fs::read_dir(dir).map_err(|error| EngineError::read(dir, error))?;
    for entry in entries {
        let path = entry.map_err(|error| EngineError::read(dir, error))?.path();
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    Ok(())
}

fn text(path: PathBuf) -> Result<SourceText, EngineError> {
    let bytes = fs::read(&path).map_err(|error| EngineError::read(&path, error))?;
    Ok(SourceText { path, bytes })
}

/// Environment and secrets' files, as placeholders name them.
pub(crate) struct Surroundings {
    pub(crate) kafka: Kafka,
}

/// Whether anything will be read from Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kafka {
    Read,
    /// Its options are not looked up: brokers and passwords need not be at hand.
    Unread,
}

impl Lookup for Surroundings {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn env_vars(&self) -> Vec<String> {
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        fs::read_to_string(path)
            .map(|text| text.trim_end_matches(['\r', '\n']).into())
            .map_err(|error| error.to_string())
    }

    fn for_kafka(&self) -> &dyn Lookup {
        match self.kafka {
            Kafka::Read => self,
            Kafka::Unread => &Unread,
        }
    }

    fn real(&self, path: &Path) -> PathBuf {
        real(path)
    }
}

/// The path with links followed, as far as it exists; what does not exist yet is made below that.
fn real(path: &Path) -> PathBuf {
    for present in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (present.canonicalize(), path.strip_prefix(present)) {
            return found.join(rest);
        }
    }
    path.to_owned()
}

/// Stands for every value that is not looked up.
struct Unread;

impl Lookup for Unread {
    fn env(&self, _name: &str) -> Option<String> {
        Some("not looked up".into())
    }

    fn env_vars(&self) -> Vec<String> {
        Vec::new()
    }

    fn file(&self, _path: &Path) -> Result<String, String> {
        Ok("not looked up".into())
    }

    fn for_kafka(&self) -> &dyn Lookup {
        self
    }

    fn has_secrets(&self) -> bool {
        false
    }

    fn real(&self, path: &Path) -> PathBuf {
        real(path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn links_are_followed_as_far_as_the_path_exists() {
        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("disk")).unwrap();
        std::os::unix::fs::symlink(root.join("disk"), root.join("link")).unwrap();
        assert_eq!(real(&root.join("link")), root.join("disk"));
        assert_eq!(real(&root.join("link/not/yet")), root.join("disk/not/yet"));
        assert_eq!(real(&root.join("not/yet")), root.join("not/yet"));
    }
}
