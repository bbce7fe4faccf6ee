//! Messages that are no Arrow, or another Arrow than was agreed on.

use arrow_ipc::{MessageHeader, MetadataVersion};
use crisol_plugin::Kind;

use crate::attempt::Attempt;
use crate::matrix::{Behaviour, Cell};
use crate::messages::{Column, Message};
use crate::raw::Raw;

const PETABYTES: i64 = 5 << 50;

/// An honest message, changed before it is written.
fn message(name: &'static str, change: fn(&mut Message), says: &'static str) -> Behaviour {
    bytes(name, change, |bytes| bytes, says)
}

/// Bytes of an honest message, changed afterwards.
fn bytes(
    name: &'static str,
    change: fn(&mut Message),
    damage: fn(Vec<u8>) -> Vec<u8>,
    says: &'static str,
) -> Behaviour {
    Behaviour::new(name, move |function, kind| {
        if !function.answers() {
            return Cell::Nothing(super::NO_ROWS);
        }
        let mut message = super::honest(kind);
        change(&mut message);
        let file = super::answering(kind, function.part(), &damage(message.bytes())).build();
        let part = if kind == Kind::Validator { "`rejected`" } else { "`rows`" };
        Cell::stopped(Attempt::new(kind, file), "invalid", &["its answer is not valid: ", part, says])
    })
}

/// Text in place of the honest value; of a validator its code.
fn text(name: &'static str, bytes: &'static [u8], ends: fn(i32) -> Vec<i32>, says: &'static str) -> Behaviour {
    Behaviour::new(name, move |function, kind| {
        if !function.answers() {
            return Cell::Nothing(super::NO_ROWS);
        }
        let honest = super::honest(kind);
        let column = Column::Text(bytes.to_vec(), ends(honest.rows as i32));
        let index = |rows: &[i32]| Column::Int(rows.to_vec());
        let message = match kind {
            Kind::Validator => {
                Message::of(&[index(&[2]), Column::Tinyint(vec![0]), column, Column::texts(&["not wanted"])])
            }
            Kind::Ranker => Message::of(&[column, index(&[0, 2])]),
            Kind::Aggregator => Message::of(&[column, index(&[0, 4])]),
            _ => Message::of(&[column, index(&[0, 1, 2, 3, 4, 5, 6, 7, 8])]),
        };
        let raw = super::answering(kind, function.part(), &message.bytes());
        let raw = if kind == Kind::Validator { raw } else { Raw::writes(raw, "string") };
        Cell::stopped(Attempt::new(kind, raw.build()), "invalid", &["its answer is not valid: ", says])
    })
}

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = envelopes();
    all.extend(headers());
    all.extend(columns());
    all.extend(texts());
    all
}

fn envelopes() -> Vec<Behaviour> {
    let honest = |_: &mut Message| ();
    vec![
        bytes("gives an empty message", honest, |_| Vec::new(), "0 bytes are there, the shortest message has 8"),
        bytes("gives bytes that are no message", honest, |_| vec![7; 1000], "continuation marker"),
        bytes("gives an end of stream", honest, |_| [[0xff; 4], [0; 4]].concat(), "end-of-stream marker"),
        bytes("gives a message cut in its header", honest, |b| b[..40].to_vec(), "the header alone takes"),
        bytes("gives a message cut in its body", honest, |b| b[..b.len() - 8].to_vec(), "its body should have"),
        bytes("gives a message with bytes behind it", honest, |b| [b, vec![0; 8]].concat(), "its body should have"),
        bytes("gives two messages as one", honest, |b| b.repeat(2), "its body should have"),
        bytes(
            "gives a message with a header of 2 GiB",
            honest,
            |mut b| {
                b[4..8].copy_from_slice(&0x7fff_fff8_u32.to_le_bytes());
                b
            },
            "its header cannot have 2147483640 bytes",
        ),
        bytes(
            "gives a message with a damaged header",
            honest,
            |mut b| {
                b[8..12].fill(0xff);
                b
            },
            "its header is damaged",
        ),
        message(
            "gives a body of petabytes",
            |m| m.body_bytes = Some(PETABYTES),
            "its body should have 5629499534213120",
        ),
        message("gives a body of negative length", |m| m.body_bytes = Some(-8), "its body should have -8"),
    ]
}

fn headers() -> Vec<Behaviour> {
    vec![
        message("gives a compressed message", |m| m.compressed = true, "its body is compressed"),
        message("gives a dictionary", |m| m.header = MessageHeader::DictionaryBatch, "it is a DictionaryBatch"),
        message("gives a schema message", |m| m.header = MessageHeader::Schema, "it is a Schema"),
        message("gives a message of an old version", |m| m.version = MetadataVersion::V4, "its metadata version is V4"),
        message("gives a negative number of rows", |m| m.rows = -1, "it has -1 rows"),
        message("gives more columns than it planned", |m| m.nodes.push((m.rows, 0)), "the schema asks for"),
        message("gives 100,000 buffers", |m| m.buffers = vec![(0, 0); 100_000], "its header cannot have"),
        message("gives fewer columns than it planned", |m| m.nodes.truncate(1), "the schema asks for"),
    ]
}

fn columns() -> Vec<Behaviour> {
    vec![
        message("gives a column that is longer than the others", |m| m.nodes[1].0 += 1, "it should have"),
        message("gives a column of negative length", |m| m.nodes[0].0 = -1, "it cannot have -1 values"),
        message("gives nulls where none may be", |m| m.nodes[1].1 = 1, "validity bitmap take"),
        message("gives more nulls than values", |m| m.nodes[0].1 = i64::MAX, "nulls among"),
        message("gives a buffer of petabytes", |m| m.buffers[1].1 = PETABYTES, "is outside the body"),
        message("gives a buffer behind the body", |m| m.buffers[1].0 = PETABYTES, "is outside the body"),
        message("gives a buffer of negative length", |m| m.buffers[1].1 = -8, "negative offset or length"),
        message(
            "gives a buffer that starts at an odd byte",
            |m| m.buffers[1] = (1, m.buffers[1].1),
            "not at a multiple of 8",
        ),
        message("gives two buffers in one place", |m| m.buffers[3].0 = m.buffers[1].0, "inside the one before it"),
        message("gives a buffer that is too short", |m| m.buffers[1].1 = 1, "its values take"),
    ]
}

fn texts() -> Vec<Behaviour> {
    vec![
        text(
            "gives a string that is not UTF-8",
            b"\xff\xfe",
            |rows| vec![0; rows as usize].into_iter().chain([2]).collect(),
            "Invalid UTF8",
        ),
        text(
            "gives a string that ends before it starts",
            b"abcd",
            |rows| {
                let mut ends = vec![4; rows as usize + 1];
                ends[rows as usize] = 2;
                ends
            },
            "column `",
        ),
        text(
            "gives a string that ends outside its bytes",
            b"abcd",
            |rows| {
                let mut ends = vec![0; rows as usize + 1];
                ends[rows as usize] = i32::MAX;
                ends
            },
            "column `",
        ),
        text(
            "gives a string that ends inside a character",
            "ñandú".as_bytes(),
            |rows| {
                let mut ends = vec![1; rows as usize + 1];
                ends[0] = 0;
                ends
            },
            "column `",
        ),
        text(
            "gives a string that starts before its bytes",
            b"abcd",
            |rows| {
                let mut ends = vec![4; rows as usize + 1];
                ends[0] = -1;
                ends
            },
            "column `",
        ),
    ]
}
