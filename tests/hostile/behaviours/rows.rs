//! Rows that were lost, made up, doubled or judged twice; rejections that are not to be shown as they are.

use crisol_plugin::Kind;

use crate::attempt::{Attempt, Given, ROWS};
use crate::matrix::{Behaviour, Cell, Function};
use crate::messages::{Column, Message};
use crate::raw::{Part, Raw};

const ONE_EACH: &str = "a row has one rejection at most";
const NO_REJECTIONS: &str = "it gives no rejections";
const NO_ORIGIN: &str = "a validator gives no rows";
const SEVERAL: &str = "it may give several rows for one";
const CHOSEN: &str = "a ranker chooses rows, and an aggregator may leave out groups";

pub(crate) fn all() -> Vec<Behaviour> {
    let mut all = schemas();
    all.extend(amounts());
    all.extend(accounts());
    all.extend(verdicts());
    all.extend(texts());
    all
}

/// Rows `_row` of a decoder, transformer or ranker, groups of an aggregator.
fn index(
    name: &'static str,
    given: fn(Kind) -> Option<Vec<i32>>,
    why_not: &'static str,
    says: &'static str,
) -> Behaviour {
    Behaviour::new(name, move |function, kind| match (function.answers(), kind) {
        (false, _) => Cell::Nothing(super::NO_ROWS),
        (_, Kind::Validator) => Cell::Nothing(NO_ORIGIN),
        _ => match given(kind) {
            None => Cell::Nothing(why_not),
            Some(index) => {
                let message = Message::rows(&vec![1; index.len()], &index).bytes();
                let file = super::answering(kind, function.part(), &message).build();
                Cell::stopped(Attempt::new(kind, file), "accounts", &["its accounts do not hold for ", says])
            }
        },
    })
}

fn rows_of(kind: Kind) -> bool {
    matches!(kind, Kind::Decoder | Kind::Transformer)
}

fn schemas() -> Vec<Behaviour> {
    let columns = |name, columns: fn(usize) -> Vec<Column>, says: &'static str| {
        Behaviour::new(name, move |function: Function, kind| {
            if !function.answers() {
                return Cell::Nothing(super::NO_ROWS);
            }
            let message = Message::of(&columns(super::honest(kind).rows as usize)).bytes();
            let file = super::answering(kind, function.part(), &message).build();
            Cell::stopped(Attempt::new(kind, file), "invalid", &["its answer is not valid: ", says])
        })
    };
    vec![
        columns(
            "gives strings where numbers were planned",
            |rows| vec![Column::texts(&vec!["x"; rows]), Column::Int(vec![0; rows])],
            "the schema asks for",
        ),
        columns(
            "gives a column that it did not plan",
            |rows| vec![Column::Bigint(vec![0; rows]), Column::Bigint(vec![0; rows]), Column::Int(vec![0; rows])],
            "the schema asks for",
        ),
        columns("gives no columns", |_| Vec::new(), "the schema asks for"),
        columns(
            "gives numbers of half the width",
            |rows| match rows {
                // A validator's row, kind, code and text.
                1 => vec![
                    Column::Tinyint(vec![0]),
                    Column::Tinyint(vec![0]),
                    Column::texts(&["c"]),
                    Column::texts(&["t"]),
                ],
                _ => vec![Column::Int(vec![0; rows]), Column::Int(vec![0; rows])],
            },
            "its values take",
        ),
    ]
}

