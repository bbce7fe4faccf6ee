//! The conformance stages of an SDK, which do the same in every language: what comes is computed here, too.

mod asked;
mod decoder;
mod groups;
mod rows;
pub(super) mod table;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crisol_plugin::{Component, Plan};
use serde_json::{Map, Value};

use super::Suite;
use crate::Kind;

/// What "now" means.
const NOW_US: i64 = 1_775_001_600_000_001;

impl Suite {
    pub(super) fn exact(&mut self) {
        let component = self.component.clone();
        self.holds("exact: it says what a conformance stage says", || said(&component));
        self.holds("exact: it reads and writes the columns of its kind", || planned(&component));
        self.asked();
        match component.kind() {
            Kind::Decoder => self.decoded(),
            Kind::Transformer | Kind::Validator => self.changed_or_judged(),
            Kind::Ranker | Kind::Aggregator => self.ranked_or_added(),
        }
    }
}

fn said(component: &Component) -> Result<(), String> {
    let got = (component.version().to_string(), component.schema_versions().to_string(), component.reuse());
    let expected = ("0.1.0".to_string(), "all".to_string(), true);
    let taken = component.options().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let missing =
        options_of(component.kind()).into_iter().find(|name| !taken.is_some_and(|all| all.contains_key(*name)));
    match missing {
        Some(name) => Err(format!("its schema of options has no `{name}`")),
        None if got == expected => Ok(()),
        None => Err(format!("expected version, schema versions and reuse to be {expected:?}, got {got:?}")),
    }
}

fn options_of(kind: Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::Transformer => &["reject_every", "filter_every", "repeat", "stamp"],
        Kind::Validator => &["reject_every", "filter_every"],
        Kind::Aggregator => &["skip_single"],
        Kind::Decoder | Kind::Ranker => &[],
    };
    [&["log", "fail"], own].concat()
}

/// What such a stage is given.
fn input(kind: Kind) -> SchemaRef {
    match kind {
        Kind::Decoder => Schema::new(vec![Field::new("payload", DataType::Utf8, true)]).into(),
        _ => table::all(),
    }
}

fn planned(component: &Component) -> Result<(), String> {
    let input = input(component.kind());
    let plan = component.plan_unchecked("{}", &input).map_err(|error| error.to_string())?;
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let columns = |schema: &Schema| {
        let column = |field: &Field| {
            let name = crisol_ipc::types::name(field.data_type()).unwrap_or_default();
            (field.name().clone(), name, field.is_nullable())
        };
        schema.fields().iter().map(|field| column(field)).collect::<Vec<_>>()
    };
    let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let written = |all: &[(&str, &str, bool)]| {
        all.iter().map(|(name, type_name, null)| (name.to_string(), type_name.to_string(), *null)).collect()
    };
    let (reads, writes) = match component.kind() {
        Kind::Decoder => (names(&input), columns(&table::textual())),
        Kind::Transformer => (names(&input), columns(&input)),
        Kind::Validator => (names(&input), Vec::new()),
        Kind::Ranker => (texts(&["s", "i32"]), written(&[("place", "int", false), ("said", "string", true)])),
        Kind::Aggregator => (
            texts(&["d18", "s"]),
            written(&[("rows", "bigint", false), ("total", "decimal(38,4)", true), ("longest", "string", true)]),
        ),
    };
    let expected = Plan { reads, writes };
    if expected == plan { Ok(()) } else { Err(format!("expected {expected:?}, got {plan:?}")) }
}

/// An object of options.
fn options(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
