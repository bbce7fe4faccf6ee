//! Arrow IPC between host and components, shared by both sides: one encapsulated record-batch message, and the words
//! for column types.
//!
//! What a component returns is hostile until [`decode`] has seen it: nothing here panics or aborts on any bytes, and
//! nothing is allocated beyond the size of the message.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod decode;
mod encode;
mod frame;
mod rejections;
pub mod types;

pub use decode::decode;
pub use encode::encode;
pub use rejections::{Fate, Rejected, Rejections, rejections_schema};

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// Column of the input row that an output row came from; the last one, int, not null.
pub const ROW: &str = "_row";
/// Column of the group that a row belongs to; the last one, int, not null.
pub const GROUP: &str = "_group";

/// What a message may hold at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows.
    pub rows_max: usize,
    /// Bytes, all in all.
    pub bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rows_max: 1 << 20, bytes_max: 128 << 20 }
    }
}

/// Why bytes are no record batch of the schema that was agreed on, or a batch cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpcError {
    /// The envelope: lengths, header, version.
    #[error("not one Arrow record-batch message: {0}")]
    Frame(String),
    /// A limit of [`Limits`].
    #[error("the message has {found} {what}, the limit is {max}")]
    Limit {
        /// `bytes` or `rows`.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many may be.
        max: u64,
    },
    /// What a column's buffers say does not hold.
    #[error("column `{column}` ({data_type}): {what}")]
    Column {
        /// Its path: `items.element.sku`.
        column: String,
        /// Its Arrow type.
        data_type: String,
        /// What is wrong.
        what: String,
    },
    /// A type that contracts do not have.
    #[error("column `{column}`: {data_type} cannot cross between host and component; see the types of contracts")]
    Type {
        /// Its path.
        column: String,
        /// Its Arrow type.
        data_type: String,
    },
}

/// The Arrow schema of columns given as name, type name and whether they may be null.
///
/// # Errors
/// Text for people: the column, and what is wrong with its type or name.
pub fn schema_of<'a>(columns: impl IntoIterator<Item = (&'a str, &'a str, bool)>) -> Result<SchemaRef, String> {
    let mut fields: Vec<Field> = Vec::new();
    for (name, type_name, nullable) in columns {
        if fields.iter().any(|f| f.name() == name) {
            return Err(format!("column `{name}` is there twice"));
        }
        let data_type = types::parse(type_name).map_err(|e| format!("column `{name}`: {e}"))?;
        fields.push(Field::new(name, data_type, nullable));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The schema with one more int column at its end, not null: [`ROW`] or [`GROUP`].
pub fn with_index(schema: &Schema, index: &str) -> SchemaRef {
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(index, DataType::Int32, false)));
    Arc::new(Schema::new(fields))
}
