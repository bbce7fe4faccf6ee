//! What a table contract may say and this release cannot run yet. It is refused by name; nothing is ignored.

use crate::table::TableContract;

/// Key and message of everything in the contract that cannot be run yet.
pub(crate) fn unsupported(table: &TableContract) -> Vec<(String, String)> {
    let keys = [("retention", table.retention.is_some()), ("maintenance", table.maintenance.is_some())];
    let given = keys.into_iter().filter(|(_, given)| *given);
    given.map(|(key, _)| (key.to_owned(), "is not supported yet".to_owned())).collect()
}
