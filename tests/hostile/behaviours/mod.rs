//! The rows of the matrix.

mod acts;
mod boundary;
mod descriptions;
mod envelopes;
mod failures;
mod plans;
mod repeats;
mod rows;

pub(crate) use rows::judging;

use crisol_plugin::Kind;

use crate::matrix::Behaviour;
use crate::messages::Message;
use crate::raw::{Part, Raw};

/// All of them.
pub(crate) fn all() -> Vec<Behaviour> {
    [
        acts::all(),
        boundary::all(),
        failures::all(),
        repeats::all(),
        descriptions::all(),
        plans::all(),
        envelopes::all(),
        rows::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why a function that gives no rows cannot lie about them.
const NO_ROWS: &str = "it gives no rows and no verdicts";
/// Why only `describe` can do it.
const NOT_DESCRIBE: &str = "only `describe` says what a component is";
/// Why only `plan` can do it.
const NOT_PLAN: &str = "only `plan` gives columns";

/// An honest answer to the only call of an attempt: all rows pass, or the first row of each group stands for it. A
/// validator refuses its third row.
pub(crate) fn honest(kind: Kind) -> Message {
    match kind {
        Kind::Validator => Message::rejections(&[(2, 0, "three", "not wanted")]),
        Kind::Ranker => Message::rows(&[10, 30], &[0, 2]),
        Kind::Aggregator => Message::rows(&[30, 30], &[0, 4]),
        _ => Message::rows(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
    }
}

/// A component that answers with a message, where its kind has its rows or verdicts.
pub(crate) fn answering(kind: Kind, part: Part, message: &[u8]) -> Raw {
    let raw = Raw::honest(kind);
    match kind {
        Kind::Validator => raw.answers(part, None, Some(message)),
        _ => raw.answers(part, Some(message), None),
    }
}

/// A component that does its work.
pub(crate) fn honest_file(kind: Kind) -> Vec<u8> {
    answering(kind, Part::Push, &honest(kind).bytes()).build()
}
