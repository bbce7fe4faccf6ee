//! The envelope of a message: how its bytes are split, and the checks that need no schema.

use arrow_ipc::{MessageHeader, MetadataVersion, RecordBatch};
use flatbuffers::VerifierOptions;

use crate::{IpcError, Limits};

/// The header's bytes may be this many, and 16 more for each node and buffer that the schema asks for.
const METADATA_BYTES_MAX: usize = 64 * 1024;
const PREFIX: usize = 8;
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Nodes and buffers that a schema asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) nodes: usize,
    pub(crate) buffers: usize,
}

/// A message whose envelope holds.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) batch: RecordBatch<'a>,
    pub(crate) rows: usize,
    /// Where the body starts; it ends with the message.
    pub(crate) body_at: usize,
}

/// Splits a message: prefix, header, body, and nothing else.
pub(crate) fn split<'a>(bytes: &'a [u8], shape: Shape, limits: &Limits) -> Result<Frame<'a>, IpcError> {
    if bytes.len() > limits.bytes_max {
        return Err(limit("bytes", bytes.len(), limits.bytes_max));
    }
    let metadata_bytes = metadata_length(bytes, shape)?;
    let body_at = PREFIX + metadata_bytes;
    let (Some(metadata), Some(body)) = (bytes.get(PREFIX..body_at), bytes.get(body_at..)) else {
        return Err(frame(format!("{} bytes are there, the header alone takes {body_at}", bytes.len())));
    };
    let batch = header(metadata, body.len())?;
    let rows = usize::try_from(batch.length()).map_err(|_| frame(format!("it has {} rows", batch.length())))?;
    if rows > limits.rows_max {
        return Err(limit("rows", rows, limits.rows_max));
    }
    let nodes = batch.nodes().map_or(0, |n| n.len());
    let buffers = batch.buffers().map_or(0, |b| b.len());
    if (nodes, buffers) != (shape.nodes, shape.buffers) {
        let Shape { nodes: n, buffers: b } = shape;
        return Err(frame(format!(
            "the schema asks for {n} field nodes and {b} buffers, {nodes} and {buffers} are there"
        )));
    }
    Ok(Frame { batch, rows, body_at })
}

fn metadata_length(bytes: &[u8], shape: Shape) -> Result<usize, IpcError> {
    let Some((prefix, _)) = bytes.split_first_chunk::<PREFIX>() else {
        return Err(frame(format!("{} bytes are there, the shortest message has {PREFIX}", bytes.len())));
    };
    let [c0, c1, c2, c3, length @ ..] = *prefix;
    if [c0, c1, c2, c3] != CONTINUATION {
        return Err(frame("it does not start with the continuation marker".to_string()));
    }
    let declared = i32::from_le_bytes(length);
    let max = METADATA_BYTES_MAX + 16 * (shape.nodes + shape.buffers);
    match usize::try_from(declared) {
        Ok(0) => Err(frame("it is an end-of-stream marker".to_string())),
        Ok(length) if length <= max && length % 8 == 0 => Ok(length),
        _ => Err(frame(format!("its header cannot have {declared} bytes (a multiple of 8, at most {max})"))),
    }
}

fn header(metadata: &[u8], body_bytes: usize) -> Result<RecordBatch<'_>, IpcError> {
    let options = VerifierOptions { max_depth: 8, max_tables: 256, max_apparent_size: 1 << 24, ..Default::default() };
    let message = arrow_ipc::root_as_message_with_opts(&options, metadata)
        .map_err(|e| frame(format!("its header is damaged: {e}")))?;
    if message.version() != MetadataVersion::V5 {
        return Err(frame(format!("its metadata version is {:?}, not V5", message.version())));
    }
    if message.header_type() != MessageHeader::RecordBatch {
        return Err(frame(format!("it is a {:?}, not a RecordBatch", message.header_type())));
    }
    if u64::try_from(message.bodyLength()) != Ok(body_bytes as u64) {
        let declared = message.bodyLength();
        return Err(frame(format!("its body should have {declared} bytes, {body_bytes} are there")));
    }
    let batch = message.header_as_record_batch().ok_or_else(|| frame("it has no record batch".to_string()))?;
    if batch.compression().is_some() {
        return Err(frame("its body is compressed; send it uncompressed".to_string()));
    }
    if batch.variadicBufferCounts().is_some_and(|counts| !counts.is_empty()) {
        return Err(frame("it has view columns; send plain string and binary columns".to_string()));
    }
    Ok(batch)
}

fn frame(what: String) -> IpcError {
    IpcError::Frame(what)
}

fn limit(what: &'static str, found: usize, max: usize) -> IpcError {
    IpcError::Limit { what, found: found as u64, max: max as u64 }
}
