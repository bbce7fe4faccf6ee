//! The files of samples of a plugin.

use std::fs;
use std::path::{Path, PathBuf};

use crisol_plugin::Sample;

use crate::AuthorError;

/// A file of samples.
#[derive(Debug)]
pub(crate) struct SampleFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) samples: Vec<Sample>,
}

/// The files `*.json` of a folder, by name; none when it is not there.
///
/// # Errors
/// One cannot be read, or holds something else.
pub(crate) fn files(folder: &Path) -> Result<Vec<SampleFile>, AuthorError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(AuthorError::Io { path: folder.into(), source }),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(AuthorError::io(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Result<SampleFile, AuthorError> {
    let text = fs::read_to_string(&path).map_err(AuthorError::io(&path))?;
    let samples = Sample::read(text.as_bytes());
    let samples = samples.map_err(|what| AuthorError::Samples { path: path.clone(), what })?;
    Ok(SampleFile { path, text, samples })
}
