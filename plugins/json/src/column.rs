//! Columns under construction. A row that fails half-way is taken back with [`Column::truncate`]: offsets say how long
//! the children were before it, so no marks are kept.

use std::mem;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, ListArray, MapArray, PrimitiveArray, StringArray, StructArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};
use crisol_ipc::types;
use crisol_sdk::scan;

use crate::object::Object;

/// One column, at any level of nesting.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) values: Values,
    pub(crate) nulls: NullBufferBuilder,
    /// The type as contracts write it, for messages.
    pub(crate) type_name: String,
}

/// The values of a column by type. Null slots hold the type's zero.
#[derive(Debug)]
pub(crate) enum Values {
    Boolean(BooleanBufferBuilder),
    Byte(Vec<i8>),
    Short(Vec<i16>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Decimal { values: Vec<i128>, precision: u8, scale: u8 },
    Date(Vec<i32>),
    Timestamp(Vec<i64>),
    Text(Bytes),
    Binary(Bytes),
    Struct(Object),
    List { field: FieldRef, offsets: Vec<i32>, items: Box<Column> },
    Map { entries: FieldRef, offsets: Vec<i32>, keys: Bytes, items: Box<Column> },
}

/// Values of varying length.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    offsets: Vec<i32>,
}

impl Column {
    /// An empty column.
    ///
    /// # Errors
    /// Types that JSON cannot fill, in words for people.
    pub(crate) fn new(data_type: &DataType) -> Result<Self, String> {
        let type_name =
            types::name(data_type).ok_or_else(|| format!("columns of type {data_type} cannot be read from JSON"))?;
        let values = match data_type {
            DataType::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            DataType::Int8 => Values::Byte(Vec::new()),
            DataType::Int16 => Values::Short(Vec::new()),
            DataType::Int32 => Values::Int(Vec::new()),
            DataType::Int64 => Values::Long(Vec::new()),
            DataType::Float32 => Values::Float(Vec::new()),
            DataType::Float64 => Values::Double(Vec::new()),
            &DataType::Decimal128(precision, scale) => {
                let scale = u8::try_from(scale).map_err(|_| format!("`{type_name}`: the scale is negative"))?;
                Values::Decimal { values: Vec::new(), precision, scale }
            }
            DataType::Date32 => Values::Date(Vec::new()),
            DataType::Timestamp(..) => Values::Timestamp(Vec::new()),
            DataType::Utf8 => Values::Text(Bytes::new()),
            DataType::Binary => Values::Binary(Bytes::new()),
            DataType::Struct(fields) => Values::Struct(Object::new(fields)?),
            DataType::List(field) => {
                Values::List { field: field.clone(), offsets: vec![0], items: Box::new(Self::new(field.data_type())?) }
            }
            DataType::Map(entries, _) => Values::Map {
                entries: entries.clone(),
                offsets: vec![0],
                keys: Bytes::new(),
                items: Box::new(Self::new(map_value(entries, &type_name)?)?),
            },
            _ => return Err(format!("columns of type `{type_name}` cannot be read from JSON")),
        };
        Ok(Self { values, nulls: NullBufferBuilder::new(0), type_name })
    }

