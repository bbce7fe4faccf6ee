//! Files that are no component of ours, or one that asks for too much.

use std::fmt::Write as _;
use std::fs::File;

use crisol_plugin::{Component, Kind, PluginError};
use serde_json::json;

use crate::attempt::{self, ENGINE};
use crate::guests;
use crate::matrix::assert_readable;
use crate::process;

/// A file, the class of its error and words of it.
type Row = (&'static str, Vec<u8>, &'static str, &'static str);

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

fn imports(name: &str, kind: &str) -> Vec<u8> {
    wat(&format!("(component (import \"{name}\" ({kind})))"))
}

fn rows() -> Vec<Row> {
    let whole = guests::described(Kind::Decoder, &guests::words(Kind::Decoder, json!({})));
    let many: String = (0..1_000).fold(String::new(), |mut text, number| {
        let _ = write!(text, "(import \"acme:secrets/vault{number}@1.0.0\" (instance))");
        text
    });
    let module = r#"(core module $m (memory (export "m") 1) (func (export "f") (param i32 i32))
        (func (export "r") (param i32 i32 i32 i32) (result i32) unreachable)) (core instance $i (instantiate $m))"#;
    let lifted = r#"(func (export "f") (param "x" string) (canon lift (core func $i "f") (memory $i "m")
        (realloc (func $i "r")) string-encoding=utf16))"#;
    vec![
        ("is empty", Vec::new(), "compile", "is not a component that can be run here"),
        ("is garbage", vec![0xff; 1000], "compile", "is not a component that can be run here"),
        ("is text", b"(component)".to_vec(), "compile", "is not a component that can be run here"),
        ("is a core module", wat("(module)"), "compile", "is not a component that can be run here"),
        ("is half a component", whole[..whole.len() / 2].to_vec(), "compile", "out of bounds"),
        ("has bytes behind its end", [whole, vec![0xff; 100]].concat(), "compile", "is not a component that can be"),
        ("exports nothing", wat("(component)"), "export", "does not export `crisol:stage/description@0.1`"),
        (
            "imports sockets",
            imports("wasi:sockets/tcp@0.2.12", "instance"),
            "import",
            "imports `wasi:sockets/tcp@0.2.12`; a",
        ),
        (
            "imports http",
            imports("wasi:http/outgoing-handler@0.2.12", "instance"),
            "import",
            "imports `wasi:http/outgoing",
        ),
        ("imports what nobody knows", imports("env", "func"), "import", "imports `env`; a component gets"),
        (
            "imports 1,000 things",
            wat(&format!("(component {many})")),
            "import",
            "`acme:secrets/vault19@1.0.0`; a component",
        ),
        (
            "imports the log with another type",
            wat(r#"(component (import "crisol:stage/log@0.1.0" (instance (export "log" (func (param "x" u8))))))"#),
            "export",
            "does not fit the interfaces of `crisol:stage@0.1`",
        ),
        ("is composed of others", wat(&format!("(component (component {module}))")), "compile", "composed of several"),
        ("has text in UTF-16", wat(&format!("(component {module} {lifted})")), "compile", "its text is not in UTF-8"),
        ("waits for others (async)", wat("(component (type (func async)))"), "compile", "is not a component that can"),
    ]
}

#[test]
fn files_that_cannot_serve_are_refused_with_their_name() {
    let _alone = process::alone();
    let mut table = String::from("| a file that | found |\n| --- | --- |\n");
    for (name, bytes, class, says) in rows() {
        let error = attempt::load(&bytes, "refused.wasm").map(|_| ()).unwrap_err();
        let text = error.to_string();
        assert_eq!(attempt::plugin_class(&error), class, "{name}: {text}");
        assert!(text.contains("refused.wasm ") && text.contains(says), "{name}: `{says}` is missing in: {text}");
        assert_readable(&text);
        let _ = writeln!(table, "| {name} | {class} |");
    }
    eprintln!("{table}");
    insta::assert_snapshot!("files", table);
}

#[test]
fn a_file_beyond_all_size_is_not_even_read() {
    let _alone = process::alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.wasm");
    File::create(&path).unwrap().set_len(65 << 20).unwrap();
    let error = Component::load(&path, &ENGINE, None).unwrap_err();
    assert!(matches!(error, PluginError::TooLarge { bytes: 68_157_440, max: 67_108_864, .. }), "{error}");
    let error = Component::load(&folder.path().join("none.wasm"), &ENGINE, None).unwrap_err();
    assert!(matches!(error, PluginError::Read { .. }), "{error}");
}

#[test]
fn the_name_of_a_file_is_shown_without_terminal_escapes() {
    let _alone = process::alone();
    for bytes in [wat("(component)"), wat("(module)"), imports("env", "func"), Vec::new()] {
        let error = attempt::load(&bytes, "\u{1b}[31mred\u{202e}\n.wasm").map(|_| ()).unwrap_err();
        assert_readable(&error.to_string());
    }
    let path = tempfile::tempdir().unwrap().path().join("\u{1b}[31mnone.wasm");
    assert_readable(&Component::load(&path, &ENGINE, None).unwrap_err().to_string());
}
