//! Components that say wrong things of themselves, or cannot say anything.

use crisol_plugin::{CallError, Kind, PluginError, SchemaVersions};
use serde_json::json;

use crate::harness::*;

fn refused(words: &str) -> PluginError {
    load(&described(Kind::Decoder, words)).expect_err("must be refused")
}

#[test]
fn a_description_is_read() {
    let component = guest(Kind::Decoder, json!({ "name": "orders", "version": "2.1.0", "schema_versions": "1..3" }));
    assert_eq!(component.name(), "orders");
    assert_eq!(component.version().to_string(), "2.1.0");
    assert_eq!(component.kind(), Kind::Decoder);
    assert_eq!(component.schema_versions(), SchemaVersions::Range { first: 1, last: 3 });
    assert_eq!(component.digest().len(), 64);
}

#[test]
fn wrong_descriptions_name_the_key() {
    for (words, expected) in [
        ("{", "not the JSON expected"),
        ("\u{7}", "not the JSON expected"),
        (&words(Kind::Decoder, json!({ "name": "Or\u{1b}ders" })), "`name` is `Or\\u{1b}ders`"),
        (&words(Kind::Decoder, json!({ "version": "two" })), "`version` is `two`"),
        (&words(Kind::Decoder, json!({ "kind": "sink" })), "`kind` is `sink`"),
        (&words(Kind::Decoder, json!({ "options": { "type": 1 } })), "`options` is not a JSON Schema"),
    ] {
        let error = refused(words);
        assert!(matches!(error, PluginError::Description { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_kind_must_be_exported() {
    let error = load(&described(Kind::Decoder, &words(Kind::Validator, json!({})))).unwrap_err().to_string();
    assert!(error.contains("does not export `crisol:stage/verdicts@0.1`; a validator does"), "{error}");
    let error = load(&described(Kind::Decoder, &words(Kind::Ranker, json!({})))).unwrap_err().to_string();
    assert!(error.contains("does not export `crisol:stage/group@0.1`; a ranker does"), "{error}");
}

#[test]
fn disasters_in_describe_are_held() {
    let cause = |disaster: &str| match refused(&format!("!{disaster}")) {
        PluginError::Describe { cause, .. } => cause,
        other => panic!("{disaster}: {other}"),
    };
    assert!(matches!(cause("panic"), CallError::Trap { said: Some(_), .. }));
    assert!(matches!(cause("loop"), CallError::Deadline { .. }));
    assert!(matches!(cause("grow"), CallError::Memory { .. }));
    assert!(matches!(cause("recurse"), CallError::Trap { .. }));
    assert!(matches!(cause("exit"), CallError::Trap { .. }));
    assert!(matches!(cause("flood"), CallError::Trap { .. }));
    assert_unharmed();
}
