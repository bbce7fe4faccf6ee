//! Small files that are read while they are written.

use std::fs;
use std::io;
use std::path::Path;

/// Puts a file in the place of another; a reader sees all of it, or all of the one before. What a power cut leaves of it
/// does not matter to anyone.
pub(crate) fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
    let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, file));
    written.inspect_err(|_| {
        // The error above is the one to tell.
        let _ = fs::remove_file(&temporary);
    })
}
