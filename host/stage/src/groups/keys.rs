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

/// The groups of the rows that a batch brings, changes or takes out.
#[derive(Debug)]
pub struct TouchedGroups {
    keys: GroupKeys,
    output: SchemaRef,
    groups: HashSet<OwnedRow>,
    converter: RowConverter,
}

impl TouchedGroups {
    pub(super) fn new(keys: GroupKeys, output: SchemaRef) -> Result<Self, ArrowError> {
        let converter = keys.converter()?;
        Ok(Self { keys, output, groups: HashSet::new(), converter })
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
        let keys = self.keys.of(rows, &self.converter)?;
        for key in &keys {
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
        let keys = self.keys.of(rows, &self.converter)?;
        let touched: BooleanArray = keys.iter().map(|key| Some(self.groups.contains(&key.owned()))).collect();
        filter_record_batch(rows, &touched)
    }

    /// Rows that name these groups to the table: what it holds of them is to go. At most `rows_max` in each.
    ///
    /// # Errors
    /// As for `add`.
    pub fn named(&self, rows_max: usize) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut groups: Vec<&OwnedRow> = self.groups.iter().collect();
        groups.sort_unstable();
        let batch = |groups: &[&OwnedRow]| {
            let keys = self.converter.convert_rows(groups.iter().map(|group| group.row()))?;
            let columns = self.output.fields().iter().map(|field| {
                match self.keys.names.iter().position(|name| name == field.name()) {
                    Some(at) => Arc::clone(&keys[at]),
                    None if field.name() == crisol_contract::DELETED => {
                        Arc::new(BooleanArray::from(vec![true; groups.len()]))
                    }
                    None => new_null_array(field.data_type(), groups.len()),
                }
            });
            RecordBatch::try_new(Arc::clone(&self.output), columns.collect())
        };
        groups.chunks(rows_max.max(1)).map(batch).collect()
    }
}
