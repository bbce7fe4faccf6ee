//! Columns of a table: their names, what they may partition by, what `write` and `expectations` name.

use std::collections::{HashMap, HashSet};

use arrow_schema::DataType;
use crisol_ipc::types;

use super::{Contracts, Parsed};
use crate::ingestion::{FileFormat, SourceSpec};
use crate::partition::{PARTITION_HINT, can_partition};
use crate::problem::{Code, Problem};
use crate::read::Report;
use crate::suggest;
use crate::table::{ColumnSpec, DELETED, TableContract, Upstream, WriteMode};

/// Names that the boundary to components and Delta's change data need.
const RESERVED: [&str; 6] = ["_row", "_group", DELETED, "_change_type", "_commit_version", "_commit_timestamp"];

/// Columns that say where a row came from, and their types.
const KAFKA_PROVENANCE: [(&str, DataType); 3] =
    [("topic", DataType::Utf8), ("partition", DataType::Int32), ("offset", DataType::Int64)];
const FILES_PROVENANCE: [(&str, DataType); 2] = [("file_path", DataType::Utf8), ("file_row", DataType::Int64)];

pub(super) fn check(contracts: &Contracts<'_>, report: &Report) {
    for ingestion in &contracts.ingestions {
        if let SourceSpec::Files(files) = &ingestion.contract.source
            && let Some(columns) = &files.schema
        {
            let place = Place { parsed: ingestion, key: "source.schema", report };
            place.check_names(columns);
            place.check_reserved(columns, &["file_path", "file_row", "file_modified"]);
        }
    }
    for table in &contracts.tables {
        let place = Place { parsed: table, key: "columns", report };
        if let Some(columns) = &table.contract.columns {
            place.check_names(columns);
            place.check_reserved(columns, &[]);
            check_provenance(contracts, table, columns, report);
        }
        check_expectations(table, report);
        check_partitioning(contracts, table, report);
        check_write(contracts, table, report);
    }
}

/// A list of columns in a file.
struct Place<'a, T> {
    parsed: &'a Parsed<'a, T>,
    key: &'static str,
    report: &'a Report,
}

impl<T> Place<'_, T> {
    fn refuse(&self, index: usize, code: Code, message: String) {
        self.report.push(self.parsed.problem(&format!("{}[{index}].name", self.key), code, message));
    }

    /// D-023: names that differ only by case are one name to Delta.
    fn check_names(&self, columns: &[ColumnSpec]) {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for (index, column) in columns.iter().enumerate().filter(|(_, column)| !column.name.is_empty()) {
            match seen.get(&column.name.to_lowercase()) {
                Some(first) if *first == column.name => {
                    self.refuse(index, Code::DuplicateKey, format!("column `{first}` is given twice"));
                }
                Some(first) => {
                    let message =
                        format!("`{}` and `{first}` differ only by case: Delta takes them for one", column.name);
                    self.refuse(index, Code::DuplicateKey, message);
                }
                None => {
                    seen.insert(column.name.to_lowercase(), &column.name);
                }
            }
        }
    }

    fn check_reserved(&self, columns: &[ColumnSpec], more: &[&str]) {
        for (index, column) in columns.iter().enumerate() {
            let mut reserved = RESERVED.iter().chain(more);
            if reserved.any(|name| name.eq_ignore_ascii_case(&column.name)) {
                self.refuse(index, Code::Reserved, format!("the name `{}` belongs to the host", column.name));
            }
        }
    }
}

/// A column with the name of a provenance column must be that column: same type, or another name.
fn check_provenance(
    contracts: &Contracts<'_>,
    table: &Parsed<'_, TableContract>,
    columns: &[ColumnSpec],
    report: &Report,
) {
    let contract = &table.contract;
    let (true, Some((source, true))) = (contract.keeps_provenance(), contracts.root_source(contract)) else { return };
    let provenance: &[(&str, DataType)] = match source {
        SourceSpec::Kafka(_) => &KAFKA_PROVENANCE,
        SourceSpec::Files(_) => &FILES_PROVENANCE,
    };
    for (index, column) in columns.iter().enumerate() {
        let own = provenance.iter().find(|(name, _)| name.eq_ignore_ascii_case(&column.name));
        let Some((name, data_type)) = own else { continue };
        let is_it = *name == column.name && *data_type == column.data_type && column.generated.is_none();
        if !is_it && column.data_type != DataType::Null {
            let message = format!("the name `{name}` belongs to the column that says where a row came from");
            let hint = "choose another name, or leave these columns out with `\"provenance\": false`";
            let key = format!("columns[{index}].name");
            report.push(table.problem(&key, Code::Reserved, message).hinting(hint));
        }
    }
}

fn check_expectations(table: &Parsed<'_, TableContract>, report: &Report) {
    let mut seen = HashSet::new();
    for (index, rule) in table.contract.expectations.iter().enumerate().filter(|(_, rule)| !rule.name.is_empty()) {
        if !seen.insert(&rule.name) {
            let message = format!("there is another expectation `{}`", rule.name);
            report.push(table.problem(&format!("expectations[{index}].name"), Code::DuplicateKey, message));
        }
    }
}

