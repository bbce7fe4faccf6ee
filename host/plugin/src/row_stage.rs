//! A component bound to options and an input: chunks of rows in, rows and rejections out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::bindings::Message;
use crate::columns::Columns;
use crate::failure::explain;
use crate::instance::{Blueprint, Instance, Opening};
use crate::limits::{Limits, ROWS_MAX};
use crate::output::Answer;
use crate::pool::Pool;
use crate::ticker::Ticker;
use crate::{CallError, Component, output};

/// A row stage, ready for rows. Made by [`Component::row_stage`]; several threads may call it at once.
#[derive(Debug)]
pub struct RowStage {
    component: Arc<Component>,
    options: String,
    columns: Columns,
    limits: Limits,
    pool: Pool,
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
        let pool = Pool::new(component.reuse(), limits.memory_bytes_max);
        Self { component, options, columns, limits, pool }
    }

    /// The component behind it.
    pub fn component(&self) -> &Arc<Component> {
        &self.component
    }

    /// Columns of the input that the component sees, in this order; no others may be given to [`Self::call`].
    pub fn reads(&self) -> &[String] {
        &self.columns.reads
    }

    /// Columns that it gives; none for a validator.
    pub fn writes(&self) -> SchemaRef {
        self.columns.writes.clone()
    }

    /// Works on at most [`ROWS_MAX`] rows with exactly the columns of [`Self::reads`]. Blocks for at most the deadline
    /// of the limits. `timestamp_us` is what "now" means, in microseconds since 1970 UTC.
    ///
    /// # Errors
    /// The component trapped, broke a limit, gave what does not hold, or failed by itself. Nothing of the call may be
    /// used then; other calls are not touched by it.
    pub fn call(&self, rows: &RecordBatch, timestamp_us: i64) -> Result<RowOutput, CallError> {
        self.check(rows)?;
        if rows.num_rows() == 0 {
            let empty = (!self.is_validator()).then(|| RecordBatch::new_empty(self.writes()));
            return Ok(RowOutput { rows: empty, origin: Vec::new(), rejected: Vec::new() });
        }
        let work = || {
            let message = crisol_ipc::encode(rows).map_err(|error| CallError::Host { what: error.to_string() })?;
            let answer = self.answer(&message, timestamp_us)?;
            output::read(answer, &self.columns.message, rows.num_rows(), &self.limits)
        };
        // Nothing is known to panic on an answer; if something does, it costs this call and not the process.
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(CallError::Host { what: "the host panicked on its answer".to_string() }))
    }

    fn is_validator(&self) -> bool {
        matches!(self.component.blueprint(), Some(Blueprint::Verdicts(_)))
    }

    fn check(&self, rows: &RecordBatch) -> Result<(), CallError> {
        if rows.num_rows() > ROWS_MAX {
            let what = format!("{} rows were given in one call, {ROWS_MAX} are allowed", rows.num_rows());
            return Err(CallError::Host { what });
        }
        let (wanted, given) = (self.columns.input_schema.fields(), rows.schema_ref().fields());
        let same = wanted.len() == given.len()
            && wanted.iter().zip(given).all(|(w, g)| w.name() == g.name() && w.data_type() == g.data_type());
        let nulls = wanted.iter().zip(rows.columns()).any(|(w, column)| !w.is_nullable() && column.null_count() > 0);
        if same && !nulls {
            return Ok(());
        }
        let names: Vec<&str> = given.iter().map(|field| field.name().as_str()).collect();
        let what = format!("columns {names:?} were given, {:?} were agreed on", self.columns.reads);
        Err(CallError::Host { what })
    }

    fn answer(&self, message: &Message, timestamp_us: i64) -> Result<Answer, CallError> {
        let Some(blueprint) = self.component.blueprint() else {
            return Err(CallError::Host { what: "it is no row component".to_string() });
        };
        let mut instance = match self.pool.take() {
            Some(instance) => self.again(instance, timestamp_us),
            None => Instance::new(self.component.store(&self.limits, timestamp_us)),
        };
        let opening = Opening { options: &self.options, input: &self.columns.input, timestamp_us };
        match instance.call(blueprint, opening, message) {
            Ok(answer) => {
                self.pool.put(instance);
                Ok(answer)
            }
            Err(stop) => Err(explain(stop, instance.store.data(), &self.limits)),
        }
    }

    fn again(&self, mut instance: Instance, timestamp_us: i64) -> Instance {
        instance.store.set_epoch_deadline(Ticker::ticks(self.limits.deadline_ms_max));
        instance.store.data_mut().next_call(timestamp_us);
        instance
    }
}
