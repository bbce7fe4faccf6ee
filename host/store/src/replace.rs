//! One file in the place of another, where a folder is not only the host's.

use std::io::{Result, Write as _};
use std::path::Path;

use crate::temp::{Existing, TempFile, split};
use crate::{StoreError, folder};

/// Puts a file in its place, durably; its folder is made when it is missing. Whoever looks sees all of it or all of what
/// was there before, and a link that stood there is replaced, not followed.
///
/// # Errors
/// Nothing was changed, unless the folder could not be synced.
pub fn replace(file: &Path, content: &[u8]) -> std::result::Result<(), StoreError> {
    put(file, content).map_err(|source| StoreError::io("write", file, source))
}

fn put(file: &Path, content: &[u8]) -> Result<()> {
    let (parent, _) = split(file)?;
    folder::create(parent)?;
    let mut temporary = TempFile::create(parent, file)?;
    temporary.write_all(content)?;
    temporary.publish(Existing::Replace).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_made_with_its_folder_and_replaced_whole() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("below/a #1.wasm");
        replace(&file, b"one").unwrap();
        replace(&file, b"more").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"more");
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn what_a_link_leads_to_stays() {
        let dir = tempfile::TempDir::new().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        fs::write(&target, "theirs").unwrap();
        symlink(&target, &link).unwrap();
        replace(&link, b"ours").unwrap();
        assert_eq!((fs::read(&target).unwrap(), fs::read(&link).unwrap()), (b"theirs".to_vec(), b"ours".to_vec()));
    }

    #[test]
    fn what_is_in_the_way_is_told_and_nothing_is_left_behind() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("folder");
        fs::create_dir(&file).unwrap();
        let error = replace(&file, b"x").unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains("folder"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
