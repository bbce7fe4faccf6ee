//! What changes from call to call.

use serde_json::json;

use crate::attempt::{Attempt, Given};
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{PUSHED, Part, Raw, json, words};

const FRESH: &str = "each call of it has a fresh instance, which cannot know how often it was called";
/// Where bytes lie that are no message: in the room of the description, behind it.
const GARBAGE: u32 = 2048 + 4096;
/// Counts its calls, and does this at the third.
const THIRD: &str = "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) \
                     (if (i32.eq (global.get $calls) (i32.const 3)) (then ";

pub(crate) fn all() -> Vec<Behaviour> {
    vec![
        third("aborts at its third call", |_| "unreachable".into(), "trap", &["it panicked or aborted"]),
        third(
            "gives something else at its third call",
            other,
            "invalid",
            &["its answer is not valid: `", "continuation marker"],
        ),
        Behaviour::new("aborts at its third call, each in a fresh instance", |function, kind| match function {
            Function::TransformPush | Function::VerdictsCheck => {
                let answer = super::honest(kind).bytes();
                let raw =
                    super::answering(kind, Part::Push, &answer).code(Part::Push, &format!("{THIRD} unreachable))"));
                Cell::Harmless(Attempt::new(kind, raw.build()).calls(5), |given: &Given| {
                    assert_eq!(given.rows.len(), 5)
                })
            }
            Function::GroupPush => {
                let raw = Raw::honest(kind).code(Part::Push, &format!("{THIRD} unreachable))"));
                Cell::Harmless(Attempt::new(kind, raw.build()).calls(2).sessions(3), |_| {})
            }
            _ => Cell::Nothing("rows come in other calls"),
        }),
        Behaviour::new("says something else of itself, or plans otherwise, the second time", |function, kind| {
            let part = function.part();
            if !matches!(part, Part::Describe | Part::Plan) {
                return Cell::Nothing("only `describe` and `plan` must give the same at every call");
            }
            let answer = super::honest(kind).bytes();
            let second = "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) \
                          (if (i32.ge_u (global.get $calls) (i32.const 2)) (then unreachable))";
            let raw = super::answering(kind, Part::Push, &answer).code(part, second);
            Cell::Harmless(Attempt::new(kind, raw.build()), |given| {
                assert_eq!(given.rows.len() + given.groups.len(), 1);
            })
        }),
    ]
}

/// Code that points the answer of a `push` at 16 bytes that are no message.
fn other(function: Function) -> String {
    // Before them stands the list of messages that a ranker or aggregator gives: one.
    let (pointer, at, length) = match function {
        Function::VerdictsCheck => (PUSHED + 8, GARBAGE, 16),
        Function::TransformPush => (PUSHED + 4, GARBAGE, 16),
        _ => (PUSHED + 4, GARBAGE - 8, 1),
    };
    format!(
        "(i32.store (i32.const {pointer}) (i32.const {at})) (i32.store (i32.const {}) (i32.const {length}))",
        pointer + 4
    )
}

fn third(
    name: &'static str,
    code: fn(Function) -> String,
    class: &'static str,
    says: &'static [&'static str],
) -> Behaviour {
    Behaviour::new(name, move |function, kind| {
        if function.part() != Part::Push {
            return Cell::Nothing(FRESH);
        }
        let raw = match function {
            Function::GroupPush => Raw::honest(kind),
            _ => super::answering(kind, Part::Push, &super::honest(kind).bytes()),
        };
        let raw =
            raw.data(GARBAGE - 8, &words(&[GARBAGE, 16])).code(Part::Push, &format!("{THIRD} {}))", code(function)));
        let file = raw.described(&json(kind, "raw", &json!({ "reuse": true }))).build();
        Cell::stopped(Attempt::new(kind, file).same_batch().calls(5), class, says)
    })
}
