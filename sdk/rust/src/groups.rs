//! Rankers and aggregators that work on records: the short way to write one. Each becomes one over columns.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use serde::de::DeserializeOwned;

use crate::columns::{self, Ranked};
use crate::record::Record;
use crate::rows::wanted;
use crate::{About, Batch, Column, Failure, Plan};

/// Chooses rows of a group. Exported with `crisol_sdk::ranker!(MyRanker)`.
pub trait Ranker: Sized {
    /// Its options; [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;
    /// What it reads; the input must have these columns. The others come back with the rows that are kept.
    type Row<'a>: Record<'a>;
    /// The columns that it adds to the rows that are kept.
    type Output: Record<'static>;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// Gets ready for some groups.
    ///
    /// # Errors
    /// Options that do not fit.
    fn open(options: Self::Options, batch: &Batch) -> Result<Self, Failure>;

    /// All rows of one group, in no order to rely on. Pushes those that are kept, by their place in `group`, each at
    /// most once.
    ///
    /// # Errors
    /// The group cannot be ranked at all, which stops the stream.
    fn rank(&self, group: &[Self::Row<'_>], kept: &mut Vec<(usize, Self::Output)>) -> Result<(), Failure>;
}

/// Makes one row of a group. Exported with `crisol_sdk::aggregator!(MyAggregator)`.
pub trait Aggregator: Sized {
    /// Its options; [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;
    /// What it reads; the input must have these columns.
    type Row<'a>: Record<'a>;
    /// What it keeps of a group while its rows come.
    type State: Default;
    /// What it makes; the columns of the group stand in front of it.
    type Output: Record<'static>;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// Gets ready for some groups.
    ///
    /// # Errors
    /// Options that do not fit.
    fn open(options: Self::Options, batch: &Batch) -> Result<Self, Failure>;

    /// One more row of the group, in no order to rely on.
    ///
    /// # Errors
    /// The group cannot be aggregated at all, which stops the stream.
    fn add(&self, state: &mut Self::State, row: Self::Row<'_>) -> Result<(), Failure>;

    /// The group is complete. `None` when it is not part of the result.
    ///
    /// # Errors
    /// The group cannot be aggregated at all, which stops the stream.
    fn finish(&self, state: Self::State) -> Result<Option<Self::Output>, Failure>;
}

/// A [`Ranker`] as a ranker over columns.
#[derive(Debug)]
pub struct Ranking<R>(R);

impl<R: Ranker> columns::Ranker for Ranking<R> {
    type Options = R::Options;
    const ABOUT: About = R::ABOUT;

    fn plan(_: &R::Options, input: &[Column]) -> Result<Plan, Failure> {
        planned::<R::Row<'static>, R::Output>(input)
    }

    fn open(options: R::Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        R::open(options, batch).map(Ranking)
    }

    fn rank(&mut self, rows: &RecordBatch, groups: &[Range<usize>]) -> Result<Ranked, Failure> {
        let arrays = <R::Row<'_> as Record>::bind(rows.columns())?;
        let mut builders = R::Output::builders(groups.len());
        let mut ranked = Ranked::default();
        let mut kept = Vec::new();
        for range in groups {
            let group = range.clone().map(|row| <R::Row<'_> as Record>::get(&arrays, row).map_err(null));
            self.0.rank(&group.collect::<Result<Vec<_>, _>>()?, &mut kept)?;
            for (place, output) in kept.drain(..) {
                ranked.rows.push(range.start + place);
                R::Output::append(Some(&output), &mut builders);
            }
        }
        ranked.columns = R::Output::finish(builders);
        Ok(ranked)
    }
}

/// An [`Aggregator`] as an aggregator over columns.
pub struct Aggregating<A: Aggregator> {
    aggregator: A,
    state: A::State,
    builders: <A::Output as Record<'static>>::Builders,
}

impl<A: Aggregator> columns::Aggregator for Aggregating<A> {
    type Options = A::Options;
    const ABOUT: About = A::ABOUT;

    fn plan(_: &A::Options, input: &[Column]) -> Result<Plan, Failure> {
        planned::<A::Row<'static>, A::Output>(input)
    }

    fn open(options: A::Options, _: &SchemaRef, batch: &Batch) -> Result<Self, Failure> {
        let aggregator = A::open(options, batch)?;
        Ok(Aggregating { aggregator, state: A::State::default(), builders: A::Output::builders(0) })
    }

    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure> {
        let arrays = <A::Row<'_> as Record>::bind(rows.columns())?;
        for row in range {
            let record = <A::Row<'_> as Record>::get(&arrays, row).map_err(null)?;
            self.aggregator.add(&mut self.state, record)?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<bool, Failure> {
        let output = self.aggregator.finish(std::mem::take(&mut self.state))?;
        if let Some(output) = &output {
            A::Output::append(Some(output), &mut self.builders);
        }
        Ok(output.is_some())
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>, Failure> {
        Ok(A::Output::finish(std::mem::replace(&mut self.builders, A::Output::builders(0))))
    }
}

impl<A: Aggregator> std::fmt::Debug for Aggregating<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Aggregating")
    }
}

fn planned<R: Record<'static>, O: Record<'static>>(input: &[Column]) -> Result<Plan, Failure> {
    Ok(Plan { reads: wanted(R::columns(), input)?, writes: O::columns() })
}

/// A group stage has no quarantine: a null where none may be stops it.
fn null(column: &'static str) -> Failure {
    Failure::input(format!(
        "column `{column}` is null in a row, or has a null in it; drop such rows before, or make what is null an `Option`"
    ))
}