    /// Makes room for `rows` rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.reserve(rows),
            Values::Byte(values) => values.reserve(rows),
            Values::Short(values) => values.reserve(rows),
            Values::Int(values) | Values::Date(values) => values.reserve(rows),
            Values::Long(values) | Values::Timestamp(values) => values.reserve(rows),
            Values::Float(values) => values.reserve(rows),
            Values::Double(values) => values.reserve(rows),
            Values::Decimal { values, .. } => values.reserve(rows),
            Values::Text(text) | Values::Binary(text) => text.offsets.reserve(rows),
            Values::Struct(object) => object.reserve(rows),
            Values::List { offsets, .. } | Values::Map { offsets, .. } => offsets.reserve(rows),
        }
    }

    /// Appends a null.
    pub(crate) fn append_null(&mut self) {
        match &mut self.values {
            Values::Boolean(values) => values.append(false),
            Values::Byte(values) => values.push(0),
            Values::Short(values) => values.push(0),
            Values::Int(values) | Values::Date(values) => values.push(0),
            Values::Long(values) | Values::Timestamp(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Double(values) => values.push(0.0),
            Values::Decimal { values, .. } => values.push(0),
            Values::Text(text) | Values::Binary(text) => text.repeat_offset(),
            Values::Struct(object) => object.append_null(),
            Values::List { offsets, .. } | Values::Map { offsets, .. } => {
                let end = offsets.last().copied().unwrap_or(0);
                offsets.push(end);
            }
        }
        self.nulls.append_null();
    }

    /// Takes back all rows from `rows` on, also one that was written in part.
    pub(crate) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.truncate(rows.min(values.len())),
            Values::Byte(values) => values.truncate(rows),
            Values::Short(values) => values.truncate(rows),
            Values::Int(values) | Values::Date(values) => values.truncate(rows),
            Values::Long(values) | Values::Timestamp(values) => values.truncate(rows),
            Values::Float(values) => values.truncate(rows),
            Values::Double(values) => values.truncate(rows),
            Values::Decimal { values, .. } => values.truncate(rows),
            Values::Text(text) | Values::Binary(text) => text.truncate(rows),
            Values::Struct(object) => object.truncate(rows),
            Values::List { offsets, items, .. } => items.truncate(truncate_offsets(offsets, rows)),
            Values::Map { offsets, keys, items, .. } => {
                let end = truncate_offsets(offsets, rows);
                keys.truncate(end);
                items.truncate(end);
            }
        }
        self.nulls.truncate(rows.min(self.nulls.len()));
    }

    /// The array; the column is empty again.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish().filter(|nulls| nulls.null_count() > 0);
        Ok(match &mut self.values {
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Byte(values) => Arc::new(primitive::<Int8Type>(values, nulls)?),
            Values::Short(values) => Arc::new(primitive::<Int16Type>(values, nulls)?),
            Values::Int(values) => Arc::new(primitive::<Int32Type>(values, nulls)?),
            Values::Long(values) => Arc::new(primitive::<Int64Type>(values, nulls)?),
            Values::Float(values) => Arc::new(primitive::<Float32Type>(values, nulls)?),
            Values::Double(values) => Arc::new(primitive::<Float64Type>(values, nulls)?),
            Values::Decimal { values, precision, scale } => {
                let values = primitive::<Decimal128Type>(values, nulls)?;
                Arc::new(values.with_precision_and_scale(*precision, *scale as i8)?)
            }
            Values::Date(values) => Arc::new(primitive::<Date32Type>(values, nulls)?),
            Values::Timestamp(values) => {
                Arc::new(primitive::<TimestampMicrosecondType>(values, nulls)?.with_timezone(types::UTC))
            }
            Values::Text(text) => {
                let (offsets, bytes) = text.take();
                Arc::new(StringArray::try_new(offsets, bytes, nulls)?)
            }
            Values::Binary(binary) => {
                let (offsets, bytes) = binary.take();
                Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?)
            }
            Values::Struct(object) => object.finish_struct(nulls)?,
            Values::List { field, offsets, items } => {
                Arc::new(ListArray::try_new(field.clone(), take_offsets(offsets), items.finish()?, nulls)?)
            }
            Values::Map { entries, offsets, keys, items } => {
                let (key_offsets, bytes) = keys.take();
                let keys: ArrayRef = Arc::new(StringArray::try_new(key_offsets, bytes, None)?);
                let DataType::Struct(fields) = entries.data_type() else {
                    return Err(ArrowError::SchemaError("a map without entries".into()));
                };
                let rows = StructArray::try_new(fields.clone(), vec![keys, items.finish()?], None)?;
                Arc::new(MapArray::try_new(entries.clone(), take_offsets(offsets), rows, nulls, false)?)
            }
        })
    }

    /// Values appended so far, nulls included.
    pub(crate) fn len(&self) -> usize {
        self.nulls.len()
    }
}

impl Bytes {
    fn new() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0] }
    }

    /// Appends to the value that is being written.
    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        scan::append(&mut self.bytes, bytes);
    }

    /// Ends the value whose bytes were appended.
    #[inline]
    pub(crate) fn end_value(&mut self) -> Result<(), TooLong> {
        self.offsets.push(offset(self.bytes.len())?);
        Ok(())
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// One of the values.
    pub(crate) fn value(&self, index: usize) -> &[u8] {
        match self.offsets.get(index..index + 2) {
            Some(&[start, end]) => self.bytes.get(start as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    fn repeat_offset(&mut self) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.push(end);
    }

    fn truncate(&mut self, values: usize) {
        let end = truncate_offsets(&mut self.offsets, values);
        self.bytes.truncate(end);
    }

    fn take(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        (take_offsets(&mut self.offsets), Buffer::from_vec(mem::take(&mut self.bytes)))
    }
}

/// More bytes or items than a column can address.
#[derive(Debug)]
pub(crate) struct TooLong;

/// A length as an offset.
#[inline]
pub(crate) fn offset(length: usize) -> Result<i32, TooLong> {
    i32::try_from(length).map_err(|_| TooLong)
}

/// Keeps the offsets of `values` values; says where the last of them ends.
fn truncate_offsets(offsets: &mut Vec<i32>, values: usize) -> usize {
    offsets.truncate(values + 1);
    offsets.last().map_or(0, |&end| end as usize)
}

fn take_offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(mem::replace(offsets, vec![0])))
}

fn primitive<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    nulls: Option<NullBuffer>,
) -> Result<PrimitiveArray<T>, ArrowError> {
    PrimitiveArray::try_new(ScalarBuffer::from(mem::take(values)), nulls)
}

/// The type of a map's values. Names in JSON are strings, so keys must be.
fn map_value<'a>(entries: &'a FieldRef, type_name: &str) -> Result<&'a DataType, String> {
    match entries.data_type() {
        DataType::Struct(fields) => match fields.as_ref() {
            [key, value] if key.data_type() == &DataType::Utf8 => Ok(value.data_type()),
            _ => Err(format!("`{type_name}`: a map read from JSON has keys of type `string`")),
        },
        _ => Err(format!("`{type_name}` is not a map")),
    }
}
