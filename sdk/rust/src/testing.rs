//! Runs stages natively, over the same messages that cross between host and component: for the unit tests of stages.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, RecordBatchOptions, StringArray, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use crisol_ipc::{Limits, ROW, decode, encode, rejections_schema, with_index};

use crate::columns::{Stage, Validator};
use crate::raw::session::{RowSession, VerdictSession, plan_stage, plan_validator, schema};
use crate::rows::{self, Checking, Decoding, Transforming};
use crate::{Column, Failure, Plan, Rejected, Rejections};

mod groups;

pub use groups::{Answer, aggregate, aggregator, rank, ranker};

/// The batch timestamp of tests: 2026-04-01T00:00:00Z.
pub const NOW_US: i64 = 1_775_001_600_000_000;

/// What a stage gave.
#[derive(Debug)]
pub struct Outcome {
    /// Its rows, without `_row`.
    pub rows: RecordBatch,
    /// For each row the input row that it came from.
    pub origin: Vec<i32>,
    /// Rejected rows, by input row.
    pub rejected: Vec<Rejected>,
}

impl Outcome {
    /// The rows as text, the values of each joined by ` | `: easy to compare. Null is `null`.
    pub fn table(&self) -> Vec<String> {
        table(&self.rows)
    }

    /// Rejected rows as `row code: text`.
    pub fn reasons(&self) -> Vec<String> {
        reasons(&self.rejected)
    }
}

/// Runs a decoder over messages.
///
/// # Errors
/// What the decoder says, or an answer that a host would refuse.
pub fn decode_texts<D: rows::Decoder>(options: &str, messages: &[&str]) -> Result<Outcome, Failure> {
    let column: ArrayRef = Arc::new(StringArray::from(messages.to_vec()));
    stage::<Decoding<D>>(options, &input(&[(D::READS, column)])?)
}

/// Runs a decoder over messages that need not be text; `None` is a message without a value.
///
/// # Errors
/// What the decoder says, or an answer that a host would refuse.
pub fn decode_bytes<D: rows::Decoder>(options: &str, messages: &[Option<&[u8]>]) -> Result<Outcome, Failure> {
    let column: ArrayRef = Arc::new(BinaryArray::from(messages.to_vec()));
    stage::<Decoding<D>>(options, &input(&[(D::READS, column)])?)
}

/// Runs a transformer over rows.
///
/// # Errors
/// What the transformer says, or an answer that a host would refuse.
pub fn transform<'a, T: rows::Transformer>(options: &str, rows: &[T::Input<'a>]) -> Result<Outcome, Failure> {
    stage::<Transforming<T>>(options, &batch_of(&rows.iter().collect::<Vec<_>>())?)
}

/// Runs a validator over rows.
///
/// # Errors
/// What the validator says, or an answer that a host would refuse.
pub fn check<'a, V: rows::Validator>(options: &str, rows: &[V::Row<'a>]) -> Result<Vec<Rejected>, Failure> {
    validator::<Checking<V>>(options, &batch_of(&rows.iter().collect::<Vec<_>>())?)
}

/// Runs a stage over columns on a batch that may have more columns than it reads.
///
/// # Errors
/// What the stage says, or an answer that a host would refuse.
pub fn stage<S: Stage>(options: &str, input: &RecordBatch) -> Result<Outcome, Failure> {
    let plan = plan_stage::<S>(options, &Column::all_of(input.schema_ref()))?;
    let (columns, rows) = narrowed(&plan, input)?;
    let mut session = RowSession::<S>::open(options, &columns, NOW_US)?;
    let (bytes, rejected) = session.push(encode(&rows)?)?;
    let answer = decode(bytes, &with_index(&schema(&plan.writes), ROW), &Limits::default())?;
    let last = answer.num_columns() - 1;
    let origin = answer.column(last).as_primitive::<Int32Type>().values().to_vec();
    let names: Vec<usize> = (0..last).collect();
    let outcome = Outcome { rows: answer.project(&names)?, origin, rejected: read(rejected)? };
    account(&outcome, input.num_rows())?;
    Ok(outcome)
}

/// Runs a validator over columns on a batch that may have more columns than it reads.
///
/// # Errors
/// What the validator says, or an answer that a host would refuse.
pub fn validator<V: Validator>(options: &str, input: &RecordBatch) -> Result<Vec<Rejected>, Failure> {
    let plan = plan_validator::<V>(options, &Column::all_of(input.schema_ref()))?;
    let (columns, rows) = narrowed(&plan, input)?;
    let mut session = VerdictSession::<V>::open(options, &columns, NOW_US)?;
    read(session.check(encode(&rows)?)?)
}

