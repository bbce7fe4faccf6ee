//! The fields of an object and the columns that they fill: the row itself, and every `struct` in it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Fields};

use crate::column::Column;
use crate::written::Written;

/// From so many fields on, a name that does not come in the expected order is looked up in a table.
const TABLE_FIELDS_MIN: usize = 12;

/// Named columns of one length.
#[derive(Debug)]
pub(crate) struct Object {
    fields: Vec<Field>,
    schema: Fields,
    table: HashMap<Box<[u8]>, usize>,
    /// Objects read so far: the mark of the one that is being read.
    mark: u64,
    rows: usize,
}

/// A declared field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) column: Column,
    written: Written,
    /// The last object that had it.
    mark: u64,
}

impl Object {
    /// # Errors
    /// As for [`Column::new`], with the name of the field.
    pub(crate) fn new(schema: &Fields) -> Result<Self, String> {
        let mut fields = Vec::with_capacity(schema.len());
        for field in schema {
            let column = Column::new(field.data_type()).map_err(|what| format!("`{}`: {what}", field.name()))?;
            fields.push(Field { name: field.name().as_str().into(), column, written: Written::new(field.name()), mark: 0 });
        }
        let indexed = if fields.len() < TABLE_FIELDS_MIN { &[][..] } else { &fields };
        let table = indexed.iter().enumerate().map(|(i, field)| (field.name.as_bytes().into(), i)).collect();
        Ok(Self { fields, schema: schema.clone(), table, mark: 0, rows: 0 })
    }

    /// Starts a new object.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.mark += 1;
    }

    /// The bytes of the field's name, as JSON usually has it, at the start of a text.
    #[inline]
    pub(crate) fn name_at(&self, index: usize, text: &[u8]) -> Option<usize> {
        self.fields.get(index)?.written.at(text)
    }

    /// The index of the field of that name; `expected` is where it would be if the text keeps the declared order.
    #[inline]
    pub(crate) fn find(&self, name: &[u8], expected: usize) -> Option<usize> {
        if self.fields.get(expected).is_some_and(|field| field.name.as_bytes() == name) {
            return Some(expected);
        }
        if self.table.is_empty() {
            return self.fields.iter().position(|field| field.name.as_bytes() == name);
        }
        self.table.get(name).copied()
    }

    /// The field to fill, if this object did not have it yet.
    #[inline]
    pub(crate) fn claim(&mut self, index: usize) -> Option<&mut Field> {
        let field = self.fields.get_mut(index)?;
        let fresh = field.mark != self.mark;
        field.mark = self.mark;
        fresh.then_some(field)
    }

    /// The name of a field.
    pub(crate) fn name(&self, index: usize) -> &str {
        self.fields.get(index).map_or("", |field| &field.name)
    }

    /// Ends the object that was started; `filled` of its fields were there, the others are null (P-002).
    #[inline]
    pub(crate) fn end(&mut self, filled: usize) {
        self.rows += 1;
        if filled < self.fields.len() {
            for field in self.fields.iter_mut().filter(|field| field.mark != self.mark) {
                field.column.append_null();
            }
        }
    }

    pub(crate) fn append_null(&mut self) {
        self.rows += 1;
        for field in &mut self.fields {
            field.column.append_null();
        }
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        for field in &mut self.fields {
            field.column.reserve(rows);
        }
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        for field in &mut self.fields {
            field.column.truncate(rows);
        }
    }

    /// The columns; the object is empty again.
    pub(crate) fn finish(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        self.rows = 0;
        self.fields.iter_mut().map(|field| field.column.finish()).collect()
    }

    /// The columns as one.
    pub(crate) fn finish_struct(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let rows = self.rows;
        let columns = self.finish()?;
        Ok(Arc::new(StructArray::try_new_with_length(self.schema.clone(), columns, nulls, rows)?))
    }
}
