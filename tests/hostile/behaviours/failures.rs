//! Failures that a component tells of itself.

use crisol_plugin::Kind;

use crate::attempt::{Attempt, limits};
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{Part, Raw, words};

/// Where the failure lies.
const FAILED: u32 = 1600;
const RED: &[u8] = b"\x1b[31mred\x1b]0;title\x07\r\nnew line \xe2\x80\xae";

fn failing(name: &'static str, fail: fn(Raw) -> Raw, class: &'static str, says: &'static [&'static str]) -> Behaviour {
    Behaviour::new(name, move |function: Function, kind: Kind| match function.part() {
        Part::Start | Part::Describe => Cell::Nothing("it cannot fail by itself"),
        part => {
            let file = fail(Raw::honest(kind).result(part, FAILED)).build();
            Cell::stopped(Attempt::new(kind, file).limits(limits()), class, says)
        }
    })
}

/// Code, text, and so many attributes with these as name and value.
fn failure(mut raw: Raw, code: &[u8], text: &[u8], attributes: usize) -> Raw {
    let [code, text] = [code, text].map(|bytes| raw.put(bytes));
    let [list, _] = raw.put(&words(&[code, text].concat()).repeat(attributes));
    raw.data(FAILED, &words(&[1, code[0], code[1], text[0], text[1], list, attributes as u32]))
}

pub(crate) fn all() -> Vec<Behaviour> {
    vec![
        failing(
            "fails with terminal escapes in code, text and attributes",
            |raw| failure(raw, RED, RED, 2),
            "failure",
            &["it failed: \\u{1b}[31mred\\u{1b}]0;title\\u{7}\\r\\nnew line \\u{202e}: \\u{1b}", " (\\u{1b}[31mred"],
        ),
        failing(
            "fails with 300 KB of code and text",
            |raw| failure(raw, &[b'c'; 300_000], &[b't'; 300_000], 0),
            "failure",
            &["it failed: cccc", "…: tttt", "…"],
        ),
        failing(
            "fails with 5,000 attributes",
            |raw| failure(raw, b"a", b"b", 5_000),
            "failure",
            &["it failed: a: b (a=b, "],
        ),
        failing(
            "fails with more text than it may give",
            |raw| failure(raw, b"a", &[b't'; 5 << 20], 0),
            "output",
            &["it gave back more than", "bytes, the limit of a call", "raise `limits.output_bytes_max`"],
        ),
    ]
}
