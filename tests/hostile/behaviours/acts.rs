//! What code does instead of its work.

use crisol_plugin::Kind;
use serde_json::json;

use crate::attempt::{Attempt, impatient, limits};
use crate::guests;
use crate::matrix::{Behaviour, Cell, Function};
use crate::raw::{Part, Raw};

const NO_MEMORY_YET: &str = "at its start a module cannot call functions of the host that need its memory";
const NO_AUTHOR: &str = "compilers put no code of an author into the start of a module; the rows without `(Rust)` do";

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = crashes();
    all.extend(endless());
    all.extend(growth());
    all.extend(host_calls());
    all.extend(of_rust());
    all
}

/// Code in each function.
fn code(name: &'static str, code: &'static str, class: &'static str, says: &'static [&'static str]) -> Behaviour {
    Behaviour::new(name, move |function, kind| {
        let file = Raw::honest(kind).code(function.part(), code).build();
        Cell::stopped(Attempt::new(kind, file), class, says)
    })
}

fn crashes() -> Vec<Behaviour> {
    let trap = |name, text, says| code(name, text, "trap", says);
    vec![
        trap("aborts", "unreachable", &["it trapped: it panicked or aborted (`unreachable`)"]),
        trap("divides by zero", "(drop (i32.div_s (i32.const 1) (i32.const 0)))", &["integer divide by zero"]),
        trap("reads outside its memory", "(drop (i32.load (i32.const -8)))", &["out of bounds memory access"]),
        trap("calls a function that is not there", "(call_indirect (i32.const 3))", &["uninitialized element"]),
        code(
            "recurses without end",
            "(drop (call $recurse (i64.const 1)))",
            "stack",
            &["its stack of ", "bytes overflowed: recursion is too deep", "raise `limits.stack_bytes_max`"],
        ),
    ]
}

fn endless() -> Vec<Behaviour> {
    const SAYS: [&str; 3] = ["it was stopped after", "the limit of a call", "raise `limits.deadline_ms_max`"];
    let endless = |name, code: &'static str| {
        let cell = move |function: Function, kind| {
            if function == Function::Start && code.contains("$log") {
                return Cell::Nothing(NO_MEMORY_YET);
            }
            let file = Raw::honest(kind).code(function.part(), code).build();
            Cell::stopped(Attempt::new(kind, file).limits(impatient()), "deadline", &SAYS)
        };
        Behaviour::new(name, cell).one_kind()
    };
    vec![
        endless("loops without end", "(loop $again (br $again))"),
        endless(
            "writes log lines without end",
            "(loop $again (call $log (i32.const 2) (i32.const 2048) (i32.const 20)) (br $again))",
        ),
        endless(
            "fills its memory again and again",
            "(loop $again (memory.fill (i32.const 65536) (i32.const 7) (i32.const 65536)) (br $again))",
        ),
    ]
}

fn growth() -> Vec<Behaviour> {
    const MEMORY: &[&str] = &["bytes of memory", "are allowed", "raise `limits.memory_bytes_max`"];
    const TABLE: &[&str] = &["table elements, 100000 are allowed"];
    let at_start = |name, raw: fn(Kind) -> Raw, says: &'static [&'static str]| {
        Behaviour::new(name, move |function, kind| match function {
            Function::Start => Cell::stopped(Attempt::new(kind, raw(kind).build()), "memory", says),
            _ => Cell::Nothing("what it begins with is there before the first call"),
        })
    };
    vec![
        code(
            "takes memory page by page",
            "(loop $again (drop (memory.grow (i32.const 16))) (br $again))",
            "memory",
            MEMORY,
        ),
        code("takes 3.9 GB of memory at once", "(drop (memory.grow (i32.const 60000)))", "memory", MEMORY),
        at_start("begins with 512 MiB of memory", |kind| Raw::honest(kind).pages(8192), MEMORY),
        code(
            "makes its table larger and larger",
            "(loop $again (drop (table.grow $table (ref.null func) (i32.const 999))) (br $again))",
            "memory",
            TABLE,
        ),
        code(
            "makes its table as large as can be",
            "(drop (table.grow $table (ref.null func) (i32.const 0x7fffffff)))",
            "memory",
            TABLE,
        ),
        at_start(
            "begins with a table of a million elements",
            |kind| Raw::honest(kind).items("(table 1000000 funcref)"),
            TABLE,
        ),
        at_segment("puts data outside its memory", "(data (i32.const -1) \"x\")", "out of bounds memory access"),
        at_segment("puts functions outside its table", "(elem (i32.const 9999) func $recurse)", "out of bounds table"),
    ]
}

