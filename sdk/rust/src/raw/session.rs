//! A stage between messages: bytes in, bytes out. The same code runs in a component and in native tests.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use crisol_ipc::{Limits, ROW, Rejections, decode, encode, with_index};

use crate::about::options;
use crate::columns::{Output, Stage, Validator};
use crate::{Batch, Column, Failure, Plan};

/// What the host sends is bounded by the host.
pub(super) const LIMITS: Limits = Limits { rows_max: i32::MAX as usize, bytes_max: i32::MAX as usize };

/// An answer of [`RowSession::push`]: rows, and rejected rows if there are any.
pub type Answer = (Vec<u8>, Option<Vec<u8>>);

/// A decoder or transformer at work.
#[derive(Debug)]
pub struct RowSession<S> {
    stage: S,
    input: SchemaRef,
    output: SchemaRef,
}

impl<S: Stage> RowSession<S> {
    /// Gets ready for a batch. `input` has the columns that the plan reads.
    ///
    /// # Errors
    /// What the stage says, or options that do not fit.
    pub fn open(text: &str, input: &[Column], timestamp_us: i64) -> Result<Self, Failure> {
        let plan = S::plan(&options(text)?, input)?;
        let input = schema(input);
        let stage = S::open(options(text)?, &input, &Batch { timestamp_us })?;
        Ok(RowSession { stage, input, output: with_index(&schema(&plan.writes), ROW) })
    }

    /// One message of rows.
    ///
    /// # Errors
    /// What the stage says, or output that does not fit its own plan.
    pub fn push(&mut self, rows: Vec<u8>) -> Result<Answer, Failure> {
        let rows = decode(rows, &self.input, &LIMITS)?;
        let Output { columns, origin, rejected } = self.stage.push(&rows)?;
        Ok((indexed(&self.output, columns, origin)?, message(rejected)?))
    }
}

/// A validator at work.
#[derive(Debug)]
pub struct VerdictSession<V> {
    validator: V,
    input: SchemaRef,
}

impl<V: Validator> VerdictSession<V> {
    /// Gets ready for a batch.
    ///
    /// # Errors
    /// What the validator says, or options that do not fit.
    pub fn open(text: &str, input: &[Column], timestamp_us: i64) -> Result<Self, Failure> {
        let input = schema(input);
        let validator = V::open(options(text)?, &input, &Batch { timestamp_us })?;
        Ok(VerdictSession { validator, input })
    }

    /// One message of rows.
    ///
    /// # Errors
    /// What the validator says.
    pub fn check(&mut self, rows: Vec<u8>) -> Result<Option<Vec<u8>>, Failure> {
        let rows = decode(rows, &self.input, &LIMITS)?;
        message(self.validator.check(&rows)?)
    }
}

/// What a stage reads and writes, from the text of its options.
///
/// # Errors
/// What the stage says, or options that do not fit.
pub fn plan_stage<S: Stage>(text: &str, input: &[Column]) -> Result<Plan, Failure> {
    S::plan(&options(text)?, input)
}

/// What a validator reads, from the text of its options.
///
/// # Errors
/// What the validator says, or options that do not fit.
pub fn plan_validator<V: Validator>(text: &str, input: &[Column]) -> Result<Plan, Failure> {
    let reads = V::reads(&options(text)?, input)?;
    Ok(Plan { reads, writes: Vec::new() })
}

pub(crate) fn schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// The message of an answer: the planned columns, and `_row` or `_group`.
pub(super) fn indexed(output: &SchemaRef, mut columns: Vec<ArrayRef>, index: Vec<i32>) -> Result<Vec<u8>, Failure> {
    let options = RecordBatchOptions::new().with_row_count(Some(index.len()));
    columns.push(Arc::new(Int32Array::from(index)));
    let rows = RecordBatch::try_new_with_options(Arc::clone(output), columns, &options)
        .map_err(|e| Failure::bug(format!("the stage's columns do not fit its plan: {e}")))?;
    Ok(encode(&rows)?)
}

fn message(rejected: Rejections) -> Result<Option<Vec<u8>>, Failure> {
    Ok(rejected.finish()?.map(|batch| encode(&batch)).transpose()?)
}
