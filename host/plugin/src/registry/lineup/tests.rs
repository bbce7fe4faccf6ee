use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, PartialEq)]
struct File {
    path: PathBuf,
    name: &'static str,
    version: Version,
    digest: String,
    versions: SchemaVersions,
}

impl Claim for File {
    fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &Version {
        &self.version
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn schema_versions(&self) -> SchemaVersions {
        self.versions
    }
}

fn file(path: &str, version: &str, digest: &str, versions: SchemaVersions) -> File {
    let version = Version::parse(version).unwrap();
    File { path: path.into(), name: "orders", version, digest: digest.into(), versions }
}

fn range(first: u32, last: u32) -> SchemaVersions {
    SchemaVersions::Range { first, last }
}

const ALL: SchemaVersions = SchemaVersions::All;

/// A folder, and what came of each change of it.
#[derive(Default)]
struct Folder {
    lineup: Lineup<File>,
    refused: Vec<String>,
}

impl Folder {
    fn with(files: &[File]) -> Self {
        Self::default().becomes(files)
    }

    fn becomes(self, files: &[File]) -> Self {
        let (lineup, refused) = self.lineup.successor(files);
        Self { lineup, refused: refused.into_iter().map(|refused| refused.file.digest).collect() }
    }

    fn serving(&self) -> Vec<&str> {
        serving(self.lineup.ranked()).0.into_iter().map(Claim::digest).collect()
    }

    fn shadowed(&self) -> Vec<&str> {
        serving(self.lineup.ranked()).1.into_iter().map(Claim::digest).collect()
    }

