//! One Parquet file that is being written.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, RecordBatch, cast::AsArray};
use arrow_schema::DataType;
use crisol_store::DataFile;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;

use super::kept::KeptRows;
use super::stats::Seen;
use super::{Layout, key, slice_bytes, stats};
use crate::{PendingFile, TableError, entry};

pub(super) struct OpenFile {
    layout: Arc<Layout>,
    /// Relative to the table, as the file system has it.
    path: String,
    writer: ArrowWriter<Sink>,
    rows: u64,
    /// What Parquet's statistics will not say, per column.
    seen: Vec<Seen>,
    kept: Option<KeptRows>,
}

impl OpenFile {
    /// `folder` is empty or ends with `/`.
    pub(super) fn create(layout: Arc<Layout>, folder: &str) -> Result<Self, TableError> {
        let path = format!("{}{folder}part-{}.{}.parquet", layout.folder, uuid::Uuid::new_v4(), layout.codec);
        let file = layout.store.data_file(&path).map_err(|e| layout.failed(e))?;
        // Plain Parquet types say all; Arrow's own schema in every file would only be dead weight.
        let options =
            ArrowWriterOptions::new().with_properties(layout.properties.clone()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Sink(Some(file)), layout.data_schema.clone(), options);
        let writer = writer.map_err(|e| layout.failed(e))?;
        let seen = vec![Seen::default(); layout.data_schema.fields().len()];
        let kept = layout.keeper.clone().map(KeptRows::new);
        Ok(Self { layout, path, writer, rows: 0, seen, kept })
    }

    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<(), TableError> {
        for (column, seen) in rows.columns().iter().zip(&mut self.seen) {
            seen.nulls += column.null_count() as u64;
            seen.nan = seen.nan || has_nan(column.as_ref());
        }
        self.rows += rows.num_rows() as u64;
        if let Some(kept) = self.kept.take() {
            self.kept = kept.with(rows, slice_bytes(rows).map_err(|e| self.layout.failed(e))?);
        }
        self.writer.write(rows).map_err(|e| self.layout.failed(e))
    }

    /// Ends the row group, so that its rows leave memory.
    pub(super) fn flush(&mut self) -> Result<(), TableError> {
        self.writer.flush().map_err(|e| self.layout.failed(e))
    }

    pub(super) fn is_full(&self) -> bool {
        self.written() >= self.layout.limits.file_bytes
    }

    /// Bytes so far, those of the open row group as far as they can be told.
    pub(super) fn written(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    /// Ends the file and makes it durable.
    pub(super) fn finish(
        mut self,
        partition_values: BTreeMap<String, Option<String>>,
    ) -> Result<PendingFile, TableError> {
        let layout = self.layout;
        let metadata = self.writer.finish().map_err(|e| layout.failed(e))?;
        let size = match self.writer.inner_mut().0.take() {
            Some(file) => file.finish().map_err(|e| layout.failed(e))?,
            None => return Err(layout.failed("the file was ended before")),
        };
        if let Some(kept) = self.kept {
            kept.finish(layout.store.root.join(&self.path));
        }
        Ok(PendingFile {
            path: key::uri(&self.path),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            rows: self.rows,
            partition_values,
            stats: stats::json(&metadata, layout.indexed, &self.seen),
            modification_time: entry::now_millis(),
        })
    }
}

fn has_nan(column: &dyn Array) -> bool {
    match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().values().iter().any(|v| v.is_nan()),
        DataType::Float64 => column.as_primitive::<Float64Type>().values().iter().any(|v| v.is_nan()),
        _ => false,
    }
}

/// The data file, which the Parquet writer owns and gives back only here.
struct Sink(Option<DataFile>);

impl Sink {
    fn file(&mut self) -> std::io::Result<&mut DataFile> {
        self.0.as_mut().ok_or_else(|| std::io::Error::other("the file was ended before"))
    }
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.file()?.write(buf)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file()?.flush()
    }
}
