//! A record batch as one message.

use arrow_array::RecordBatch;
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamEncoder};
use arrow_schema::ArrowError;

use crate::decode::shape_of;
use crate::{IpcError, types};

/// Alignment of the body and of each buffer in it: what the widest type, decimal, needs.
const ALIGNMENT: usize = 16;

/// One encapsulated record-batch message: no schema, no compression, no dictionaries.
///
/// # Errors
/// A column of a type that contracts do not have.
pub fn encode(batch: &RecordBatch) -> Result<Vec<u8>, IpcError> {
    let schema = batch.schema_ref();
    shape_of(schema)?;
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5).map_err(not_encoded)?;
    let mut encoder = StreamEncoder::try_new_with_options(schema, options).map_err(not_encoded)?;
    let buffers = encoder.encode(batch).map_err(not_encoded)?;
    let mut skip = schema_message_length(buffers.first().map_or(&[], |b| b.as_slice()))?;
    let total: usize = buffers.iter().map(|b| b.len()).sum();
    let mut message = Vec::with_capacity(total.saturating_sub(skip));
    for buffer in &buffers {
        // The encoder puts the schema message first, in buffers of its own.
        match skip.checked_sub(buffer.len()) {
            Some(rest) if skip > 0 => skip = rest,
            _ => message.extend_from_slice(buffer),
        }
    }
    Ok(message)
}

fn schema_message_length(prefix: &[u8]) -> Result<usize, IpcError> {
    let length = prefix.get(4..8).and_then(|l| <[u8; 4]>::try_from(l).ok()).map(i32::from_le_bytes);
    length
        .and_then(|l| usize::try_from(l).ok())
        .map(|l| l + 8)
        .ok_or_else(|| IpcError::Frame("the encoder gave no schema message".to_string()))
}

fn not_encoded(error: ArrowError) -> IpcError {
    IpcError::Frame(format!("the batch cannot be encoded: {error}"))
}

/// An error when a type cannot cross.
pub(crate) fn unsupported(column: &str, data_type: &arrow_schema::DataType) -> IpcError {
    IpcError::Type {
        column: column.to_string(),
        data_type: types::name(data_type).unwrap_or_else(|| data_type.to_string()),
    }
}