    fn server(&self, version: u32) -> Option<&File> {
        self.lineup.ranked().find(|file| file.versions.contains(version))
    }
}

#[test]
fn files_without_overlap_all_serve() {
    let folder = Folder::with(&[file("a", "1.0.0", "x", range(1, 2)), file("b", "1.0.0", "y", range(3, 3))]);
    assert_eq!(folder.serving().len(), 2);
    assert!(folder.shadowed().is_empty() && folder.refused.is_empty());
}

#[test]
fn where_two_overlap_the_higher_version_serves() {
    let folder = Folder::with(&[file("a", "1.9.0", "x", range(1, 3)), file("b", "1.10.0", "y", range(1, 3))]);
    assert_eq!((folder.serving(), folder.shadowed()), (vec!["y"], vec!["x"]));
}

#[test]
fn the_lower_version_keeps_what_the_higher_does_not_handle() {
    let folder = Folder::with(&[file("a", "1.0.0", "x", range(1, 3)), file("b", "2.0.0", "y", range(3, 4))]);
    assert_eq!(folder.serving(), ["y", "x"]);
}

#[test]
fn new_files_of_equal_version_with_other_bytes_are_all_refused() {
    let folder = Folder::with(&[
        file("a", "1.0.0", "x", ALL),
        file("b", "1.0.0", "y", range(2, 2)),
        file("c", "0.9.0", "z", ALL),
    ]);
    assert_eq!(folder.serving(), ["z"]);
    assert_eq!(folder.refused, ["x", "y"]);
}

#[test]
fn a_new_file_of_equal_version_is_refused_while_what_served_goes_on() {
    let served = file("a", "1.0.0", "x", ALL);
    let folder = Folder::with(std::slice::from_ref(&served)).becomes(&[served, file("b", "1.0.0", "y", ALL)]);
    assert_eq!((folder.serving(), folder.refused.len()), (vec!["x"], 1));
    let folder = folder.becomes(&[file("b", "1.0.0", "y", ALL)]);
    assert_eq!(folder.serving(), ["y"], "alone it is not ambiguous");
}

#[test]
fn equal_bytes_are_one_component() {
    let folder = Folder::with(&[file("b", "1.0.0", "x", range(1, 1)), file("a", "1.0.0", "x", range(1, 1))]);
    assert_eq!(folder.serving(), ["x"]);
    assert!(folder.shadowed().is_empty() && folder.refused.is_empty());
}

#[test]
fn a_file_replaced_in_place_serves_whatever_its_version_says() {
    let higher = file("b", "3.0.0", "h", ALL);
    let folder = Folder::with(&[file("a", "2.0.0", "x", ALL), higher.clone()]);
    assert_eq!(folder.serving(), ["h"]);
    let rolled_back = [file("a", "1.0.0", "y", ALL), higher.clone()];
    let folder = folder.becomes(&rolled_back);
    assert_eq!(folder.serving(), ["y"]);
    let folder = folder.becomes(&rolled_back);
    assert_eq!(folder.serving(), ["y"], "and goes on to");
    let same_version = [file("a", "3.0.0", "z", ALL), higher];
    let folder = folder.becomes(&same_version);
    assert_eq!((folder.serving(), folder.refused.len()), (vec!["z"], 0));
}

#[test]
fn a_higher_version_that_comes_after_a_roll_back_serves() {
    let folder = Folder::with(&[file("a", "2.0.0", "x", ALL)]).becomes(&[file("a", "1.0.0", "y", ALL)]);
    let folder = folder.becomes(&[file("a", "1.0.0", "y", ALL), file("b", "1.5.0", "z", ALL)]);
    assert_eq!(folder.serving(), ["z"]);
}

#[test]
fn a_removed_file_gives_its_versions_to_the_next_lower_one_and_where_there_is_none_it_goes_on() {
    let lower = file("a", "1.0.0", "x", range(1, 2));
    let folder = Folder::with(&[lower.clone(), file("b", "2.0.0", "y", range(1, 3))]);
    assert_eq!(folder.serving(), ["y"]);
    let folder = folder.becomes(&[lower]);
    assert_eq!(folder.server(2).unwrap().digest, "x");
    assert_eq!(folder.server(3).unwrap().digest, "y", "nobody else handles it");
    let folder = folder.becomes(&[]);
    assert_eq!(folder.server(1).unwrap().digest, "x", "the last one that served goes on");
    let folder = folder.becomes(&[file("c", "0.1.0", "z", ALL)]);
    assert_eq!(folder.serving(), ["z"], "a file that is there comes before those that are not");
}

#[test]
fn what_was_replaced_in_place_is_gone_unless_it_bore_another_name() {
    let folder = Folder::with(&[file("a", "1.0.0", "x", range(1, 3))]).becomes(&[file("a", "2.0.0", "y", range(1, 2))]);
    assert!(folder.server(3).is_none());
    let other = File { name: "rules", ..file("a", "1.0.0", "r", ALL) };
    let folder = folder.becomes(&[other]);
    assert_eq!(folder.serving(), ["r", "y"]);
}

#[test]
fn a_renamed_file_keeps_its_place() {
    let higher = file("b", "3.0.0", "h", ALL);
    let folder = Folder::with(&[file("a", "2.0.0", "x", ALL), higher.clone()]);
    let folder = folder.becomes(&[file("a", "1.0.0", "y", ALL), higher.clone()]);
    let folder = folder.becomes(&[file("renamed", "1.0.0", "y", ALL), higher]);
    assert_eq!(folder.serving(), ["y"]);
    assert!(folder.lineup.departed.is_empty());
}

#[test]
fn coverage_adds_up() {
    assert!(covered(range(1, 5), &[range(4, 9), range(1, 2), range(3, 3)]));
    assert!(!covered(range(1, 5), &[range(4, 9), range(1, 2)]));
    assert!(covered(range(0, u32::MAX), &[range(0, u32::MAX)]));
    assert!(!covered(ALL, &[range(0, u32::MAX)]));
    assert!(covered(ALL, &[ALL]));
    assert!(!covered(range(1, 1), &[]));
}

/// One thing that happens to one file of the folder.
#[derive(Debug, Clone)]
enum Change {
    Write { path: usize, build: usize },
    Remove { path: usize },
}

const PATHS: [&str; 4] = ["a", "b", "c", "d"];
const SCHEMA_VERSIONS: u32 = 4;

/// Builds that there are; equal digests are equal files.
fn build(path: usize, build: usize) -> File {
    let version = ["1.0.0", "1.1.0", "2.0.0"][build % 3];
    let versions = [range(0, 1), range(1, 2), range(2, 3), ALL][build / 3 % 4];
    file(PATHS[path], version, &format!("digest-{build}"), versions)
}

fn change() -> impl Strategy<Value = Change> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => (path.clone(), 0..24_usize).prop_map(|(path, build)| Change::Write { path, build }),
        1 => path.prop_map(|path| Change::Remove { path }),
    ]
}

