//! A ranker or aggregator at work on some groups: rows in, checked answers out.

use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::bindings::Message;
use crate::columns::Columns;
use crate::failure::{Stop, explain, guarded};
use crate::group_accounts::GroupAccounts;
use crate::instance::Instance;
use crate::kept::Kept;
use crate::limits::Limits;
use crate::output::{Given, without_last};
use crate::state::State;
use crate::{CallError, Component, GroupStage};

/// Whole groups, pushed in pieces. Made by [`GroupStage::session`](crate::GroupStage::session). After an error it is
/// over, and nothing that it gave may be used.
pub struct GroupSession {
    component: Arc<Component>,
    columns: Arc<Columns>,
    limits: Limits,
    timestamp_us: i64,
    accounts: GroupAccounts,
    given: Given,
    kept: Option<Arc<Kept>>,
    reused: bool,
    /// `None` once a call has failed.
    instance: Option<Instance>,
}

/// Some rows that a session gave.
#[derive(Debug)]
pub struct GroupAnswer {
    /// The planned columns.
    pub rows: RecordBatch,
    /// For each row: from a ranker the input row that it stands for, counted from 0 since the session was opened; from
    /// an aggregator the group. Each is given at most once in a session.
    pub index: Vec<u32>,
}

impl GroupSession {
    pub(crate) fn new(stage: &GroupStage, instance: Instance, kept: Option<Arc<Kept>>, timestamp_us: i64) -> Self {
        Self {
            component: Arc::clone(stage.component()),
            columns: stage.columns().clone(),
            limits: stage.limits().clone(),
            timestamp_us,
            accounts: GroupAccounts::new(stage.component().kind()),
            given: Given::default(),
            kept,
            reused: instance.calls > 0,
            instance: Some(instance),
        }
    }

    /// Gives the next rows, at most [`ROWS_MAX`](crate::ROWS_MAX), with exactly the columns of
    /// [`GroupStage::reads`](crate::GroupStage::reads) and then `_group` (int, not null, never negative), which never
    /// descends over the session. What the component can already answer comes back.
    ///
    /// # Errors
    /// The component trapped, broke a limit, gave what does not hold, or failed by itself.
    pub fn push(&mut self, rows: &RecordBatch) -> Result<Vec<GroupAnswer>, CallError> {
        self.columns.check_rows(rows)?;
        if rows.num_rows() == 0 {
            return Ok(Vec::new());
        }
        self.accounts.add(rows)?;
        let message = crisol_ipc::encode(rows).map_err(|error| CallError::Host { what: error.to_string() })?;
        self.call(rows.num_rows(), |instance| instance.push_groups(&message))
    }

    /// There are no more rows: gives the rest of the answer. Rows and groups that were never answered are none of the
    /// result.
    ///
    /// # Errors
    /// As for [`Self::push`].
    pub fn finish(mut self) -> Result<Vec<GroupAnswer>, CallError> {
        let answers = self.call(0, Instance::finish_groups)?;
        if let (Some(kept), Some(mut instance)) = (&self.kept, self.instance) {
            match instance.close_groups() {
                Ok(()) => kept.put(instance, &self.limits),
                // The answer is complete; the end of the session costs the instance alone.
                Err(stop) => {
                    let error = explain(stop, instance.store.data(), &self.limits);
                    tracing::debug!(%error, "an instance is given up: the end of its session failed");
                }
            }
        }
        Ok(answers)
    }

    /// Whether its instance had worked before.
    pub fn reused(&self) -> bool {
        self.reused
    }

    fn call(
        &mut self,
        rows: usize,
        call: impl FnOnce(&mut Instance) -> Result<Vec<Message>, Stop>,
    ) -> Result<Vec<GroupAnswer>, CallError> {
        let Some(mut instance) = self.instance.take() else {
            return Err(CallError::Host { what: "the session is over: a call of it failed".to_string() });
        };
        State::next_call(&mut instance.store, &self.limits, self.timestamp_us);
        let answers = guarded(|| {
            let given = self.component.meter().count(&mut instance, rows, call);
            let messages = given.map_err(|stop| explain(stop, instance.store.data(), &self.limits))?;
            messages.into_iter().map(|message| self.read(message)).collect()
        })?;
        self.instance = Some(instance);
        Ok(answers)
    }

    fn read(&mut self, message: Message) -> Result<GroupAnswer, CallError> {
        let given = self.given.read(message, &self.columns.message, &self.limits)?;
        let index = self.accounts.answer(&given)?;
        Ok(GroupAnswer { rows: without_last(given)?, index })
    }
}

impl std::fmt::Debug for GroupSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupSession")
            .field("accounts", &self.accounts)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}
