//! A folder of components.

use std::path::Path;

use crisol_plugin::{Kind, PluginError, Registry};
use semver::VersionReq;
use serde_json::{Value, json};

use crate::harness::*;

fn put(folder: &Path, file: &str, kind: Kind, changed: Value) {
    std::fs::write(folder.join(file), described(kind, &words(kind, changed))).unwrap();
}

fn registry(folder: &Path) -> Registry {
    Registry::load(folder, &ENGINE, Some(&folder.join(".compiled"))).unwrap()
}

#[test]
fn components_are_found_by_what_they_say_not_by_their_files() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "x1.wasm", Kind::Decoder, json!({ "name": "orders", "version": "1.2.0" }));
    put(folder.path(), "x2.wasm", Kind::Decoder, json!({ "name": "orders", "version": "2.0.0" }));
    put(folder.path(), "x3.wasm", Kind::Validator, json!({ "name": "order-rules" }));
    std::fs::write(folder.path().join("broken.wasm"), b"nothing").unwrap();
    std::fs::write(folder.path().join("README.md"), b"nothing").unwrap();
    std::fs::create_dir(folder.path().join("folder.wasm")).unwrap();
    let registry = registry(folder.path());

    let serving: Vec<String> = registry.serving().iter().map(|c| format!("{} {}", c.name(), c.version())).collect();
    assert_eq!(serving, ["order-rules 1.0.0", "orders 2.0.0"]);
    assert_eq!(registry.shadowed()[0].version().to_string(), "1.2.0");
    assert_eq!(registry.refused().len(), 1);
    assert!(registry.refused()[0].path.ends_with("broken.wasm"));

    let find = |name: &str, range: Option<&str>, kind| {
        let range = range.map(|range| VersionReq::parse(range).unwrap());
        registry.find(name, range.as_ref(), kind)
    };
    assert_eq!(find("orders", None, Kind::Decoder).unwrap().version().to_string(), "2.0.0");
    assert_eq!(find("orders", Some("^1.2"), Kind::Decoder).unwrap().version().to_string(), "1.2.0");
    let place = format!(" in `{}`", folder.path().display());
    let text = |result: Result<_, PluginError>| result.map(|_| ()).unwrap_err().to_string().replace(&place, " in …");
    assert_eq!(
        text(find("orders", Some("^3"), Kind::Decoder)),
        "component `orders`: no version matches `^3`; there are 2.0.0, 1.2.0"
    );
    assert_eq!(text(find("ordrs", None, Kind::Decoder)), "no component `ordrs` in …; did you mean `orders`?");
    assert_eq!(
        text(find("order-decoder-orders", None, Kind::Decoder)),
        "no component `order-decoder-orders` in …; did you mean `orders`?"
    );
    assert_eq!(text(find("zebra", None, Kind::Decoder)), "no component `zebra` in …; there are order-rules, orders");
    assert_eq!(
        text(find("order-rules", None, Kind::Decoder)),
        "component `order-rules` is a validator, not a decoder; use it as `validate`"
    );
}

#[test]
fn equal_versions_with_other_bytes_do_not_serve() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.wasm", Kind::Decoder, json!({ "name": "orders", "reuse": false }));
    put(folder.path(), "b.wasm", Kind::Decoder, json!({ "name": "orders", "reuse": true }));
    let registry = registry(folder.path());
    assert!(registry.serving().is_empty());
    assert!(registry.refused().iter().all(|refused| matches!(refused.reason, PluginError::Ambiguous { .. })));
    let error = registry.find("orders", None, Kind::Decoder).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("`; 2 of the files there are refused; the first: "), "{error}");
}

#[test]
fn a_folder_may_be_empty_but_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let error = registry.find("orders", None, Kind::Decoder).map(|_| ()).unwrap_err();
    let place = folder.path().display();
    assert_eq!(error.to_string(), format!("no component `orders` in `{place}`; there are none"));
    let error =
        Registry::without(Path::new("/no/plugins")).find("orders", None, Kind::Decoder).map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no component `orders` in `/no/plugins`; there is no such folder; name another one with `--plugins`"
    );
    let missing = Registry::load(&folder.path().join("none"), &ENGINE, None);
    assert!(matches!(missing.unwrap_err(), PluginError::Read { .. }));
}
