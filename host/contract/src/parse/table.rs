//! A table contract.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::options::{Allowed, Options};
use super::{check_schema_key, columns, folder_name, stages};
use crate::keys::KeyFile;
use crate::limits::Limits;
use crate::problem::Code;
use crate::properties::property;
use crate::read::{Object, Spelling, Value};
use crate::table::{ExpectationSpec, OnRejected, OnViolation, TableContract, Upstream, WriteMode};

/// Reads a table contract; `from` is absent (`Upstream::None`) in one that an ingestion contract fills.
pub(crate) fn table(root: &Value<'_>, limits: &Limits) -> Option<TableContract> {
    let object = root.object()?;
    check_schema_key(&object);
    let name = object.require("name").and_then(|value| table_name(&value)).unwrap_or_default();
    let path = object.get("path").and_then(|value| value.location()).unwrap_or_else(|| default_path(root, &name));
    let quarantine = object.get("quarantine").and_then(|value| value.object());
    let quarantine_path = quarantine.and_then(|quarantine| quarantine.require("path")?.location());
    let list = |name: &str| object.get(name).and_then(|value| value.names()).unwrap_or_default();
    let raw = |name: &str| object.get(name).and_then(|value| value.json_object());
    let (max_files_per_trigger, max_bytes_per_trigger) = rate_limits(&object);
    Some(TableContract {
        name,
        file: PathBuf::from(&root.file.shown),
        quarantine_path: quarantine_path.unwrap_or_else(|| format!("{path}_quarantine")),
        path,
        from: object.get("from").and_then(|value| from(&value)).unwrap_or(Upstream::None),
        stages: object.get("stages").and_then(|value| stages::stages(&value, limits)).unwrap_or_default(),
        columns: object.get("columns").and_then(|value| columns::table_columns(&value)),
        provenance: object.get("provenance").and_then(|value| value.flag(Spelling::Json)).unwrap_or(true),
        expectations: object.get("expectations").and_then(|value| expectations(&value)).unwrap_or_default(),
        write: object.get("write").and_then(|value| write(&value)).unwrap_or(WriteMode::Append),
        on_rejected: object.get("on_rejected").and_then(|value| on_rejected(&value)).unwrap_or(OnRejected::Quarantine),
        partition_by: list("partition_by"),
        properties: object.get("properties").map(|value| properties(&value)).unwrap_or_default(),
        max_files_per_trigger,
        max_bytes_per_trigger,
        retention: raw("retention"),
        maintenance: raw("maintenance"),
    })
}

fn table_name(value: &Value<'_>) -> Option<String> {
    let name = folder_name(value, false)?;
    if name.split('.').any(|part| part.is_empty() || part.starts_with('_')) {
        value.refuse(
            Code::InvalidValue,
            format!("`{name}` is not a name: each dot stands between two, and none begins with `_`"),
        );
        return None;
    }
    Some(name)
}

fn default_path(root: &Value<'_>, name: &str) -> String {
    let mut path = root.fill.paths.tables.clone().unwrap_or_else(|| root.fill.dir.to_owned());
    path.extend(name.split('.'));
    path.to_string_lossy().into_owned()
}

fn from(value: &Value<'_>) -> Option<Upstream> {
    if value.is_object() {
        return value.object()?.require("delta")?.location().map(Upstream::External);
    }
    value.plain_not_empty().map(Upstream::Table)
}

fn on_rejected(value: &Value<'_>) -> Option<OnRejected> {
    value.choice("an action", &[("quarantine", OnRejected::Quarantine), ("fail", OnRejected::Fail)])
}

fn expectations(value: &Value<'_>) -> Option<Vec<ExpectationSpec>> {
    const ACTIONS: [(&str, OnViolation); 4] = [
        ("warn", OnViolation::Warn),
        ("drop", OnViolation::Drop),
        ("quarantine", OnViolation::Quarantine),
        ("fail", OnViolation::Fail),
    ];
    let one = |object: Object<'_>| ExpectationSpec {
        name: object.require("name").and_then(|value| value.plain_not_empty()).unwrap_or_default(),
        condition: object.require("condition").and_then(|value| value.plain_not_empty()).unwrap_or_default(),
        on_violation: object
            .get("on_violation")
            .and_then(|value| value.choice("an action", &ACTIONS))
            .unwrap_or(OnViolation::Quarantine),
    };
    Some(value.items()?.iter().filter_map(Value::object).map(one).collect())
}

/// Modes of `write.mode`, without what they need.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Append,
    ReplacePartitions,
    Upsert,
    ReplaceGroups,
}

const MODES: [(&str, Mode); 4] = [
    ("append", Mode::Append),
    ("replace_partitions", Mode::ReplacePartitions),
    ("upsert", Mode::Upsert),
    ("replace_groups", Mode::ReplaceGroups),
];

fn write(value: &Value<'_>) -> Option<WriteMode> {
    let object = value.object()?;
    let mode = match object.get("mode") {
        Some(mode) => mode.choice("a mode", &MODES)?,
        None => Mode::Append,
    };
    for (name, belongs) in [
        ("keys", Mode::Upsert),
        ("sequence_by", Mode::Upsert),
        ("delete_when", Mode::Upsert),
        ("group_by", Mode::ReplaceGroups),
    ] {
        if let Some(value) = object.get(name).filter(|_| mode != belongs) {
            let owner = if belongs == Mode::Upsert { "upsert" } else { "replace_groups" };
            value.refuse(Code::Conflict, format!("belongs to the mode `{owner}`"));
        }
    }
    let list = |name: &str| object.require(name).and_then(|value| value.names()).unwrap_or_default();
    Some(match mode {
        Mode::Append => WriteMode::Append,
        Mode::ReplacePartitions => WriteMode::ReplacePartitions,
        Mode::Upsert => WriteMode::Upsert {
            keys: list("keys"),
            sequence_by: list("sequence_by"),
            delete_when: object.get("delete_when").and_then(|value| value.plain_not_empty()),
        },
        Mode::ReplaceGroups => WriteMode::ReplaceGroups { group_by: list("group_by") },
    })
}

fn properties(value: &Value<'_>) -> BTreeMap<String, String> {
    let entries = value.any_entries().unwrap_or_default();
    entries.iter().filter_map(|(entry, value)| Some((entry.name.clone(), property(&entry.name, value)?))).collect()
}

fn rate_limits(object: &Object<'_>) -> (Option<u64>, Option<u64>) {
    const ALLOWED: Allowed = Allowed { file: KeyFile::Table, parent: "options", refused: &[] };
    let mut options = Options::default();
    if let Some(value) = object.get("options") {
        options.read(&value, &ALLOWED);
    }
    let one = |name: &str| options.get(name).and_then(|value| value.count(1, Spelling::Spark));
    (one("max_files_per_trigger"), one("max_bytes_per_trigger"))
}
