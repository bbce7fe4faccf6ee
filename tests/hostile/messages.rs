//! Arrow messages built number by number, so that each of them can lie.

use arrow_ipc::{
    BodyCompressionBuilder, DictionaryBatchBuilder, FieldNode, MessageBuilder, MessageHeader, MetadataVersion,
    RecordBatchBuilder, SchemaBuilder,
};
use flatbuffers::FlatBufferBuilder;

/// What a message says of itself, and its body.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) version: MetadataVersion,
    pub(crate) header: MessageHeader,
    pub(crate) rows: i64,
    /// Length and nulls of each column.
    pub(crate) nodes: Vec<(i64, i64)>,
    /// Offset and length of each buffer in the body.
    pub(crate) buffers: Vec<(i64, i64)>,
    pub(crate) compressed: bool,
    /// What is said of the body's length; `None` for the truth.
    pub(crate) body_bytes: Option<i64>,
    pub(crate) body: Vec<u8>,
}

/// The values of a column.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    Tinyint(Vec<i8>),
    Int(Vec<i32>),
    Bigint(Vec<i64>),
    /// Bytes, where each text ends in them, and where the first one starts.
    Text(Vec<u8>, Vec<i32>),
}

impl Column {
    pub(crate) fn texts(texts: &[&str]) -> Self {
        let mut ends = vec![0];
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as i32);
        }
        Self::Text(bytes, ends)
    }

    fn length(&self) -> usize {
        match self {
            Self::Tinyint(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Bigint(values) => values.len(),
            Self::Text(_, offsets) => offsets.len() - 1,
        }
    }

    fn buffers(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Tinyint(values) => vec![values.iter().map(|value| *value as u8).collect()],
            Self::Int(values) => vec![values.iter().flat_map(|value| value.to_le_bytes()).collect()],
            Self::Bigint(values) => vec![values.iter().flat_map(|value| value.to_le_bytes()).collect()],
            Self::Text(bytes, offsets) => {
                vec![offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect(), bytes.clone()]
            }
        }
    }
}

impl Message {
    /// An honest message of these columns, without nulls.
    pub(crate) fn of(columns: &[Column]) -> Self {
        let rows = columns.first().map_or(0, Column::length) as i64;
        let mut message = Self {
            version: MetadataVersion::V5,
            header: MessageHeader::RecordBatch,
            rows,
            nodes: columns.iter().map(|column| (column.length() as i64, 0)).collect(),
            buffers: Vec::new(),
            compressed: false,
            body_bytes: None,
            body: Vec::new(),
        };
        for column in columns {
            message.buffers.push((message.body.len() as i64, 0));
            for buffer in column.buffers() {
                message.buffers.push((message.body.len() as i64, buffer.len() as i64));
                message.body.extend(buffer);
                message.body.resize(message.body.len().next_multiple_of(8), 0);
            }
        }
        message
    }

    /// `value` and `_row` or `_group`.
    pub(crate) fn rows(values: &[i64], index: &[i32]) -> Self {
        Self::of(&[Column::Bigint(values.to_vec()), Column::Int(index.to_vec())])
    }

    /// Rejections: row, kind, code and text of each.
    pub(crate) fn rejections(rejections: &[(i32, i8, &str, &str)]) -> Self {
        Self::of(&[
            Column::Int(rejections.iter().map(|rejection| rejection.0).collect()),
            Column::Tinyint(rejections.iter().map(|rejection| rejection.1).collect()),
            Column::texts(&rejections.iter().map(|rejection| rejection.2).collect::<Vec<_>>()),
            Column::texts(&rejections.iter().map(|rejection| rejection.3).collect::<Vec<_>>()),
        ])
    }

    /// As it crosses the boundary.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut header = self.header();
        header.resize(header.len().next_multiple_of(8), 0);
        let mut bytes = vec![0xff; 4];
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        bytes.extend(&self.body);
        bytes
    }

    fn header(&self) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let nodes: Vec<FieldNode> = self.nodes.iter().map(|(length, nulls)| FieldNode::new(*length, *nulls)).collect();
        let nodes = builder.create_vector(&nodes);
        let buffers: Vec<_> =
            self.buffers.iter().map(|(offset, length)| arrow_ipc::Buffer::new(*offset, *length)).collect();
        let buffers = builder.create_vector(&buffers);
        let compression = self.compressed.then(|| BodyCompressionBuilder::new(&mut builder).finish());
        let mut batch = RecordBatchBuilder::new(&mut builder);
        batch.add_length(self.rows);
        batch.add_nodes(nodes);
        batch.add_buffers(buffers);
        if let Some(compression) = compression {
            batch.add_compression(compression);
        }
        let batch = batch.finish();
        let header = match self.header {
            MessageHeader::DictionaryBatch => {
                let mut dictionary = DictionaryBatchBuilder::new(&mut builder);
                dictionary.add_data(batch);
                dictionary.finish().as_union_value()
            }
            MessageHeader::Schema => SchemaBuilder::new(&mut builder).finish().as_union_value(),
            _ => batch.as_union_value(),
        };
        let mut message = MessageBuilder::new(&mut builder);
        message.add_version(self.version);
        message.add_header_type(self.header);
        message.add_header(header);
        message.add_bodyLength(self.body_bytes.unwrap_or(self.body.len() as i64));
        let message = message.finish();
        builder.finish(message, None);
        builder.finished_data().to_vec()
    }
}
