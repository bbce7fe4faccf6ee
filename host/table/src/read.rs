//! What people look at: how much a table holds, and its newest rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use deltalake::kernel::Snapshot;
use futures::TryStreamExt;
use object_store::path::Path;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use crate::{Table, TableError, scan};

/// How much a table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSummary {
    /// Newest version.
    pub version: i64,
    /// Data files.
    pub files: u64,
    /// Bytes of the data files.
    pub bytes: u64,
    /// Rows; `None` when a file says not how many it has.
    pub rows: Option<u64>,
}

struct LiveFile {
    path: Path,
    modified: i64,
    partition_values: HashMap<String, Option<String>>,
}

impl Table {
    /// How much the table holds, from the log.
    pub async fn summary(&self) -> Result<TableSummary, TableError> {
        let snapshot = self.snapshot().await?;
        let version = i64::try_from(snapshot.version()).unwrap_or(i64::MAX);
        let mut summary = TableSummary { version, files: 0, bytes: 0, rows: Some(0) };
        let mut views = snapshot.file_views(self.log().delta(), None);
        while let Some(view) = views.try_next().await.map_err(|e| self.unreadable(e))? {
            summary.files += 1;
            summary.bytes += u64::try_from(view.size()).unwrap_or_default();
            let rows = view.num_records().map(|rows| rows as u64);
            summary.rows = summary.rows.zip(rows).map(|(sum, rows)| sum + rows);
        }
        Ok(summary)
    }

    /// At most `limit` rows of the newest files, with these columns in this order; all columns when none is named.
    pub async fn read_rows(&self, limit: usize, columns: &[String]) -> Result<Vec<RecordBatch>, TableError> {
        let schema = self.projection(columns)?;
        let mut files = self.live_files().await?;
        files.sort_by_key(|file| std::cmp::Reverse(file.modified));
        let (mut batches, mut left) = (Vec::new(), limit);
        for file in files {
            if left == 0 {
                break;
            }
            for batch in self.rows_of(&file, &schema, left).await? {
                left -= batch.num_rows();
                batches.push(batch);
            }
        }
        Ok(batches)
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot, TableError> {
        Snapshot::try_new(self.log().delta(), None).await.map_err(|e| self.unreadable(e))
    }

    async fn live_files(&self) -> Result<Vec<LiveFile>, TableError> {
        let snapshot = self.snapshot().await?;
        let views = snapshot.file_views(self.log().delta(), None);
        let files = views.map_ok(|view| LiveFile {
            path: view.object_store_path(),
            modified: view.modification_time(),
            partition_values: view.partition_values_map(),
        });
        files.try_collect().await.map_err(|e| self.unreadable(e))
    }

    fn projection(&self, columns: &[String]) -> Result<SchemaRef, TableError> {
        let schema = &self.spec().schema;
        if columns.is_empty() {
            return Ok(schema.clone());
        }
        let fields: Result<Vec<_>, _> = columns.iter().map(|name| schema.field_with_name(name).cloned()).collect();
        let fields = fields.map_err(|e| self.place().data(e.to_string()))?;
        Ok(Arc::new(Schema::new(fields)))
    }

    /// Rows of one file, with its partition values put back. The file is read from disk as far as it is needed.
    async fn rows_of(&self, file: &LiveFile, schema: &SchemaRef, limit: usize) -> Result<Vec<RecordBatch>, TableError> {
        let path = self.log().store().root.join(file.path.as_ref());
        let wanted = schema.clone();
        let read = tokio::task::spawn_blocking(move || read_file(&path, &wanted, limit)).await;
        let rows = read.map_err(|e| self.unreadable(e))?.map_err(|e| self.unreadable(e))?;
        let complete =
            |rows: &RecordBatch| scan::complete(rows, &file.partition_values, schema).map_err(|e| self.unreadable(e));
        rows.iter().map(complete).collect()
    }

    pub(crate) fn unreadable(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TableError {
        self.place().external(format!("cannot read it in `{}`", self.place().path), source)
    }
}

fn read_file(path: &std::path::Path, schema: &SchemaRef, limit: usize) -> Result<Vec<RecordBatch>, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path)?)?;
    let roots = builder.parquet_schema().root_schema().get_fields().iter().enumerate();
    let roots = roots.filter(|(_, field)| schema.field_with_name(field.name()).is_ok()).map(|(i, _)| i);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots.collect::<Vec<_>>());
    let rows = builder.with_projection(mask).with_limit(limit).build()?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?)
}
