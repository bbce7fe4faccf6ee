//! A ranker or aggregator in its instance: one session after another, each in several calls.

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::{Guest, Instance, Opening};
use crate::bindings::{Grouping, GroupingPre, Message};
use crate::failure::Stop;
use crate::state::State;

impl Instance {
    /// Opens a session. After an error of this function, as of the others, the instance is not to be used again.
    pub(crate) fn open_groups(&mut self, blueprint: &GroupingPre<State>, opening: Opening<'_>) -> Result<(), Stop> {
        if self.guest.is_none() {
            self.guest = Some(Guest::Groups(blueprint.instantiate(&mut self.store)?));
        }
        let Opening { options, input, timestamp_us } = opening;
        let (guest, store) = self.grouping()?;
        let session = guest.crisol_stage_group().session().call_open(store, options, input, timestamp_us)??;
        self.session = Some((session, timestamp_us));
        Ok(())
    }

    /// The next rows of the session.
    pub(crate) fn push_groups(&mut self, message: &Message) -> Result<Vec<Message>, Stop> {
        self.calls += 1;
        let session = self.open_session()?;
        let (guest, store) = self.grouping()?;
        Ok(guest.crisol_stage_group().session().call_push(store, session, message)??)
    }

    /// The rest of the answer.
    pub(crate) fn finish_groups(&mut self) -> Result<Vec<Message>, Stop> {
        let session = self.open_session()?;
        let (guest, store) = self.grouping()?;
        Ok(guest.crisol_stage_group().session().call_finish(store, session)??)
    }

    /// Takes the session away, which is the end of it for the component, too.
    pub(crate) fn close_groups(&mut self) -> Result<(), Stop> {
        let session = self.open_session()?;
        self.session = None;
        Ok(session.resource_drop(&mut self.store)?)
    }

    fn grouping(&mut self) -> Result<(&Grouping, &mut Store<State>), Stop> {
        match &self.guest {
            Some(Guest::Groups(guest)) => Ok((guest, &mut self.store)),
            _ => Err(wasmtime::format_err!("no component for groups is at work").into()),
        }
    }

    fn open_session(&self) -> Result<ResourceAny, Stop> {
        let session = self.session.as_ref().map(|(session, _)| *session);
        session.ok_or_else(|| wasmtime::format_err!("no session is open").into())
    }
}
