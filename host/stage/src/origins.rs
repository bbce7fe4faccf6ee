//! Which input row a row of the quarantine is: told by where it came from, or by all that it holds.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::quarantine::{INPUT, PAYLOAD, PLACES, others, payloads, place, quarantine_schema};

const KAFKA: [&str; 3] = ["topic", "partition", "offset"];
const FILES: [&str; 2] = ["file_path", "file_row"];

/// How the input rows of a stream are told from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origins {
    /// By topic, partition and offset.
    Kafka,
    /// By file and row.
    Files,
    /// They have no provenance: by their values.
    Values,
}

impl Origins {
    /// How rows of these columns are told from each other.
    pub fn of_input(input: &Schema) -> Self {
        let has = |names: &[&str]| names.iter().all(|name| input.index_of(name).is_ok());
        match (has(&KAFKA), has(&FILES)) {
            (true, _) => Self::Kafka,
            (_, true) => Self::Files,
            _ => Self::Values,
        }
    }

    /// Whether rows of a table say which input row they were made of.
    pub fn are_kept_by(self, table: &Schema) -> bool {
        self != Self::Values && self.columns().iter().all(|name| table.index_of(name).is_ok())
    }

    /// Columns of the quarantine that tell them from each other.
    pub fn columns(self) -> Vec<String> {
        let names: Vec<&str> = match self {
            Self::Kafka => KAFKA.to_vec(),
            Self::Files => FILES.to_vec(),
            Self::Values => [PAYLOAD, INPUT].into_iter().chain(PLACES).collect(),
        };
        names.into_iter().map(str::to_owned).collect()
    }

    /// The same, with their types.
    pub fn schema(self) -> SchemaRef {
        let (columns, schema) = (self.columns(), quarantine_schema());
        let fields = schema.fields().iter().filter(|field| columns.contains(field.name())).cloned();
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Input rows, or rows of a table that keeps provenance, in these columns.
    ///
    /// # Errors
    /// A value cannot be written down.
    pub fn of(self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let schema = self.schema();
        let column = |field: &Arc<arrow_schema::Field>| -> Result<ArrayRef, ArrowError> {
            Ok(match field.name().as_str() {
                PAYLOAD => payloads(rows)?,
                INPUT => Arc::new(others(rows)?),
                _ => place(rows, field)?,
            })
        };
        let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(schema, columns)
    }

    /// Rows of a quarantine in these columns.
    ///
    /// # Errors
    /// They are no such rows.
    pub fn of_refused(self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = self
            .schema()
            .fields()
            .iter()
            .map(|field| rows.schema().index_of(field.name()))
            .collect::<Result<Vec<_>, _>>()?;
        rows.project(&columns)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int32Array, StringArray};

    use super::*;

    #[test]
    fn rows_with_provenance_are_told_by_it_whatever_else_they_hold() {
        let rows = RecordBatch::try_from_iter([
            ("file_row", Arc::new(Int32Array::from(vec![7])) as ArrayRef),
            ("file_path", Arc::new(StringArray::from(vec!["a.json"]))),
            // A column of the rows' own, whatever it is called.
            ("topic", Arc::new(StringArray::from(vec!["sports"]))),
        ])
        .unwrap();
        let origins = Origins::of_input(&rows.schema());
        assert_eq!(origins, Origins::Files);
        let told = origins.of(&rows).unwrap();
        assert_eq!(told["file_row"].as_primitive::<Int64Type>().value(0), 7);
        assert_eq!(told.num_columns(), 2);
        assert!(origins.are_kept_by(&rows.schema()));
        assert!(!origins.are_kept_by(&rows.project(&[0, 2]).unwrap().schema()));
    }

    #[test]
    fn rows_without_provenance_are_told_by_their_values_as_a_quarantine_keeps_them() {
        let rows =
            RecordBatch::try_from_iter([("country", Arc::new(StringArray::from(vec!["ES"])) as ArrayRef)]).unwrap();
        let origins = Origins::of_input(&rows.schema());
        let told = origins.of(&rows).unwrap();
        assert_eq!(told["input"].as_string::<i32>().value(0), r#"{"country":"ES"}"#);
        assert_eq!(origins.of_refused(&told).unwrap(), told);
        assert!(!origins.are_kept_by(&rows.schema()));
    }
}
