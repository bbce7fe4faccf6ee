//! How far a batch goes: files are taken version by version until a limit.

use super::commit::Commit;
use super::{Cut, TableSourceSpec};

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

    /// Takes the files of the walk's version; false when the batch ends within it, before it, or with it.
    pub(super) fn take(&mut self, commit: &Commit, spec: &TableSourceSpec) -> bool {
        if commit.rebuilt && self.files > 0 {
            return false;
        }
        let from = usize::try_from(self.index).unwrap_or(0);
        let files = commit.added.get(from..).unwrap_or_default();
        let whole = match spec.cut {
            _ if commit.rebuilt => true,
            Cut::Files => false,
            Cut::Versions => !self.snapshot,
            Cut::EachVersion => true,
        };
        let together = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if whole && !files.is_empty() && !self.has_room(files.len(), together, spec) {
            return false;
        }
        for file in files {
            if !whole && !self.has_room(1, file.size, spec) {
                return false;
            }
            let bytes = self.bytes.saturating_add(file.size);
            self.rows = if self.files == 0 { file.rows } else { self.rows.zip(file.rows).map(|(a, b)| a + b) };
            self.files += 1;
            self.bytes = bytes;
            self.index += 1;
        }
        self.version += 1;
        self.index = 0;
        self.snapshot = false;
        !commit.rebuilt && (spec.cut != Cut::EachVersion || self.files == 0)
    }

    fn has_room(&self, files: usize, bytes: u64, spec: &TableSourceSpec) -> bool {
        let fits = self.files + files <= spec.max_files && self.bytes.saturating_add(bytes) <= spec.max_bytes;
        self.files == 0 || fits
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::AddedFile;
    use super::*;

    fn spec(cut: Cut, max_files: usize, max_bytes: u64) -> TableSourceSpec {
        TableSourceSpec {
            name: "t".into(),
            path: "/t".into(),
            columns: std::sync::Arc::new(arrow_schema::Schema::empty()),
            external: false,
            anew: String::new(),
            changes: false,
            cut,
            held: None,
            max_files,
            max_bytes,
        }
    }

    fn commit(sizes: &[u64]) -> Commit {
        let added = sizes.iter().map(|size| AddedFile { size: *size, rows: Some(1), ..AddedFile::default() });
        Commit::of(added.collect())
    }

    #[test]
    fn d122_the_first_limit_reached_ends_the_batch_and_one_file_always_fits() {
        let mut walk = Walk::default();
        assert!(!walk.take(&commit(&[10, 10, 10]), &spec(Cut::Files, 2, 1_000)));
        assert_eq!((walk.version, walk.index, walk.files, walk.rows), (0, 2, 2, Some(2)));
        let mut walk = Walk::default();
        assert!(!walk.take(&commit(&[500, 1]), &spec(Cut::Files, 9, 100)));
        assert_eq!((walk.version, walk.index), (0, 1));
    }

    #[test]
    fn d129_a_batch_may_begin_within_a_version_and_span_several() {
        let mut walk = Walk::from(4, 2, false);
        assert!(walk.take(&commit(&[1, 1, 1]), &spec(Cut::Files, 9, 100)));
        assert!(walk.take(&commit(&[]), &spec(Cut::Files, 9, 100)));
        assert_eq!((walk.version, walk.index, walk.files), (6, 0, 1));
    }

    #[test]
    fn d120_the_version_after_a_snapshot_follows_it() {
        let mut walk = Walk::from(4, 0, true);
        assert!(!walk.take(&commit(&[1, 1, 1]), &spec(Cut::Files, 2, 100)));
        assert_eq!((walk.version, walk.index, walk.snapshot), (4, 2, true));
        let mut walk = Walk::from(4, 2, true);
        assert!(walk.take(&commit(&[1, 1, 1]), &spec(Cut::Files, 1, 100)));
        assert_eq!((walk.version, walk.index, walk.snapshot), (5, 0, false));
    }

    #[test]
    fn d126_a_version_is_not_cut_where_batches_end_between_versions() {
        let spec = spec(Cut::Versions, 3, 100);
        let mut walk = Walk::default();
        assert!(walk.take(&commit(&[1, 1]), &spec));
        assert!(!walk.take(&commit(&[1, 1]), &spec), "four files are too many");
        assert_eq!((walk.version, walk.index, walk.files), (1, 0, 2));
        let mut walk = Walk::default();
        assert!(walk.take(&commit(&[500, 500]), &spec), "one version always fits");
        assert_eq!((walk.version, walk.files), (1, 2));
        let mut walk = Walk::from(4, 0, true);
        assert!(!walk.take(&commit(&[1, 1, 1, 1]), &spec));
        assert_eq!((walk.version, walk.index, walk.snapshot), (4, 3, true));
    }

    #[test]
    fn a_rebuild_of_the_table_above_is_a_batch_of_its_own() {
        let spec = spec(Cut::Files, 9, 1_000);
        let mut rebuilt = commit(&[700, 700]);
        rebuilt.rebuilt = true;
        let mut walk = Walk::default();
        assert!(walk.take(&commit(&[1]), &spec));
        assert!(!walk.take(&rebuilt, &spec), "what came before it ends the batch");
        assert_eq!((walk.version, walk.index, walk.files), (1, 0, 1));
        let mut walk = Walk::from(1, 0, false);
        assert!(!walk.take(&rebuilt, &spec), "and it is never cut");
        assert_eq!((walk.version, walk.index, walk.files), (2, 0, 2));
    }

    #[test]
    fn d126_no_two_versions_with_rows_are_in_one_batch_where_each_is_one() {
        let spec = spec(Cut::EachVersion, 9, 100);
        let mut walk = Walk::default();
        assert!(walk.take(&commit(&[]), &spec));
        assert!(!walk.take(&commit(&[1, 1]), &spec));
        assert_eq!((walk.version, walk.index, walk.files), (2, 0, 2));
        let mut walk = Walk::from(4, 0, true);
        assert!(!walk.take(&commit(&[200, 200]), &spec), "the snapshot counts as one version");
        assert_eq!((walk.version, walk.snapshot, walk.files), (5, false, 2));
    }
}
