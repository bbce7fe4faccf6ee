//! Rows brought together by group: sorted in memory, and on disk where that does not suffice.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{SessionConfig, SessionContext, col};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};

use super::Grouping;
use crate::StageError;

/// Rows that are sorted in memory; what goes beyond waits on disk.
const SORT_BYTES_MAX: usize = 128 << 20;
/// Rows of one group keep the order in which they came.
const ARRIVAL: &str = "_arrival";

/// Rows of whole groups, in chunks.
pub type Sorted = BoxStream<'static, Result<RecordBatch, StageError>>;

impl Grouping {
    /// Brings the rows of each group together. Within a group they keep their order, so that the same rows give the same
    /// answer.
    ///
    /// # Errors
    /// The disk is full, or a defect of the host. Errors of `rows` come back as their text.
    pub async fn sorted(&self, rows: BoxStream<'static, Result<RecordBatch, String>>) -> Result<Sorted, StageError> {
        let failed = |error: DataFusionError| self.defect(error);
        let schema = with_arrival(&self.input);
        let mut next = 0;
        let (keys, to) = (self.keys.clone(), Arc::clone(&schema));
        let numbered = rows.map(move |rows| {
            let rows = rows.map_err(DataFusionError::Execution)?;
            let rows = keys.normal(&rows).and_then(|rows| number(&rows, &to, &mut next))?;
            Ok(rows)
        });
        let context = context().map_err(failed)?;
        let once = Once { schema: Arc::clone(&schema), rows: Mutex::new(Some(numbered.boxed())) };
        let table = StreamingTable::try_new(Arc::clone(&schema), vec![Arc::new(once)]).map_err(failed)?;
        let by = self.keys.columns.iter().map(|at| self.input.field(*at).name().as_str());
        let by = by.chain([ARRIVAL]).map(|name| col(quoted(name)).sort(true, true)).collect();
        let sorted = context.read_table(Arc::new(table)).and_then(|frame| frame.sort(by)).map_err(failed)?;
        let sorted = sorted.execute_stream().await.map_err(failed)?;
        let (name, input) = (self.name.clone(), Arc::clone(&self.input));
        let without = move |rows: RecordBatch| {
            let columns = rows.columns().iter().take(input.fields().len()).cloned().collect();
            RecordBatch::try_new(Arc::clone(&input), columns).map_err(DataFusionError::from)
        };
        let sorted = sorted.map(move |rows| rows.and_then(&without));
        Ok(sorted.map_err(move |error| StageError::internal(&name, error)).boxed())
    }
}

fn context() -> Result<SessionContext, DataFusionError> {
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(SORT_BYTES_MAX)))
        .with_disk_manager_builder(disk)
        .build_arc()?;
    let config = SessionConfig::new().with_target_partitions(1).with_sort_spill_reservation_bytes(SORT_BYTES_MAX / 8);
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

fn with_arrival(schema: &Schema) -> SchemaRef {
    let arrival = Arc::new(Field::new(ARRIVAL, DataType::Int64, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([arrival]).collect::<Vec<_>>()))
}

fn number(rows: &RecordBatch, schema: &SchemaRef, next: &mut i64) -> Result<RecordBatch, ArrowError> {
    let end = *next + rows.num_rows() as i64;
    let arrival: ArrayRef = Arc::new(Int64Array::from_iter_values(*next..end));
    *next = end;
    let columns = rows.columns().iter().cloned().chain([arrival]).collect();
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// A name as DataFusion takes it for that very name.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A stream as a table that is read once.
struct Once {
    schema: SchemaRef,
    rows: Mutex<Option<BoxStream<'static, Result<RecordBatch, DataFusionError>>>>,
}

impl std::fmt::Debug for Once {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl PartitionStream for Once {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = self.rows.lock().ok().and_then(|mut rows| rows.take());
        let rows = rows.unwrap_or_else(|| {
            let again = DataFusionError::Internal("the rows of a sort were asked for twice".into());
            futures::stream::once(async { Err(again) }).boxed()
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}
