//! `Vec<T>`: columns of type array.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field as ArrowField};
use crisol_ipc::types;

use super::{Field, Value, never_null};

/// A column of lists to read.
#[derive(Debug)]
pub struct ListColumn<'a, C> {
    lists: &'a ListArray,
    elements: C,
}

/// Builds a column of lists.
#[derive(Debug)]
pub struct ListBuilder<B> {
    pub(super) ends: Ends,
    elements: B,
}

impl<'a, F: Field<'a> + Clone> Value<'a> for Vec<F> {
    type Column = ListColumn<'a, <F::Value as Value<'a>>::Column>;
    type Builder = ListBuilder<<F::Value as Value<'a>>::Builder>;

    fn data_type() -> DataType {
        types::list_of(F::Value::data_type())
    }

    fn bind(column: &'a dyn Array) -> Option<Self::Column> {
        let lists: &ListArray = column.as_any().downcast_ref()?;
        Some(ListColumn { lists, elements: F::Value::bind(lists.values().as_ref())? })
    }

    #[inline]
    fn is_null(column: &Self::Column, row: usize) -> bool {
        column.lists.is_null(row)
    }

    fn get(column: &Self::Column, row: usize) -> Option<Self> {
        let [start, end] = *column.lists.value_offsets().get(row..)?.first_chunk::<2>()?;
        (start as usize..end as usize).map(|at| F::get(&column.elements, at)).collect()
    }

    fn builder(rows: usize) -> Self::Builder {
        ListBuilder { ends: Ends::new(rows), elements: F::Value::builder(rows) }
    }

    fn append(builder: &mut Self::Builder, value: Option<&Self>) {
        for element in value.into_iter().flatten() {
            F::Value::append(&mut builder.elements, element.as_option());
        }
        builder.ends.push(value.map(Vec::len));
    }

    fn finish(builder: Self::Builder) -> ArrayRef {
        let (offsets, mut nulls) = builder.ends.finish();
        let element = ArrowField::new(types::ELEMENT, F::Value::data_type(), true);
        let elements = F::Value::finish(builder.elements);
        Arc::new(ListArray::new(Arc::new(element), offsets, elements, nulls.finish()))
    }
}

never_null!(['a, F: Field<'a> + Clone] ['a] Vec<F>);

/// Where the values of each row end.
#[derive(Debug)]
pub(super) struct Ends {
    offsets: Vec<i32>,
    length: usize,
    nulls: NullBufferBuilder,
}

impl Ends {
    pub(super) fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Ends { offsets, length: 0, nulls: NullBufferBuilder::new(rows) }
    }

    /// One more row, of so many values, or null.
    pub(super) fn push(&mut self, values: Option<usize>) {
        self.length += values.unwrap_or(0);
        self.offsets.push(self.length as i32);
        self.nulls.append(values.is_some());
    }

    /// The offsets and what is null.
    ///
    /// # Panics
    /// There are more than 2³¹ values.
    pub(super) fn finish(self) -> (OffsetBuffer<i32>, NullBufferBuilder) {
        // Checks that the offsets never descend, so that none of them has wrapped around.
        (OffsetBuffer::new(ScalarBuffer::from(self.offsets)), self.nulls)
    }
}
