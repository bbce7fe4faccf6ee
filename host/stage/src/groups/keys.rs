//! Group keys: which rows belong together, and which groups a batch touches (P-053, W-004).

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, cast::AsArray, new_null_array};
use arrow_row::{OwnedRow, RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

/// Columns whose values make a group. Null is a value like others; NaN is one value, and −0.0 is 0.0.
#[derive(Debug, Clone)]
pub(super) struct GroupKeys {
    pub(super) columns: Vec<usize>,
    names: Vec<String>,
    types: Vec<DataType>,
}

impl GroupKeys {
    pub(super) fn new(input: &Schema, names: &[String]) -> Result<Self, ArrowError> {
        let columns = names.iter().map(|name| input.index_of(name)).collect::<Result<Vec<_>, _>>()?;
        let types = columns.iter().map(|at| input.field(*at).data_type().clone()).collect();
        Ok(Self { columns, names: names.to_vec(), types })
    }

    pub(super) fn converter(&self) -> Result<RowConverter, ArrowError> {
        RowConverter::new(self.types.iter().cloned().map(SortField::new).collect())
    }

    /// The rows with one form for each value of a key.
    pub(super) fn normal(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = rows.columns().to_vec();
        for at in &self.columns {
            columns[*at] = normal(&columns[*at]);
        }
        RecordBatch::try_new(rows.schema(), columns)
    }

    pub(super) fn of(&self, rows: &RecordBatch, converter: &RowConverter) -> Result<Rows, ArrowError> {
        let columns: Vec<ArrayRef> = self.columns.iter().map(|at| normal(rows.column(*at))).collect();
        converter.convert_columns(&columns)
    }

    /// A key in words, for messages.
    pub(super) fn shown(&self, rows: &RecordBatch, row: usize) -> String {
        let value = |(name, at): (&String, &usize)| {
            let value = arrow_cast::display::array_value_to_string(rows.column(*at), row);
            format!("{name} {}", value.as_deref().ok().filter(|text| !text.is_empty()).unwrap_or("null"))
        };
        self.names.iter().zip(&self.columns).map(value).collect::<Vec<_>>().join(", ")
    }
}

fn normal(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => one_form::<Float32Type>(column, |v| if v.is_nan() { f32::NAN } else { v + 0.0 }),
        DataType::Float64 => one_form::<Float64Type>(column, |v| if v.is_nan() { f64::NAN } else { v + 0.0 }),
        _ => Arc::clone(column),
    }
}

fn one_form<T: ArrowPrimitiveType>(column: &ArrayRef, form: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    let values: PrimitiveArray<T> = column.as_primitive::<T>().unary(form);
    Arc::new(values)
}

/// The groups of the rows that a batch brings, changes or takes out; rows of equal values in some columns are a group.
#[derive(Debug)]
pub struct TouchedGroups {
    names: Vec<String>,
    output: SchemaRef,
    groups: HashSet<OwnedRow>,
    converter: RowConverter,
}

impl TouchedGroups {
    pub(super) fn new(keys: GroupKeys, output: SchemaRef) -> Result<Self, ArrowError> {
        let converter = keys.converter()?;
        Ok(Self { names: keys.names, output, groups: HashSet::new(), converter })
    }

    /// No groups yet, of rows that have the columns `names` of `output`, wherever they stand.
    ///
    /// # Errors
    /// A column is not there, or its values cannot be told equal.
    pub fn by(names: &[String], output: &SchemaRef) -> Result<Self, ArrowError> {
        Self::new(GroupKeys::new(output, names)?, Arc::clone(output))
    }

    fn keys(&self, rows: &RecordBatch) -> Result<Rows, ArrowError> {
        let column = |name: &String| {
            let column = rows.column_by_name(name).map(normal);
            column.ok_or_else(|| ArrowError::SchemaError(format!("column `{name}` is not there")))
        };
        let columns = self.names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        self.converter.convert_columns(&columns)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether the batch touches none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds the groups of rows that a chain gave.
    ///
    /// # Errors
    /// A defect of the host: the rows are others than were agreed on.
    pub fn add(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        for key in &self.keys(rows)? {
            if !self.groups.contains(&key.owned()) {
                self.groups.insert(key.owned());
            }
        }
        Ok(())
    }

    /// The rows of these groups.
    ///
    /// # Errors
    /// As for `add`.
    pub fn select(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        filter_record_batch(rows, &self.holds(rows)?)
    }

    /// Which rows belong to these groups.
    ///
    /// # Errors
    /// As for `add`.
    pub fn holds(&self, rows: &RecordBatch) -> Result<BooleanArray, ArrowError> {
        let keys = self.keys(rows)?;
        Ok(keys.iter().map(|key| Some(self.groups.contains(&key.owned()))).collect())
    }

    /// Rows that name these groups to the table: what it holds of them is to go. At most `rows_max` in each.
    ///
    /// # Errors
    /// As for `add`.
    pub fn named(&self, rows_max: usize) -> Result<Vec<RecordBatch>, ArrowError> {
        self.named_in(&self.output, rows_max)
    }

    /// The same as rows of another table, which has at least one of the columns.
    ///
    /// # Errors
    /// As for `add`.
    pub fn named_in(&self, output: &SchemaRef, rows_max: usize) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut groups: Vec<&OwnedRow> = self.groups.iter().collect();
        groups.sort_unstable();
        let batch = |groups: &[&OwnedRow]| {
            let keys = self.converter.convert_rows(groups.iter().map(|group| group.row()))?;
            let columns = output.fields().iter().map(|field| {
                Ok(match self.names.iter().position(|name| name == field.name()) {
                    Some(at) => arrow_cast::cast(&keys[at], field.data_type())?,
                    None if field.name() == crisol_contract::DELETED => {
                        Arc::new(BooleanArray::from(vec![true; groups.len()]))
                    }
                    None => new_null_array(field.data_type(), groups.len()),
                })
            });
            RecordBatch::try_new(Arc::clone(output), columns.collect::<Result<_, ArrowError>>()?)
        };
        groups.chunks(rows_max.max(1)).map(batch).collect()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int32Array, Int64Array, StringArray};
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn rows_are_named_by_columns_wherever_they_stand_and_named_to_a_table_in_its_own_types() {
        let column = |name: &str, data_type| Field::new(name, data_type, true);
        let of = Arc::new(Schema::new(vec![column("day", DataType::Utf8), column("row", DataType::Int64)]));
        let mut touched = TouchedGroups::by(&["row".into(), "day".into()], &of).unwrap();
        let rows = RecordBatch::try_from_iter([
            ("other", Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef),
            ("row", Arc::new(Int64Array::from(vec![1, 2]))),
            ("day", Arc::new(StringArray::from(vec![Some("d"), None]))),
        ])
        .unwrap();
        touched.add(&rows.slice(1, 1)).unwrap();
        assert_eq!(touched.holds(&rows).unwrap(), BooleanArray::from(vec![false, true]));
        assert!(touched.add(&rows.project(&[0, 1]).unwrap()).is_err(), "a column is not there");

        let deleted = Field::new(crisol_contract::DELETED, DataType::Boolean, false);
        let table =
            Arc::new(Schema::new(vec![column("value", DataType::Utf8), column("row", DataType::Int32), deleted]));
        let named = touched.named_in(&table, 10).unwrap();
        assert_eq!(named.len(), 1);
        assert_eq!(*named[0]["row"].as_primitive::<arrow_array::types::Int32Type>(), Int32Array::from(vec![2]));
        assert!(named[0]["value"].is_null(0) && named[0][crisol_contract::DELETED].as_boolean().value(0));
    }
}
