//! Rankers and aggregators on groups of whatever their columns may hold.

use std::sync::Arc;

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use crisol_ipc::{GROUP, with_index};
use crisol_plugin::{CallError, GroupAnswer, GroupSession, GroupStage};

use super::given::{Given, limits};
use super::rows::{many, mixed};
use super::values::Choice;
use super::{Suite, clean, compare, cut, values};
use crate::Kind;

/// Rows, and the group of each.
pub(super) struct Grouped {
    pub(super) rows: RecordBatch,
    pub(super) groups: Vec<i32>,
}

/// Everything that sessions gave, group by group; `index` is the row, or the group, of each.
pub(super) struct Answered {
    pub(super) rows: RecordBatch,
    pub(super) index: Vec<u32>,
}

impl Suite {
    pub(super) fn groups(&mut self, given: &Given) {
        let (label, now) = (&given.label, given.timestamp_us);
        let stage = match self.component.group_stage(&given.options, &given.schema, &limits()) {
            Ok(stage) => stage,
            Err(error) => return self.holds(&format!("it can be set up{label}"), || Err(error.to_string())),
        };
        let decks = match decks(&stage, given) {
            Ok(decks) => decks,
            Err(error) => return self.holds(&format!("groups can be made{label}"), || Err(error.to_string())),
        };
        let new = || stage.fresh_session(now);
        for (name, grouped) in &decks {
            self.case(&format!("{name}{label}"), || Ok(clean(whole(&stage, new(), grouped))?.err()));
        }
        let Some((_, mixed)) = decks.last() else { return };
        self.case(&format!("groups cut into other messages{label}"), || {
            same(whole(&stage, new(), mixed), || pieces(&stage, new(), mixed))
        });
        self.case(&format!("each group in a session of its own{label}"), || {
            same(whole(&stage, new(), mixed), || apart(&stage, now, mixed))
        });
        if self.component.reuse() {
            self.case(&format!("an instance that is kept gives what a new one gives{label}"), || {
                let kept = || whole(&stage, stage.session(now), mixed);
                same(whole(&stage, new(), mixed), || kept().and_then(|_| kept()))
            });
        }
    }
}

fn decks(stage: &GroupStage, given: &Given) -> Result<Vec<(&'static str, Grouped)>, ArrowError> {
    let samples = given.seen(stage.reads())?;
    let schema = samples.schema();
    let mixed = mixed(&schema, &samples)?;
    Ok(vec![
        ("a session without rows", Grouped { rows: samples.slice(0, 0), groups: Vec::new() }),
        ("a group of one row", Grouped::of(mixed.slice(0, 1), 1)),
        ("groups of nulls", Grouped::of(values::nulls(&schema, 5)?, 3)),
        ("groups of extreme values, texts of 64 KiB", Grouped::of(values::rows(&schema, 64, Choice::Long)?, 9)),
        ("a group of 16,384 rows", Grouped::of(many(&mixed)?, 16_384)),
        ("16,384 rows in groups", Grouped::of(many(&mixed)?, 11)),
        ("rows of samples among extreme ones, in groups", Grouped::of(mixed, 7)),
    ])
}

impl Grouped {
    /// Groups of 1, 2, 3 … `most` rows, and again; their numbers have gaps.
    pub(super) fn of(rows: RecordBatch, most: usize) -> Self {
        let mut groups = Vec::with_capacity(rows.num_rows());
        let (mut group, mut size) = (0, if most > 1_000 { most } else { 1 });
        while groups.len() < rows.num_rows() {
            groups.extend(std::iter::repeat_n(group, size.min(rows.num_rows() - groups.len())));
            group += 3;
            size = size % most + 1;
        }
        Self { rows, groups }
    }

    fn with_groups(&self) -> Result<RecordBatch, CallError> {
        let mut columns = self.rows.columns().to_vec();
        columns.push(Arc::new(Int32Array::from(self.groups.clone())));
        RecordBatch::try_new(with_index(self.rows.schema_ref(), GROUP), columns).map_err(host)
    }
}

