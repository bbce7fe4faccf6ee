//! A ranker or aggregator between messages: rows of sorted groups in, answers out. The same code runs in a component
//! and in native tests.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use crisol_ipc::{GROUP, ROW, decode, with_index};

use crate::about::options;
use crate::columns::{Aggregator, Ranked, Ranker};
use crate::raw::session::{LIMITS, indexed, schema};
use crate::{About, Batch, Column, Failure, Plan};

/// Encapsulated Arrow messages.
pub type Messages = Vec<Vec<u8>>;

/// A session of groups, whatever answers them.
pub trait GroupSession: Sized {
    /// As `describe` says it.
    const KIND: &'static str;
    /// What the component says of itself.
    const ABOUT: About;

    /// What is read and written, from the text of the options.
    ///
    /// # Errors
    /// What the component says, or options that do not fit.
    fn plan(text: &str, input: &[Column]) -> Result<Plan, Failure>;

    /// Gets ready for some groups. `input` has the columns that the plan reads.
    ///
    /// # Errors
    /// What the component says, or options that do not fit.
    fn open(text: &str, input: &[Column], timestamp_us: i64) -> Result<Self, Failure>;

    /// One message of rows, with `_group`.
    ///
    /// # Errors
    /// What the component says, or an answer that does not fit its own plan.
    fn push(&mut self, rows: Vec<u8>) -> Result<Messages, Failure>;

    /// There are no more rows.
    ///
    /// # Errors
    /// As for [`Self::push`].
    fn finish(&mut self) -> Result<Messages, Failure>;
}

/// A ranker at work. Rows wait until their group is complete.
#[derive(Debug)]
pub struct RankSession<R> {
    ranker: R,
    input: SchemaRef,
    output: SchemaRef,
    /// The rows of one group that may go on, with `_group`.
    waiting: Vec<RecordBatch>,
    /// Rows that no longer wait.
    ranked: usize,
}

impl<R: Ranker> GroupSession for RankSession<R> {
    const KIND: &'static str = "ranker";
    const ABOUT: About = R::ABOUT;

    fn plan(text: &str, input: &[Column]) -> Result<Plan, Failure> {
        R::plan(&options(text)?, input)
    }

    fn open(text: &str, input: &[Column], timestamp_us: i64) -> Result<Self, Failure> {
        let plan = R::plan(&options(text)?, input)?;
        let input = schema(input);
        let ranker = R::open(options(text)?, &input, &Batch { timestamp_us })?;
        let (input, output) = (with_index(&input, GROUP), with_index(&schema(&plan.writes), ROW));
        Ok(RankSession { ranker, input, output, waiting: Vec::new(), ranked: 0 })
    }

    fn push(&mut self, rows: Vec<u8>) -> Result<Messages, Failure> {
        let rows = decode(rows, &self.input, &LIMITS)?;
        let groups = groups_of(&rows)?;
        let Some(last) = groups.last() else { return Ok(Messages::new()) };
        let complete = groups.partition_point(|group| group < last);
        let waiting = self.waiting.last().map(groups_of).transpose()?.and_then(|groups| groups.last());
        if complete == 0 && waiting.is_none_or(|waiting| waiting == last) {
            self.waiting.push(rows);
            return Ok(Messages::new());
        }
        let open = vec![rows.slice(complete, rows.num_rows() - complete)];
        let mut pieces = std::mem::replace(&mut self.waiting, open);
        pieces.push(rows.slice(0, complete));
        self.rank(&pieces)
    }

    fn finish(&mut self) -> Result<Messages, Failure> {
        let pieces = std::mem::take(&mut self.waiting);
        self.rank(&pieces)
    }
}

