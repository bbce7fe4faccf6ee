//! How far a batch goes: files are taken version by version until a limit.

use super::commit::Commit;

/// How far a walk through the log came.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) version: i64,
    pub(super) index: i64,
    /// Whether it stands in the snapshot of that version.
    pub(super) snapshot: bool,
    pub(super) files: usize,
    bytes: u64,
    pub(super) rows: Option<u64>,
}

impl Walk {
    pub(super) fn from(version: i64, index: i64, snapshot: bool) -> Self {
        Self { version, index, snapshot, ..Self::default() }
    }

    /// Takes the files of the walk's version; false when a limit ends the batch within it.
    pub(super) fn take(&mut self, commit: &Commit, max_files: usize, max_bytes: u64) -> bool {
        let from = usize::try_from(self.index).unwrap_or(0);
        for file in commit.added.iter().skip(from) {
            let bytes = self.bytes.saturating_add(file.size);
            if self.files > 0 && (self.files >= max_files || bytes > max_bytes) {
                return false;
            }
            self.rows = if self.files == 0 { file.rows } else { self.rows.zip(file.rows).map(|(a, b)| a + b) };
            self.files += 1;
            self.bytes = bytes;
            self.index += 1;
        }
        self.version += 1;
        self.index = 0;
        self.snapshot = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::AddedFile;
    use super::*;

    fn commit(sizes: &[u64]) -> Commit {
        let added = sizes.iter().map(|size| AddedFile { size: *size, rows: Some(1), ..AddedFile::default() });
        Commit::of(added.collect())
    }

    #[test]
    fn d122_the_first_limit_reached_ends_the_batch_and_one_file_always_fits() {
        let mut walk = Walk::default();
        assert!(!walk.take(&commit(&[10, 10, 10]), 2, 1_000));
        assert_eq!((walk.version, walk.index, walk.files, walk.rows), (0, 2, 2, Some(2)));
        let mut walk = Walk::default();
        assert!(!walk.take(&commit(&[500, 1]), 9, 100));
        assert_eq!((walk.version, walk.index), (0, 1));
    }

    #[test]
    fn d129_a_batch_may_begin_within_a_version_and_span_several() {
        let mut walk = Walk::from(4, 2, false);
        assert!(walk.take(&commit(&[1, 1, 1]), 9, 100));
        assert!(walk.take(&commit(&[]), 9, 100));
        assert_eq!((walk.version, walk.index, walk.files), (6, 0, 1));
    }

    #[test]
    fn d120_the_version_after_a_snapshot_follows_it() {
        let mut walk = Walk::from(4, 0, true);
        assert!(!walk.take(&commit(&[1, 1, 1]), 2, 100));
        assert_eq!((walk.version, walk.index, walk.snapshot), (4, 2, true));
        let mut walk = Walk::from(4, 2, true);
        assert!(walk.take(&commit(&[1, 1, 1]), 1, 100));
        assert_eq!((walk.version, walk.index, walk.snapshot), (5, 0, false));
    }
}