fn host(error: ArrowError) -> CallError {
    CallError::Host { what: error.to_string() }
}

/// All rows in one message.
pub(super) fn whole(
    stage: &GroupStage,
    session: Result<GroupSession, CallError>,
    grouped: &Grouped,
) -> Result<Answered, CallError> {
    pushed(stage, session?, &[grouped.with_groups()?], grouped)
}

/// In pieces that do not care for groups.
pub(super) fn pieces(
    stage: &GroupStage,
    session: Result<GroupSession, CallError>,
    grouped: &Grouped,
) -> Result<Answered, CallError> {
    pushed(stage, session?, &cut::pieces(&grouped.with_groups()?), grouped)
}

fn pushed(
    stage: &GroupStage,
    mut session: GroupSession,
    messages: &[RecordBatch],
    grouped: &Grouped,
) -> Result<Answered, CallError> {
    let mut answers = Vec::new();
    for message in messages {
        answers.extend(session.push(message)?);
    }
    answers.extend(session.finish()?);
    sorted(stage, answers, grouped)
}

/// A session for each group.
pub(super) fn apart(stage: &GroupStage, timestamp_us: i64, grouped: &Grouped) -> Result<Answered, CallError> {
    let rows = grouped.with_groups()?;
    let (mut answers, mut first) = (Vec::new(), 0);
    for group in grouped.groups.chunk_by(|one, other| one == other) {
        let mut session = stage.fresh_session(timestamp_us)?;
        let mut given = session.push(&rows.slice(first, group.len()))?;
        given.extend(session.finish()?);
        if stage.component().kind() == Kind::Ranker {
            given.iter_mut().flat_map(|answer| answer.index.iter_mut()).for_each(|index| *index += first as u32);
        }
        answers.extend(given);
        first += group.len();
    }
    sorted(stage, answers, grouped)
}

/// Group by group, each in the order of its answer.
fn sorted(stage: &GroupStage, answers: Vec<GroupAnswer>, grouped: &Grouped) -> Result<Answered, CallError> {
    let all = concat_batches(&stage.writes(), answers.iter().map(|answer| &answer.rows)).map_err(host)?;
    let index: Vec<u32> = answers.into_iter().flat_map(|answer| answer.index).collect();
    let group = |index: u32| match stage.component().kind() {
        Kind::Aggregator => Some(index as i32),
        _ => grouped.groups.get(index as usize).copied(),
    };
    let mut order: Vec<u32> = (0..index.len() as u32).collect();
    order.sort_by_key(|at| group(index[*at as usize]));
    let rows = take(&all, &order)?;
    Ok(Answered { rows, index: order.iter().map(|at| index[*at as usize]).collect() })
}

fn take(rows: &RecordBatch, order: &[u32]) -> Result<RecordBatch, CallError> {
    arrow_select::take::take_record_batch(rows, &arrow_array::UInt32Array::from(order.to_vec())).map_err(host)
}

/// Where the whole cannot work, the others are not looked at.
fn same(
    whole: Result<Answered, CallError>,
    other: impl FnOnce() -> Result<Answered, CallError>,
) -> Result<Option<String>, String> {
    let whole = match clean(whole)? {
        Ok(whole) => whole,
        Err(said) => return Ok(Some(said)),
    };
    let other = other().map_err(|error| error.to_string())?;
    equal(&whole, &other).map(|()| None)
}

/// That both are the same answer.
///
/// # Errors
/// The first thing that differs.
pub(super) fn equal(expected: &Answered, got: &Answered) -> Result<(), String> {
    if expected.index != got.index {
        let shown = |answered: &Answered| format!("{:?}", &answered.index[..answered.index.len().min(20)]);
        return Err(format!("answers stand for {} and then for {}", shown(expected), shown(got)));
    }
    compare::rows(&expected.rows, &got.rows)
}
