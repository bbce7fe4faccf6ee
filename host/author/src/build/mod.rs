//! `host build`: from the sources of a plugin to its component, with the samples in it.

mod carry;
mod rust;

use std::fs;
use std::path::PathBuf;

use crate::{AuthorError, Lang, Project, samples};

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

/// Builds a plugin with the tool of its language, and puts its samples into the component. What the tool says goes to standard
/// error.
///
/// # Errors
/// The tool is missing or fails, or a file of samples cannot be read.
pub fn build(project: &Project) -> Result<Built, AuthorError> {
    let made = match project.lang {
        Lang::Rust => rust::build(project)?,
    };
    let files = samples::files(&project.samples())?;
    let mut component = fs::read(&made).map_err(AuthorError::io(&made))?;
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
