//! Rows of a table's files: columns asked for, in the table's types, partition values put back.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use arrow_select::take::take;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use url::Url;

use crate::ahead::ahead;

/// Rows read at once.
const BATCH_ROWS: usize = 8_192;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A file with its partition values, in the protocol's text.
#[derive(Debug, Clone)]
pub(crate) struct Scanned {
    pub(crate) path: PathBuf,
    pub(crate) partition_values: HashMap<String, Option<String>>,
}

impl Scanned {
    /// The columns of `columns`, batch by batch, decoded ahead on a thread. Blocking.
    pub(crate) fn rows(
        &self,
        columns: &SchemaRef,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, Failure>> + use<>, Failure> {
        let named = |e: Failure| -> Failure { format!("file `{}`: {e}", self.path.display()).into() };
        let file = File::open(&self.path).map_err(|e| named(e.into()))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| named(e.into()))?;
        let roots = builder.parquet_schema().root_schema().get_fields().iter().enumerate();
        let roots = roots.filter(|(_, field)| columns.field_with_name(field.name()).is_ok()).map(|(at, _)| at);
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.collect::<Vec<_>>());
        let rows = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(|e| named(e.into()))?;
        let (values, columns, path) = (self.partition_values.clone(), Arc::clone(columns), self.path.clone());
        ahead(rows.map(move |rows| {
            let rows = rows.and_then(|rows| complete(&rows, &values, &columns));
            rows.map_err(|e| format!("file `{}`: {e}", path.display()).into())
        }))
    }
}

/// Where a file lies that the log names by a URI relative to the table's folder; `None` when that leads out of it.
pub(crate) fn local(root: &Path, uri: &str) -> Option<PathBuf> {
    let path = Url::from_directory_path(root).ok()?.join(uri).ok()?.to_file_path().ok()?;
    path.starts_with(root).then_some(path)
}

/// The columns in order; what the file does not have are its partition values, or null.
pub(crate) fn complete(
    rows: &RecordBatch,
    values: &HashMap<String, Option<String>>,
    columns: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let column = |field: &Arc<Field>| match (rows.column_by_name(field.name()), values.get(field.name())) {
        (_, Some(value)) => constant(value.as_deref(), field, rows.num_rows()),
        (Some(column), None) => arrow_cast::cast(column, field.data_type()),
        (None, None) => Ok(new_null_array(field.data_type(), rows.num_rows())),
    };
    let arranged = columns.fields().iter().map(column).collect::<Result<Vec<ArrayRef>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(columns), arranged, &options)
}

/// A partition value in every row. The protocol writes null as the empty string, too.
fn constant(value: Option<&str>, field: &Field, rows: usize) -> Result<ArrayRef, ArrowError> {
    let Some(text) = value.filter(|text| !text.is_empty()) else {
        return Ok(new_null_array(field.data_type(), rows));
    };
    let text = StringArray::from(vec![text]);
    let one: ArrayRef = match field.data_type() {
        // Partition values are in UTC. Arrow would look the zone's name up, which takes a table of all zones.
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
            let naive = arrow_cast::cast(&text, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
            Arc::new(naive.as_primitive::<TimestampMicrosecondType>().clone().with_timezone(Arc::clone(zone)))
        }
        other => arrow_cast::cast(&text, other)?,
    };
    take(&one, &UInt32Array::from(vec![0; rows]), None)
}
