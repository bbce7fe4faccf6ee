//! A component bound to options and an input: chunks of rows in, rows and rejections out.

mod session;

pub use session::RowSession;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::bindings::Message;
use crate::columns::Columns;
use crate::failure::{explain, guarded};
use crate::instance::{Instance, Opening};
use crate::kept::Kept;
use crate::limits::Limits;
use crate::output::Answer;
use crate::{CallError, Component, Kind, output};

/// A row stage, ready for rows. Made by [`Component::row_stage`]; several threads may call it at once.
#[derive(Debug)]
pub struct RowStage {
    component: Arc<Component>,
    options: String,
    columns: Columns,
    limits: Limits,
    kept: Option<Kept>,
}

/// What came of the rows of one call. Each input row is in `origin` at least once, or in `rejected` once.
#[derive(Debug)]
pub struct RowOutput {
    /// The planned columns; `None` from a validator.
    pub rows: Option<RecordBatch>,
    /// For each row given the input row that it came from, never descending; from a validator the rows that pass.
    pub origin: Vec<u32>,
    /// Rejected rows, by row.
    pub rejected: Vec<Rejected>,
}

/// An input row that does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Which row.
    pub row: u32,
    /// Dropped on purpose; else it goes to quarantine.
    pub filter: bool,
    /// Short stable reason.
    pub code: String,
    /// For people; safe to print.
    pub text: String,
}

impl RowStage {
    pub(crate) fn new(component: Arc<Component>, options: String, columns: Columns, limits: Limits) -> Self {
        let kept = Kept::of(&component);
        Self { component, options, columns, limits, kept }
    }

    /// The component behind it.
    pub fn component(&self) -> &Arc<Component> {
        &self.component
    }

    /// Its options, as the component gets them.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Columns of the input that the component sees, in this order; no others may be given to [`Self::call`].
    pub fn reads(&self) -> &[String] {
        &self.columns.reads
    }

    /// Columns that it gives; none for a validator.
    pub fn writes(&self) -> SchemaRef {
        self.columns.writes.clone()
    }

    /// Works on at most [`ROWS_MAX`](crate::ROWS_MAX) rows with exactly the columns of [`Self::reads`]. Blocks until there is
    /// memory for an instance, and then for at most the deadline of the limits, in processor time. `timestamp_us` is what
    /// "now" means, in microseconds since 1970 UTC.
    ///
    /// # Errors
    /// The component trapped, broke a limit, gave what does not hold, or failed by itself. Nothing of the call may be
    /// used then; other calls are not touched by it.
    pub fn call(&self, rows: &RecordBatch, timestamp_us: i64) -> Result<RowOutput, CallError> {
        self.call_within(rows, timestamp_us, &self.limits, self.kept.as_ref())
    }

    /// The same for some of `whole` rows on which a call failed: the deadline is as much shorter, and at least 200 ms
    /// where that is not more than the deadline itself. The instance is a fresh one: what it did before is not to blame.
    ///
    /// # Errors
    /// As for [`Self::call`].
    pub fn call_part(&self, rows: &RecordBatch, whole: usize, timestamp_us: i64) -> Result<RowOutput, CallError> {
        let limits = self.limits.for_part(rows.num_rows(), whole);
        self.call_within(rows, timestamp_us, &limits, None).map_err(|error| match error {
            CallError::Deadline { limit_ms, said, .. } if limit_ms < self.limits.deadline_ms_max => {
                CallError::Deadline { limit_ms, share_of_ms: Some(self.limits.deadline_ms_max), said }
            }
            error => error,
        })
    }

    /// `kept`: whose idle instances may be taken.
    fn call_within(
        &self,
        rows: &RecordBatch,
        timestamp_us: i64,
        limits: &Limits,
        kept: Option<&Kept>,
    ) -> Result<RowOutput, CallError> {
        self.columns.check_rows(rows)?;
        if rows.num_rows() == 0 {
            let empty = (!self.is_validator()).then(|| RecordBatch::new_empty(self.writes()));
            return Ok(RowOutput { rows: empty, origin: Vec::new(), rejected: Vec::new() });
        }
        guarded(|| {
            let message = crisol_ipc::encode(rows).map_err(|error| CallError::Host { what: error.to_string() })?;
            let answer = self.answer(&message, rows.num_rows(), timestamp_us, (limits, kept))?;
            output::read(answer, &self.columns.message, rows.num_rows(), limits)
        })
    }

    fn is_validator(&self) -> bool {
        self.component.kind() == Kind::Validator
    }

    fn answer(
        &self,
        message: &Message,
        rows: usize,
        timestamp_us: i64,
        (limits, kept): (&Limits, Option<&Kept>),
    ) -> Result<Answer, CallError> {
        let mut instance = kept
            .and_then(|kept| kept.take(limits, timestamp_us))
            .unwrap_or_else(|| Instance::new(self.component.store(limits, timestamp_us)));
        let ask = |instance: &mut Instance| self.ask(instance, message, timestamp_us, limits);
        let answer = self.component.meter().count(&mut instance, rows, ask)?;
        if let Some(kept) = kept {
            kept.put(instance, limits);
        }
        Ok(answer)
    }

    fn ask(
        &self,
        instance: &mut Instance,
        message: &Message,
        timestamp_us: i64,
        limits: &Limits,
    ) -> Result<Answer, CallError> {
        let Some(blueprint) = self.component.row_blueprint() else {
            return Err(CallError::Host { what: "it is no row component".to_string() });
        };
        let opening = Opening { options: &self.options, input: &self.columns.input, timestamp_us };
        let answer = instance.call(blueprint, opening, message);
        answer.map_err(|stop| explain(stop, instance.store.data(), limits))
    }
}
