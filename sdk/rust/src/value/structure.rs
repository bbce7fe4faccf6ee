//! Records in records: columns of type struct.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::{DataType, Field as ArrowField, Fields};

use crate::record::Record;

/// A column of structs to read.
#[derive(Debug)]
pub struct StructColumn<'a, A> {
    nulls: Option<&'a NullBuffer>,
    fields: A,
}

/// Builds a column of structs.
#[derive(Debug)]
pub struct StructBuilder<B> {
    nulls: NullBufferBuilder,
    fields: B,
}

impl<'a, A> StructColumn<'a, A> {
    #[doc(hidden)]
    pub fn bind<R: Record<'a, Arrays = A>>(column: &'a dyn Array) -> Option<Self> {
        let structs: &StructArray = column.as_any().downcast_ref()?;
        Some(StructColumn { nulls: structs.nulls(), fields: R::bind(structs.columns()).ok()? })
    }

    #[doc(hidden)]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    #[doc(hidden)]
    pub fn get<R: Record<'a, Arrays = A>>(&self, row: usize) -> Option<R> {
        R::get(&self.fields, row).ok()
    }
}

impl<B> StructBuilder<B> {
    #[doc(hidden)]
    pub fn new<'a, R: Record<'a, Builders = B>>(rows: usize) -> Self {
        StructBuilder { nulls: NullBufferBuilder::new(rows), fields: R::builders(rows) }
    }

    #[doc(hidden)]
    pub fn append<'a, R: Record<'a, Builders = B>>(&mut self, record: Option<&R>) {
        R::append(record, &mut self.fields);
        self.nulls.append(record.is_some());
    }

    #[doc(hidden)]
    pub fn finish<'a, R: Record<'a, Builders = B>>(mut self) -> ArrayRef {
        Arc::new(StructArray::new(fields_of::<R>(), R::finish(self.fields), self.nulls.finish()))
    }
}

/// The type of a record as a column.
#[doc(hidden)]
pub fn struct_of<'a, R: Record<'a>>() -> DataType {
    DataType::Struct(fields_of::<R>())
}

fn fields_of<'a, R: Record<'a>>() -> Fields {
    R::columns().into_iter().map(|column| ArrowField::new(column.name, column.data_type, true)).collect()
}