/// Holds what the rules say of one change against what came of it.
fn hold(before: &Folder, after: &Folder, files: &[File], change: &Change) -> Result<(), TestCaseError> {
    let accepted = |folder: &Folder, path: &Path| folder.lineup.present.iter().any(|file| file.path == path);
    let is_present = |server: &&File| files.contains(server);
    for version in 0..SCHEMA_VERSIONS {
        let handled = after.lineup.present.iter().any(|file| file.versions.contains(version));
        prop_assert!(!handled || after.server(version).filter(is_present).is_some());
    }
    let changed = match change {
        Change::Write { path, .. } | Change::Remove { path } => Path::new(PATHS[*path]),
    };
    let freed = |file: &File| file.path != changed && !before.lineup.present.contains(file);
    if after.lineup.present.iter().any(freed) {
        // With its rival gone, a file that was refused joins in: two changes at once.
        return Ok(());
    }
    for version in 0..SCHEMA_VERSIONS {
        let (served, serves) = (before.server(version), after.server(version));
        match change {
            Change::Remove { .. } => {
                let next = before.lineup.present.iter().filter(|file| files.contains(file));
                let next = next.filter(|file| file.versions.contains(version)).map(Claim::digest).next();
                prop_assert_eq!(serves.map(Claim::digest), next.or(served.map(Claim::digest)));
            }
            Change::Write { path, build: number } => {
                let written = build(*path, *number);
                let handles = written.versions.contains(version);
                if accepted(before, &written.path) {
                    // Replaced in place, or written again.
                    let again = before.lineup.present.contains(&written);
                    prop_assert!(again || !handles || serves == Some(&written), "{serves:?}");
                } else if after.refused.contains(&written.digest) {
                    prop_assert_eq!(serves, served);
                } else if handles {
                    let stays = served.filter(|served| before.lineup.present.contains(served)).filter(|served| {
                        let known = before.lineup.present.iter().any(|other| other.digest == written.digest);
                        // One that was replaced in place may stand before a higher version, and so before this one.
                        let behind = before.lineup.present.iter().skip_while(|other| other != served);
                        let higher =
                            |other: &File| other.version > written.version && other.versions.overlaps(written.versions);
                        known || served.version > written.version || behind.into_iter().any(higher)
                    });
                    prop_assert_eq!(serves.map(Claim::digest), stays.or(Some(&written)).map(Claim::digest));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_change_of_a_folder_follows_the_rules(changes in prop::collection::vec(change(), 1..24)) {
        let mut files: Vec<File> = Vec::new();
        let mut folder = Folder::default();
        for change in changes {
            let path = match change { Change::Write { path, .. } | Change::Remove { path } => path };
            files.retain(|file| file.path != Path::new(PATHS[path]));
            if let Change::Write { path, build: number } = change {
                files.push(build(path, number));
            }
            let (lineup, refused) = folder.lineup.successor(&files);
            let refused = refused.into_iter().map(|refused| refused.file.digest).collect();
            let next = Folder { lineup, refused };
            hold(&folder, &next, &files, &change)?;
            let known = next.lineup.present.len() + next.refused.len();
            prop_assert_eq!(known, files.len(), "each file serves, waits or is refused");
            folder = next;
        }
    }
}
