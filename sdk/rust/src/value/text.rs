//! Builds columns of strings.

use arrow_array::StringArray;
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};

use crate::scan;

/// Arrow's builder copies each value by a call, which is dear in a component; this one does not for short ones.
#[derive(Debug)]
pub struct TextBuilder {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl TextBuilder {
    /// With room for so many rows.
    pub fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { bytes: Vec::with_capacity(rows * 8), offsets, nulls: NullBufferBuilder::new(rows) }
    }

    /// One more value.
    #[inline]
    pub fn append_value(&mut self, text: &str) {
        scan::append(&mut self.bytes, text.as_bytes());
        self.offsets.push(self.bytes.len() as i32);
        self.nulls.append_non_null();
    }

    /// A null.
    #[inline]
    pub fn append_null(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
        self.nulls.append_null();
    }

    /// The column.
    ///
    /// # Panics
    /// It has more than 2 GiB.
    pub fn finish(&mut self) -> StringArray {
        let Self { bytes, offsets, mut nulls } = std::mem::replace(self, Self::with_capacity(0));
        // Checks that the offsets never descend, so that none of them has wrapped around.
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        // SAFETY: the bytes are those of whole texts, one after another, and the offsets are their ends: they start at 0,
        // never descend, and the last one is the number of bytes. There is a bit in `nulls` for each of them.
        unsafe { StringArray::new_unchecked(offsets, Buffer::from_vec(bytes), nulls.finish()) }
    }
}
