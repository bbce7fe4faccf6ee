//! Parquet files of one batch, pending until a commit names them.
//!
//! A table without partition columns is written straight through; one with them is split first (`split`). Files roll
//! at a size.

mod kept;
mod key;
mod open;
mod split;
mod stats;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use crisol_store::Store;
use deltalake::kernel::Metadata;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

pub use self::kept::KeepFiles;
use self::open::OpenFile;
use self::split::Splitter;
use crate::error::Place;
use crate::scan::local;
use crate::{FileWriter, PendingFile, TableError, TableSpec, WriteMode};

/// Where files and memory end.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// A file that reached this size is ended and the next one begun.
    file_bytes: usize,
    /// Rows that are gathered before they are split by partition.
    gather_rows: usize,
    gather_bytes: usize,
    /// Split rows that may wait in memory, over all partitions.
    wait_bytes: usize,
    /// Files open at the same time; one more ends the fullest of them.
    open_files: usize,
}

const LIMITS: Limits = Limits {
    file_bytes: 128 << 20,
    // Splitting costs per partition and column, whatever the rows: so many rows make that cost small.
    gather_rows: 128 << 10,
    gather_bytes: 32 << 20,
    wait_bytes: 128 << 20,
    open_files: 256,
};

const ROW_GROUP_ROWS: usize = 1 << 20;
/// Encoded bytes of a row group: it stays in memory until it is whole.
const ROW_GROUP_BYTES: usize = 32 << 20;
/// Longest minimum or maximum of a text; longer ones are cut, and a maximum made greater.
const BOUND_BYTES: usize = 64;
/// In the form that parquet-java wants: it ignores the statistics of texts in files by writers whose version it cannot read.
const CREATED_BY: &str = concat!("crisol version ", env!("CARGO_PKG_VERSION"));
/// A column whose different values take more than this is written plain from there on: a dictionary that is given up late
/// has cost much and saved nothing.
const DICTIONARY_BYTES: usize = 256 << 10;
/// Leaf columns with statistics when the table does not say otherwise (D-105).
const INDEXED_COLUMNS: usize = 32;

/// How the rows of a table lie in files.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    place: Arc<Place>,
    store: Store,
    schema: SchemaRef,
    /// Positions of the columns that files hold: all but the partition columns.
    data: Vec<usize>,
    data_schema: SchemaRef,
    /// Positions of the partition columns, in the table's order of partitioning.
    partition: Vec<usize>,
    properties: WriterProperties,
    /// In the names of files.
    codec: &'static str,
    /// Leaf columns with statistics.
    indexed: usize,
    limits: Limits,
    /// Folder of the files, below the table's; empty or with a `/` at its end.
    folder: &'static str,
    /// Who keeps the rows of new files.
    keeper: Option<Arc<dyn KeepFiles>>,
}

impl Layout {
    pub(crate) fn new(
        place: Arc<Place>,
        spec: &TableSpec,
        store: Store,
        metadata: &Metadata,
    ) -> Result<Self, TableError> {
        let failed = |e: arrow_schema::ArrowError| place.external("cannot lay out its files", e);
        let partition: Result<Vec<usize>, _> =
            spec.partition_by.iter().map(|name| spec.schema.index_of(name)).collect();
        let partition = partition.map_err(failed)?;
        let data: Vec<usize> = (0..spec.schema.fields().len()).filter(|i| !partition.contains(i)).collect();
        let data_schema = Arc::new(spec.schema.project(&data).map_err(failed)?);
        let properties =
            properties(&data_schema, &spec.write).map_err(|e| place.external("cannot set its compression", e))?;
        let indexed = indexed_columns(metadata);
        let schema = spec.schema.clone();
        Ok(Self {
            place,
            store,
            schema,
            data,
            data_schema,
            partition,
            properties,
            codec: "zstd",
            indexed,
            limits: LIMITS,
            folder: "",
            keeper: None,
        })
    }

    /// The same, in a folder below the table's.
    pub(crate) fn below(self, folder: &'static str) -> Self {
        Self { folder, ..self }
    }