fn at_segment(name: &'static str, item: &'static str, says: &'static str) -> Behaviour {
    Behaviour::new(name, move |function, kind| match function {
        Function::Start => {
            Cell::stopped(Attempt::new(kind, Raw::honest(kind).items(item).build()), "trap", &["it trapped: ", says])
        }
        _ => Cell::Nothing("what it begins with is there before the first call"),
    })
}

fn host_calls() -> Vec<Behaviour> {
    let flood: &'static str = "(local $line i32) (loop $again \
        (call $log (i32.const 2) (i32.const 2048) (i32.const 20)) \
        (br_if $again (i32.lt_u (local.tee $line (i32.add (local.get $line) (i32.const 1))) (i32.const 5000)))) unreachable";
    let needs_memory = |name, text: &'static str, class: &'static str, says: &'static [&'static str]| {
        Behaviour::new(name, move |function, kind| match function {
            Function::Start => Cell::Nothing(NO_MEMORY_YET),
            _ => {
                let file = Raw::honest(kind).code(function.part(), text).build();
                Cell::stopped(Attempt::new(kind, file), class, says)
            }
        })
    };
    vec![
        code("ends the process", "(call $exit (i32.const 1))", "trap", &["it ended itself with exit code 1"]),
        code(
            "opens streams of the host without end",
            "(loop $again (drop (call $stderr)) (br $again))",
            "trap",
            &["resource table has no free keys"],
        ),
        code(
            "gives back a stream that it never had",
            "(call $drop (i32.const 999))",
            "trap",
            &["unknown handle index"],
        ),
        needs_memory(
            "asks for 9,000,000,000 GB of random bytes",
            "(call $random (i64.const 0x7fffffffffffffff) (i32.const 4096))",
            "trap",
            &["random bytes were asked for, 65536 are given at a time"],
        ),
        needs_memory(
            "logs from outside its memory",
            "(call $log (i32.const 2) (i32.const -16) (i32.const 100))",
            "trap",
            &["out of bounds"],
        ),
        needs_memory("floods the log, then aborts", flood, "trap", &["it panicked or aborted"]),
    ]
}

/// The same in a language with an allocator, a standard library and panics.
fn of_rust() -> Vec<Behaviour> {
    let rust = |name, disaster: &'static str, class: &'static str, says: &'static [&'static str]| {
        Behaviour::new(name, move |function: Function, kind| {
            let word = match function.part() {
                Part::Start => return Cell::Nothing(NO_AUTHOR),
                Part::Describe => {
                    let file = guests::described(kind, &format!("!{disaster}"));
                    return Cell::stopped(Attempt::new(kind, file), class, says);
                }
                Part::Plan => "plan",
                Part::Open => "open",
                Part::Push => "push",
                _ => "finish",
            };
            let file = guests::described(kind, &guests::words(kind, json!({})));
            let attempt = Attempt::new(kind, file).limits(limits()).option(&format!("{word}-{disaster}"));
            Cell::stopped(attempt, class, says)
        })
        .one_kind()
    };
    const SAID: &[&str] =
        &["it panicked or aborted (`unreachable`); it said: ", "src/disaster.rs", "out of \\u{1b}[31mluck"];
    vec![
        rust("panics with a message (Rust)", "panic", "trap", SAID),
        rust("allocates without end (Rust)", "grow", "memory", &["bytes of memory", "raise `limits.memory_bytes_max`"]),
        rust("recurses without end (Rust)", "recurse", "trap", &["it trapped: "]),
        rust("exits (Rust)", "exit", "trap", &["it ended itself with exit code 1"]),
        rust(
            "floods stderr and the log, then panics (Rust)",
            "flood",
            "trap",
            &["it panicked or aborted", "; it said: …", "after the flood"],
        ),
    ]
}
