//! Lies in the memory that the host reads, and in the functions that the host calls to read it.

use crisol_plugin::{Kind, Limits};
use serde_json::json;

use crate::attempt::{Attempt, impatient};
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{Part, Raw, json, words};

/// Where an answer lies that is none.
const FAILED: u32 = 1600;
const NO_RESULT: &str = "it returns nothing";
const NOTHING_GIVEN: &str = "it is given nothing, so that no room is needed";
const NOT_OVER: &str = "a session is closed after its last call, by the host, where the instance is kept";

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = results();
    all.extend(lists());
    all.extend(allocators());
    all.extend(afterwards());
    all
}

fn stopped(raw: &Raw, kind: Kind, class: &'static str, says: &[&str]) -> Cell {
    Cell::stopped(Attempt::new(kind, raw.build()), class, says)
}

/// Where an answer lies.
fn results() -> Vec<Behaviour> {
    let result = |name, at: u32, says: &'static str| {
        Behaviour::new(name, move |function, kind| match function {
            Function::Start => Cell::Nothing(NO_RESULT),
            _ => stopped(&Raw::honest(kind).result(function.part(), at), kind, "trap", &["it trapped: ", says]),
        })
    };
    vec![
        result("gives an answer outside its memory", 0xffff_fff0, "out of bounds"),
        result("gives an answer at an odd place", 1101, "not aligned"),
    ]
}

/// The text, list or number that each function gives, made wrong.
fn broken(raw: Raw, function: Function, pointer: u32, length: u32) -> Raw {
    let list = words(&[pointer, length]);
    match function {
        Function::Describe => raw.data(crate::raw::DESCRIBED, &list),
        Function::Plan => raw.data(crate::raw::PLANNED, &words(&[0, pointer, length, 0, 0])),
        // A failure, whose code is the text.
        Function::TransformOpen | Function::VerdictsOpen | Function::GroupOpen => {
            raw.result(Part::Open, FAILED).data(FAILED, &words(&[1, pointer, length, 0, 0, 0, 0]))
        }
        Function::VerdictsCheck => raw.data(crate::raw::PUSHED, &words(&[0, 1, pointer, length])),
        Function::GroupFinish => raw.data(crate::raw::FINISHED, &words(&[0, pointer, length])),
        _ => raw.data(crate::raw::PUSHED, &words(&[0, pointer, length, 0])),
    }
}

fn lists() -> Vec<Behaviour> {
    let list = |name, pointer: u32, length: u32| {
        Behaviour::new(name, move |function, kind| match function {
            Function::Start => Cell::Nothing(NO_RESULT),
            _ => stopped(
                &broken(Raw::honest(kind), function, pointer, length),
                kind,
                "trap",
                &["it trapped: ", "out of bounds"],
            ),
        })
    };
    let variant = Behaviour::new("gives neither a result nor a failure", |function, kind| match function.part() {
        Part::Start | Part::Describe => Cell::Nothing("it returns no result that could be a failure"),
        part => {
            let raw = Raw::honest(kind).result(part, FAILED).data(FAILED, &words(&[7, 0, 0, 0, 0, 0, 0]));
            stopped(&raw, kind, "trap", &["it trapped: invalid expected discriminant"])
        }
    });
    let text = Behaviour::new("gives text that is not UTF-8", |function, kind| match function.part() {
        Part::Start => Cell::Nothing(NO_RESULT),
        Part::Describe => stopped(&Raw::honest(kind).described(b"{\"name\":\"\xff\xfe\"}"), kind, "trap", &["utf-8"]),
        part => {
            let raw = Raw::honest(kind).data(1640, b"\xc3\x28").result(part, FAILED);
            stopped(&raw.data(FAILED, &words(&[1, 1640, 2, 0, 0, 0, 0])), kind, "trap", &["utf-8"])
        }
    });
    let handle =
        Behaviour::new("gives a session that it never made", |function: Function, kind| match function.part() {
            Part::Open => {
                let raw = Raw::honest(kind).result(Part::Open, FAILED).data(FAILED, &words(&[0, 77]));
                stopped(&raw, kind, "trap", &["unknown handle index 77"])
            }
            _ => Cell::Nothing("only `open` gives a session"),
        });
    let handles = Behaviour::new("makes sessions without end", |function: Function, kind| {
        let code = "(loop $again (drop (call $session (i32.const 1))) (br $again))";
        let limits = Limits { deadline_ms_max: 3_000, ..impatient() };
        let raw = Raw::honest(kind).code(function.part(), code);
        Cell::stopped(Attempt::new(kind, raw.build()).limits(limits), "trap", &[])
    });
    vec![
        list("gives a list outside its memory", 0xffff_ff00, 64),
        list("gives a list of 4 GiB", 4096, 0xffff_fff0),
        variant,
        text,
        handle,
        handles.one_kind(),
    ]
}

