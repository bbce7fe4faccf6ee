//! Names, destinations and upstreams: who fills whom.

use std::collections::HashMap;
use std::path::Path;

use super::{Contracts, Parsed};
use crate::problem::{Code, Problem};
use crate::read::Report;
use crate::suggest;
use crate::table::Upstream;

/// Each stream has a name of its own: `host run NAME` must mean one.
pub(super) fn names(contracts: &Contracts<'_>, report: &Report) {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let ingestions = contracts.ingestions.iter().map(|parsed| (parsed.contract.name.as_str(), parsed.file));
    let tables = contracts.tables.iter().map(|parsed| (parsed.contract.name.as_str(), parsed.file));
    for (name, file) in ingestions.chain(tables).filter(|(name, _)| !name.is_empty()) {
        match seen.get(name) {
            Some(first) => {
                let message = format!("the name `{name}` is taken by {first}");
                report.push(file.problem("name", Code::Conflict, message));
            }
            None => {
                seen.insert(name, &file.shown);
            }
        }
    }
}

/// Ties ingestion contracts to the tables they fill.
pub(super) fn destinations(contracts: &mut Contracts<'_>, report: &Report) {
    let Contracts { ingestions, tables, unread } = contracts;
    for ingestion in ingestions {
        let Some(path) = &ingestion.destination else { continue };
        if let Some(table) = tables.iter_mut().find(|table| table.file.path == *path) {
            ingestion.contract.destination.clone_from(&table.contract.name);
            fill(ingestion, table, report);
        } else if !unread.contains(path) {
            report.push(no_table(ingestion, path, tables));
        }
    }
}

/// Rate limits of a table belong to the stream that reads another table.
fn refuse_rate_limits(table: &Parsed<'_, crate::TableContract>, report: &Report) {
    if table.contract.max_files_per_trigger.or(table.contract.max_bytes_per_trigger).is_some() {
        let message = "this table is filled by an ingestion contract: its limits belong there";
        report.push(table.problem("options", Code::Conflict, message));
    }
}

fn fill(
    ingestion: &Parsed<'_, crate::IngestionContract>,
    table: &mut Parsed<'_, crate::TableContract>,
    report: &Report,
) {
    let name = &ingestion.contract.name;
    match &table.contract.from {
        Upstream::None => {
            table.contract.from = Upstream::Ingestion(name.clone());
            refuse_rate_limits(table, report);
        }
        Upstream::Ingestion(first) => {
            let message = format!("table `{}` is filled by `{first}` already", table.contract.name);
            report.push(
                ingestion
                    .problem("destination_contract", Code::Conflict, message)
                    .hinting("a table has one upstream; write to two tables, or read both topics in one contract"),
            );
        }
        Upstream::Table(_) | Upstream::External(_) => {
            let message = format!("this table is also filled by the ingestion contract `{name}`");
            report.push(
                table
                    .problem("from", Code::Conflict, message)
                    .hinting("a table has one upstream: leave out `from`, or let the ingestion fill another table"),
            );
        }
    }
}

fn no_table(
    ingestion: &Parsed<'_, crate::IngestionContract>,
    path: &Path,
    tables: &[Parsed<'_, crate::TableContract>],
) -> Problem {
    let folder = ingestion.file.path.parent().unwrap_or(Path::new(""));
    let shown: Vec<String> = tables.iter().map(|table| relative(folder, &table.file.path)).collect();
    let given = relative(folder, path);
    let near = suggest::did_you_mean(&given, shown.iter().map(String::as_str));
    let message = format!("no table contract `{given}`{near}");
    let problem = ingestion.problem("destination_contract", Code::MissingFile, message);
    Problem { hint: suggest::choose(shown.iter().map(String::as_str)), ..problem }
}

/// `path` seen from `folder`, both absolute.
fn relative(folder: &Path, path: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(common).map(|_| "..".to_owned());
    let down = to.iter().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// `from` names a table that exists; a table that nothing fills is worth a word.
pub(super) fn upstreams(contracts: &Contracts<'_>, report: &Report) {
    let names = || contracts.tables.iter().map(|table| table.contract.name.as_str()).filter(|name| !name.is_empty());
    for table in &contracts.tables {
        match &table.contract.from {
            Upstream::Table(name) if contracts.table(name).is_none() && contracts.unread.is_empty() => {
                let others = || names().filter(|other| *other != table.contract.name);
                let message = format!("no table `{name}`{}", suggest::did_you_mean(name, others()));
                let problem = table.problem("from", Code::Unresolved, message);
                report.push(Problem { hint: suggest::choose(others()), ..problem });
            }
            Upstream::None if !table.file.root.entries().iter().any(|entry| entry.name == "from") => {
                let points_here = |path: &Option<_>| path.as_ref() == Some(&table.file.path);
                if !contracts.ingestions.iter().any(|ingestion| points_here(&ingestion.destination)) {
                    let text = "no contract fills this table";
                    let hint = "add `from`, or an ingestion contract whose `destination_contract` is this file";
                    report.warn(table.problem("name", Code::Unresolved, text).hinting(hint));
                }
            }
            _ => {}
        }
    }
}

/// Puts tables upstream before downstream, and reports circles.
pub(super) fn order(contracts: &mut Contracts<'_>, report: &Report) {
    let names: Vec<String> = contracts.tables.iter().map(|table| table.contract.name.clone()).collect();
    let mut waiting = std::mem::take(&mut contracts.tables);
    let mut placed: Vec<String> = Vec::new();
    loop {
        let is_ready = |table: &Parsed<'_, crate::TableContract>, placed: &[String]| match &table.contract.from {
            Upstream::Table(name) => placed.contains(name) || !names.contains(name),
            _ => true,
        };
        let (ready, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|table| is_ready(table, &placed));
        waiting = rest;
        if ready.is_empty() {
            break;
        }
        placed.extend(ready.iter().map(|table| table.contract.name.clone()));
        contracts.tables.extend(ready);
    }
    for table in waiting.iter().filter(|table| !table.contract.name.is_empty()) {
        if let Some(circle) = circle(table, &waiting) {
            report.push(table.problem("from", Code::Conflict, format!("goes round in a circle: {circle}")));
        }
    }
    contracts.tables.extend(waiting);
}

/// `` `a` from `b` from `a` `` when the table is part of a circle, not only below one.
fn circle(start: &Parsed<'_, crate::TableContract>, tables: &[Parsed<'_, crate::TableContract>]) -> Option<String> {
    let mut path = vec![format!("`{}`", start.contract.name)];
    let mut table = start;
    for _ in 0..=tables.len() {
        let Upstream::Table(name) = &table.contract.from else { return None };
        path.push(format!("`{name}`"));
        if *name == start.contract.name {
            return Some(path.join(" from "));
        }
        table = tables.iter().find(|table| table.contract.name == *name)?;
    }
    None
}
