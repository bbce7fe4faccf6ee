//! From the tree of one file to its contract. What is faulty is reported and replaced by something harmless, so that
//! checks across contracts can still be made; no contract leaves this room while there is a problem.

mod columns;
mod files;
mod ingestion;
mod kafka;
mod options;
mod stages;
mod table;

pub(crate) use ingestion::ingestion;
pub use kafka::refused_kafka_options;
pub(crate) use options::client_name;
pub(crate) use table::table;

use crate::problem::Code;
use crate::read::{Object, Value};

/// `$schema` is for editors.
fn check_schema_key(object: &Object<'_>) {
    if let Some(value) = object.get("$schema") {
        value.plain();
    }
}

/// A name that becomes a folder or part of one.
fn folder_name(value: &Value<'_>, allow_empty: bool) -> Option<String> {
    let name = value.plain()?;
    if name.is_empty() && allow_empty {
        return Some(name);
    }
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let bad = name.is_empty() || !name.chars().all(legal) || name.split('.').all(str::is_empty);
    if bad {
        value.refuse(Code::InvalidValue, format!("`{name}` is not a name: letters, digits, `_`, `-` and `.` make one"));
        return None;
    }
    Some(name)
}
