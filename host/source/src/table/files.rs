//! The rows of a table's data files: the columns asked for, in the table's types, partition values put back.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array, new_null_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use arrow_select::coalesce::BatchCoalescer;
use arrow_select::take::take;
use crisol_ipc::types::UTC;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use url::Url;

use super::TableSourceSpec;
use super::commit::AddedFile;
use crate::chunks::{ChunkSender, Interrupted};
use crate::{CHUNK_BYTES_MAX, CHUNK_ROWS_MAX, SourceError};

/// Column of change data that says what became of a row.
const CHANGE_TYPE: &str = "_change_type";

/// Batches at least this large are handed on as they are; smaller ones are put together.
const LARGE_ENOUGH: usize = CHUNK_ROWS_MAX / 2;

/// Reads files one after the other, rows in the order of the files.
pub(super) fn read(
    spec: &TableSourceSpec,
    root: &Path,
    files: &[AddedFile],
    out: &ChunkSender,
) -> Result<(), Interrupted> {
    let table = &spec.name;
    let mut chunks =
        BatchCoalescer::new(spec.schema(), CHUNK_ROWS_MAX).with_biggest_coalesce_batch_size(Some(LARGE_ENOUGH));
    for file in files {
        let damaged =
            |e: ArrowError| SourceError::data(format!("table `{table}`: file `{}` cannot be read: {e}", file.path));
        for batch in batches(spec, root, file)? {
            let rows = batch.and_then(|batch| arrange(&batch, file, spec)).map_err(damaged)?;
            chunks.push_batch(rows).map_err(damaged)?;
            // Rows wider than usual are not collected up to the full number.
            if chunks.get_buffered_rows() > 0 && chunks.size() > CHUNK_BYTES_MAX {
                chunks.finish_buffered_batch().map_err(damaged)?;
            }
            while let Some(chunk) = chunks.next_completed_batch() {
                out.send(chunk)?;
            }
        }
    }
    chunks.finish_buffered_batch().map_err(|e| SourceError::data(format!("table `{table}`: {e}")))?;
    while let Some(chunk) = chunks.next_completed_batch() {
        out.send(chunk)?;
    }
    Ok(())
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// The rows of a file: those that are still in memory, else those on disk.
fn batches(spec: &TableSourceSpec, root: &Path, file: &AddedFile) -> Result<Batches, SourceError> {
    let local = local_path(root, &file.path);
    let held = spec.held.as_ref().zip(local.as_ref()).and_then(|(held, path)| held.rows(path));
    match held {
        Some(rows) => Ok(Box::new(rows.into_iter().map(Ok))),
        None => Ok(Box::new(open(spec, root, file)?)),
    }
}

fn open(spec: &TableSourceSpec, root: &Path, added: &AddedFile) -> Result<ParquetRecordBatchReader, SourceError> {
    let TableSourceSpec { name: table, columns, .. } = spec;
    let path = local_path(root, &added.path).ok_or_else(|| {
        SourceError::config(
            format!("table `{table}`: file `{}` lies outside the table", added.path),
            "tables that share files with others (shallow clones) are not read",
        )
    })?;
    let file = File::open(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SourceError::data_loss(
            format!("table `{table}`: file `{}` is gone", path.display()),
            format!("it was vacuumed before it was read: {}", spec.anew),
        ),
        _ => SourceError::caused(format!("table `{table}`: file `{}`", path.display()), error),
    })?;
    let damaged = |e| SourceError::data(format!("table `{table}`: file `{}` is damaged: {e}", path.display()));
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
    let present = builder.schema().fields().iter().enumerate();
    let is_wanted = |name: &str| columns.field_with_name(name).is_ok() || (added.changes && name == CHANGE_TYPE);
    let wanted = present.filter(|(_, field)| is_wanted(field.name())).map(|(index, _)| index);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.collect::<Vec<_>>());
    let rows = batch_rows(builder.metadata());
    builder.with_projection(mask).with_batch_size(rows).build().map_err(damaged)
}

/// Rows of a batch such that its bytes stay near a chunk's.
fn batch_rows(metadata: &ParquetMetaData) -> usize {
    let row_bytes = metadata
        .row_groups()
        .iter()
        .filter(|group| group.num_rows() > 0)
        .map(|group| usize::try_from(group.total_byte_size() / group.num_rows()).unwrap_or(0));
    let widest = row_bytes.max().unwrap_or(0).max(1);
    (CHUNK_BYTES_MAX / widest).clamp(1, CHUNK_ROWS_MAX)
}

/// A file's path is a URI relative to the table's root.
fn local_path(root: &Path, path: &str) -> Option<std::path::PathBuf> {
    let local = Url::from_directory_path(root).ok()?.join(path).ok()?.to_file_path().ok()?;
    local.starts_with(root).then_some(local)
}

/// What the source gives for a batch: the table's columns and, where changes are followed, whether each row is gone.
fn arrange(batch: &RecordBatch, file: &AddedFile, spec: &TableSourceSpec) -> Result<RecordBatch, ArrowError> {
    let rows = in_order(batch, file, &spec.columns)?;
    if !spec.changes {
        return Ok(rows);
    }
    let deleted = if file.changes { deleted(batch)? } else { BooleanArray::from(vec![false; batch.num_rows()]) };
    let columns = rows.columns().iter().cloned().chain([Arc::new(deleted) as ArrayRef]);
    RecordBatch::try_new(spec.schema(), columns.collect())
}

