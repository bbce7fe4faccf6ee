//! What a table contract may say and this release cannot run yet. It is refused by name; nothing is ignored.

use crate::table::{StageKind, TableContract, WriteMode};

/// Key and message of everything in the contract that cannot be run yet.
pub(crate) fn unsupported(table: &TableContract) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mode = match &table.write {
        WriteMode::Append => None,
        WriteMode::ReplacePartitions => Some("replace_partitions"),
        WriteMode::Upsert { .. } => Some("upsert"),
        WriteMode::ReplaceGroups { .. } => Some("replace_groups"),
    };
    if let Some(mode) = mode {
        found.push((
            "write.mode".to_owned(),
            format!("`{mode}` is not supported yet; this release writes with `append`"),
        ));
    }
    for (index, stage) in table.stages.iter().enumerate() {
        if matches!(stage.kind, StageKind::Ranker | StageKind::Aggregator) {
            let key = stage.kind.key();
            found.push((format!("stages[{index}].{key}"), format!("`{key}` stages are not supported yet")));
        }
    }
    for (key, given) in [("retention", table.retention.is_some()), ("maintenance", table.maintenance.is_some())] {
        if given {
            found.push((key.to_owned(), "is not supported yet".to_owned()));
        }
    }
    found
}
