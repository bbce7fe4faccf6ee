//! Components that know the interfaces of another time: older and newer patch versions of 0.1 are at home, whatever does not
//! fit is refused in words when it is loaded.

use std::sync::Arc;

use crisol_plugin::Kind;

use crate::attempt::{self, Attempt};
use crate::behaviours::{answering, honest};
use crate::matrix::assert_readable;
use crate::process;
use crate::raw::{Part, Raw};

const KINDS: [Kind; 5] = [Kind::Decoder, Kind::Transformer, Kind::Validator, Kind::Ranker, Kind::Aggregator];
const LOGS: &str = "(call $log (i32.const 2) (i32.const 1300) (i32.const 2))";

/// A component that does its work, and knows interfaces with these differences.
fn knowing(kind: Kind, edits: &[(&str, &str)]) -> Raw {
    answering(kind, Part::Push, &honest(kind).bytes()).edited(edits)
}

#[track_caller]
fn assert_works(name: &str, kind: Kind, raw: &Raw) {
    let file = raw.build();
    let component = attempt::load(&file, "any.wasm").unwrap_or_else(|error| panic!("{name}, {kind}: {error}"));
    let work = Attempt::new(kind, file).work(&Arc::new(component));
    let given = work.unwrap_or_else(|stopped| panic!("{name}, {kind}: {}", stopped.text()));
    match kind {
        Kind::Ranker | Kind::Aggregator => assert_eq!(given.groups[0].index.len(), 2, "{name}, {kind}"),
        Kind::Validator => assert_eq!(given.rows[0].rejected.len(), 1, "{name}, {kind}"),
        _ => assert_eq!(given.rows[0].origin.len(), attempt::ROWS, "{name}, {kind}"),
    }
}

#[track_caller]
fn assert_refused(name: &str, raw: &Raw, class: &str, says: &[&str]) {
    let error = attempt::load(&raw.build(), "refused.wasm").map(drop).expect_err(name);
    let text = error.to_string();
    assert_eq!(attempt::plugin_class(&error), class, "{name}: {text}");
    for words in says {
        assert!(text.contains(words), "{name}: `{words}` is missing in: {text}");
    }
    assert_readable(&text);
}

#[test]
fn patch_versions_of_0_1_are_at_home() {
    let _alone = process::alone();
    for kind in KINDS {
        assert_works("0.1.3 of the same shape", kind, &knowing(kind, &[("@0.1.0", "@0.1.3")]));
        assert_works("a later patch that logs", kind, &knowing(kind, &[("@0.1.0", "@0.1.20")]).code(Part::Push, LOGS));
    }
}

#[test]
fn a_component_may_offer_more_than_a_host_asks_for() {
    let _alone = process::alone();
    let more =
        [("@0.1.0", "@0.1.4"), ("interface description {", "interface description { more: func(n: u32) -> u32;")];
    let function = "(func (export \"crisol:stage/description@0.1.0#more\") (param i32) (result i32) (local.get 0))";
    for kind in KINDS {
        assert_works("one more function", kind, &knowing(kind, &more).items(function));
    }
}

#[test]
fn a_newer_log_is_linked_as_far_as_there_is_one() {
    let _alone = process::alone();
    let kind = Kind::Transformer;
    let offered =
        [("@0.1.0", "@0.1.20"), ("interface log {", "interface log { trace: func(level: u32, text: string);")];
    assert_works("another function that it does not call", kind, &knowing(kind, &offered).code(Part::Push, LOGS));
    let called =
        [("@0.1.0", "@0.1.20"), ("    log: func(", "    trace: func("), ("\"log\" (func $log", "\"trace\" (func $log")];
    let raw = knowing(kind, &called).code(Part::Push, LOGS);
    let says = ["does not fit the interfaces of `crisol:stage@0.1`", "trace"];
    assert_refused("a function that there is not", &raw, "export", &says);
}

#[test]
fn other_minor_versions_and_none_are_refused() {
    let _alone = process::alone();
    let kind = Kind::Transformer;
    for version in ["@0.2.0", "@1.0.0", "@0.1.0-rc.1", ""] {
        let raw = knowing(kind, &[("@0.1.0", version)]);
        let imports = ["types", "log"].map(|interface| format!("`crisol:stage/{interface}{version}`"));
        let offered = "; a component gets `crisol:stage/log@0.1`";
        let advice = "made for another version of the interfaces: build it with the SDK of this host";
        assert_refused(version, &raw, "import", &[&imports[0], offered, advice]);
        assert_refused(version, &raw.code(Part::Push, LOGS), "import", &[&imports[0], &imports[1], offered]);
    }
    let described = r#"(component (instance $i) (export "crisol:stage/description@0.2.0" (instance $i)))"#;
    let error = attempt::load(&wat::parse_str(described).unwrap(), "refused.wasm").map(drop).expect_err("0.2.0");
    let says = "does not export `crisol:stage/description@0.1`; every component exports it";
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn what_changed_within_0_1_is_refused_when_it_is_loaded() {
    let _alone = process::alone();
    let fits = "does not fit the interfaces of `crisol:stage@0.1`";
    let lacks: [(&str, &str); 3] =
        [("@0.1.0", "@0.1.3"), ("    plan: func(", "    planned: func("), ("#plan\"", "#planned\"")];
    for kind in KINDS {
        assert_refused("a function is missing", &knowing(kind, &lacks), "export", &[fits, "plan"]);
        let unsigned = [("@0.1.0", "@0.1.3"), ("timestamp: s64", "timestamp: u64")];
        assert_refused("a parameter has another type", &knowing(kind, &unsigned), "export", &[fits]);
    }
    let wide = [("nullable: bool", "nullable: u8")];
    assert_refused("a field has another type", &knowing(Kind::Transformer, &wide), "export", &[fits]);
}
