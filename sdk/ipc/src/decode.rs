//! A message as a record batch of a schema known beforehand. Every number in the message is checked before Arrow sees
//! its buffer; Arrow then checks the contents (offsets, UTF-8, nulls).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::Buffer;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_ipc::FieldNode;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use flatbuffers::VectorIter;

use crate::encode::unsupported;
use crate::frame::{Shape, split};
use crate::{IpcError, Limits, types};

/// Reads one message. Columns share the memory of `bytes` where their alignment allows it; a `Vec<u8>` is taken over
/// without a copy.
///
/// # Errors
/// Anything that does not hold: the envelope, a limit, a number of a column, its contents, a null where the schema
/// allows none.
pub fn decode(bytes: impl Into<Buffer>, schema: &SchemaRef, limits: &Limits) -> Result<RecordBatch, IpcError> {
    let bytes = bytes.into();
    let frame = split(&bytes, shape_of(schema)?, limits)?;
    let mut reader = Reader {
        nodes: frame.batch.nodes().map(|n| n.iter()),
        buffers: frame.batch.buffers().map(|b| b.iter()),
        body: bytes.slice(frame.body_at),
        used: 0,
    };
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let place = Place { parent: None, field };
        columns.push(reader.column(&place, Some(frame.rows))?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(frame.rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|e| IpcError::Frame(e.to_string()))
}

/// Nodes and buffers that a schema asks for.
pub(crate) fn shape_of(schema: &Schema) -> Result<Shape, IpcError> {
    let mut shape = Shape::default();
    for field in schema.fields() {
        count(&Place { parent: None, field }, 0, &mut shape)?;
    }
    Ok(shape)
}

fn count(place: &Place<'_>, depth: usize, shape: &mut Shape) -> Result<(), IpcError> {
    let data_type = place.field.data_type();
    if depth > types::DEPTH_MAX + 2 {
        return Err(unsupported(&place.path(), data_type));
    }
    let (buffers, children) = match data_type {
        DataType::Utf8 | DataType::Binary => (3, &Fields::empty()),
        DataType::List(child) | DataType::Map(child, _) => (2, &Fields::from(vec![Arc::clone(child)])),
        DataType::Struct(fields) if !fields.is_empty() => (1, fields),
        DataType::Boolean => (2, &Fields::empty()),
        other if fixed_width(other).is_some() => (2, &Fields::empty()),
        other => return Err(unsupported(&place.path(), other)),
    };
    shape.nodes += 1;
    shape.buffers += buffers;
    children.iter().try_for_each(|field| count(&Place { parent: Some(place), field }, depth + 1, shape))
}

/// Bytes of one value.
fn fixed_width(data_type: &DataType) -> Option<usize> {
    Some(match data_type {
        DataType::Int8 => 1,
        DataType::Int16 => 2,
        DataType::Int32 | DataType::Float32 | DataType::Date32 => 4,
        DataType::Int64 | DataType::Float64 | DataType::Timestamp(..) => 8,
        DataType::Decimal128(..) => 16,
        _ => return None,
    })
}

/// A field, and where it stands.
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    field: &'a Field,
}

impl Place<'_> {
    fn path(&self) -> String {
        match self.parent {
            Some(parent) => format!("{}.{}", parent.path(), self.field.name()),
            None => self.field.name().clone(),
        }
    }

    fn wrong(&self, what: String) -> IpcError {
        let data_type = self.field.data_type();
        let data_type = types::name(data_type).unwrap_or_else(|| data_type.to_string());
        IpcError::Column { column: self.path(), data_type, what }
    }
}

/// Walks nodes and buffers in the order of the schema.
struct Reader<'a> {
    nodes: Option<VectorIter<'a, FieldNode>>,
    buffers: Option<VectorIter<'a, arrow_ipc::Buffer>>,
    body: Buffer,
    /// End of the last buffer: buffers may not overlap, so that copies for alignment never outgrow the message.
    used: usize,
}

