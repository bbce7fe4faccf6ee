//! A Delta table whose log is written by hand.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_checkpoint::{Position, TablePosition};
use crisol_source::{TableSource, TableSourceSpec};
use parquet::arrow::ArrowWriter;

pub(crate) const ID: &str = "11111111-2222-4333-8444-555555555555";

pub(crate) struct Table {
    folder: tempfile::TempDir,
}

impl Table {
    /// A table `n long, day string`, partitioned by `day`, at version 0.
    pub(crate) fn create() -> Self {
        let table = Self::absent();
        fs::create_dir_all(table.path().join("_delta_log")).unwrap();
        let schema = r#"{\"type\":\"struct\",\"fields\":[{\"name\":\"n\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"day\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}"#;
        table.commit(
            0,
            &[
                r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#.into(),
                format!(
                    r#"{{"metaData":{{"id":"{ID}","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{schema}","partitionColumns":["day"],"configuration":{{}},"createdTime":1}}}}"#
                ),
            ],
        );
        table
    }

    pub(crate) fn absent() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("a table")
    }

    pub(crate) fn log_entry(&self, version: i64) -> PathBuf {
        self.path().join("_delta_log").join(format!("{version:020}.json"))
    }

    pub(crate) fn commit(&self, version: i64, actions: &[String]) {
        fs::write(self.log_entry(version), actions.join("\n")).unwrap();
    }

    /// Writes a data file with these numbers and gives its `add` action.
    pub(crate) fn file(&self, name: &str, day: &str, numbers: std::ops::Range<i64>) -> String {
        let folder = self.path().join(format!("day={day}"));
        fs::create_dir_all(&folder).unwrap();
        let rows = Arc::new(Int64Array::from_iter_values(numbers));
        let batch = RecordBatch::try_from_iter([("n", rows as _)]).unwrap();
        let mut writer =
            ArrowWriter::try_new(fs::File::create(folder.join(name)).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let size = fs::metadata(folder.join(name)).unwrap().len();
        format!(
            r#"{{"add":{{"path":"day={day}/{name}","partitionValues":{{"day":"{day}"}},"size":{size},"modificationTime":1,"dataChange":true}}}}"#
        )
    }

    pub(crate) fn source(&self, max_files: usize) -> TableSource {
        self.source_of(max_files, false)
    }

    pub(crate) fn source_of(&self, max_files: usize, external: bool) -> TableSource {
        TableSource::new(TableSourceSpec {
            name: "bronze.t".into(),
            path: self.path().to_str().unwrap().to_owned(),
            columns: columns(),
            external,
            changes: false,
            cut: crisol_source::Cut::Files,
            held: None,
            anew: "begin anew".into(),
            max_files,
            max_bytes: TableSourceSpec::MAX_BYTES,
        })
    }
}

pub(crate) fn columns() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("day", DataType::Utf8, true), Field::new("n", DataType::Int64, true)]))
}

pub(crate) fn at(version: i64, index: i64) -> Position {
    Position::Table(TablePosition { reservoir_id: ID.into(), reservoir_version: version, index, snapshot: false })
}

/// In what the table held at a version.
pub(crate) fn inside(version: i64, index: i64) -> Position {
    Position::Table(TablePosition { reservoir_id: ID.into(), reservoir_version: version, index, snapshot: true })
}