fn amounts() -> Vec<Behaviour> {
    const BYTES: [&str; 3] =
        ["it gave back more than 4194304 bytes", "the limit of a call", "raise `limits.output_bytes_max`"];
    let grouped = |name, messages: fn() -> (Vec<u8>, u32), class: &'static str, says: &'static [&'static str]| {
        Behaviour::new(name, move |function, kind| match function {
            Function::GroupPush | Function::GroupFinish => {
                let (message, count) = messages();
                let file = Raw::honest(kind).repeats(function.part(), &message, count).build();
                Cell::stopped(Attempt::new(kind, file), class, says)
            }
            _ if function.answers() => Cell::Nothing("it gives one message"),
            _ => Cell::Nothing(super::NO_ROWS),
        })
    };
    vec![
        Behaviour::new("gives 5 MiB where 4 may be", |function, kind| match function.answers() {
            true => {
                let bytes = Some([4096, 5 << 20]);
                let (rows, rejected) = if kind == Kind::Validator { (None, bytes) } else { (bytes, None) };
                let file = Raw::honest(kind).answers_at(function.part(), rows, rejected).pages(96).build();
                Cell::stopped(Attempt::new(kind, file), "output", &BYTES)
            }
            false => Cell::Nothing(super::NO_ROWS),
        }),
        Behaviour::new("gives 200,001 rows where 200,000 may be", |function, kind| match function.answers() {
            true => {
                let rows = 200_001;
                let message = match kind {
                    Kind::Validator => Message::rejections(&vec![(0, 0, "c", "t"); rows]),
                    _ => Message::rows(&vec![0; rows], &vec![0; rows]),
                };
                let file = super::answering(kind, function.part(), &message.bytes()).build();
                let says = ["it gave back 200001 instead of at most 200000 rows", "raise `limits.output_rows_max`"];
                Cell::stopped(Attempt::new(kind, file), "output", &says)
            }
            false => Cell::Nothing(super::NO_ROWS),
        }),
        grouped("gives 1,000 empty messages", || (Vec::new(), 1_000), "invalid", &["0 bytes are there"]),
        grouped("gives 300,000 empty messages", || (Vec::new(), 300_000), "output", &BYTES),
        grouped("gives 40,000 messages without rows", || (Message::rows(&[], &[]).bytes(), 40_000), "output", &BYTES),
    ]
}

fn accounts() -> Vec<Behaviour> {
    let mut all = vec![
        index("makes up a row or group behind the last", |_| Some(vec![0, 9]), "", "9 of the 2nd row it gave was not"),
        index("makes up a row or group before the first", |_| Some(vec![-1]), "", "-1 of the 1st row it gave was not"),
        index(
            "makes up a group between two",
            |kind| (kind == Kind::Aggregator).then(|| vec![3]),
            "rows have no gaps",
            "3 of",
        ),
        index(
            "gives rows in descending order",
            |kind| rows_of(kind).then(|| (0..ROWS as i32).rev().collect()),
            "rows of a ranker and groups of an aggregator come in any order",
            "`_row` goes back from 8 to 7 in the 2nd row it gave",
        ),
        index(
            "loses a row",
            |kind| rows_of(kind).then(|| (1..ROWS as i32).collect()),
            CHOSEN,
            "row 0 is neither given nor",
        ),
        index("loses all rows", |kind| rows_of(kind).then(Vec::new), CHOSEN, "neither given nor rejected (and 8 more)"),
        index("gives a row or group twice", |kind| (!rows_of(kind)).then(|| vec![0, 0]), SEVERAL, " 0 is given twice"),
    ];
    all.push(Behaviour::new("gives a row or group in two messages", |function, kind| match function {
        Function::GroupPush | Function::GroupFinish => {
            let message = Message::rows(&[1], &[0]).bytes();
            let raw = super::answering(kind, Part::Push, &message);
            let raw = match function {
                Function::GroupFinish => raw.repeats(Part::Finish, &message, 1),
                _ => Raw::honest(kind).repeats(Part::Push, &message, 2),
            };
            Cell::stopped(Attempt::new(kind, raw.build()), "accounts", &[" 0 is given twice"])
        }
        _ if function.answers() => Cell::Nothing("it gives one message"),
        _ => Cell::Nothing(super::NO_ROWS),
    }));
    all.push(Behaviour::new("never answers", |function, kind| match function {
        Function::GroupFinish => Cell::Harmless(Attempt::new(kind, Raw::honest(kind).build()), |given| {
            assert!(given.groups.is_empty());
        }),
        _ if function.answers() => Cell::Nothing("one answer is the result of the call"),
        _ => Cell::Nothing(super::NO_ROWS),
    }));
    all
}

/// Rejections, and which rows of a decoder or transformer are given beside them.
pub(crate) fn judging(kind: Kind, rejected: &[(i32, i8, &str, &str)], rows: &[i32]) -> Raw {
    let rejected = Message::rejections(rejected).bytes();
    let rows = Message::rows(&vec![1; rows.len()], rows).bytes();
    Raw::honest(kind).answers(Part::Push, rows_of(kind).then_some(&rows[..]), Some(&rejected))
}

