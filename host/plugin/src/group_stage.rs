//! A component bound to options and an input of groups: sessions are opened on it.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use crate::columns::Columns;
use crate::failure::{explain, guarded};
use crate::instance::{Instance, Opening};
use crate::kept::Kept;
use crate::limits::Limits;
use crate::{CallError, Component, GroupSession};

/// A ranker or aggregator, ready for groups. Made by [`Component::group_stage`]; several sessions may be open at once.
#[derive(Debug)]
pub struct GroupStage {
    component: Arc<Component>,
    options: String,
    columns: Arc<Columns>,
    limits: Limits,
    /// Sessions that are open bring their instances back here.
    kept: Option<Arc<Kept>>,
}

impl GroupStage {
    pub(crate) fn new(component: Arc<Component>, options: String, columns: Columns, limits: Limits) -> Self {
        let kept = Kept::of(&component).map(Arc::new);
        Self { component, options, columns: Arc::new(columns), limits, kept }
    }

    /// The component behind it; its kind says whether it answers with rows or with groups.
    pub fn component(&self) -> &Arc<Component> {
        &self.component
    }

    /// Columns of the input that the component sees, in this order; maybe none.
    pub fn reads(&self) -> &[String] {
        &self.columns.reads
    }

    /// Columns that it gives, without `_row` or `_group`.
    pub fn writes(&self) -> SchemaRef {
        self.columns.writes.clone()
    }

    /// Opens a session for some groups, whole ones. `timestamp_us` is what "now" means, in microseconds since 1970 UTC.
    /// Blocks until there is memory for an instance, and then for at most the deadline of the limits, as each call of the
    /// session does.
    ///
    /// # Errors
    /// The component trapped, broke a limit or failed by itself.
    pub fn session(&self, timestamp_us: i64) -> Result<GroupSession, CallError> {
        self.open(timestamp_us, self.kept.as_ref())
    }

    /// The same in a fresh instance, for whoever looks for the groups on which a session failed: what an instance did
    /// before is not to blame.
    ///
    /// # Errors
    /// As for [`Self::session`].
    pub fn fresh_session(&self, timestamp_us: i64) -> Result<GroupSession, CallError> {
        self.open(timestamp_us, None)
    }

    fn open(&self, timestamp_us: i64, kept: Option<&Arc<Kept>>) -> Result<GroupSession, CallError> {
        let Some(blueprint) = self.component.group_blueprint() else {
            return Err(CallError::Host { what: "it is no component for groups".to_string() });
        };
        let opening = Opening { options: &self.options, input: &self.columns.input, timestamp_us };
        let limits = &self.limits;
        guarded(|| {
            if let Some(mut instance) = kept.and_then(|kept| kept.take(limits, timestamp_us)) {
                match instance.open_groups(blueprint, opening) {
                    Ok(()) => return Ok(GroupSession::new(self, instance, kept.cloned(), timestamp_us)),
                    // Maybe it had grown old: a fresh one decides.
                    Err(stop) => drop(explain(stop, instance.store.data(), limits)),
                }
            }
            let mut instance = Instance::new(self.component.store(limits, timestamp_us));
            match instance.open_groups(blueprint, opening) {
                Ok(()) => Ok(GroupSession::new(self, instance, kept.cloned(), timestamp_us)),
                Err(stop) => Err(explain(stop, instance.store.data(), limits)),
            }
        })
    }

    pub(crate) fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}
