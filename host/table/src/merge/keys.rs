//! Values of several columns as bytes: equal when the values are, and in their order.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, cast::AsArray};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, Schema};

/// A value in 128 bits. Two seeds, so that different values do not look alike by chance.
pub(super) type Digest = [u64; 2];

pub(super) fn digest(value: &[u8]) -> Digest {
    [0_u8, 1].map(|seed| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(value);
        hasher.finish()
    })
}

/// Columns that are compared as one value: null before all, −0.0 as 0.0, NaN as one value after all (P-053, W-005).
#[derive(Debug)]
pub(super) struct Values {
    names: Vec<String>,
    converter: RowConverter,
}

impl Values {
    pub(super) fn new(schema: &Schema, names: &[String]) -> Result<Self, ArrowError> {
        let field = |name: &String| schema.field_with_name(name).map(|f| SortField::new(f.data_type().clone()));
        let fields = names.iter().map(field).collect::<Result<_, _>>()?;
        Ok(Self { names: names.to_vec(), converter: RowConverter::new(fields)? })
    }

    pub(super) fn of(&self, rows: &RecordBatch) -> Result<Rows, ArrowError> {
        let column = |name: &String| {
            let column = rows.column_by_name(name).map(normal);
            column.ok_or_else(|| ArrowError::SchemaError(format!("column `{name}` is not there")))
        };
        let columns = self.names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        self.converter.convert_columns(&columns)
    }

    /// The first of the columns with a null, if there is one.
    pub(super) fn null_in(&self, rows: &RecordBatch) -> Option<&str> {
        let is_null = |name: &&String| rows.column_by_name(name).is_some_and(|column| column.null_count() > 0);
        self.names.iter().find(is_null).map(String::as_str)
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
