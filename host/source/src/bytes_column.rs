//! A column of bytes that grows by appending to two plain vectors, which become Arrow's buffers as they are.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

/// Values, offsets and validity of a binary or string column. The owner closes chunks long before the 2 GiB that
/// 32-bit offsets can address.
#[derive(Debug)]
pub(crate) struct BytesColumn {
    values: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl BytesColumn {
    pub(crate) fn new(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { values: Vec::with_capacity(bytes), offsets, nulls: NullBufferBuilder::new(rows) }
    }

    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        match value {
            Some(bytes) => {
                self.values.extend_from_slice(bytes);
                self.nulls.append_non_null();
            }
            None => self.nulls.append_null(),
        }
        // Too long a column is refused when it is closed.
        self.offsets.push(i32::try_from(self.values.len()).unwrap_or(i32::MAX));
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn into_binary(self) -> Result<ArrayRef, ArrowError> {
        let (offsets, values, nulls) = self.into_parts()?;
        Ok(Arc::new(BinaryArray::try_new(offsets, values, nulls)?))
    }

    pub(crate) fn into_text(self) -> Result<ArrayRef, ArrowError> {
        let (offsets, values, nulls) = self.into_parts()?;
        Ok(Arc::new(StringArray::try_new(offsets, values, nulls)?))
    }

    fn into_parts(mut self) -> Result<(OffsetBuffer<i32>, Buffer, Option<NullBuffer>), ArrowError> {
        if i32::try_from(self.values.len()).is_err() {
            return Err(ArrowError::OffsetOverflowError(self.values.len()));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok((offsets, Buffer::from_vec(self.values), self.nulls.finish()))
    }
}
