//! Tools that are packages of a language's registry: installed once for a user, each version beside the others.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::AuthorError;

/// The folder of a tool, which `install` fills if it is not complete. Two commands at a time install it once.
pub(super) fn installed(
    name: &str,
    install: impl FnOnce(&Path) -> Result<(), AuthorError>,
) -> Result<PathBuf, AuthorError> {
    let tools = crisol_plugin::user_cache().map(|cache| cache.with_file_name("tools"));
    let Some(tools) = tools else {
        return Err(AuthorError::Output {
            what: "there is no folder for tools: neither XDG_CACHE_HOME nor HOME is set".into(),
        });
    };
    let (folder, complete) = (tools.join(name), tools.join(name).join(".complete"));
    if complete.is_file() {
        return Ok(folder);
    }
    fs::create_dir_all(&tools).map_err(AuthorError::io(&tools))?;
    let lock = tools.join(format!(".{name}.lock"));
    let held = File::create(&lock).map_err(AuthorError::io(&lock))?;
    held.lock().map_err(AuthorError::io(&lock))?;
    if complete.is_file() {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(AuthorError::io(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(AuthorError::io(&folder))?;
    install(&folder)?;
    fs::write(&complete, "").map_err(AuthorError::io(&complete))?;
    Ok(folder)
}