    /// The same, for rows that are read back once, and soon.
    pub(crate) fn for_staging(self) -> Self {
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_string())
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            .set_statistics_enabled(EnabledStatistics::None);
        Self { properties: properties.build(), codec: "snappy", ..self }
    }

    /// Columns of the rows.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The same, whose new files are kept by `keeper`, too.
    pub(crate) fn handing_over(&self, keeper: Arc<dyn KeepFiles>) -> Self {
        Self { keeper: Some(keeper), ..self.clone() }
    }

    /// The same, for rows that are in the table already: files end at another size, and nobody keeps their rows.
    pub(crate) fn for_compaction(&self, file_bytes: usize) -> Self {
        Self { limits: Limits { file_bytes, ..self.limits }, keeper: None, ..self.clone() }
    }

    /// Removes files that no commit names any more, as far as that goes: what stays is a file too much.
    pub(crate) async fn discard(&self, files: &[PendingFile]) {
        for file in files {
            let removed = match local(&self.store.root, &file.path) {
                Some(path) => tokio::fs::remove_file(path).await,
                None => continue,
            };
            if let Err(error) = removed {
                tracing::debug!(table = %self.place.table, file = %file.path, %error, "a file of no commit stays");
            }
        }
    }

    /// Rows must have the table's columns, and nulls only where the table allows them.
    fn check(&self, rows: &RecordBatch) -> Result<(), TableError> {
        let (wanted, found) = (self.schema.fields(), rows.schema_ref().fields());
        let same = wanted.len() == found.len()
            && wanted.iter().zip(found).all(|(w, f)| w.name() == f.name() && w.data_type() == f.data_type());
        if !same {
            let columns = |fields: &arrow_schema::Fields| {
                fields.iter().map(|f| format!("{} {}", f.name(), f.data_type())).collect::<Vec<_>>().join(", ")
            };
            return Err(self.place.data(format!(
                "rows have columns ({}), the table has ({})",
                columns(found),
                columns(wanted)
            )));
        }
        for (field, column) in wanted.iter().zip(rows.columns()) {
            if !field.is_nullable() && column.null_count() > 0 {
                let nulls = column.null_count();
                return Err(self
                    .place
                    .data(format!("column `{}` is NOT NULL, and {nulls} rows have null", field.name())));
            }
        }
        Ok(())
    }

    /// The columns that files hold.
    fn project(&self, rows: &RecordBatch) -> Result<RecordBatch, TableError> {
        let columns = self.data.iter().map(|i| rows.column(*i).clone()).collect();
        RecordBatch::try_new(self.data_schema.clone(), columns).map_err(|e| self.failed(e))
    }

    pub(crate) fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TableError {
        self.place.external(format!("cannot write a data file in `{}`", self.place.path), source)
    }
}

/// zstd at its lowest level takes the time that snappy takes, and half its space.
fn properties(columns: &SchemaRef, write: &WriteMode) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_string())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_statistics_truncate_length(Some(BOUND_BYTES));
    // Payloads and keys: they seldom repeat, and nobody asks for their bounds.
    for field in columns.fields().iter().filter(|field| field.data_type() == &DataType::Binary) {
        let path = ColumnPath::from(field.name().as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    if let WriteMode::Upsert { keys, sequence_by, .. } = write {
        for name in keys.iter().chain(sequence_by) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name.as_str()), false);
        }
    }
    Ok(properties.build())
}

fn indexed_columns(metadata: &Metadata) -> usize {
    let own = metadata.configuration().get("delta.dataSkippingNumIndexedCols");
    match own.and_then(|text| text.parse::<i64>().ok()) {
        None => INDEXED_COLUMNS,
        Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
    }
}

/// Bytes of the rows themselves, whatever they share with other batches.
fn slice_bytes(rows: &RecordBatch) -> Result<usize, ArrowError> {
    rows.columns().iter().map(|column| column.to_data().get_slice_memory_size()).sum()
}

pub(crate) struct Files {
    layout: Arc<Layout>,
    rows: Rows,
    done: Vec<PendingFile>,
}

enum Rows {
    Straight(Option<Box<OpenFile>>),
    Split(Splitter),
}

impl Files {
    pub(crate) fn new(layout: Arc<Layout>) -> Result<Self, TableError> {
        let rows = if layout.partition.is_empty() {
            Rows::Straight(None)
        } else {
            Rows::Split(Splitter::new(layout.clone())?)
        };
        Ok(Self { layout, rows, done: Vec::new() })
    }
}

impl FileWriter for Files {
    fn write(&mut self, rows: &RecordBatch) -> Result<(), TableError> {
        self.layout.check(rows)?;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        match &mut self.rows {
            Rows::Split(splitter) => splitter.write(rows, &mut self.done),
            Rows::Straight(current) => {
                let mut file = match current.take() {
                    Some(file) => file,
                    None => Box::new(OpenFile::create(self.layout.clone(), "")?),
                };
                file.write(&self.layout.project(rows)?)?;
                if file.is_full() {
                    self.done.push(file.finish(Default::default())?);
                } else {
                    *current = Some(file);
                }
                Ok(())
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<Vec<PendingFile>, TableError> {
        let Self { rows, mut done, .. } = *self;
        match rows {
            Rows::Straight(None) => {}
            Rows::Straight(Some(file)) => done.push(file.finish(Default::default())?),
            Rows::Split(splitter) => splitter.finish(&mut done)?,
        }
        Ok(done)
    }
}