fn verdicts() -> Vec<Behaviour> {
    type Rejection = (i32, i8, String, String);
    let rejected = |name, rejection: fn() -> Rejection, class: &'static str, says: &'static [&'static str]| {
        Behaviour::new(name, move |function, kind| match function {
            Function::TransformPush | Function::VerdictsCheck => {
                let (row, fate, code, text) = rejection();
                let file = judging(kind, &[(row, fate, &code, &text)], &[1, 2, 3, 4, 5, 6, 7, 8]).build();
                Cell::stopped(Attempt::new(kind, file), class, says)
            }
            _ => Cell::Nothing(NO_REJECTIONS),
        })
    };
    const CODES: &[&str] = &["the code `", "of rejected row 0; codes have ASCII letters"];
    let mut all = vec![
        rejected(
            "rejects a row behind the last",
            || (9, 0, "c".into(), "t".into()),
            "accounts",
            &["rejected row 9 was not"],
        ),
        rejected(
            "rejects a row before the first",
            || (-1, 0, "c".into(), "t".into()),
            "accounts",
            &["rejected row -1"],
        ),
        rejected(
            "rejects in a way that there is not",
            || (0, 7, "c".into(), "t".into()),
            "invalid",
            &["0 is quarantine"],
        ),
        rejected("rejects without a code", || (0, 0, String::new(), "t".into()), "invalid", CODES),
        rejected(
            "rejects with a code of 1 MB",
            || (0, 0, "c".repeat(1 << 20), "t".into()),
            "output",
            &["it gave back 1048576 instead of at most 64 bytes, the limit of a code", "raise `limits.code_bytes_max`"],
        ),
        rejected(
            "rejects with terminal escapes in the code",
            || (0, 0, "\u{1b}[2J".into(), "t".into()),
            "invalid",
            CODES,
        ),
    ];
    let twice = |name, rejected: [i32; 2], says: &'static str| {
        Behaviour::new(name, move |function, kind| match function {
            Function::TransformPush => {
                let rejected = rejected.map(|row| (row, 0, "c", "t"));
                let file = judging(kind, &rejected, &[1, 2, 3, 4, 5, 6, 7, 8]).build();
                Cell::stopped(Attempt::new(kind, file), "accounts", &["its accounts do not hold for 9 rows: ", says])
            }
            Function::VerdictsCheck => Cell::Nothing("a validator may name several rules that a row breaks"),
            _ => Cell::Nothing(NO_REJECTIONS),
        })
    };
    all.push(twice("rejects a row twice", [0, 0], "row 0 is rejected twice"));
    all.push(twice("gives a row and rejects it, both", [0, 1], "row 1 is both given and rejected"));
    all
}

fn texts() -> Vec<Behaviour> {
    let harmless = |name, text: fn() -> String, holds: fn(&Given)| {
        Behaviour::new(name, move |function, kind| match function {
            Function::TransformPush | Function::VerdictsCheck => {
                let file = judging(kind, &[(0, 0, "c", &text())], &[1, 2, 3, 4, 5, 6, 7, 8]).build();
                Cell::Harmless(Attempt::new(kind, file), holds)
            }
            _ => Cell::Nothing(NO_REJECTIONS),
        })
    };
    let reasons = |name, count: usize, cell: fn(Attempt) -> Cell| {
        Behaviour::new(name, move |function, kind| match function {
            Function::VerdictsCheck => {
                let codes: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
                let rejected: Vec<(i32, i8, &str, &str)> =
                    codes.iter().map(|code| (0, 0, code.as_str(), "t")).collect();
                cell(Attempt::new(kind, judging(kind, &rejected, &[]).build()))
            }
            Function::TransformPush => Cell::Nothing(ONE_EACH),
            _ => Cell::Nothing(NO_REJECTIONS),
        })
    };
    let many = reasons("rejects one row for 100,000 reasons", 100_000, |attempt| {
        let says = ["instead of at most 100 different codes, the limit of a call", "raise `limits.codes_max`"];
        Cell::stopped(attempt, "output", &says)
    });
    let some = reasons("rejects one row for 100 reasons", 100, |attempt| {
        Cell::Harmless(attempt, |given| {
            let rejected = &given.rows[0].rejected;
            assert_eq!((rejected.len(), given.rows[0].origin.len()), (1, ROWS - 1));
            assert!(rejected[0].text.starts_with("t (also c1, c2, ") && rejected[0].text.ends_with("c16, …)"));
        })
    });
    vec![
        harmless(
            "rejects with a text of 1 MB",
            || "ñ".repeat(1 << 19),
            |given| {
                let text = &given.rows[0].rejected[0].text;
                assert!(text.len() <= 2048 && text.ends_with('…'), "{}", text.len());
            },
        ),
        harmless(
            "rejects with terminal escapes in the text",
            || "\u{1b}[31m\u{202e}\n\u{9b}".into(),
            |given| {
                assert_eq!(given.rows[0].rejected[0].text, "\\u{1b}[31m\\u{202e}\\n\\u{9b}");
            },
        ),
        some,
        many,
    ]
}
