//! A component bound to options and an input of groups: sessions are opened on it.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use crate::columns::Columns;
use crate::failure::guarded;
use crate::instance::Opening;
use crate::limits::Limits;
use crate::{CallError, Component, GroupSession};

/// A ranker or aggregator, ready for groups. Made by [`Component::group_stage`]; several sessions may be open at once.
#[derive(Debug)]
pub struct GroupStage {
    component: Arc<Component>,
    options: String,
    columns: Arc<Columns>,
    limits: Limits,
}

impl GroupStage {
    pub(crate) fn new(component: Arc<Component>, options: String, columns: Columns, limits: Limits) -> Self {
        Self { component, options, columns: Arc::new(columns), limits }
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

    /// Starts a fresh instance for some groups, whole ones. `timestamp_us` is what "now" means, in microseconds since
    /// 1970 UTC. Blocks for at most the deadline of the limits, as each call of the session does.
    ///
    /// # Errors
    /// The component trapped, broke a limit or failed by itself.
    pub fn session(&self, timestamp_us: i64) -> Result<GroupSession, CallError> {
        let Some(blueprint) = self.component.group_blueprint() else {
            return Err(CallError::Host { what: "it is no component for groups".to_string() });
        };
        let opening = Opening { options: &self.options, input: &self.columns.input, timestamp_us };
        let store = self.component.store(&self.limits, timestamp_us);
        guarded(|| {
            GroupSession::open(self.component.kind(), blueprint, store, opening, &self.columns, self.limits.clone())
        })
    }
}
