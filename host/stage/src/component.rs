//! A component as a stage: only the columns that it reads cross over, all others stay and follow its rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::columns::{Selection, without_rejected};
use crate::pieces::Pieces;
use crate::poison::Searching;
use crate::{
    BatchContext, ComponentId, Given, Rejection, RowWorker, Stage, StageError, StageOutput, WorkerError, WorkerOutput,
    accounts,
};

/// Most rows that a worker gets in one call.
const CALL_ROWS_MAX: usize = 16_384;

/// Where an output column comes from.
#[derive(Debug, Clone, Copy)]
enum From {
    Input(usize),
    Written(usize),
}

/// The stage.
#[derive(Debug)]
pub struct ComponentStage {
    name: String,
    worker: Arc<dyn RowWorker>,
    reads: Vec<usize>,
    seen: SchemaRef,
    columns: Vec<From>,
    schema: SchemaRef,
}

/// Columns after a stage: written ones replace their namesakes or are appended.
pub(crate) fn written_over(input: &Schema, writes: &Schema) -> SchemaRef {
    let replaced = input.fields().iter().map(|field| {
        writes.fields().find(field.name()).map_or_else(|| Arc::clone(field), |(_, written)| Arc::clone(written))
    });
    let added = writes.fields().iter().filter(|field| input.fields().find(field.name()).is_none()).cloned();
    Arc::new(Schema::new(replaced.chain(added).collect::<Vec<_>>()))
}

impl ComponentStage {
    /// A stage named `name` over rows of `input`; columns that `keeps` refuses do not come out.
    ///
    /// # Errors
    /// The name of a column that the worker reads and `input` does not have.
    pub fn new(
        name: impl Into<String>,
        worker: Arc<dyn RowWorker>,
        input: &Schema,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let index = |column: String| input.index_of(&column).map_err(|_| column);
        let reads = worker.reads().into_iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let seen = reads.iter().map(|at| Arc::new(input.field(*at).clone())).collect::<Vec<_>>();
        let writes = worker.writes();
        let all = written_over(input, &writes);
        let fields: Vec<Arc<Field>> = all.fields().iter().filter(|field| keeps(field.name())).cloned().collect();
        let source = |field: &Arc<Field>| match writes.index_of(field.name()) {
            Ok(at) => Some(From::Written(at)),
            Err(_) => input.index_of(field.name()).ok().map(From::Input),
        };
        let columns = fields.iter().filter_map(source).collect();
        Ok(Self {
            name: name.into(),
            worker,
            reads,
            seen: Arc::new(Schema::new(seen)),
            columns,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    fn wrong(&self, what: impl std::fmt::Display) -> StageError {
        let id = self.worker.id();
        StageError::Plugin {
            stage: self.name.clone(),
            component: format!("{}@{}", id.name, id.version),
            digest: id.digest,
            what: what.to_string(),
        }
    }

    /// One call, or several where an earlier stage made many rows of few.
    fn call(&self, rows: &RecordBatch, context: &BatchContext) -> Result<WorkerOutput, StageError> {
        let failed = |error: WorkerError| self.wrong(error.what);
        let search = |rows: &RecordBatch, error| {
            let searching = Searching { worker: self.worker.as_ref(), whole: rows, context };
            searching.run(error).map_err(failed)
        };
        let call = |rows: &RecordBatch| match self.worker.call(rows, context.timestamp_us) {
            Err(error) => search(rows, error),
            output => output.map_err(failed),
        };
        if rows.num_rows() <= CALL_ROWS_MAX {
            return call(rows);
        }
        let mut pieces = Pieces::default();
        for first in (0..rows.num_rows()).step_by(CALL_ROWS_MAX) {
            let piece = rows.slice(first, CALL_ROWS_MAX.min(rows.num_rows() - first));
            pieces.add(first, piece.num_rows(), call(&piece)?).map_err(|what| self.wrong(what))?;
        }
        pieces.output(&self.worker.writes()).map_err(|error| self.internal(error))
    }

    /// Rows that only were judged.
    fn judged(&self, rows: &RecordBatch, rejected: Vec<Rejection>) -> Result<StageOutput, StageError> {
        let mut output = without_rejected(rows, rejected).map_err(|error| self.wrong(error))?;
        output.rows = self.assemble(&output.rows, &Selection::All, None)?;
        Ok(output)
    }

    fn assemble(
        &self,
        input: &RecordBatch,
        selection: &Selection,
        written: Option<&RecordBatch>,
    ) -> Result<RecordBatch, StageError> {
        let column = |from: &From| match (*from, written) {
            (From::Input(at), _) => selection.apply(input.column(at)).map_err(|error| self.internal(error)),
            (From::Written(at), Some(written)) => Ok(Arc::clone(written.column(at))),
            (From::Written(_), None) => Err(self.wrong("it gave verdicts only, but it writes columns")),
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<ArrayRef>, _>>()?;
        let rows = written.map_or(input.num_rows(), RecordBatch::num_rows);
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema(), columns, &options).map_err(|error| self.wrong(error))
    }

    fn internal(&self, error: impl std::fmt::Display) -> StageError {
        StageError::internal(&self.name, error)
    }
}

impl Stage for ComponentStage {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn components(&self) -> Vec<ComponentId> {
        vec![self.worker.id()]
    }

    fn written(&self) -> Vec<SchemaRef> {
        vec![self.worker.writes()]
    }

    fn read(&self) -> Vec<SchemaRef> {
        vec![Arc::clone(&self.seen)]
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn given(&self, rows: &RecordBatch) -> Result<Option<Given>, StageError> {
        let rows = rows.project(&self.reads).map_err(|error| self.internal(error))?;
        Ok(Some(Given { component: self.worker.id(), options: self.worker.options(), rows }))
    }

    fn process(&self, rows: &RecordBatch, context: &BatchContext) -> Result<StageOutput, StageError> {
        let view = rows.project(&self.reads).map_err(|error| self.internal(error))?;
        let mut output = self.call(&view, context)?;
        output.rejected.iter_mut().for_each(|rejection| rejection.component = Some(0));
        let Some((written, origin)) = output.rows else {
            return self.judged(rows, output.rejected);
        };
        accounts::check(rows.num_rows(), written.num_rows(), &origin, &output.rejected)
            .map_err(|what| self.wrong(what))?;
        let selection = Selection::of(&origin, rows.num_rows());
        let rows = self.assemble(rows, &selection, Some(&written))?;
        Ok(StageOutput { rows, origin, rejected: output.rejected, rules: Vec::new() })
    }
}
