//! Write modes against stages and upstreams: which of them go together.

use super::{Contracts, Parsed};
use crate::problem::Code;
use crate::read::Report;
use crate::table::{TableContract, Upstream, WriteMode};

pub(super) fn check(contracts: &Contracts<'_>, report: &Report) {
    for table in &contracts.tables {
        group_stage(table, report);
        if let WriteMode::ReplaceGroups { .. } = &table.contract.write {
            groups(table, report);
        }
        upstream(contracts, table, report);
    }
}

/// A stage over groups is the last one, and its table is one of groups.
fn group_stage(table: &Parsed<'_, TableContract>, report: &Report) {
    let contract = &table.contract;
    let last = contract.stages.len().saturating_sub(1);
    for (at, stage) in contract.stages.iter().enumerate().filter(|(_, stage)| stage.kind.takes_groups()) {
        let key = format!("stages[{at}].{}", stage.kind.key());
        if at < last {
            let message = format!("`{}` is followed by another stage", stage.kind.key());
            let hint = "put it last; a table that reads this one can go on with the rows of its groups";
            report.push(table.problem(&key, Code::Conflict, message).hinting(hint));
        }
        if !contract.is_of_groups() {
            let message = format!("`{}` works on groups, and this table is not written by groups", stage.kind.key());
            let hint = "set `\"write\": {\"mode\": \"replace_groups\", \"group_by\": [..]}`";
            report.push(table.problem(&key, Code::Conflict, message).hinting(hint));
        }
    }
}

fn groups(table: &Parsed<'_, TableContract>, report: &Report) {
    let contract = &table.contract;
    if !contract.stages.iter().any(|stage| stage.kind.takes_groups()) {
        let message = "`replace_groups` needs a `rank` or `aggregate` stage";
        let hint = "add one as the last of `stages`: it gives the rows of a group";
        report.push(table.problem("write.mode", Code::Conflict, message).hinting(hint));
    }
    if let Upstream::Ingestion(_) = &contract.from {
        let message = "`replace_groups` reads its groups anew from an upstream table, and this table has none";
        let hint = "let the ingestion fill a bronze table, and name that one in `from`";
        report.push(table.problem("write.mode", Code::Conflict, message).hinting(hint));
    }
    for (at, column) in contract.columns.iter().flatten().enumerate().filter(|(_, column)| column.generated.is_some()) {
        let message = format!("column `{}` is generated, which tables of groups do not have", column.name);
        let hint = "generate it in the upstream table, or let the stage give it";
        report.push(table.problem(&format!("columns[{at}].generated"), Code::Conflict, message).hinting(hint));
    }
}

/// Rows that change or go can be followed by tables whose own rows do.
fn upstream(contracts: &Contracts<'_>, table: &Parsed<'_, TableContract>, report: &Report) {
    let Upstream::Table(name) = &table.contract.from else { return };
    let changes = contracts.table(name).is_some_and(TableContract::changes_rows);
    let mode = match &table.contract.write {
        WriteMode::Append => "append",
        WriteMode::ReplacePartitions => "replace_partitions",
        WriteMode::Upsert { .. } | WriteMode::ReplaceGroups { .. } => return,
    };
    if changes {
        let message = format!("rows of `{name}` change and go, which `{mode}` cannot follow");
        let hint = "write with `upsert` or `replace_groups`, or read the table above it";
        report.push(table.problem("from", Code::Conflict, message).hinting(hint));
    }
}
