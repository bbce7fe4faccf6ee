//! `host build`: from the sources of a plugin to its component, with the samples in it.

mod carry;
mod component;
mod go;
mod inputs;
mod javascript;
mod other;
mod python;
mod run;
mod rust;
mod tools;

use std::fs::{self, File};
use std::path::PathBuf;

use crate::{AuthorError, Lang, Project, samples};

pub(crate) use inputs::watched;

/// What a build gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The component.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Samples that travel in it.
    pub samples: usize,
    /// Whether it is another one than before; the file was not touched if not.
    pub changed: bool,
}

/// How much time a build may take for a fast component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What is to serve.
    Release,
    /// What is to be there soon, where the language makes a difference.
    Dev,
}

/// Builds a plugin with the tool of its language, makes a component of it if that is none yet, and puts the samples into it.
/// What the tool says goes to standard error.
///
/// # Errors
/// The tool is missing or fails, what it made is no plugin of this kind, or a file of samples cannot be read.
pub fn build(project: &Project, profile: Profile) -> Result<Built, AuthorError> {
    let _alone = alone(project)?;
    let made = match project.lang {
        Lang::Rust => rust::build(project, profile)?,
        Lang::Other => other::build(project)?,
        Lang::Go => inputs::once(project, go::TOOL, go::build)?,
        Lang::Python => inputs::once(project, python::TOOL, python::build)?,
        Lang::JavaScript | Lang::TypeScript => inputs::once(project, javascript::TOOL, javascript::build)?,
    };
    let mut component = component::of(fs::read(&made).map_err(AuthorError::io(&made))?, project)?;
    let files = samples::files(&project.samples())?;
    for file in &files {
        carry::append(&mut component, file.text.as_bytes());
    }
    let path = project.component();
    let changed = fs::read(&path).ok().as_ref() != Some(&component);
    if changed {
        // A host or an editor that looks at it never sees a part.
        crisol_store::replace(&path, &component)?;
    }
    let samples = files.iter().map(|file| file.samples.len()).sum();
    Ok(Built { path, bytes: component.len() as u64, samples, changed })
}

/// Holds off another command that builds the same plugin, until this is dropped.
fn alone(project: &Project) -> Result<File, AuthorError> {
    let folder = project.made();
    fs::create_dir_all(&folder).map_err(AuthorError::io(&folder))?;
    let path = folder.join(".lock");
    let lock = File::create(&path).map_err(AuthorError::io(&path))?;
    lock.lock().map_err(AuthorError::io(&path))?;
    Ok(lock)
}