impl Reader<'_> {
    fn column(&mut self, place: &Place<'_>, length: Option<usize>) -> Result<ArrayRef, IpcError> {
        Ok(make_array(self.data(place, length)?))
    }

    /// The data of a field and of what is in it. `wanted` is its length, where that is known.
    fn data(&mut self, place: &Place<'_>, wanted: Option<usize>) -> Result<ArrayData, IpcError> {
        let (length, nulls) = self.node(place, wanted)?;
        let validity = self.validity(place, length, nulls)?;
        let data_type = place.field.data_type();
        let builder = ArrayDataBuilder::new(data_type.clone())
            .len(length)
            .null_bit_buffer(validity)
            .null_count(nulls)
            .align_buffers(true);
        let builder = match data_type {
            DataType::Utf8 | DataType::Binary => {
                let offsets = self.offsets(place, length)?;
                builder.add_buffer(offsets).add_buffer(self.buffer(place)?)
            }
            DataType::List(child) | DataType::Map(child, _) => {
                let offsets = self.offsets(place, length)?;
                let child = Place { parent: Some(place), field: child };
                builder.add_buffer(offsets).add_child_data(self.data(&child, None)?)
            }
            DataType::Struct(fields) => {
                let mut children = Vec::with_capacity(fields.len());
                for field in fields {
                    children.push(self.data(&Place { parent: Some(place), field }, Some(length))?);
                }
                builder.child_data(children)
            }
            DataType::Boolean => builder.add_buffer(self.values(place, length.div_ceil(8))?),
            other => {
                let width = fixed_width(other).ok_or_else(|| unsupported(&place.path(), other))?;
                builder.add_buffer(self.values(place, product(place, length, width)?)?)
            }
        };
        // `build` checks offsets, UTF-8, null counts and nulls in children that allow none.
        let data = builder.build().map_err(|e| place.wrong(e.to_string()))?;
        check_decimals(place, &data)?;
        Ok(data)
    }

    fn node(&mut self, place: &Place<'_>, wanted: Option<usize>) -> Result<(usize, usize), IpcError> {
        let node = self.nodes.as_mut().and_then(Iterator::next);
        let node = node.ok_or_else(|| place.wrong("its field node is missing".to_string()))?;
        let (Ok(length), Ok(nulls)) = (usize::try_from(node.length()), usize::try_from(node.null_count())) else {
            let (length, nulls) = (node.length(), node.null_count());
            return Err(place.wrong(format!("it cannot have {length} values and {nulls} nulls")));
        };
        if let Some(wanted) = wanted
            && wanted != length
        {
            return Err(place.wrong(format!("it has {length} values, it should have {wanted}")));
        }
        if nulls > length {
            return Err(place.wrong(format!("it cannot have {nulls} nulls among {length} values")));
        }
        Ok((length, nulls))
    }

    /// The validity bitmap; its zeroes are as many as the node says.
    fn validity(&mut self, place: &Place<'_>, length: usize, nulls: usize) -> Result<Option<Buffer>, IpcError> {
        let bitmap = self.buffer(place)?;
        if nulls == 0 && bitmap.is_empty() {
            return Ok(None);
        }
        let bitmap = exactly(place, "validity bitmap", &bitmap, length.div_ceil(8))?;
        let found = length - bitmap.count_set_bits_offset(0, length);
        if found != nulls {
            return Err(place.wrong(format!("it says {nulls} nulls, its bitmap has {found}")));
        }
        Ok((nulls > 0).then_some(bitmap))
    }

    /// The offsets of a column of some length; one without values may come without offsets.
    fn offsets(&mut self, place: &Place<'_>, length: usize) -> Result<Buffer, IpcError> {
        let offsets = self.buffer(place)?;
        let needed = product(place, length.saturating_add(1), 4)?;
        if length == 0 && offsets.is_empty() {
            return Ok(offsets);
        }
        exactly(place, "offsets", &offsets, needed)
    }

    /// The next buffer, cut to the bytes of the values: Arrow panics on a length that is no multiple of a value's.
    fn values(&mut self, place: &Place<'_>, bytes: usize) -> Result<Buffer, IpcError> {
        let values = self.buffer(place)?;
        exactly(place, "values", &values, bytes)
    }

    /// The next buffer.
    fn buffer(&mut self, place: &Place<'_>) -> Result<Buffer, IpcError> {
        let buffer = self.buffers.as_mut().and_then(Iterator::next);
        let buffer = buffer.ok_or_else(|| place.wrong("a buffer is missing".to_string()))?;
        let (Ok(offset), Ok(length)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length())) else {
            return Err(place.wrong("a buffer has a negative offset or length".to_string()));
        };
        if length == 0 {
            return Ok(self.body.slice_with_length(0, 0));
        }
        let end = offset.checked_add(length).filter(|end| *end <= self.body.len());
        let Some(end) = end else {
            let bytes = self.body.len();
            return Err(place.wrong(format!("a buffer of {length} bytes at {offset} is outside the body of {bytes}")));
        };
        if offset % 8 != 0 {
            return Err(place.wrong(format!("a buffer starts at byte {offset}, not at a multiple of 8")));
        }
        if offset < self.used {
            return Err(place.wrong(format!("a buffer starts at byte {offset}, inside the one before it")));
        }
        self.used = end;
        Ok(self.body.slice_with_length(offset, length))
    }
}

