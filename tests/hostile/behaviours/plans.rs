//! Columns that a component wants to read and write.

use crisol_plugin::Kind;

use crate::attempt::Attempt;
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{PLANNED, Raw, words};

/// A plan, and which words its error has for a kind; a validator that writes is refused for that.
fn plan(name: &'static str, plan: fn(Raw) -> Raw, class: &'static str, says: &'static [&'static str]) -> Behaviour {
    Behaviour::new(name, move |function, kind| match function {
        Function::Plan => Cell::stopped(Attempt::new(kind, plan(Raw::honest(kind)).build()), class, says),
        _ => Cell::Nothing(super::NOT_PLAN),
    })
}

/// Names and types of columns.
type Columns = Vec<(Vec<u8>, Vec<u8>)>;

fn writes(name: &'static str, columns: fn() -> Columns, says: &'static [&'static str]) -> Behaviour {
    Behaviour::new(name, move |function, kind| match (function, kind) {
        (Function::Plan, Kind::Validator) => {
            let file = written(Raw::honest(kind), &columns()).build();
            Cell::stopped(Attempt::new(kind, file), "plan", &["is a validator and writes column `"])
        }
        (Function::Plan, _) => {
            let file = written(Raw::honest(kind), &columns()).build();
            Cell::stopped(Attempt::new(kind, file), "plan", says)
        }
        _ => Cell::Nothing(super::NOT_PLAN),
    })
}

/// Reads these columns.
fn read(mut raw: Raw, names: &[&[u8]]) -> Raw {
    let list: Vec<u8> = names.iter().flat_map(|name| words(&raw.put(name))).collect();
    let [at, _] = raw.put(&list);
    raw.data(PLANNED, &words(&[0, at, names.len() as u32]))
}

/// Reads, or writes, the same column so many times.
fn repeated(raw: Raw, reads: u32, writes: u32) -> Raw {
    let mut raw = raw;
    let name = raw.put(b"id");
    let text = raw.put(b"bigint");
    let [reads_at, _] = raw.put(&words(&name).repeat(reads as usize));
    let [writes_at, _] = raw.put(&words(&[name[0], name[1], text[0], text[1], 0]).repeat(writes as usize));
    raw.data(PLANNED, &words(&[0, reads_at, reads, writes_at, writes]))
}

/// Writes columns of these names and types.
fn written(mut raw: Raw, columns: &[(Vec<u8>, Vec<u8>)]) -> Raw {
    let mut list = Vec::new();
    for (name, type_name) in columns {
        let (name, text) = (raw.put(name), raw.put(type_name));
        list.extend(words(&[name[0], name[1], text[0], text[1], 0]));
    }
    let [at, _] = raw.put(&list);
    raw.data(PLANNED + 12, &words(&[at, columns.len() as u32]))
}

fn column(name: &str, type_name: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    vec![(name.into(), type_name.into())]
}

fn nested(depth: usize) -> String {
    ["array<".repeat(depth), "int".into(), ">".repeat(depth)].concat()
}

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = reads();
    all.extend(names());
    all.extend(types());
    all
}

fn reads() -> Vec<Behaviour> {
    vec![
        plan("reads a column that is not there", |raw| read(raw, &[b"idd"]), "plan", &["`idd`", "did you mean `id`?"]),
        plan("reads a column twice", |raw| read(raw, &[b"id", b"id"]), "plan", &["reads column `id` twice"]),
        plan(
            "reads a column with terminal escapes in its name",
            |raw| read(raw, &[b"\x1b[2J\xe2\x80\xae"]),
            "plan",
            &["reads column `\\u{1b}[2J\\u{202e}`, which its input does not have"],
        ),
        plan(
            "reads a column with a name of 500 KB",
            |raw| read(raw, &[&[b'n'; 500_000]]),
            "plan",
            &["`nnn", "…`, which"],
        ),
        plan(
            "reads 20,000 columns",
            |raw| repeated(raw, 20_000, 0),
            "plan",
            &["reads 20000 columns, 1000 are allowed"],
        ),
        plan(
            "reads 200,000 columns",
            |raw| repeated(raw, 200_000, 0),
            "output",
            &["gave back more than 1048576 bytes"],
        ),
        plan(
            "writes 100,000 columns",
            |raw| repeated(raw, 1, 100_000),
            "output",
            &["gave back more than 1048576 bytes"],
        ),
    ]
}

fn names() -> Vec<Behaviour> {
    vec![
        writes(
            "writes 2,000 columns",
            || vec![column("x", "int").remove(0); 2_000],
            &["writes 2000 columns, 1000 are allowed"],
        ),
        writes("writes a column twice", || vec![column("x", "int").remove(0); 2], &["writes column `x` twice"]),
        writes("writes a column without a name", || column("", "int"), &["name has 0 bytes"]),
        writes(
            "writes a column with a name of 400 KB",
            || column(&"n".repeat(400_000), "int"),
            &["name has 400000 bytes"],
        ),
        writes("writes `_row`", || column("_row", "int"), &["writes column `_row`, a name that is taken"]),
        writes(
            "writes a column with terminal escapes in its name",
            || column("\u{1b}]0;x\u{7}", "int"),
            &["writes column `\\u{1b}]0;x\\u{7}`, a name with characters that cannot be printed"],
        ),
    ]
}

fn types() -> Vec<Behaviour> {
    vec![
        writes("writes a type that is none", || column("x", "strng"), &["writes column `x`", "did you mean `string`?"]),
        writes("writes a type with terminal escapes", || column("x", "\u{1b}[31m\u{202e}"), &["writes column `x`: "]),
        writes(
            "writes a type of 1,000 levels",
            || column("x", &nested(1_000)),
            &["16 levels deep, this one is deeper"],
        ),
        writes("writes a type of 500 KB", || column("x", &"a".repeat(500_000)), &["500000 bytes is too long, 16384"]),
        writes("writes a decimal of 200 digits", || column("x", "decimal(200,2)"), &["the precision must be 1 to 38"]),
        writes(
            "writes a struct whose fields are all the same",
            || column("x", &format!("struct<{}>", vec!["a:int"; 2_000].join(","))),
            &["writes column `x`: "],
        ),
    ]
}
