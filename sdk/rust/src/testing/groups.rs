//! Runs rankers and aggregators natively, over messages cut in several ways.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, RecordBatchOptions};
use arrow_select::concat::concat_batches;
use crisol_ipc::{GROUP, Limits, ROW, decode, encode, with_index};

use super::{NOW_US, batch_of, narrowed, table};
use crate::columns;
use crate::groups::{self, Aggregating, Ranking};
use crate::raw::groups::{AggregateSession, GroupSession, RankSession};
use crate::raw::session::schema;
use crate::{Column, Failure};

/// What a ranker or aggregator gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its rows, without `_row` or `_group`.
    pub rows: RecordBatch,
    /// For each row the input row, counted over all groups, or the group that it stands for.
    pub index: Vec<i32>,
}

impl Answer {
    /// The rows as text, `INDEX: VALUE | VALUE`: easy to compare. Null is `null`.
    pub fn table(&self) -> Vec<String> {
        self.index.iter().zip(table(&self.rows)).map(|(index, row)| format!("{index}: {row}")).collect()
    }
}

/// Runs a ranker over groups.
///
/// # Errors
/// What the ranker says, or an answer that a host would refuse.
pub fn rank<'a, R: groups::Ranker>(options: &str, groups: &[&[R::Row<'a>]]) -> Result<Answer, Failure> {
    let (input, numbers) = rows_of(groups)?;
    ranker::<Ranking<R>>(options, &input, &numbers)
}

/// Runs an aggregator over groups, numbered from 0.
///
/// # Errors
/// What the aggregator says, or an answer that a host would refuse.
pub fn aggregate<'a, A: groups::Aggregator>(options: &str, groups: &[&[A::Row<'a>]]) -> Result<Answer, Failure> {
    let (input, numbers) = rows_of(groups)?;
    aggregator::<Aggregating<A>>(options, &input, &numbers)
}

/// Runs a ranker over columns on a batch that may have more columns than it reads. `groups` has the group of each row,
/// never descending.
///
/// # Errors
/// What the ranker says, an answer that a host would refuse, or one that depends on how the rows are cut into messages.
pub fn ranker<R: columns::Ranker>(options: &str, input: &RecordBatch, groups: &[i32]) -> Result<Answer, Failure> {
    let rows = (0..input.num_rows() as i32).collect();
    run::<RankSession<R>>(options, input, groups, ROW, &rows)
}

/// Runs an aggregator over columns, as [`ranker`] does a ranker.
///
/// # Errors
/// As for [`ranker`].
pub fn aggregator<A: columns::Aggregator>(
    options: &str,
    input: &RecordBatch,
    groups: &[i32],
) -> Result<Answer, Failure> {
    run::<AggregateSession<A>>(options, input, groups, GROUP, &groups.iter().copied().collect())
}

fn rows_of<'a, R: crate::Record<'a>>(groups: &[&[R]]) -> Result<(RecordBatch, Vec<i32>), Failure> {
    let rows: Vec<&R> = groups.iter().flat_map(|group| group.iter()).collect();
    let numbers = groups.iter().zip(0..).flat_map(|(group, number)| group.iter().map(move |_| number));
    Ok((batch_of(&rows)?, numbers.collect()))
}

/// One session for each way to cut the rows into messages; all must give the same. `known`: what may be answered.
fn run<S: GroupSession>(
    options: &str,
    input: &RecordBatch,
    groups: &[i32],
    index: &str,
    known: &BTreeSet<i32>,
) -> Result<Answer, Failure> {
    if !groups.is_sorted() {
        return Err(Failure::input("the rows are not sorted by group; a host gives them so"));
    }
    let plan = S::plan(options, &Column::all_of(input.schema_ref()))?;
    let (columns, rows) = narrowed(&plan, input)?;
    let rows = grouped(&rows, groups)?;
    let answer_schema = with_index(&schema(&plan.writes), index);
    let session = |rows_max: usize| -> Result<Answer, Failure> {
        let mut session = S::open(options, &columns, NOW_US)?;
        let mut messages = Vec::new();
        for start in (0..rows.num_rows()).step_by(rows_max) {
            messages.extend(session.push(encode(&rows.slice(start, rows_max.min(rows.num_rows() - start)))?)?);
        }
        messages.extend(session.finish()?);
        let answers = messages.into_iter().map(|message| decode(message, &answer_schema, &Limits::default()));
        answer(&concat_batches(&answer_schema, &answers.collect::<Result<Vec<_>, _>>()?)?, known)
    };
    let whole = session(rows.num_rows().max(1));
    for rows_max in [1, 3] {
        if session(rows_max) != whole {
            return Err(Failure::bug(format!("another answer when the rows come in messages of {rows_max}")));
        }
    }
    whole
}

fn grouped(rows: &RecordBatch, groups: &[i32]) -> Result<RecordBatch, Failure> {
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(Int32Array::from(groups.to_vec())) as ArrayRef);
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    Ok(RecordBatch::try_new_with_options(with_index(rows.schema_ref(), GROUP), columns, &options)?)
}

/// The accounts that a host keeps: only what was given, each at most once.
fn answer(given: &RecordBatch, known: &BTreeSet<i32>) -> Result<Answer, Failure> {
    let last = given.num_columns() - 1;
    let index = given.column(last).as_primitive::<Int32Type>().values().to_vec();
    let mut free = known.clone();
    if let Some(wrong) = index.iter().find(|index| !free.remove(index)) {
        return Err(Failure::bug(format!("{wrong} was not given, or is answered twice")));
    }
    let planned: Vec<usize> = (0..last).collect();
    Ok(Answer { rows: given.project(&planned)?, index })
}