fn product(place: &Place<'_>, values: usize, width: usize) -> Result<usize, IpcError> {
    values.checked_mul(width).ok_or_else(|| place.wrong(format!("{values} values are too many")))
}

fn exactly(place: &Place<'_>, what: &str, buffer: &Buffer, needed: usize) -> Result<Buffer, IpcError> {
    match buffer.len() {
        found if found < needed => Err(place.wrong(format!("its {what} take {needed} bytes, {found} are there"))),
        _ => Ok(buffer.slice_with_length(0, needed)),
    }
}

/// Arrow does not look at the digits of decimals.
fn check_decimals(place: &Place<'_>, data: &ArrayData) -> Result<(), IpcError> {
    let DataType::Decimal128(precision, _) = data.data_type() else { return Ok(()) };
    let array = make_array(data.clone());
    let array = array.as_primitive::<Decimal128Type>();
    let limit = 10u128.saturating_pow(u32::from(*precision));
    if all_short(array.values(), *precision) || array.values().iter().all(|v| v.unsigned_abs() < limit) {
        return Ok(());
    }
    // Whatever stands under a null does not count.
    match (0..array.len()).find(|i| array.is_valid(*i) && array.value(*i).unsigned_abs() >= limit) {
        Some(i) => Err(place.wrong(format!("the value in row {i} has more than {precision} digits"))),
        None => Ok(()),
    }
}

/// Whether all values have at most so many digits, found out without a branch for each: only for what fits 64 bits.
fn all_short(values: &[i128], precision: u8) -> bool {
    let Some(limit) = 10_i64.checked_pow(u32::from(precision)) else { return false };
    // Zero as long as the upper half repeats the sign, and the lower one stands between the limits.
    let long = values.iter().fold(0, |long, value| {
        let low = *value as i64;
        long | ((*value >> 64) as i64 ^ (low >> 63)) | i64::from(low >= limit) | i64::from(low <= -limit)
    });
    long == 0
}

#[cfg(test)]
mod tests {
    use super::all_short;

    #[test]
    fn values_are_short_up_to_the_last_digit_that_is_allowed() {
        for (precision, most) in [(1, 9_i128), (9, 999_999_999), (18, 999_999_999_999_999_999)] {
            assert!(all_short(&[0, most, -most, 1], precision), "{precision}");
            for long in [most + 1, -most - 1, 1 << 64, (1 << 64) + 1, -(1 << 64), i128::MAX, i128::MIN] {
                assert!(!all_short(&[0, long, 1], precision), "{precision}: {long}");
            }
        }
        assert!(!all_short(&[0], 19), "it does not fit 64 bits");
    }
}
