//! Behaviours against exported functions: what each cell tries, and the table of what was found.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crisol_plugin::Kind;

use crate::attempt::{Attempt, Given, Stopped};
use crate::raw::Part;

/// Longest message to a person, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 10;
const ALL: [Kind; 5] = [Kind::Decoder, Kind::Transformer, Kind::Validator, Kind::Ranker, Kind::Aggregator];

/// A function that a component exports, or its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Start,
    Describe,
    Plan,
    TransformOpen,
    TransformPush,
    VerdictsOpen,
    VerdictsCheck,
    GroupOpen,
    GroupPush,
    GroupFinish,
}

pub(crate) const FUNCTIONS: [Function; 10] = [
    Function::Start,
    Function::Describe,
    Function::Plan,
    Function::TransformOpen,
    Function::TransformPush,
    Function::VerdictsOpen,
    Function::VerdictsCheck,
    Function::GroupOpen,
    Function::GroupPush,
    Function::GroupFinish,
];

impl Function {
    fn heading(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Describe => "describe",
            Self::Plan => "plan",
            Self::TransformOpen => "transform open",
            Self::TransformPush => "transform push",
            Self::VerdictsOpen => "verdicts open",
            Self::VerdictsCheck => "verdicts check",
            Self::GroupOpen => "group open",
            Self::GroupPush => "group push",
            Self::GroupFinish => "group finish",
        }
    }

    /// The kinds that have it.
    fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Start | Self::Describe | Self::Plan => &ALL,
            Self::TransformOpen | Self::TransformPush => &ALL[..2],
            Self::VerdictsOpen | Self::VerdictsCheck => &ALL[2..3],
            Self::GroupOpen | Self::GroupPush | Self::GroupFinish => &ALL[3..],
        }
    }

    pub(crate) fn part(self) -> Part {
        match self {
            Self::Start => Part::Start,
            Self::Describe => Part::Describe,
            Self::Plan => Part::Plan,
            Self::TransformOpen | Self::VerdictsOpen | Self::GroupOpen => Part::Open,
            Self::TransformPush | Self::VerdictsCheck | Self::GroupPush => Part::Push,
            Self::GroupFinish => Part::Finish,
        }
    }

    /// Whether it gives rows or verdicts.
    pub(crate) fn answers(self) -> bool {
        matches!(self.part(), Part::Push | Part::Finish)
    }

    /// Whether this is where it had to be stopped.
    fn stops(self, stopped: &Stopped) -> bool {
        match self.part() {
            Part::Plan => matches!(stopped, Stopped::Plan(_)),
            // Rows have one call for both.
            Part::Open => matches!(stopped, Stopped::Open(_) | Stopped::Call(_)),
            Part::Push => matches!(stopped, Stopped::Call(_)),
            Part::Finish => matches!(stopped, Stopped::Finish(_)),
            _ => matches!(stopped, Stopped::Load(_)),
        }
    }
}