/// Columns of a table, as far as the contracts tell: names and types.
fn known_columns(contracts: &Contracts<'_>, table: &TableContract) -> Option<Vec<(String, DataType)>> {
    if let Some(columns) = &table.columns {
        let provenance = match contracts.root_source(table) {
            _ if !table.keeps_provenance() => Vec::new(),
            Some((_, false)) => Vec::new(),
            Some((SourceSpec::Kafka(_), true)) => named(KAFKA_PROVENANCE),
            Some((SourceSpec::Files(_), true)) => named(FILES_PROVENANCE),
            None => [named(KAFKA_PROVENANCE), named(FILES_PROVENANCE)].concat(),
        };
        return Some([own(columns), provenance].concat());
    }
    let Upstream::Ingestion(name) = &table.from else { return None };
    if !table.stages.is_empty() {
        return None;
    }
    match contracts.source(name)? {
        SourceSpec::Kafka(kafka) => {
            let mut known = named([("message_key", DataType::Binary), ("payload", DataType::Binary)]);
            known.extend(named(KAFKA_PROVENANCE));
            if kafka.add_kafka_metadata {
                let headers = types::list_of(DataType::Binary);
                known.extend(named([("kafka_timestamp", types::timestamp()), ("timestamp_type", DataType::Int32)]));
                known.extend(named([("headers", headers)]));
            }
            Some(known)
        }
        SourceSpec::Files(files) => {
            let mut known = match (&files.schema, files.format) {
                (Some(columns), _) => own(columns),
                (None, FileFormat::Text) => named([("payload", DataType::Binary)]),
                (None, FileFormat::Json) => return None,
            };
            known.extend(named(FILES_PROVENANCE));
            known.extend(named([("file_modified", types::timestamp())]));
            Some(known)
        }
    }
}

fn own(columns: &[ColumnSpec]) -> Vec<(String, DataType)> {
    columns.iter().map(|column| (column.name.clone(), column.data_type.clone())).collect()
}

fn named<const N: usize>(columns: [(&str, DataType); N]) -> Vec<(String, DataType)> {
    columns.map(|(name, data_type)| (name.to_owned(), data_type)).to_vec()
}

fn check_partitioning(contracts: &Contracts<'_>, table: &Parsed<'_, TableContract>, report: &Report) {
    let partition_by = &table.contract.partition_by;
    let known = known_columns(contracts, &table.contract);
    let mut seen = HashSet::new();
    for (index, name) in partition_by.iter().enumerate() {
        let key = format!("partition_by[{index}]");
        if !seen.insert(name) {
            report.push(table.problem(&key, Code::DuplicateKey, format!("column `{name}` is given twice")));
        }
        let Some(known) = &known else { continue };
        match known.iter().find(|(column, _)| column == name) {
            None => report.push(no_column(table, &key, name, known)),
            // The type is faulty and was reported.
            Some((_, DataType::Null)) => {}
            Some((_, data_type)) if !can_partition(data_type) => {
                let given = types::name(data_type).unwrap_or_else(|| data_type.to_string());
                let message = format!("column `{name}` is `{given}`, which cannot partition a table");
                report.push(table.problem(&key, Code::InvalidValue, message).hinting(PARTITION_HINT));
            }
            Some(_) => {}
        }
    }
    if let Some(known) = &known
        && !partition_by.is_empty()
        && known.iter().all(|(name, _)| partition_by.contains(name))
    {
        let message = "a table has at least one column that does not partition it";
        report.push(table.problem("partition_by", Code::InvalidValue, message));
    }
}

fn no_column(table: &Parsed<'_, TableContract>, key: &str, name: &str, known: &[(String, DataType)]) -> Problem {
    let names = || known.iter().map(|(name, _)| name.as_str()).filter(|name| !name.is_empty());
    let problem =
        table.problem(key, Code::Unresolved, format!("no column `{name}`{}", suggest::did_you_mean(name, names())));
    Problem { hint: suggest::choose(names()), ..problem }
}

fn check_write(contracts: &Contracts<'_>, table: &Parsed<'_, TableContract>, report: &Report) {
    let lists: Vec<(&str, &[String])> = match &table.contract.write {
        WriteMode::Append => Vec::new(),
        WriteMode::ReplacePartitions => {
            if table.contract.partition_by.is_empty() {
                let message = "`replace_partitions` needs `partition_by`";
                report.push(table.problem("write.mode", Code::Conflict, message));
            }
            Vec::new()
        }
        WriteMode::Upsert { keys, sequence_by, .. } => {
            if !table.contract.provenance {
                let message = "`upsert` needs the columns that say where a row came from, to decide ties";
                report.push(table.problem("provenance", Code::Conflict, message));
            }
            vec![("keys", keys), ("sequence_by", sequence_by)]
        }
        WriteMode::ReplaceGroups { group_by } => vec![("group_by", group_by)],
    };
    let Some(known) = known_columns(contracts, &table.contract) else { return };
    for (list, names) in lists {
        for (index, name) in names.iter().enumerate() {
            if !known.iter().any(|(column, _)| column == name) {
                report.push(no_column(table, &format!("write.{list}[{index}]"), name, &known));
            }
        }
    }
}
