//! Rejected rows as a batch: who writes it fills a [`Rejections`], who reads it gets [`Rejected`] rows.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Int8Builder, Int32Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::IpcError;

/// What becomes of a rejected row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes to quarantine.
    Quarantine,
    /// It is dropped on purpose, and counted.
    Filter,
}

/// A rejected row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Input row, counted from 0.
    pub row: i32,
    /// What becomes of it.
    pub kind: Fate,
    /// Short stable reason: `corrupt_record`.
    pub code: String,
    /// For people.
    pub text: String,
}

/// Columns of a message of rejections: `row` int, `kind` tinyint, `code` and `text` string, all not null.
pub fn rejections_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        Arc::new(Schema::new(vec![
            Field::new("row", DataType::Int32, false),
            Field::new("kind", DataType::Int8, false),
            Field::new("code", DataType::Utf8, false),
            Field::new("text", DataType::Utf8, false),
        ]))
    });
    Arc::clone(&SCHEMA)
}

/// Collects rejected rows.
#[derive(Debug, Default)]
pub struct Rejections {
    row: Int32Builder,
    kind: Int8Builder,
    code: StringBuilder,
    text: StringBuilder,
    rows: usize,
}

impl Rejections {
    /// One more. Rows come in any order.
    pub fn push(&mut self, row: i32, kind: Fate, code: &str, text: &str) {
        self.row.append_value(row);
        self.kind.append_value(match kind {
            Fate::Quarantine => 0,
            Fate::Filter => 1,
        });
        self.code.append_value(code);
        self.text.append_value(text);
        self.rows += 1;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The batch to send, `None` when nothing was rejected.
    ///
    /// # Errors
    /// None that is known.
    pub fn finish(mut self) -> Result<Option<RecordBatch>, IpcError> {
        if self.is_empty() {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.row.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.code.finish()),
            Arc::new(self.text.finish()),
        ];
        let batch = RecordBatch::try_new(rejections_schema(), columns);
        batch.map(Some).map_err(|e| IpcError::Frame(e.to_string()))
    }

    /// The rows of a decoded batch of [`rejections_schema`].
    ///
    /// # Errors
    /// Another schema, or a `kind` that is neither 0 nor 1.
    pub fn read(batch: &RecordBatch) -> Result<Vec<Rejected>, IpcError> {
        let columns = (
            batch.columns().first().and_then(|c| c.as_primitive_opt::<Int32Type>()),
            batch.columns().get(1).and_then(|c| c.as_primitive_opt::<Int8Type>()),
            batch.columns().get(2).and_then(|c| c.as_string_opt::<i32>()),
            batch.columns().get(3).and_then(|c| c.as_string_opt::<i32>()),
        );
        let (Some(row), Some(kind), Some(code), Some(text)) = columns else {
            return Err(IpcError::Frame(format!("{} is no schema of rejections", batch.schema_ref())));
        };
        let mut rejected = Vec::with_capacity(batch.num_rows());
        for i in 0..batch.num_rows() {
            let kind = match kind.value(i) {
                0 => Fate::Quarantine,
                1 => Fate::Filter,
                other => return Err(unknown_kind(row.value(i), other)),
            };
            let (code, text) = (code.value(i).to_string(), text.value(i).to_string());
            rejected.push(Rejected { row: row.value(i), kind, code, text });
        }
        Ok(rejected)
    }
}

fn unknown_kind(row: i32, kind: i8) -> IpcError {
    IpcError::Column {
        column: "kind".to_string(),
        data_type: "tinyint".to_string(),
        what: format!("row {row} has {kind}; 0 is quarantine, 1 is filter"),
    }
}