/// What is tried in one cell.
pub(crate) enum Cell {
    /// It is stopped with an error of this class, whose text has these words.
    Stopped(Attempt, &'static str, Vec<String>),
    /// It does no harm, and this holds for what it gave.
    Harmless(Attempt, fn(&Given)),
    /// There is nothing to try, and why.
    Nothing(&'static str),
}

impl Cell {
    pub(crate) fn stopped(attempt: Attempt, class: &'static str, says: &[&str]) -> Self {
        Self::Stopped(attempt, class, says.iter().map(ToString::to_string).collect())
    }
}

/// A row of the matrix.
pub(crate) struct Behaviour {
    pub(crate) name: &'static str,
    /// One kind for each function is enough: it takes long, and the code of the host is the same for all.
    pub(crate) one_kind: bool,
    pub(crate) cell: Box<dyn Fn(Function, Kind) -> Cell + Send + Sync>,
}

impl Behaviour {
    pub(crate) fn new(name: &'static str, cell: impl Fn(Function, Kind) -> Cell + Send + Sync + 'static) -> Self {
        Self { name, one_kind: false, cell: Box::new(cell) }
    }

    pub(crate) fn one_kind(mut self) -> Self {
        self.one_kind = true;
        self
    }

    fn kinds(&self, function: Function) -> &'static [Kind] {
        if self.one_kind { &function.kinds()[..1] } else { function.kinds() }
    }

    /// What was found; all kinds give the same.
    fn found(&self, function: Function) -> Found {
        let found: Vec<Found> = self.kinds(function).iter().map(|kind| self.judge(function, *kind)).collect();
        let mut tried = found.iter().filter(|found| matches!(found, Found::Word(_)));
        let first = *tried.next().or(found.first()).expect("a kind has the function");
        assert!(tried.all(|other| *other == first), "the kinds differ: {found:?}");
        first
    }

    fn judge(&self, function: Function, kind: Kind) -> Found {
        match (self.cell)(function, kind) {
            Cell::Nothing(why) => Found::Nothing(why),
            Cell::Harmless(attempt, holds) => {
                let given = attempt.run().unwrap_or_else(|stopped| panic!("{kind}: {}", stopped.text()));
                holds(&given);
                Found::Word("harmless")
            }
            Cell::Stopped(attempt, class, says) => {
                let Err(stopped) = attempt.run() else { panic!("{kind}: it must be stopped") };
                let text = stopped.text();
                assert!(function.stops(&stopped), "{kind}: stopped elsewhere: {stopped:?}");
                assert_eq!(stopped.class(), class, "{kind}: {text}");
                assert_readable(&text);
                for words in says {
                    assert!(text.contains(&words), "{kind}: `{words}` is missing in: {text}");
                }
                Found::Word(class)
            }
        }
    }
}

/// What may be shown to a person: on one line, bounded, nothing that moves a cursor or turns text round.
pub(crate) fn assert_readable(text: &str) {
    let unsafe_character = |c: &char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    assert_eq!(text.chars().find(unsafe_character), None, "{text:?}");
    assert!(text.len() <= MESSAGE_BYTES_MAX, "a message of {} bytes: {}…", text.len(), &text[..200]);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Word(&'static str),
    Nothing(&'static str),
}

/// Tries all cells, several at once, and gives the table; `after_each` is called when a cell is done.
pub(crate) fn try_all(behaviours: &[Behaviour], after_each: impl Fn() + Sync) -> String {
    let cells: Vec<(usize, Function)> =
        (0..behaviours.len()).flat_map(|row| FUNCTIONS.map(|function| (row, function))).collect();
    let found = Mutex::new(vec![None; cells.len()]);
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((row, function)) = cells.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
            let judged = catch_unwind(AssertUnwindSafe(|| {
                let found = behaviours[row].found(function);
                after_each();
                found
            }));
            let at = row * FUNCTIONS.len() + FUNCTIONS.iter().position(|f| *f == function).unwrap();
            match judged {
                Ok(word) => found.lock().unwrap()[at] = Some(word),
                Err(panic) => {
                    let why = panic.downcast_ref::<String>().cloned();
                    let why = why.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                    let cell = format!("{} x {}", behaviours[row].name, function.heading());
                    failures.lock().unwrap().push(format!("{cell}: {}", why.unwrap_or_default()));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} cells:\n{}", failures.len(), cells.len(), failures.join("\n"));
    let found: Vec<Found> = found.into_inner().unwrap().into_iter().flatten().collect();
    table(behaviours, &found)
}

/// Markdown; the reasons for empty cells stand below it.
fn table(behaviours: &[Behaviour], found: &[Found]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    let headings: Vec<&str> = FUNCTIONS.iter().map(|function| function.heading()).collect();
    let mut text =
        format!("| a component that | {} |\n|{}\n", headings.join(" | "), " --- |".repeat(headings.len() + 1));
    for (behaviour, cells) in behaviours.iter().zip(found.chunks(FUNCTIONS.len())) {
        let _ = write!(text, "| {} |", behaviour.name);
        for cell in cells {
            match cell {
                Found::Word(word) => {
                    let _ = write!(text, " {word} |");
                }
                Found::Nothing(why) => {
                    let known = reasons.iter().position(|reason| reason == why);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(why);
                        reasons.len() - 1
                    });
                    let _ = write!(text, " - ({}) |", number + 1);
                }
            }
        }
        text += "\n";
    }
    text += "\n";
    for (number, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "({}) {reason}.", number + 1);
    }
    text
}
