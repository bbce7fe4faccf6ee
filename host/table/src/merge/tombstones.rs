//! Keys that were deleted, with the sequence of the event that did it: a late older event does not bring them back
//! (E-063).
//!
//! They lie in one file beside the table's data. Which one holds is said by a `txn` of the very commit that changed
//! them, whose application is the checkpoint's with a suffix and whose version names the file: it is atomic with the
//! rows, and outlives log checkpoints.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::Merge;
use crate::{TableError, entry};

/// How long a deleted key is remembered (E-065): events that are later than that may bring it back.
const KEPT_MS: i64 = 2 * 24 * 60 * 60 * 1_000;
const FOLDER: &str = "_tombstones";

/// A deleted key. Both as bytes that compare as the values do.
#[derive(Debug, Clone)]
pub(super) struct Tombstone {
    pub(super) key: Box<[u8]>,
    pub(super) order: Box<[u8]>,
    /// Milliseconds since 1970.
    pub(super) deleted_at: i64,
}

/// The application whose `txn` names the file of an application's tombstones.
pub(crate) fn application(app_id: &str) -> String {
    format!("{app_id}.tombstones")
}

impl Merge {
    pub(super) fn read_tombstones(&self, file: Option<i64>) -> Result<Vec<Tombstone>, TableError> {
        let Some(file) = file else { return Ok(Vec::new()) };
        let path = self.tombstones_path(file);
        let named = |e: String| self.failed(format!("the deleted keys in `{}`: {e}", path.display()));
        let reader = File::open(&path).map_err(|e| named(e.to_string()))?;
        let rows = ParquetRecordBatchReaderBuilder::try_new(reader).and_then(|builder| builder.build());
        let mut tombstones = Vec::new();
        for rows in rows.map_err(|e| named(e.to_string()))? {
            let rows = rows.map_err(|e| named(e.to_string()))?;
            let [Some(keys), Some(orders)] = [0, 1].map(|at| rows.column(at).as_binary_opt::<i32>()) else {
                return Err(named("it has other columns".into()));
            };
            let Some(times) = rows.column(2).as_primitive_opt::<Int64Type>() else {
                return Err(named("it has other columns".into()));
            };
            tombstones.extend((0..rows.num_rows()).map(|row| Tombstone {
                key: keys.value(row).into(),
                order: orders.value(row).into(),
                deleted_at: times.value(row),
            }));
        }
        Ok(tombstones)
    }

    /// Writes those that are still to be kept; gives the name of the file.
    pub(super) fn write_tombstones(&self, tombstones: &[Tombstone]) -> Result<i64, TableError> {
        let oldest = entry::now_millis() - KEPT_MS;
        let kept: Vec<&Tombstone> = tombstones.iter().filter(|tombstone| tombstone.deleted_at >= oldest).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(BinaryArray::from_iter_values(kept.iter().map(|tombstone| &tombstone.key))),
            Arc::new(BinaryArray::from_iter_values(kept.iter().map(|tombstone| &tombstone.order))),
            Arc::new(Int64Array::from_iter_values(kept.iter().map(|tombstone| tombstone.deleted_at))),
        ];
        let rows = RecordBatch::try_new(schema(), columns).map_err(|e| self.failed(e))?;
        // A name that nobody else takes: several hosts may plan the same batch.
        let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
        let name = i64::try_from(high >> 1).unwrap_or(i64::MAX);
        let file = self.log.store().data_file(&relative(name)).map_err(|e| self.failed(e))?;
        let mut writer = ArrowWriter::try_new(file, schema(), None).map_err(|e| self.failed(e))?;
        writer.write(&rows).map_err(|e| self.failed(e))?;
        let file = writer.into_inner().map_err(|e| self.failed(e))?;
        file.finish().map_err(|e| self.failed(e))?;
        Ok(name)
    }

    pub(crate) fn tombstones_path(&self, file: i64) -> PathBuf {
        self.log.store().root.join(relative(file))
    }
}

fn relative(file: i64) -> String {
    format!("{FOLDER}/{file:016x}.parquet")
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Binary, false),
        Field::new("order", DataType::Binary, false),
        Field::new("deleted_at", DataType::Int64, false),
    ]))
}
