//! Nothing is built again of the same sources.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::{AuthorError, Lang, Project};

/// Folders that tools write to.
const MADE: [&str; 4] = ["build", "target", "node_modules", "__pycache__"];
/// Files that tools write beside the sources, when they resolve what those ask for.
const LOCKS: [&str; 3] = ["Cargo.lock", "go.sum", "package-lock.json"];

/// Calls a tool with the file to make, unless that was made of the same sources by the same tool.
pub(super) fn once(
    project: &Project,
    tool: &str,
    build: impl FnOnce(&Project, &Path) -> Result<(), AuthorError>,
) -> Result<PathBuf, AuthorError> {
    // Tools run in other folders than this process.
    let folder = std::path::absolute(project.made()).map_err(AuthorError::io(project.made()))?;
    let (made, of) = (folder.join(".made.wasm"), folder.join(".made.of"));
    let digest = digest(project, tool)?;
    if made.is_file() && fs::read_to_string(&of).is_ok_and(|text| text == digest) {
        return Ok(made);
    }
    // A build that is stopped leaves nothing that looks like one of these sources.
    let _ = fs::remove_file(&of);
    build(project, &made)?;
    fs::write(&of, digest).map_err(AuthorError::io(&of))?;
    Ok(made)
}

/// Of all that a component is made of, but for the samples.
fn digest(project: &Project, tool: &str) -> Result<String, AuthorError> {
    let mut hash = Sha256::new();
    hash.update(format!("{tool} {} {:?} ", env!("CARGO_PKG_VERSION"), project.kind));
    let mut files = Vec::new();
    sources(&project.folder, &mut files)?;
    files.retain(|file| !file.starts_with(project.samples()));
    let sdk = match project.lang {
        Lang::JavaScript | Lang::TypeScript => "sdk/js",
        Lang::Go => "sdk/go",
        _ => "sdk/python",
    };
    sources(&project.sdk.join("wit"), &mut files)?;
    sources(&project.sdk.join(sdk), &mut files)?;
    files.sort();
    files.dedup();
    for file in files {
        let bytes = fs::read(&file).map_err(AuthorError::io(&file))?;
        hash.update(format!("{}\0{}\0", file.display(), bytes.len()));
        hash.update(bytes);
    }
    Ok(format!("{:x}", hash.finalize()))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), AuthorError> {
    for entry in fs::read_dir(folder).map_err(AuthorError::io(folder))? {
        let path = entry.map_err(AuthorError::io(folder))?.path();
        if !watched(&path) {
            continue;
        }
        if path.is_dir() { sources(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

/// Whether a file or folder is written by people: not by tools, not hidden, no copy that an editor keeps.
pub(crate) fn watched(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !MADE.contains(&name.as_ref()) && !LOCKS.contains(&name.as_ref()) && !name.starts_with('.') && !name.ends_with('~')
}
