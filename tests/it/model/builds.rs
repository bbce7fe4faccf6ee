//! Builds of the decoder `orders` that can be told apart by the rows that they make.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crisol_tests::{Random, guest, root};

/// What stands in the template, as `tests/guests/marked-orders` has it.
const MARK: &str = "mark-0000000000000000";
const SCHEMA_VERSIONS: &str = "1000001..1000002";

/// A folder of components, and every build that was ever in it.
pub(super) struct Builds {
    folder: PathBuf,
    by_digest: BTreeMap<String, Build>,
}

#[derive(Clone)]
struct Build {
    mark: String,
    versions: RangeInclusive<u64>,
}

impl Builds {
    /// A folder with the bundled components and a build for versions 1 and 2; version 3 has none.
    pub(super) fn new(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["order-rules.wasm", "top-n.wasm", "aggregate.wasm"] {
            fs::copy(root().join("plugins").join(name), folder.join(name)).expect("`make test` builds it");
        }
        let mut builds = Self { folder, by_digest: BTreeMap::new() };
        builds.put(1..=2);
        builds
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn count(&self) -> usize {
        self.by_digest.len()
    }

    /// Puts another build for these versions in place; gives its digest.
    pub(super) fn put(&mut self, versions: RangeInclusive<u64>) -> String {
        let mark = format!("mark-{:016}", self.by_digest.len() + 1);
        let bytes = marked(&mark, &versions);
        let path = self.file(&versions);
        let new = path.with_extension("new");
        fs::write(&new, &bytes).expect("a component can be written");
        let digest = sha256(&bytes);
        fs::rename(&new, &path).expect("it can be put in place");
        self.by_digest.insert(digest.clone(), Build { mark, versions });
        digest
    }

    /// Puts a file in place that no host may serve, or takes it away.
    pub(super) fn damage(&self, random: &mut Random) {
        let path = self.folder.join("damaged.wasm");
        let whole = fs::read(guest("marked-orders")).expect("a component");
        let bytes = match random.below(4) {
            0 => Vec::new(),
            1 => whole[..whole.len() / 2].to_vec(),
            2 => b"\0asm\x01\0\0\0".to_vec(),
            _ => return drop(fs::remove_file(path)),
        };
        fs::write(path, bytes).expect("it can be written");
    }

    pub(super) fn remove(&self, versions: &RangeInclusive<u64>) {
        fs::remove_file(self.file(versions)).expect("it was there");
    }

    pub(super) fn serves(&self, versions: &RangeInclusive<u64>) -> bool {
        self.file(versions).exists()
    }

    /// Whether one of these digests is that of the build with a mark, and handles a version.
    pub(super) fn made(&self, digests: &[&str], mark: &str, version: u64) -> bool {
        let mut named = digests.iter().filter_map(|digest| self.by_digest.get(*digest));
        named.any(|build| build.mark == mark && build.versions.contains(&version))
    }

    fn file(&self, versions: &RangeInclusive<u64>) -> PathBuf {
        self.folder.join(format!("orders-{}.wasm", versions.start()))
    }
}

/// A build for these versions whose rows have the mark in their column `build`.
pub(crate) fn marked(mark: &str, versions: &RangeInclusive<u64>) -> Vec<u8> {
    let mut bytes = fs::read(guest("marked-orders")).expect("a component");
    write_over(&mut bytes, MARK, mark);
    write_over(&mut bytes, SCHEMA_VERSIONS, &format!("{:07}..{:07}", versions.start(), versions.end()));
    bytes
}

/// Writes text over text of the same length, which must stand there once.
fn write_over(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let found: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(old.as_bytes())).collect();
    let [at] = found.as_slice() else { panic!("`{old}` stands {} times in the template", found.len()) };
    bytes[*at..at + new.len()].copy_from_slice(new.as_bytes());
}

/// Lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut command = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let child = command.as_mut().expect("sha256sum can be started");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("it reads");
    let output = command.expect("it was started").wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap_or_default().to_owned()
}
