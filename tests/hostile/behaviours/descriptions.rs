//! What a component says of itself.

use crisol_plugin::Kind;
use serde_json::{Value, json};

use crate::attempt::Attempt;
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{Raw, json as described};

const ESCAPES: &str = "or\u{1b}[31md\u{202e}ers";
const ESCAPED: &str = "`or\\u{1b}[31md\\u{202e}ers`";

fn says(
    name: &'static str,
    text: fn(Kind) -> Vec<u8>,
    class: &'static str,
    words: &'static [&'static str],
) -> Behaviour {
    Behaviour::new(name, move |function, kind| match function {
        Function::Describe => {
            Cell::stopped(Attempt::new(kind, Raw::honest(kind).described(&text(kind)).build()), class, words)
        }
        _ => Cell::Nothing(super::NOT_DESCRIBE),
    })
}

fn with(kind: Kind, changed: &Value) -> Vec<u8> {
    described(kind, "raw", changed)
}

/// Each definition refers four times to the next: checked in 4^20 steps.
fn fanned() -> Value {
    let next = |level: usize| json!({ "$ref": format!("#/$defs/a{}", level + 1) });
    let level = |level: usize| (format!("a{level}"), json!({ "anyOf": vec![next(level); 4] }));
    let mut levels: serde_json::Map<String, Value> = (0..20).map(level).collect();
    levels.insert("a20".into(), json!({ "type": "null" }));
    json!({ "$ref": "#/$defs/a0", "$defs": levels })
}

fn nested(depth: usize) -> Vec<u8> {
    ["{\"options\":", &"[".repeat(depth), &"]".repeat(depth), "}"].concat().into_bytes()
}

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = texts();
    all.extend(keys());
    all.extend(options());
    all
}

fn texts() -> Vec<Behaviour> {
    const NO_JSON: &[&str] = &["describes itself wrongly: not the JSON expected: "];
    vec![
        says("describes itself in no words", |_| Vec::new(), "description", NO_JSON),
        says("describes itself in words that are no JSON", |_| b"\x1b[2J{".to_vec(), "description", NO_JSON),
        says("describes itself as a list", |_| b"[1,2]".to_vec(), "description", NO_JSON),
        says("describes itself in JSON of 100,000 levels", |_| nested(100_000), "description", &["recursion limit"]),
        says(
            "describes itself in 2 MB of JSON",
            |kind| with(kind, &json!({ "more": "x".repeat(2 << 20) })),
            "output",
            &["cannot describe itself: it gave back more than 1048576 bytes"],
        ),
        says("describes itself without a name", |_| b"{\"version\":\"1.0.0\"}".to_vec(), "description", &["`name`"]),
    ]
}

fn keys() -> Vec<Behaviour> {
    vec![
        says(
            "has terminal escapes in its name",
            |kind| with(kind, &json!({ "name": ESCAPES })),
            "description",
            &["`name` is ", ESCAPED, "a name has 1 to 64 of a-z"],
        ),
        says(
            "has a name of 900 KB",
            |kind| with(kind, &json!({ "name": "n".repeat(900 << 10) })),
            "description",
            &["`name` is `nnn", "…`; a name has 1 to 64"],
        ),
        says(
            "has terminal escapes in its version",
            |kind| with(kind, &json!({ "version": ESCAPES })),
            "description",
            &["`version` is ", ESCAPED, "semantic version"],
        ),
        says(
            "has a kind that is not known, with terminal escapes",
            |kind| with(kind, &json!({ "kind": ESCAPES })),
            "description",
            &["`kind` is ", ESCAPED, "kinds are decoder"],
        ),
        says(
            "has terminal escapes in its schema versions",
            |kind| with(kind, &json!({ "schema_versions": ESCAPES })),
            "description",
            &["`schema_versions` is ", ESCAPED],
        ),
        says(
            "says that it is of another kind than it is",
            |kind| {
                let other = if kind == Kind::Validator { "ranker" } else { "validator" };
                with(kind, &json!({ "kind": other }))
            },
            "export",
            &["does not export `crisol:stage/", "does"],
        ),
    ]
}

fn options() -> Vec<Behaviour> {
    let refused = |name, options: fn() -> Value, words| {
        Behaviour::new(name, move |function, kind| match function {
            Function::Describe => {
                let text = with(kind, &json!({ "options": options() }));
                Cell::stopped(Attempt::new(kind, Raw::honest(kind).described(&text).build()), "description", words)
            }
            _ => Cell::Nothing(super::NOT_DESCRIBE),
        })
    };
    const NO_SCHEMA: &[&str] = &["`options` is not a JSON Schema: "];
    vec![
        refused("has options of a type that is none", || json!({ "type": ESCAPES }), NO_SCHEMA),
        refused(
            "has 300 KB of options",
            || json!({ "title": "x".repeat(300 << 10) }),
            &["`options` is ", "262144 are allowed"],
        ),
        refused("has options that a server describes", || json!({ "$ref": "http://127.0.0.1:1/s.json" }), NO_SCHEMA),
        refused("has options that a file describes", || json!({ "$ref": "file:///etc/hostname" }), NO_SCHEMA),
        refused(
            "has options that refer to themselves",
            || json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
            &["`options` is not a JSON Schema: ", "leads back to itself"],
        ),
        refused(
            "has options that refer four times to what refers on, 20 levels",
            fanned,
            &["`options` is not a JSON Schema: it applies more than"],
        ),
        refused("has options that backtrack", || json!({ "pattern": "(a)\\1" }), NO_SCHEMA),
    ]
}