fn allocators() -> Vec<Behaviour> {
    let given = |function: Function| !matches!(function, Function::Start | Function::Describe | Function::GroupFinish);
    // The room is asked for before the function runs; `plan` is the first to be given something.
    let room = |name, change: fn(Raw) -> Raw, class: &'static str, says: &'static str| {
        Behaviour::new(name, move |function, kind| match function {
            _ if !given(function) => Cell::Nothing(NOTHING_GIVEN),
            Function::Plan => {
                Cell::stopped(Attempt::new(kind, change(Raw::honest(kind)).build()).limits(impatient()), class, &[says])
            }
            _ => Cell::Nothing(
                "the room is given by one function for all, which `plan` shows; it is the first to need it",
            ),
        })
    };
    vec![
        room(
            "gives room outside its memory",
            |raw| raw.result(Part::Allocator, 0xffff_ff00),
            "trap",
            "beyond end of memory",
        ),
        room("gives room at an odd place", |raw| raw.result(Part::Allocator, 4097), "trap", "aligned"),
        room("aborts when it is asked for room", |raw| raw.code(Part::Allocator, "unreachable"), "trap", "aborted"),
        room(
            "loops when it is asked for room",
            |raw| raw.code(Part::Allocator, "(loop $again (br $again))"),
            "deadline",
            "raise `limits.deadline_ms_max`",
        ),
    ]
}

fn afterwards() -> Vec<Behaviour> {
    let abort = Behaviour::new("aborts when its answer has been read", |function: Function, kind| match function {
        Function::Describe => {
            stopped(&Raw::honest(kind).code(Part::AfterReturn, "unreachable"), kind, "trap", &["aborted"])
        }
        _ => Cell::Nothing("`describe` comes first, and has the same end as all others"),
    });
    let looping = Behaviour::new("loops when its answer has been read", |function: Function, kind| match function {
        Function::Describe => {
            let file = Raw::honest(kind).code(Part::AfterReturn, "(loop $again (br $again))").build();
            Cell::stopped(Attempt::new(kind, file).limits(impatient()), "deadline", &["raise `limits.deadline_ms_max`"])
        }
        _ => Cell::Nothing("`describe` comes first, and has the same end as all others"),
    });
    let end = |name, code: &'static str, class: &'static str, says: &'static str| {
        Behaviour::new(name, move |function, kind| match function {
            Function::TransformPush | Function::VerdictsCheck => {
                let answer = super::honest(kind).bytes();
                let raw = super::answering(kind, Part::Push, &answer).code(Part::Destructor, code);
                let file = raw.described(&json(kind, "raw", &json!({ "reuse": true }))).build();
                Cell::stopped(Attempt::new(kind, file).calls(2).limits(impatient()), class, &[says])
            }
            Function::GroupFinish => {
                // The answer is complete by then: the instance is given up, and another one serves the next session.
                let raw = Raw::honest(kind).code(Part::Destructor, code);
                let file = raw.described(&json(kind, "raw", &json!({ "reuse": true }))).build();
                Cell::Harmless(Attempt::new(kind, file).limits(impatient()).sessions(2), |_| {})
            }
            _ => Cell::Nothing(NOT_OVER),
        })
    };
    vec![
        abort,
        looping.one_kind(),
        end("aborts when its session is over", "unreachable", "trap", "aborted"),
        end(
            "loops when its session is over",
            "(loop $again (br $again))",
            "deadline",
            "raise `limits.deadline_ms_max`",
        ),
    ]
}
