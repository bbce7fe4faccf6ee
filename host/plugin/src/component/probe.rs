//! Questions that a host never asks of a component that serves, for whoever tests one.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use crate::columns::Columns;
use crate::limits::Limits;
use crate::{CallError, Component, GroupStage, RowStage};

/// What a component would read and write, as it said it: nothing of it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Names of columns.
    pub reads: Vec<String>,
    /// Name, type name, and whether it may be null.
    pub writes: Vec<(String, String, bool)>,
}

impl Component {
    /// What it says of itself, word for word: `describe` called twice in one new instance.
    ///
    /// # Errors
    /// It trapped or broke a limit.
    pub fn describe_twice(&self) -> Result<[String; 2], CallError> {
        self.ask(&Limits::default(), |described, store| {
            let description = described.crisol_stage_description();
            Ok([description.call_describe(&mut *store)?, description.call_describe(store)?])
        })
    }

    /// Its plan for any text as options, whatever schema it declares; `input` as for [`Self::row_stage`].
    ///
    /// # Errors
    /// It failed by itself, trapped or broke a limit.
    pub fn plan_unchecked(&self, options: &str, input: &Schema) -> Result<Plan, CallError> {
        let plan = self.plan(options, input, &Limits::default())?;
        let writes = plan.writes.into_iter().map(|column| (column.name, column.type_, column.nullable)).collect();
        Ok(Plan { reads: plan.reads, writes })
    }

    /// Opens a session with any text as options, and gives it no rows.
    ///
    /// # Errors
    /// As for [`Self::plan_unchecked`]; it also plans for these options.
    pub fn open_unchecked(self: &Arc<Self>, options: &str, input: &Schema) -> Result<(), CallError> {
        let limits = Limits::default();
        let plan = self.plan(options, input, &limits)?;
        let columns = Columns::check(self.kind(), &plan, input).map_err(|what| CallError::Invalid { what })?;
        if self.kind().groups() {
            return GroupStage::new(self.clone(), options.to_string(), columns, limits).fresh_session(0).map(drop);
        }
        let nothing = RecordBatch::new_empty(columns.input_schema.clone());
        RowStage::new(self.clone(), options.to_string(), columns, limits).session(0).push(&nothing).map(drop)
    }
}
