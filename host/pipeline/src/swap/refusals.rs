//! Why files may not serve.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crisol_observe::ColumnChanges;

/// Files that may not serve.
pub(super) type Refusals = BTreeMap<PathBuf, Reason>;

/// Why one may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) text: String,
    /// Columns of the table, and those that it would get, where that is the reason.
    pub(super) columns: Option<ColumnChanges>,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { text, columns: None }
    }
}
