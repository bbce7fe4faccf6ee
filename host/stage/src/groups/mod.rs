//! Stages over groups: rows sorted by group go in, the rows of a table of groups come out.
//!
//! [`TouchedGroups`] says which groups a batch touches; [`sorted`](Grouping::sorted) brings the rows of those groups
//! together, on disk where memory does not suffice; a [`GroupRun`] takes them through the component.

mod guilty;
mod keys;
mod run;
mod sort;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use self::keys::GroupKeys;
pub use self::keys::TouchedGroups;
pub use self::run::{GroupCounts, GroupRun};
pub use self::sort::Sorted;
use crate::deleted::incoming;
use crate::{AtWork, ComponentId, StageError};

/// What works behind a stage over groups.
pub trait GroupWorker: Send + Sync + std::fmt::Debug {
    /// Who it is.
    fn id(&self) -> ComponentId;

    /// Names of the input columns that it wants to see, in its order.
    fn reads(&self) -> Vec<String>;

    /// Columns that it gives.
    fn writes(&self) -> SchemaRef;

    /// Whether it chooses rows and adds columns to them; else it gives one row for a group.
    fn ranks(&self) -> bool;

    /// Begins work on groups.
    ///
    /// # Errors
    /// Text for people. It stops the stream.
    fn open(&self, timestamp_us: i64) -> Result<Box<dyn GroupSession>, String>;

    /// The same with nothing left of earlier work, for whoever looks for the groups on which a session failed.
    ///
    /// # Errors
    /// As for `open`.
    fn open_fresh(&self, timestamp_us: i64) -> Result<Box<dyn GroupSession>, String> {
        self.open(timestamp_us)
    }
}

/// Work on many whole groups. Blocking.
pub trait GroupSession: Send {
    /// Rows with the columns of [`GroupWorker::reads`], then `_group` (int32, not null), which never descends.
    ///
    /// # Errors
    /// Text for people. It stops the stream; the session is of no use then.
    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<GroupAnswer>, String>;

    /// There are no more rows.
    ///
    /// # Errors
    /// As for `push`.
    fn finish(self: Box<Self>) -> Result<Vec<GroupAnswer>, String>;

    /// Whether what works has worked before: a failure may then come of that.
    fn reused(&self) -> bool {
        false
    }
}

/// Rows that a worker gives; each row and group is answered at most once in a session.
#[derive(Debug)]
pub struct GroupAnswer {
    /// The written columns.
    pub rows: RecordBatch,
    /// For each the row, counted from the session's first, or the group.
    pub index: Vec<u32>,
}

/// Where a column of the table comes from.
#[derive(Debug, Clone, Copy)]
enum From {
    Written(usize),
    /// Of the row that was ranked, or of the first row of the group.
    Input(usize),
}

/// A contract's stage over groups, bound to the rows that reach it and to the table.
#[derive(Debug)]
pub struct Grouping {
    name: String,
    worker: Arc<dyn GroupWorker>,
    keys: GroupKeys,
    reads: Vec<usize>,
    columns: Vec<From>,
    input: SchemaRef,
    output: SchemaRef,
}

impl Grouping {
    /// A stage named `name` over rows of `input` that fills `table`.
    ///
    /// # Errors
    /// [`StageError::Internal`] when a column is nowhere.
    pub(crate) fn new(
        name: &str,
        worker: Arc<dyn GroupWorker>,
        group_by: &[String],
        input: SchemaRef,
        table: &Schema,
    ) -> Result<Self, StageError> {
        let lost = |what: &str| StageError::internal(name, format!("column `{what}` was lost on the way"));
        let place = |column: &String| input.index_of(column).map_err(|_| lost(column));
        let reads = worker.reads().iter().map(place).collect::<Result<_, _>>()?;
        let keys = GroupKeys::new(&input, group_by).map_err(|error| StageError::internal(name, error))?;
        let writes = worker.writes();
        let source = |column: &String| match writes.index_of(column) {
            Ok(at) => Ok(From::Written(at)),
            Err(_) => place(column).map(From::Input),
        };
        let columns = table.fields().iter().map(|field| source(field.name())).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), worker, keys, reads, columns, input, output: incoming(table) })
    }

    /// The component at work.
    pub fn component(&self) -> ComponentId {
        self.worker.id()
    }

    /// Columns that it gives.
    pub(crate) fn written(&self) -> SchemaRef {
        self.worker.writes()
    }

    pub(crate) fn at_work(&self) -> AtWork {
        let reads = self.reads.iter().map(|at| Arc::new(self.input.field(*at).clone())).collect::<Vec<_>>();
        AtWork { component: self.component(), reads: Arc::new(Schema::new(reads)), writes: self.written() }
    }

    /// Starts to collect the groups that a batch touches.
    ///
    /// # Errors
    /// A defect of the host.
    pub fn touched(&self) -> Result<TouchedGroups, StageError> {
        TouchedGroups::new(self.keys.clone(), Arc::clone(&self.output)).map_err(|error| self.defect(error))
    }

    fn failed(&self, what: impl std::fmt::Display) -> StageError {
        let ComponentId { name, version, digest } = self.worker.id();
        StageError::Plugin {
            stage: self.name.clone(),
            component: format!("{name}@{version}"),
            digest,
            what: what.to_string(),
        }
    }

    fn defect(&self, error: impl std::fmt::Display) -> StageError {
        StageError::internal(&self.name, error)
    }
}
