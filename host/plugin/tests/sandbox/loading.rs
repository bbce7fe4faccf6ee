//! Files that are no component, or one that asks for too much.

use std::fs::File;

use crisol_plugin::{Component, Kind, PluginError};

use crate::harness::*;

fn wat(text: &str) -> Result<Component, PluginError> {
    load(&wat::parse_str(text).unwrap())
}

#[test]
fn imports_that_are_not_given_are_refused_by_name() {
    for import in ["wasi:sockets/tcp@0.2.12", "wasi:http/outgoing-handler@0.2.12", "acme:secrets/vault@1.0.0"] {
        let error = wat(&format!("(component (import \"{import}\" (instance)))")).unwrap_err();
        assert!(matches!(error, PluginError::Import { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("imports `{import}`; a component gets")), "{text}");
    }
    let error = wat("(component (import \"wasi:io/poll@0.2.3\" (instance)) (import \"env\" (func)))").unwrap_err();
    assert!(error.to_string().contains("imports `env`;"), "{error}");
}

#[test]
fn what_is_no_component_of_ours_is_refused() {
    let error = wat("(component)").unwrap_err().to_string();
    assert!(error.contains("does not export `crisol:stage/description@0.1`"), "{error}");
    assert!(matches!(wat("(module)").unwrap_err(), PluginError::Compile { .. }));
    for bytes in [&b""[..], b"\0asm", b"(component)", &[0xff; 1000]] {
        assert!(matches!(load(bytes).unwrap_err(), PluginError::Compile { .. }));
    }
    let whole = described(Kind::Decoder, &words(Kind::Decoder, serde_json::json!({})));
    assert!(matches!(load(&whole[..whole.len() / 2]).unwrap_err(), PluginError::Compile { .. }));
}

#[test]
fn an_import_of_the_wrong_type_does_not_fit() {
    let text = r#"(component (import "crisol:stage/log@0.1.0" (instance (export "log" (func (param "x" u8))))))"#;
    let error = wat(text).unwrap_err();
    assert!(matches!(error, PluginError::Export { .. }), "{error}");
}

#[test]
fn a_file_beyond_all_size_is_not_even_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.wasm");
    File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    let error = Component::load(&path, &ENGINE, None).unwrap_err();
    assert!(matches!(error, PluginError::TooLarge { bytes: 67_108_865, max: 67_108_864, .. }), "{error}");
    let error = Component::load(&folder.path().join("none.wasm"), &ENGINE, None).unwrap_err();
    assert!(matches!(error, PluginError::Read { .. }));
}

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
