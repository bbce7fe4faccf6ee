//! Which files there are, in which order, and how many of them make a batch.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use url::Url;

use super::entries::Entry;
use crate::SourceError;

/// Endings of files that hold no lines of text.
const NO_TEXT: [&str; 11] = ["gz", "bz2", "xz", "zst", "lz4", "snappy", "zip", "parquet", "avro", "orc", "tar"];

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Its name in the log: the identity of a file (F-007).
    pub(super) url: String,
    pub(super) modified_ms: i64,
    pub(super) bytes: u64,
}

impl Found {
    pub(super) fn entry(&self, number: u64) -> Entry {
        Entry { path: self.url.clone(), timestamp: self.modified_ms, batch_id: number }
    }
}

/// The local path that a contract's `path` means.
pub(super) fn local(path: &str) -> Result<PathBuf, SourceError> {
    match Url::parse(path) {
        // A drive letter or a plain path is no URL of ours.
        Ok(url) if url.scheme().len() > 1 => url.to_file_path().map_err(|()| {
            SourceError::config(format!("`{path}` is no local path"), "this version reads files of local folders only")
        }),
        _ => Ok(PathBuf::from(path)),
    }
}

/// Files of a folder, without its sub-folders (F-013), or one file; oldest first, equal times by path (F-004).
pub(super) fn list(path: &str, latest_first: bool) -> Result<Vec<Found>, SourceError> {
    let root = std::path::absolute(local(path)?).map_err(|e| SourceError::caused(format!("`{path}`"), e))?;
    let metadata = match fs::metadata(&root) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(SourceError::config(
                format!("path `{}` does not exist", root.display()),
                "create the folder, or correct `source.path` or `[path]` in crisol.toml",
            ));
        }
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotADirectory | std::io::ErrorKind::PermissionDenied) =>
        {
            return Err(SourceError::config(
                format!("path `{}` cannot be read: {error}", root.display()),
                "correct `source.path` or `[path]` in crisol.toml, or let this user read it",
            ));
        }
        Err(error) => return Err(SourceError::caused(format!("`{}` cannot be read", root.display()), error)),
    };
    let mut files = if metadata.is_dir() { folder(&root)? } else { vec![found(root, &metadata)?] };
    if let Some(file) = files.iter().find(|file| is_no_text(&file.path)) {
        return Err(SourceError::config(
            format!("file `{}` is compressed or binary by its name; only plain text is read yet", file.path.display()),
            "unpack it under another name, or move it away",
        ));
    }
    files.sort_unstable_by(|a, b| {
        let by_time = if latest_first { b.modified_ms.cmp(&a.modified_ms) } else { a.modified_ms.cmp(&b.modified_ms) };
        by_time.then_with(|| a.path.cmp(&b.path))
    });
    Ok(files)
}

/// What would be read as lines of garbage.
fn is_no_text(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| NO_TEXT.contains(&extension.as_str()))
}

fn folder(root: &Path) -> Result<Vec<Found>, SourceError> {
    let failed = |e| SourceError::caused(format!("folder `{}` cannot be listed", root.display()), e);
    let mut files = Vec::new();
    for entry in fs::read_dir(root).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_hidden(&entry.file_name().to_string_lossy()) {
            continue;
        }
        match fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => files.push(found(entry.path(), &metadata)?),
            // Gone since it was listed, or a folder.
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(files)
}

/// Names that are not data (F-012).
fn is_hidden(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

fn found(path: PathBuf, metadata: &Metadata) -> Result<Found, SourceError> {
    let named = path.to_str().and_then(|_| Url::from_file_path(&path).ok());
    let Some(url) = named else {
        return Err(SourceError::config(
            format!("file `{}`: its name is not valid UTF-8", path.display()),
            "rename it, or move it away",
        ));
    };
    let modified_ms =
        modified_ms(metadata).map_err(|e| SourceError::caused(format!("file `{}`", path.display()), e))?;
    Ok(Found { path, url: url.into(), modified_ms, bytes: metadata.len() })
}

/// Modification time as the log keeps it.
pub(super) fn modified_ms(metadata: &Metadata) -> std::io::Result<i64> {
    Ok(match metadata.modified()?.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    })
}

/// Keeps the files of the next batch: at most so many (F-005), or while their sum is at most so many bytes, always
/// one (F-006).
pub(super) fn take(files: &mut Vec<Found>, max_files: Option<u64>, max_bytes: Option<u64>) {
    if let Some(max) = max_files {
        files.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    }
    if let Some(max) = max_bytes {
        let mut sum = 0_u64;
        let fitting = files
            .iter()
            .take_while(|file| {
                sum = sum.saturating_add(file.bytes);
                sum <= max
            })
            .count();
        files.truncate(fitting.max(1));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn put(folder: &Path, name: &str, age_s: u64, bytes: usize) {
        let path = folder.join(name);
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000 - age_s);
        fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }

    fn names(files: &[Found]) -> Vec<&str> {
        files.iter().map(|f| f.path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn f004_files_come_oldest_first_and_equal_times_by_path() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("c", 5), ("b", 5), ("z", 9), ("a", 1)] {
            put(folder.path(), name, age, 1);
        }
        let path = folder.path().to_str().unwrap();
        assert_eq!(names(&list(path, false).unwrap()), ["z", "b", "c", "a"]);
        assert_eq!(names(&list(path, true).unwrap()), ["a", "b", "c", "z"]);
    }

    #[test]
    fn f012_f013_hidden_names_and_sub_folders_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["_SUCCESS", ".a.crc", "a_b.json"] {
            put(folder.path(), name, 1, 1);
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        put(&folder.path().join("sub"), "x.json", 1, 1);
        assert_eq!(names(&list(folder.path().to_str().unwrap(), false).unwrap()), ["a_b.json"]);
    }

    #[test]
    fn f003_a_path_that_does_not_exist_is_refused_by_name() {
        let error = list("/nowhere/at/all", false).unwrap_err();
        assert!(matches!(&error, SourceError::Config { .. }));
        assert_eq!(error.to_string(), "path `/nowhere/at/all` does not exist");
        assert!(list("s3://bucket/x", false).is_err());
    }

    #[test]
    fn f005_f006_limits_cut_the_batch_and_one_file_always_fits() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("a", 9), ("b", 8), ("c", 7)] {
            put(folder.path(), name, age, 10);
        }
        let all = list(folder.path().to_str().unwrap(), false).unwrap();
        let taken = |max_files, max_bytes| {
            let mut files = all.clone();
            take(&mut files, max_files, max_bytes);
            files.len()
        };
        assert_eq!(taken(None, None), 3);
        assert_eq!(taken(Some(2), None), 2);
        assert_eq!(taken(None, Some(20)), 2);
        assert_eq!(taken(None, Some(29)), 2);
        assert_eq!(taken(None, Some(1)), 1);
    }

    #[test]
    fn a_name_that_is_no_text_is_refused_with_what_to_do() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.json")), "{}\n").unwrap();
        let error = list(folder.path().to_str().unwrap(), false).unwrap_err();
        assert!(matches!(&error, SourceError::Config { .. }), "{error:?}");
        assert!(error.to_string().contains("its name is not valid UTF-8"), "{error}");
        assert_eq!(error.hint(), Some("rename it, or move it away"));
    }

    #[test]
    fn a_file_that_holds_no_text_by_its_name_is_refused_and_named() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "a.json", 2, 1);
        put(folder.path(), "b.json.GZ", 1, 1);
        let error = list(folder.path().to_str().unwrap(), false).unwrap_err();
        assert!(error.to_string().contains("b.json.GZ` is compressed or binary"), "{error}");
    }
}
