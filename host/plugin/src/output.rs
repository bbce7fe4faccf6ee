//! Answers of a component, decoded and checked. Nothing that comes from here is hostile any more.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use crisol_ipc::{IpcError, Rejections, decode, rejections_schema};

use crate::limits::{Limits, MESSAGE_BYTES_MAX};
use crate::text::printable;
use crate::{CallError, RowOutput, accounts};

/// What `push` or `check` gave, as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Rows; `None` from a validator.
    pub(crate) rows: Option<Vec<u8>>,
    /// Rejections, when there are any.
    pub(crate) rejected: Option<Vec<u8>>,
}

/// Decodes an answer to `rows` input rows and settles its accounts.
pub(crate) fn read(answer: Answer, message: &SchemaRef, rows: usize, limits: &Limits) -> Result<RowOutput, CallError> {
    let rejected = match answer.rejected {
        Some(bytes) => {
            let batch = batch(bytes, &rejections_schema(), limits, "`rejected`")?;
            Rejections::read(&batch).map_err(|error| invalid("`rejected`", &error))?
        }
        None => Vec::new(),
    };
    let Some(given) = answer.rows else {
        let (origin, rejected) = accounts::judge(rows, rejected, limits)?;
        return Ok(RowOutput { rows: None, origin, rejected });
    };
    let given = batch(given, message, limits, "`rows`")?;
    let origin = accounts::origin(&given, rows)?;
    let rejected = accounts::settle(rows, &origin, rejected, limits)?;
    Ok(RowOutput { rows: Some(without_last(given)?), origin, rejected })
}

/// What a session of groups has given so far.
#[derive(Debug, Default)]
pub(crate) struct Given {
    rows: u64,
    bytes: u64,
}

impl Given {
    /// Decodes the next message of the session and counts it.
    pub(crate) fn read(
        &mut self,
        message: Vec<u8>,
        schema: &SchemaRef,
        limits: &Limits,
    ) -> Result<RecordBatch, CallError> {
        self.bytes += message.len() as u64;
        if self.bytes > limits.output_bytes_max {
            return Err(too_many_bytes(self.bytes, limits.output_bytes_max, "a session"));
        }
        let batch = batch(message, schema, limits, "`rows`")?;
        self.rows += batch.num_rows() as u64;
        if self.rows > limits.output_rows_max {
            return Err(too_many_rows(self.rows, limits.output_rows_max, "a session"));
        }
        Ok(batch)
    }
}

fn batch(bytes: Vec<u8>, schema: &SchemaRef, limits: &Limits, part: &str) -> Result<RecordBatch, CallError> {
    let at_most = |max: u64| usize::try_from(max).unwrap_or(usize::MAX);
    let bounds =
        crisol_ipc::Limits { rows_max: at_most(limits.output_rows_max), bytes_max: at_most(limits.output_bytes_max) };
    decode(bytes, schema, &bounds).map_err(|error| match error {
        IpcError::Limit { what: "rows", found, max } => too_many_rows(found, max, "a call"),
        IpcError::Limit { found, max, .. } => too_many_bytes(found, max, "a call"),
        error => invalid(part, &error),
    })
}

fn too_many_rows(found: u64, limit: u64, of: &'static str) -> CallError {
    CallError::Output { actual: Some(found), limit, unit: "rows", of, setting: "output_rows_max" }
}

fn too_many_bytes(found: u64, limit: u64, of: &'static str) -> CallError {
    CallError::Output { actual: Some(found), limit, unit: "bytes", of, setting: "output_bytes_max" }
}

/// The planned columns alone.
pub(crate) fn without_last(batch: RecordBatch) -> Result<RecordBatch, CallError> {
    let planned: Vec<usize> = (0..batch.num_columns().saturating_sub(1)).collect();
    batch.project(&planned).map_err(|error| CallError::Host { what: error.to_string() })
}

fn invalid(part: &str, error: &IpcError) -> CallError {
    CallError::Invalid { what: format!("{part}: {}", printable(&error.to_string(), MESSAGE_BYTES_MAX)) }
}
