//! Partition values as the protocol writes them, and the folders and URIs named after them (D-089).

use std::collections::BTreeMap;
use std::fmt::Write;

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;

/// What Hive and Spark write in the place of null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";
/// File systems take 255 bytes for a name; longer ones are cut there. Column and value themselves stand in the log.
const NAME_BYTES_MAX: usize = 200;
const NOT_IN_FOLDERS: &[u8] = b"\"#%'*/:=?\\{[]^\x7f";
const NOT_IN_URIS: &[u8] = b" \"#%<>?[\\]^`{|}\x7f";

/// The partition that a row belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartitionKey {
    pub(super) values: BTreeMap<String, Option<String>>,
    /// Ends with `/`.
    pub(super) folder: String,
}

impl PartitionKey {
    /// Key of one row.
    pub(super) fn of(rows: &RecordBatch, partition: &[usize], row: usize) -> Result<Self, ArrowError> {
        let options = FormatOptions::new()
            .with_timestamp_tz_format(Some("%Y-%m-%dT%H:%M:%S%.6fZ"))
            .with_timestamp_format(Some("%Y-%m-%dT%H:%M:%S%.6f"));
        let mut key = Self { values: BTreeMap::new(), folder: String::new() };
        for index in partition {
            let (column, schema) = (rows.column(*index), rows.schema_ref());
            let name = schema.field(*index).name();
            let value = if column.is_null(row) {
                None
            } else {
                Some(ArrayFormatter::try_new(column, &options)?.value(row).try_to_string()?)
            };
            let text = value.as_deref().map_or(NULL.to_string(), |value| escape(value, NOT_IN_FOLDERS));
            key.folder.push_str(cut(&format!("{}={text}", escape(name, NOT_IN_FOLDERS))));
            key.folder.push('/');
            key.values.insert(name.clone(), value);
        }
        Ok(key)
    }
}

/// A path as the log names it.
pub(super) fn uri(path: &str) -> String {
    escape(path, NOT_IN_URIS)
}

fn escape(text: &str, not_allowed: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(c) {
            Ok(byte) if byte < 0x20 || not_allowed.contains(&byte) => {
                // Writing to a String does not fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

fn cut(name: &str) -> &str {
    let end = (0..=NAME_BYTES_MAX.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or_default()).unwrap_or(name)
}
