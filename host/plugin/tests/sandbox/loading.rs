//! Compiled code that is kept. Files that are refused are told in `tests/hostile`.

use crisol_plugin::{Component, Kind};

use crate::harness::*;

#[test]
fn code_from_the_cache_works_like_code_just_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cache) = (folder.path().join("a.wasm"), folder.path().join("compiled"));
    std::fs::write(&path, described(Kind::Decoder, &words(Kind::Decoder, serde_json::json!({})))).unwrap();
    for _ in 0..2 {
        let component = std::sync::Arc::new(Component::load(&path, &ENGINE, Some(&cache)).unwrap());
        assert_eq!(call(&component, "echo").unwrap().origin.len(), 7);
    }
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
}
