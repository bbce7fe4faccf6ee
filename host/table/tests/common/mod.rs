//! Tables of the suites, and readers that share no code with the host's.

#![allow(dead_code, reason = "each suite uses its part")]

pub(crate) mod faulty;

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_store::Store;
use crisol_table::{AppTransaction, CommitNote, PendingFile, Table, TableSpec, TableWriter};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("country", DataType::Utf8, true)
            .with_metadata([("comment".to_string(), "where it was played".to_string())].into()),
    ]))
}

pub(crate) fn spec(folder: &Path) -> TableSpec {
    TableSpec {
        name: "bronze.plays".to_string(),
        path: folder.display().to_string(),
        schema: schema(),
        partition_by: Vec::new(),
        write: crisol_table::WriteMode::Append,
        properties: Default::default(),
    }
}

pub(crate) fn partitioned(folder: &Path) -> TableSpec {
    TableSpec { partition_by: vec!["country".to_string()], ..spec(folder) }
}

pub(crate) fn store(folder: &Path) -> Store {
    crisol_store::open(&folder.display().to_string()).unwrap()
}

pub(crate) async fn table(spec: &TableSpec) -> Table {
    Table::open_or_create(spec, &store(Path::new(&spec.path))).await.unwrap()
}

pub(crate) fn rows(ids: &[i64]) -> RecordBatch {
    let countries: Vec<Option<&str>> = ids.iter().map(|id| [Some("ES"), Some("FR"), None][*id as usize % 3]).collect();
    let columns: Vec<arrow_array::ArrayRef> =
        vec![Arc::new(Int64Array::from(ids.to_vec())), Arc::new(StringArray::from(countries))];
    RecordBatch::try_new(schema(), columns).unwrap()
}

pub(crate) fn files(table: &dyn TableWriter, ids: &[i64]) -> Vec<PendingFile> {
    let mut writer = table.writer().unwrap();
    writer.write(&rows(ids)).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn batch(app_id: &str, version: i64) -> AppTransaction {
    AppTransaction { app_id: app_id.to_string(), version }
}

pub(crate) fn note(stream: &str, batch: u64) -> CommitNote {
    CommitNote {
        stream: stream.to_string(),
        batch,
        range: serde_json::json!({"plays": {"0": [0, 3]}}),
        components: [("json@1.0.0".to_string(), "ab12".to_string())].into(),
        accounts: serde_json::json!({"read": 3, "written": 3, "rejected": 0, "filtered": 0}),
        losses: serde_json::Value::Null,
        rebuild: None,
    }
}

/// Actions of every entry of the log, read as plain JSON.
pub(crate) fn log(folder: &Path) -> Vec<Vec<Value>> {
    let mut names: Vec<_> = std::fs::read_dir(folder.join("_delta_log")).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "json"));
    names.sort();
    let parse = |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    names.iter().map(|path| parse(std::fs::read_to_string(path).unwrap())).collect()
}

/// Ids that readers see, sorted: live files by deltalake's snapshot, rows by the Parquet reader.
pub(crate) async fn visible_ids(folder: &Path) -> Vec<i64> {
    let url = url::Url::from_directory_path(folder.canonicalize().unwrap()).unwrap();
    let table = deltalake::open_table(url).await.unwrap();
    let mut ids = Vec::new();
    for uri in table.get_file_uris().unwrap() {
        let file = std::fs::File::open(&uri).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            ids.extend(batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().iter().copied());
        }
    }
    ids.sort_unstable();
    ids
}
