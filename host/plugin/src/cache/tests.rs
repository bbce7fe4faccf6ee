use std::os::unix::fs::PermissionsExt as _;

use super::*;

const DIGEST: &str = "00ff";

fn wasm() -> Vec<u8> {
    wat::parse_str("(component (core module (func (export \"f\"))))").unwrap()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn put_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn code_is_kept_in_a_folder_of_its_own_and_used_again() {
    let (engine, root) = (Engine::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = root.path().join("state").join("compiled");
    compiled(&engine, &wasm(), DIGEST, Some(&folder)).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    let [entry] = entries(&folder).try_into().unwrap();
    assert_eq!(fs::metadata(&entry).unwrap().mode() & 0o777, 0o600);
    assert!(load(&engine, &entry).is_some());
    // The digest is the key: with its code there, nothing is compiled.
    assert!(compiled(&engine, b"no component", DIGEST, Some(&folder)).is_ok());
    assert!(compiled(&engine, b"no component", "another", Some(&folder)).is_err());
}

#[test]
fn a_damaged_entry_is_compiled_again() {
    let (engine, root) = (Engine::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = root.path().join("compiled");
    compiled(&engine, &wasm(), DIGEST, Some(&folder)).unwrap();
    let [entry] = entries(&folder).try_into().unwrap();
    let good = fs::read(&entry).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [flipped, good[..good.len() / 2].to_vec(), Vec::new(), b"garbage".to_vec()] {
        fs::write(&entry, &damaged).unwrap();
        assert!(load(&engine, &entry).is_none());
        compiled(&engine, &wasm(), DIGEST, Some(&folder)).unwrap();
        assert_eq!(fs::read(&entry).unwrap().len(), good.len(), "the entry is whole again");
    }
    // Right checksum, wrong content.
    let mut foreign = Sha256::digest(b"not code").to_vec();
    foreign.extend_from_slice(b"not code");
    fs::write(&entry, foreign).unwrap();
    assert!(load(&engine, &entry).is_none());
}

#[test]
fn a_folder_or_entry_that_others_can_reach_is_not_used() {
    let (engine, root) = (Engine::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = root.path().join("compiled");
    compiled(&engine, &wasm(), DIGEST, Some(&folder)).unwrap();
    let [entry] = entries(&folder).try_into().unwrap();
    put_mode(&entry, 0o666);
    assert!(load(&engine, &entry).is_none(), "others could have written the entry");
    put_mode(&entry, 0o600);
    put_mode(&folder, 0o755);
    assert!(trusted(&folder).is_none());
    compiled(&engine, &wasm(), "another", Some(&folder)).unwrap();
    assert_eq!(entries(&folder).len(), 1, "nothing is written there");
}

#[test]
fn links_are_not_followed() {
    let (engine, root) = (Engine::new().unwrap(), tempfile::tempdir().unwrap());
    let folder = root.path().join("compiled");
    compiled(&engine, &wasm(), DIGEST, Some(&folder)).unwrap();
    let [entry] = entries(&folder).try_into().unwrap();
    let link = root.path().join("link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    assert!(trusted(&link).is_none());
    let linked = folder.join("linked.cwasm");
    std::os::unix::fs::symlink(&entry, &linked).unwrap();
    assert!(load(&engine, &linked).is_none());
}

#[test]
fn without_a_folder_or_with_one_that_cannot_be_made_it_compiles() {
    let (engine, root) = (Engine::new().unwrap(), tempfile::tempdir().unwrap());
    assert!(compiled(&engine, &wasm(), DIGEST, None).is_ok());
    let file = root.path().join("file");
    fs::write(&file, b"").unwrap();
    assert!(compiled(&engine, &wasm(), DIGEST, Some(&file.join("compiled"))).is_ok());
    assert!(compiled(&engine, &wasm(), DIGEST, Some(&file)).is_ok());
}