/// A batch of named columns.
///
/// # Errors
/// Columns of different lengths.
pub fn input(columns: &[(&str, ArrayRef)]) -> Result<RecordBatch, Failure> {
    Ok(RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(n, c)| (*n, Arc::clone(c), true)))?)
}

/// Rows of a batch as text.
pub fn table(rows: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("null").with_timestamp_tz_format(Some("%Y-%m-%dT%H:%M:%S%.fZ"));
    let columns: Result<Vec<ArrayRef>, _> =
        rows.columns().iter().map(|c| in_offset(c.to_data()).map(make_array)).collect();
    let columns = columns.unwrap_or_default();
    let formatters =
        columns.iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options)).collect::<Result<Vec<_>, _>>();
    match formatters {
        Ok(columns) => (0..rows.num_rows())
            .map(|row| columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(" | "))
            .collect(),
        Err(error) => vec![format!("cannot be shown: {error}")],
    }
}

/// Timestamps in `+00:00`: arrow-cast knows no names of zones unless it carries all of them.
fn in_offset(data: ArrayData) -> Result<ArrayData, ArrowError> {
    let children = data.child_data().iter().cloned().map(in_offset).collect::<Result<Vec<_>, _>>()?;
    let relabelled = |field: &Field, child: usize| {
        let data_type = children.get(child).map_or(DataType::Null, |c| c.data_type().clone());
        Field::new(field.name(), data_type, field.is_nullable())
    };
    let data_type = match data.data_type() {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::List(field) => DataType::List(Arc::new(relabelled(field, 0))),
        DataType::Map(field, sorted) => DataType::Map(Arc::new(relabelled(field, 0)), *sorted),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().enumerate().map(|(i, f)| relabelled(f, i)).collect())
        }
        other => other.clone(),
    };
    data.into_builder().data_type(data_type).child_data(children).build()
}

/// Rejected rows as `row code: text`.
pub fn reasons(rejected: &[Rejected]) -> Vec<String> {
    rejected.iter().map(|r| format!("{} {}: {}", r.row, r.code, r.text)).collect()
}

fn batch_of<'a, R: crate::Record<'a>>(rows: &[&R]) -> Result<RecordBatch, Failure> {
    let mut builders = R::builders(rows.len());
    rows.iter().for_each(|row| R::append(Some(*row), &mut builders));
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(schema(&R::columns()), R::finish(builders), &options)?)
}

fn narrowed(plan: &Plan, input: &RecordBatch) -> Result<(Vec<Column>, RecordBatch), Failure> {
    let index = |name: &String| input.schema_ref().index_of(name).map_err(|e| Failure::input(e.to_string()));
    let indices = plan.reads.iter().map(index).collect::<Result<Vec<_>, _>>()?;
    let rows = input.project(&indices)?;
    Ok((Column::all_of(&rows.schema()), rows))
}

fn read(message: Option<Vec<u8>>) -> Result<Vec<Rejected>, Failure> {
    let Some(message) = message else { return Ok(Vec::new()) };
    Ok(Rejections::read(&decode(message, &rejections_schema(), &Limits::default())?)?)
}

/// The accounts that a host keeps: each input row is in the rows at least once, or rejected once, never both.
fn account(outcome: &Outcome, rows: usize) -> Result<(), Failure> {
    let mut fates = vec![0u8; rows];
    let mut last = 0;
    for row in &outcome.origin {
        let fate = usize::try_from(*row).ok().and_then(|r| fates.get_mut(r));
        *fate.ok_or_else(|| Failure::bug(format!("`_row` {row} is no input row")))? = 1;
        if *row < last {
            return Err(Failure::bug(format!("`_row` descends from {last} to {row}")));
        }
        last = *row;
    }
    for rejected in &outcome.rejected {
        let row = rejected.row;
        match usize::try_from(row).ok().and_then(|r| fates.get_mut(r)) {
            Some(fate) if *fate == 0 => *fate = 2,
            Some(_) => return Err(Failure::bug(format!("row {row} has two fates"))),
            None => return Err(Failure::bug(format!("rejected row {row} is no input row"))),
        }
    }
    match fates.iter().position(|f| *f == 0) {
        Some(row) => Err(Failure::bug(format!("row {row} is neither returned nor rejected"))),
        None => Ok(()),
    }
}

/// What a stage says of itself, as a host reads it.
///
/// # Errors
/// A description that is not as hosts want it.
pub fn description(about: &crate::About, kind: &str) -> Result<serde_json::Value, Failure> {
    serde_json::from_str(&about.describe(kind)).map_err(Failure::bug)
}

/// A batch as the message that a host sends.
///
/// # Errors
/// A column of a type that contracts do not have.
pub fn message(rows: &RecordBatch) -> Result<Vec<u8>, Failure> {
    Ok(encode(rows)?)
}
