//! Which input row a row of the quarantine is: told by where it came from, or by all that it holds.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::quarantine::{INPUT, PAYLOAD, PLACES, others, payloads, place, quarantine_schema};

/// How the input rows of a stream are told from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origins {
    /// By their provenance.
    Places,
    /// They have none: by their values.
    Values,
}

impl Origins {
    /// How rows of these columns are told from each other.
    pub fn of_input(input: &Schema) -> Self {
        let known = PLACES.iter().any(|name| input.index_of(name).is_ok());
        if known { Self::Places } else { Self::Values }
    }

    /// Columns of the quarantine that tell them from each other.
    pub fn columns(self) -> Vec<String> {
        let values: &[&str] = if self == Self::Values { &[PAYLOAD, INPUT] } else { &[] };
        values.iter().chain(&PLACES).map(|name| (*name).to_owned()).collect()
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
            ("offset", Arc::new(Int32Array::from(vec![7])) as ArrayRef),
            ("country", Arc::new(StringArray::from(vec!["ES"]))),
        ])
        .unwrap();
        let origins = Origins::of_input(&rows.schema());
        assert_eq!(origins, Origins::Places);
        let told = origins.of(&rows).unwrap();
        assert_eq!(told["offset"].as_primitive::<Int64Type>().value(0), 7);
        assert_eq!(told.num_columns(), 5);
    }

    #[test]
    fn rows_without_provenance_are_told_by_their_values_as_a_quarantine_keeps_them() {
        let rows =
            RecordBatch::try_from_iter([("country", Arc::new(StringArray::from(vec!["ES"])) as ArrayRef)]).unwrap();
        let origins = Origins::of_input(&rows.schema());
        let told = origins.of(&rows).unwrap();
        assert_eq!(told["input"].as_string::<i32>().value(0), r#"{"country":"ES"}"#);
        assert_eq!(origins.of_refused(&told).unwrap(), told);
    }
}