/// Rows of change data that the table no longer has (D-084).
fn deleted(batch: &RecordBatch) -> Result<BooleanArray, ArrowError> {
    let wrong = |what: String| ArrowError::SchemaError(format!("change data {what}"));
    let types = batch.column_by_name(CHANGE_TYPE).ok_or_else(|| wrong(format!("has no column `{CHANGE_TYPE}`")))?;
    let types = cast(types, &DataType::Utf8)?;
    let one = |value: Option<&str>| match value {
        Some("insert" | "update_postimage") => Ok(Some(false)),
        Some("delete" | "update_preimage") => Ok(Some(true)),
        other => Err(wrong(format!("has `{CHANGE_TYPE}` `{}`", other.unwrap_or("null")))),
    };
    types.as_string::<i32>().iter().map(one).collect()
}

/// The batch's columns in the order and the types of the table; those that the file does not have are its partition
/// values, or null.
fn in_order(batch: &RecordBatch, file: &AddedFile, columns: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let arranged: Result<Vec<ArrayRef>, ArrowError> = columns
        .fields()
        .iter()
        .map(|field| match (file.partition_values.get(field.name()), batch.column_by_name(field.name())) {
            (Some(value), _) => constant(value.as_deref(), field, batch.num_rows()),
            (None, Some(column)) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
            (None, Some(column)) => cast(column, field.data_type()),
            (None, None) => Ok(new_null_array(field.data_type(), batch.num_rows())),
        })
        .collect();
    RecordBatch::try_new_with_options(
        Arc::clone(columns),
        arranged?,
        &arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows())),
    )
}

/// A partition value in every row. The protocol writes null as the empty string too.
fn constant(value: Option<&str>, field: &Field, rows: usize) -> Result<ArrayRef, ArrowError> {
    let Some(text) = value.filter(|text| !text.is_empty()) else {
        return Ok(new_null_array(field.data_type(), rows));
    };
    let text = StringArray::from(vec![text]);
    let one: ArrayRef = match field.data_type() {
        // Partition values are in UTC. Arrow would look the zone's name up, which takes a table of all zones.
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if zone.as_ref() == UTC => {
            let naive = cast(&text, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
            Arc::new(naive.as_primitive::<TimestampMicrosecondType>().clone().with_timezone(UTC))
        }
        other => cast(&text, other)?,
    };
    if one.is_null(0) {
        let text = text.value(0);
        return Err(ArrowError::CastError(format!("partition value `{text}` of column `{}`", field.name())));
    }
    take(&one, &UInt32Array::from(vec![0; rows]), None)
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Date32Type, Int64Type};
    use arrow_array::{Int32Array, Int64Array};
    use arrow_schema::Schema;
    use crisol_ipc::types::timestamp;

    use super::*;

    fn file(values: &[(&str, Option<&str>)]) -> AddedFile {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned)));
        AddedFile { path: "f.parquet".into(), partition_values: values.collect(), ..AddedFile::default() }
    }

    fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
        Arc::new(Schema::new(fields.iter().map(|(n, t)| Field::new(*n, t.clone(), true)).collect::<Vec<_>>()))
    }

    #[test]
    fn partition_values_come_back_as_columns_in_the_tables_order_and_types() {
        let batch = RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![1, 2])) as _)]).unwrap();
        let columns = schema(&[
            ("day", DataType::Date32),
            ("n", DataType::Int64),
            ("late", DataType::Utf8),
            ("at", timestamp()),
            ("empty", DataType::Int32),
        ]);
        let values = [("day", Some("2024-02-29")), ("at", Some("2024-01-01 00:00:01.5")), ("empty", Some(""))];
        let rows = in_order(&batch, &file(&values), &columns).unwrap();
        assert_eq!(rows.schema(), columns);
        assert_eq!(rows["day"].as_primitive::<Date32Type>().values(), &[19_782, 19_782]);
        assert_eq!(rows["n"].as_primitive::<Int64Type>().values(), &[1, 2]);
        assert_eq!(rows["late"].null_count(), 2);
        assert_eq!(rows["at"].as_primitive::<TimestampMicrosecondType>().value(1), 1_704_067_201_500_000);
        assert_eq!(rows["empty"].null_count(), 2);
    }

    #[test]
    fn a_partition_value_that_does_not_fit_its_type_is_an_error_and_not_null() {
        let batch = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![1])) as _)]).unwrap();
        let error = in_order(&batch, &file(&[("day", Some("soon"))]), &schema(&[("day", DataType::Date32)]));
        assert!(error.unwrap_err().to_string().contains("partition value `soon` of column `day`"));
    }

    #[test]
    fn a_files_path_is_decoded_and_must_stay_inside_the_table() {
        let root = Path::new("/t/x");
        assert_eq!(local_path(root, "d=a%20b/f.parquet").unwrap(), Path::new("/t/x/d=a b/f.parquet"));
        assert_eq!(local_path(root, "../y/f.parquet"), None);
        assert_eq!(local_path(root, "file:///etc/passwd"), None);
        assert_eq!(local_path(root, "s3://b/f.parquet"), None);
    }
}
