//! A ranker or aggregator at work on some groups: rows in, checked answers out.

use std::sync::Arc;

use arrow_array::RecordBatch;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::{Grouping, GroupingPre, Message};
use crate::columns::Columns;
use crate::failure::{Stop, explain, guarded};
use crate::group_accounts::GroupAccounts;
use crate::instance::Opening;
use crate::limits::Limits;
use crate::output::{Given, without_last};
use crate::state::State;
use crate::{CallError, Kind};

/// Whole groups, pushed in pieces. Made by [`GroupStage::session`](crate::GroupStage::session). After an error it is
/// over, and nothing that it gave may be used.
pub struct GroupSession {
    columns: Arc<Columns>,
    limits: Limits,
    timestamp_us: i64,
    accounts: GroupAccounts,
    given: Given,
    /// `None` once a call has failed.
    guest: Option<Guest>,
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

/// The instance, and the session that is open in it.
struct Guest {
    store: Store<State>,
    bindings: Grouping,
    session: ResourceAny,
}

impl GroupSession {
    pub(crate) fn open(
        kind: Kind,
        blueprint: &GroupingPre<State>,
        store: Store<State>,
        opening: Opening<'_>,
        columns: &Arc<Columns>,
        limits: Limits,
    ) -> Result<Self, CallError> {
        let guest = Guest::open(blueprint, store, opening, &limits)?;
        Ok(Self {
            columns: columns.clone(),
            limits,
            timestamp_us: opening.timestamp_us,
            accounts: GroupAccounts::new(kind),
            given: Given::default(),
            guest: Some(guest),
        })
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
        self.call(|guest| guest.push(&message))
    }

    /// There are no more rows: gives the rest of the answer. Rows and groups that were never answered are none of the
    /// result.
    ///
    /// # Errors
    /// As for [`Self::push`].
    pub fn finish(mut self) -> Result<Vec<GroupAnswer>, CallError> {
        self.call(Guest::finish)
    }

    fn call(
        &mut self,
        call: impl FnOnce(&mut Guest) -> Result<Vec<Message>, Stop>,
    ) -> Result<Vec<GroupAnswer>, CallError> {
        let Some(mut guest) = self.guest.take() else {
            return Err(CallError::Host { what: "the session is over: a call of it failed".to_string() });
        };
        State::next_call(&mut guest.store, &self.limits, self.timestamp_us);
        let answers = guarded(|| {
            let messages = call(&mut guest).map_err(|stop| explain(stop, guest.store.data(), &self.limits))?;
            messages.into_iter().map(|message| self.read(message)).collect()
        })?;
        self.guest = Some(guest);
        Ok(answers)
    }

    fn read(&mut self, message: Message) -> Result<GroupAnswer, CallError> {
        let given = self.given.read(message, &self.columns.message, &self.limits)?;
        let index = self.accounts.answer(&given)?;
        Ok(GroupAnswer { rows: without_last(given)?, index })
    }
}

impl Guest {
    fn open(
        blueprint: &GroupingPre<State>,
        mut store: Store<State>,
        opening: Opening<'_>,
        limits: &Limits,
    ) -> Result<Self, CallError> {
        let Opening { options, input, timestamp_us } = opening;
        let open = |store: &mut Store<State>| -> Result<_, Stop> {
            let bindings = blueprint.instantiate(&mut *store)?;
            let session = bindings.crisol_stage_group().session().call_open(store, options, input, timestamp_us)??;
            Ok((bindings, session))
        };
        match open(&mut store) {
            Ok((bindings, session)) => Ok(Self { store, bindings, session }),
            Err(stop) => Err(explain(stop, store.data(), limits)),
        }
    }

    fn push(&mut self, message: &Message) -> Result<Vec<Message>, Stop> {
        Ok(self.bindings.crisol_stage_group().session().call_push(&mut self.store, self.session, message)??)
    }

    fn finish(&mut self) -> Result<Vec<Message>, Stop> {
        Ok(self.bindings.crisol_stage_group().session().call_finish(&mut self.store, self.session)??)
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
