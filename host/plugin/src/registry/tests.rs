use super::*;

#[derive(Debug)]
struct File {
    path: PathBuf,
    version: Version,
    digest: &'static str,
    versions: SchemaVersions,
}

impl Claim for File {
    fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> &str {
        "orders"
    }

    fn version(&self) -> &Version {
        &self.version
    }

    fn digest(&self) -> &str {
        self.digest
    }

    fn schema_versions(&self) -> SchemaVersions {
        self.versions
    }
}

fn file(path: &str, version: &str, digest: &'static str, versions: SchemaVersions) -> File {
    File { path: path.into(), version: Version::parse(version).unwrap(), digest, versions }
}

fn range(first: u32, last: u32) -> SchemaVersions {
    SchemaVersions::Range { first, last }
}

fn paths(files: &[File]) -> Vec<&str> {
    files.iter().map(|file| file.path.to_str().unwrap()).collect()
}

#[test]
fn files_without_overlap_all_serve() {
    let selection = select(vec![file("a", "1.0.0", "x", range(1, 2)), file("b", "1.0.0", "y", range(3, 3))]);
    assert_eq!(paths(&selection.serving), ["a", "b"]);
    assert!(selection.shadowed.is_empty() && selection.refused.is_empty());
}

#[test]
fn where_two_overlap_the_higher_version_serves() {
    let selection = select(vec![file("a", "1.9.0", "x", range(1, 3)), file("b", "1.10.0", "y", range(1, 3))]);
    assert_eq!(paths(&selection.serving), ["b"]);
    assert_eq!(paths(&selection.shadowed), ["a"]);
}

#[test]
fn the_lower_version_keeps_what_the_higher_does_not_handle() {
    let selection = select(vec![file("a", "1.0.0", "x", range(1, 3)), file("b", "2.0.0", "y", range(3, 4))]);
    assert_eq!(paths(&selection.serving), ["b", "a"]);
}

#[test]
fn equal_versions_with_other_bytes_are_both_refused() {
    let selection = select(vec![
        file("a", "1.0.0", "x", SchemaVersions::All),
        file("b", "1.0.0", "y", range(2, 2)),
        file("c", "0.9.0", "z", SchemaVersions::All),
    ]);
    assert_eq!(paths(&selection.serving), ["c"]);
    let refused: Vec<String> = selection.refused.iter().map(|refused| refused.reason.to_string()).collect();
    assert!(refused[0].starts_with("a and b both are `orders` 1.0.0 with different bytes"), "{refused:?}");
    assert_eq!(refused.len(), 2);
}

#[test]
fn equal_bytes_are_one_component() {
    let selection = select(vec![file("b", "1.0.0", "x", range(1, 1)), file("a", "1.0.0", "x", range(1, 1))]);
    assert_eq!(paths(&selection.serving), ["a"]);
    assert!(selection.shadowed.is_empty() && selection.refused.is_empty());
}

#[test]
fn coverage_adds_up() {
    assert!(covered(range(1, 5), &[range(4, 9), range(1, 2), range(3, 3)]));
    assert!(!covered(range(1, 5), &[range(4, 9), range(1, 2)]));
    assert!(covered(range(0, u32::MAX), &[range(0, u32::MAX)]));
    assert!(!covered(SchemaVersions::All, &[range(0, u32::MAX)]));
    assert!(covered(SchemaVersions::All, &[SchemaVersions::All]));
    assert!(!covered(range(1, 1), &[]));
}
