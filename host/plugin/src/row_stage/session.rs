//! Messages one after the other in one session of a new instance, also such without rows.

use arrow_array::RecordBatch;

use super::{RowOutput, RowStage};
use crate::failure::guarded;
use crate::instance::Instance;
use crate::state::State;
use crate::{CallError, output};

/// One session of a row stage, for whoever tests a component; a host uses [`RowStage::call`]. Made by [`RowStage::session`].
/// After an error it is over.
pub struct RowSession<'a> {
    stage: &'a RowStage,
    timestamp_us: i64,
    /// `None` once a call has failed.
    instance: Option<Instance>,
}

impl RowStage {
    /// A session in a new instance, which opens with the first message.
    pub fn session(&self, timestamp_us: i64) -> RowSession<'_> {
        let instance = Instance::new(self.component.store(&self.limits, timestamp_us));
        RowSession { stage: self, timestamp_us, instance: Some(instance) }
    }
}

impl RowSession<'_> {
    /// One message, one answer, as [`RowStage::call`] gives it.
    ///
    /// # Errors
    /// As for [`RowStage::call`].
    pub fn push(&mut self, rows: &RecordBatch) -> Result<RowOutput, CallError> {
        let Self { stage, timestamp_us, instance } = self;
        let limits = &stage.limits;
        stage.columns.check_rows(rows)?;
        let Some(mut working) = instance.take() else {
            return Err(CallError::Host { what: "the session is over: a call of it failed".to_string() });
        };
        State::next_call(&mut working.store, limits, *timestamp_us);
        let output = guarded(|| {
            let message = crisol_ipc::encode(rows).map_err(|error| CallError::Host { what: error.to_string() })?;
            let answer = stage.ask(&mut working, &message, *timestamp_us, limits)?;
            output::read(answer, &stage.columns.message, rows.num_rows(), limits)
        })?;
        *instance = Some(working);
        Ok(output)
    }
}

impl std::fmt::Debug for RowSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowSession").field("stage", &self.stage).finish_non_exhaustive()
    }
}
