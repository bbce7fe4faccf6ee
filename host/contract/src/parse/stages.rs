//! `stages` of a table contract.

use crate::limits::Limits;
use crate::limits::read_limits;
use crate::problem::{Code, Problem};
use crate::read::{Object, Value};
use crate::suggest;
use crate::table::{StageKind, StageSpec, VersionSource};
use crate::text::Data;

pub(super) fn stages(stages: &Value<'_>, limits: &Limits) -> Option<Vec<StageSpec>> {
    let items = stages.items()?;
    Some(items.iter().filter_map(|item| stage(&item.object()?, limits)).collect())
}

fn stage(object: &Object<'_>, limits: &Limits) -> Option<StageSpec> {
    let version = object.get("version").and_then(|value| version(&value));
    let options = object.get("options").and_then(|value| value.json_object()).unwrap_or_default();
    let own = object.get("limits").and_then(|value| value.object()).map(|own| read_limits(&own, limits));
    let (kind, value) = kind(object)?;
    let (component, version_range) = component(&value)?;
    if version.is_some() && matches!(kind, StageKind::Ranker | StageKind::Aggregator) {
        object.value().refuse(Code::Conflict, "`version` belongs to stages that take rows one by one");
    }
    let limits = own.unwrap_or_else(|| limits.clone());
    Some(StageSpec { kind, component, version_range, version, options, limits })
}

/// The one key that names the stage's kind.
fn kind<'a>(object: &Object<'a>) -> Option<(StageKind, Value<'a>)> {
    let found: Vec<_> = StageKind::ALL.iter().filter_map(|kind| Some((*kind, object.get(kind.key())?))).collect();
    let names = || StageKind::ALL.iter().map(|kind| kind.key());
    match found.as_slice() {
        [one] => Some(one.clone()),
        [] => {
            let problem = object.value().problem(Code::MissingKey, "a stage names its kind and its component");
            object.value().report.push(Problem { hint: suggest::choose(names()), ..problem });
            None
        }
        [_, second, ..] => {
            second.1.refuse(Code::Conflict, "a stage has one kind; write two stages for two");
            None
        }
    }
}

/// `orders`, or `orders@^1.2`.
fn component(value: &Value<'_>) -> Option<(String, Option<semver::VersionReq>)> {
    let text = value.plain_not_empty()?;
    let (name, range) = match text.split_once('@') {
        Some((name, range)) => (name, Some(range)),
        None => (text.as_str(), None),
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(legal) {
        value.refuse_hinting(
            Code::InvalidValue,
            format!("`{name}` is not the name of a component"),
            "for example `orders` or `orders@^1.2`; it is the name that the component gives itself, not that of its file",
        );
        return None;
    }
    let Some(range) = range else { return Some((name.to_owned(), None)) };
    match semver::VersionReq::parse(range) {
        Ok(range) => Some((name.to_owned(), Some(range))),
        Err(error) => {
            value.refuse(Code::InvalidValue, format!("`{range}` is not a range of semantic versions: {error}"));
            None
        }
    }
}

fn version(value: &Value<'_>) -> Option<VersionSource> {
    const WHERE: [&str; 4] = ["json", "header", "column", "constant"];
    let object = value.object()?;
    let column = object.get("in").and_then(|value| value.plain_not_empty());
    let found: Vec<&str> = WHERE.into_iter().filter(|name| object.get(name).is_some()).collect();
    let [place] = found.as_slice() else {
        let hint = "choose one of `{\"json\": FIELD, \"in\": COLUMN}`, `{\"header\": NAME}`, `{\"column\": NAME}`, `{\"constant\": N}`";
        value.refuse_hinting(Code::InvalidValue, "says in one way where the schema version stands", hint);
        return None;
    };
    if let Some(column) = object.get("in").filter(|_| *place != "json") {
        column.refuse(Code::Conflict, "belongs to `json`");
    }
    let name = || object.get(place).and_then(|value| value.plain_not_empty());
    match *place {
        "json" => {
            object.require("in");
            Some(VersionSource::Json { field: name()?, column: column? })
        }
        "header" => name().map(VersionSource::Header),
        "column" => name().map(VersionSource::Column),
        _ => constant(&object.get(place)?).map(VersionSource::Constant),
    }
}

fn constant(value: &Value<'_>) -> Option<i64> {
    let number = match &value.node.data {
        Data::Number(text) => text.parse().ok(),
        _ => {
            value.refuse(Code::WrongType, format!("expected a whole number, found {}", value.node.type_name()));
            return None;
        }
    };
    if number.is_none() {
        value.refuse(Code::InvalidValue, "expected a whole number");
    }
    number
}
