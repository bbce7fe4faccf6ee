//! Stages that work on whole columns: for speed, and where the columns are only known from the options.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use serde::de::DeserializeOwned;

use crate::record::bound;
use crate::value::{Field, Value};
use crate::{About, Batch, Column, Failure, Plan, Rejections};

/// A column as the typed array of a value, without a copy: `columns::read::<Decimal<18, 2>>(rows, "amount")?` is a
/// `&Decimal128Array`, and a list, map or record is read with [`Value::get`].
///
/// # Errors
/// A column that is missing or has another type.
pub fn read<'a, V: Value<'a> + Field<'a, Value = V>>(rows: &'a RecordBatch, name: &str) -> Result<V::Column, Failure> {
    bound::<V>(rows.column_by_name(name), name)
}

/// A decoder or transformer over columns. Exported with `crisol_sdk::decoder!(columns MyStage)` or
/// `crisol_sdk::transformer!(columns MyStage)`.
pub trait Stage: Sized {
    /// Its options. [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;

    /// Name, version, schema versions, JSON Schema of the options.
    const ABOUT: About;

    /// What it reads and writes for these options and this input. Depends on nothing else, and gives the same when
    /// the input is only what it reads.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn plan(options: &Self::Options, input: &[Column]) -> Result<Plan, Failure>;

    /// Gets ready for one batch. `input` has the columns that `plan` reads, in that order.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn open(options: Self::Options, input: &SchemaRef, batch: &Batch) -> Result<Self, Failure>;

    /// Some rows in, some rows out. Nothing may be kept that changes what a later call gives.
    ///
    /// # Errors
    /// Only when the stage cannot work at all; a bad row is rejected.
    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure>;
}

/// What came of some rows. Every input row is in `origin` at least once or in `rejected` once, never both.
#[derive(Debug, Default)]
pub struct Output {
    /// The planned columns, in that order, all of one length.
    pub columns: Vec<ArrayRef>,
    /// For each row of `columns` the input row that it came from, counted from 0, never descending.
    pub origin: Vec<i32>,
    /// Input rows that gave nothing, and why.
    pub rejected: Rejections,
}

/// A validator over columns. Exported with `crisol_sdk::validator!(columns MyRules)`.
pub trait Validator: Sized {
    /// Its options. [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// Names of the input columns that it wants to see, in that order.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn reads(options: &Self::Options, input: &[Column]) -> Result<Vec<String>, Failure>;

    /// Gets ready for one batch. `input` has the columns of `reads`.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn open(options: Self::Options, input: &SchemaRef, batch: &Batch) -> Result<Self, Failure>;

    /// The rows that break a rule; a row may be there once for each rule.
    ///
    /// # Errors
    /// Only when the rules cannot be checked at all.
    fn check(&mut self, rows: &RecordBatch) -> Result<Rejections, Failure>;
}

/// A ranker over columns. Exported with `crisol_sdk::ranker!(columns MyRanker)`.
pub trait Ranker: Sized {
    /// Its options. [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// What it reads and writes for these options and this input; as for [`Stage::plan`].
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn plan(options: &Self::Options, input: &[Column]) -> Result<Plan, Failure>;

    /// Gets ready for some groups. `input` has the columns that `plan` reads, in that order.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn open(options: Self::Options, input: &SchemaRef, batch: &Batch) -> Result<Self, Failure>;

    /// Whole groups: each of `groups` is where the rows of one stand in `rows`. Groups come one after another and
    /// never twice; what is given may not depend on how many come at once.
    ///
    /// # Errors
    /// Only when the groups cannot be ranked at all.
    fn rank(&mut self, rows: &RecordBatch, groups: &[Range<usize>]) -> Result<Ranked, Failure>;
}

/// The rows that a ranker keeps; the others are not part of the result.
#[derive(Debug, Default)]
pub struct Ranked {
    /// The planned columns, in that order, all of one length.
    pub columns: Vec<ArrayRef>,
    /// For each row of `columns` the row of the input that it stands for, each at most once.
    pub rows: Vec<usize>,
}

/// An aggregator over columns: it folds the rows of a group as they come, so that a group may be larger than memory.
/// Exported with `crisol_sdk::aggregator!(columns MyAggregator)`.
pub trait Aggregator: Sized {
    /// Its options. [`crate::NoOptions`] when it takes none.
    type Options: DeserializeOwned;

    /// Name, version, JSON Schema of the options.
    const ABOUT: About;

    /// What it reads and writes for these options and this input; as for [`Stage::plan`].
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn plan(options: &Self::Options, input: &[Column]) -> Result<Plan, Failure>;

    /// Gets ready for some groups. `input` has the columns that `plan` reads, in that order.
    ///
    /// # Errors
    /// Options or columns that do not fit.
    fn open(options: Self::Options, input: &SchemaRef, batch: &Batch) -> Result<Self, Failure>;

    /// More rows of the group at work: those of `range`.
    ///
    /// # Errors
    /// Only when the group cannot be aggregated at all.
    fn add(&mut self, rows: &RecordBatch, range: Range<usize>) -> Result<(), Failure>;

    /// The group at work is complete. `false` when it is not part of the result.
    ///
    /// # Errors
    /// Only when the group cannot be aggregated at all.
    fn close(&mut self) -> Result<bool, Failure>;

    /// The planned columns, with one row for each group for which [`Self::close`] gave `true` since the last time.
    ///
    /// # Errors
    /// Only when the component is wrong.
    fn take(&mut self) -> Result<Vec<ArrayRef>, Failure>;
}