impl<R: Ranker> RankSession<R> {
    fn rank(&mut self, pieces: &[RecordBatch]) -> Result<Messages, Failure> {
        let rows = concat_batches(&self.input, pieces)?;
        let ranges = runs(groups_of(&rows)?);
        if ranges.is_empty() {
            return Ok(Messages::new());
        }
        let seen: Vec<usize> = (0..rows.num_columns() - 1).collect();
        let Ranked { columns, rows: kept } = self.ranker.rank(&rows.project(&seen)?, &ranges)?;
        let first = self.ranked;
        self.ranked += rows.num_rows();
        // Values without rows are a mistake, which is told below.
        if kept.is_empty() && columns.iter().all(|column| column.is_empty()) {
            return Ok(Messages::new());
        }
        let number = |row: usize| i32::try_from(first + row).map_err(Failure::bug);
        let index = kept.into_iter().map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(vec![indexed(&self.output, columns, index)?])
    }
}

/// An aggregator at work.
#[derive(Debug)]
pub struct AggregateSession<A> {
    aggregator: A,
    input: SchemaRef,
    output: SchemaRef,
    /// The group at work.
    group: Option<i32>,
    /// Groups that are closed and not yet sent.
    closed: Vec<i32>,
}

impl<A: Aggregator> GroupSession for AggregateSession<A> {
    const KIND: &'static str = "aggregator";
    const ABOUT: About = A::ABOUT;

    fn plan(text: &str, input: &[Column]) -> Result<Plan, Failure> {
        A::plan(&options(text)?, input)
    }

    fn open(text: &str, input: &[Column], timestamp_us: i64) -> Result<Self, Failure> {
        let plan = A::plan(&options(text)?, input)?;
        let input = schema(input);
        let aggregator = A::open(options(text)?, &input, &Batch { timestamp_us })?;
        let (input, output) = (with_index(&input, GROUP), with_index(&schema(&plan.writes), GROUP));
        Ok(AggregateSession { aggregator, input, output, group: None, closed: Vec::new() })
    }

    fn push(&mut self, rows: Vec<u8>) -> Result<Messages, Failure> {
        let rows = decode(rows, &self.input, &LIMITS)?;
        let groups = groups_of(&rows)?;
        for range in runs(groups) {
            let group = groups[range.start];
            if self.group != Some(group) {
                self.close()?;
                self.group = Some(group);
            }
            self.aggregator.add(&rows, range)?;
        }
        self.answer()
    }

    fn finish(&mut self) -> Result<Messages, Failure> {
        self.close()?;
        self.answer()
    }
}

impl<A: Aggregator> AggregateSession<A> {
    fn close(&mut self) -> Result<(), Failure> {
        if let Some(group) = self.group.take()
            && self.aggregator.close()?
        {
            self.closed.push(group);
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Messages, Failure> {
        if self.closed.is_empty() {
            return Ok(Messages::new());
        }
        let columns = self.aggregator.take()?;
        Ok(vec![indexed(&self.output, columns, std::mem::take(&mut self.closed))?])
    }
}

/// The group of each row: the last column.
fn groups_of(rows: &RecordBatch) -> Result<&[i32], Failure> {
    let column = rows.columns().last().and_then(|column| column.as_primitive_opt::<Int32Type>());
    Ok(column.ok_or_else(|| Failure::input(format!("`{GROUP}` is missing")))?.values())
}

/// Where each group stands. Groups ascend, so that the end of one is looked for in steps that double.
fn runs(groups: &[i32]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    while let Some(group) = groups.get(start) {
        let mut step = 1;
        let mut end = start + 1;
        while groups.get(end + step).is_some_and(|other| other == group) {
            end += step;
            step *= 2;
        }
        let rest = groups.get(end..groups.len().min(end + step + 1)).unwrap_or_default();
        end += rest.partition_point(|other| other == group);
        runs.push(start..end);
        start = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_of_all_lengths_are_found() {
        for lengths in [vec![], vec![1], vec![5], vec![1, 1, 2, 3, 1], vec![100, 1, 37, 64, 65, 2], vec![1_000, 999]] {
            let groups: Vec<i32> = lengths.iter().enumerate().flat_map(|(g, n)| vec![g as i32 * 3; *n]).collect();
            let found = runs(&groups);
            assert_eq!(found.iter().map(|run| run.len()).collect::<Vec<_>>(), lengths);
            assert!(found.iter().all(|run| groups[run.clone()].iter().all(|g| *g == groups[run.start])));
            assert_eq!(found.last().map_or(0, |run| run.end), groups.len());
        }
    }
}
