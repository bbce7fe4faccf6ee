//! `crisol.toml`, with what the environment and `--set` change in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::client;
use crate::limits::{HostLimits, Limits, read_host_limits, read_limits};
use crate::placeholder::{KnownPaths, Lookup};
use crate::problem::Code;
use crate::project::Handoff;
use crate::read::{Spelling, Value};
use crate::text::{At, Data, Entry, Node};

/// `crisol.toml`, read.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) paths: KnownPaths,
    pub(crate) kafka: KafkaSettings,
    pub(crate) limits: Limits,
    pub(crate) host_limits: HostLimits,
    pub(crate) handoff: Handoff,
}

/// `[kafka]` and `[kafka.<cluster>]`. Values may be secrets.
#[derive(Default)]
pub(crate) struct KafkaSettings {
    pub(crate) common: BTreeMap<String, String>,
    pub(crate) clusters: BTreeMap<String, BTreeMap<String, String>>,
}

impl std::fmt::Debug for KafkaSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaSettings").field("clusters", &self.clusters.keys()).finish_non_exhaustive()
    }
}

const ENV_PREFIX: &str = "CRISOL__";

/// Puts the environment's and then `--set`'s values into the tree of the settings; the last one wins.
pub(crate) fn apply_overrides(root: &mut Node, sets: &[(String, String)], lookup: &dyn Lookup) {
    let mut names = lookup.env_vars();
    names.sort();
    for name in names {
        let Some(rest) = name.strip_prefix(ENV_PREFIX) else { continue };
        let Some(value) = lookup.env(&name).filter(|value| !value.is_empty()) else { continue };
        let mut steps: Vec<String> = rest.split("__").map(str::to_lowercase).collect();
        if let (Some("kafka"), Some(last)) = (steps.first().cloned().as_deref(), steps.last_mut()) {
            *last = last.replace('_', ".");
        }
        put(root, &steps, &value, &At::Outside(Arc::from(name.as_str())));
    }
    for (key, value) in sets {
        let steps = steps_of(root, key);
        put(root, &steps, value, &At::Outside(Arc::from("--set")));
    }
}

/// `kafka.bootstrap.servers` is two steps, since names of Kafka options have dots; a cluster makes it three.
fn steps_of(root: &Node, key: &str) -> Vec<String> {
    let Some(option) = key.strip_prefix("kafka.") else {
        return key.split('.').map(str::to_owned).collect();
    };
    let is_cluster = |name: &str| {
        let entry = root.get("kafka").and_then(|kafka| kafka.value.get(name));
        entry.is_some_and(|entry| matches!(entry.value.data, Data::Object(_)))
    };
    match option.split_once('.') {
        Some((cluster, rest)) if is_cluster(cluster) => vec!["kafka".into(), cluster.into(), rest.into()],
        _ => vec!["kafka".into(), option.into()],
    }
}

fn put(node: &mut Node, steps: &[String], value: &str, at: &At) {
    let Some((step, rest)) = steps.split_first() else {
        *node = Node { at: at.clone(), data: Data::Text(value.to_owned()) };
        return;
    };
    if !matches!(node.data, Data::Object(_)) {
        *node = Node { at: at.clone(), data: Data::Object(Vec::new()) };
    }
    let Data::Object(entries) = &mut node.data else { return };
    let found = entries.iter().position(|entry| entry.name == *step);
    let index = found.unwrap_or_else(|| {
        let value = Node { at: at.clone(), data: Data::Null };
        entries.push(Entry { name: step.clone(), at: at.clone(), value });
        entries.len() - 1
    });
    if let Some(entry) = entries.get_mut(index) {
        put(&mut entry.value, rest, value, at);
    }
}

/// Reads the settings. What is faulty is replaced by something harmless, so that the contracts can be read too.
pub(crate) fn read(root: &Value<'_>) -> Settings {
    let Some(object) = root.object() else { return Settings::default() };
    let limits = object.get("limits").and_then(|limits| limits.object());
    let stages = limits.as_ref().map_or_else(Limits::default, |limits| read_limits(limits, &Limits::default()));
    Settings {
        paths: read_paths(root, object.get("path")),
        kafka: object.get("kafka").map(|kafka| read_kafka(&kafka)).unwrap_or_default(),
        host_limits: limits.as_ref().map(|limits| read_host_limits(limits, &stages)).unwrap_or_default(),
        limits: stages,
        handoff: object.get("handoff").and_then(|handoff| read_handoff(&handoff)).unwrap_or_default(),
    }
}

/// A path of `[path]`.
enum Given<'a> {
    Set(PathBuf),
    Absent,
    /// It counts as not set, and stands here.
    Empty(Value<'a>),
    /// A problem was reported; this stands in so that no other follows from it.
    Faulty(PathBuf),
}

fn read_paths(root: &Value<'_>, paths: Option<Value<'_>>) -> KnownPaths {
    let object = paths.as_ref().and_then(Value::object);
    let one = |name: &str| {
        let faulty = || Given::Faulty(root.fill.dir.join(format!("faulty-path-{name}")));
        let Some(object) = &object else { return if paths.is_some() { faulty() } else { Given::Absent } };
        let Some(value) = object.get(name) else { return Given::Absent };
        match value.location() {
            Some(path) => Given::Set(PathBuf::from(path)),
            None if value.is_empty_text() => Given::Empty(value),
            None => faulty(),
        }
    };
    let required = |name: &str| match one(name) {
        Given::Set(path) | Given::Faulty(path) => Some(path),
        Given::Absent => {
            let mut problem = root.problem(Code::MissingKey, "this key is required");
            problem.key = Some(format!("path.{name}"));
            root.report.push(problem.hinting(format!("for example `{name} = \"data/{name}\"` under `[path]`")));
            Some(root.fill.dir.join(format!("faulty-path-{name}")))
        }
        Given::Empty(value) => {
            value.refuse_hinting(Code::MissingKey, "it is empty, and required", format!("for example `data/{name}`"));
            Some(root.fill.dir.join(format!("faulty-path-{name}")))
        }
    };
    let landing = match one("landing") {
        Given::Set(path) | Given::Faulty(path) => Some(path),
        Given::Absent | Given::Empty(_) => None,
    };
    KnownPaths { landing, checkpoint: required("checkpoint"), tables: required("tables") }
}

fn read_kafka(kafka: &Value<'_>) -> KafkaSettings {
    let mut settings = KafkaSettings::default();
    let entries = kafka.any_entries().unwrap_or_default();
    client::check_jaas_alone(entries.iter().map(|(entry, value)| (entry.name.as_str(), value)));
    for (entry, value) in entries {
        if value.is_object() {
            let options = value.any_entries().unwrap_or_default();
            client::check_jaas_alone(options.iter().map(|(entry, value)| (entry.name.as_str(), value)));
            let cluster = options.iter().flat_map(|(option, value)| named(&option.name, value)).collect();
            settings.clusters.insert(entry.name.clone(), cluster);
        } else {
            settings.common.extend(named(&entry.name, &value));
        }
    }
    settings
}

fn named(name: &str, value: &Value<'_>) -> Vec<(String, String)> {
    if let Some(right) = name.strip_prefix("kafka.") {
        value.refuse(Code::UnknownKey, format!("leave out the prefix: `{right}`"));
        return Vec::new();
    }
    match client::option(name, value) {
        Some(options) => options,
        None if value.is_empty_text() => Vec::new(),
        // Reported; it stands in so that no contract misses it.
        None => vec![(name.to_owned(), String::new())],
    }
}

fn read_handoff(handoff: &Value<'_>) -> Option<Handoff> {
    let bytes_max = handoff.object()?.get("bytes_max")?.count(0, Spelling::Json)?;
    Some(Handoff { bytes_max })
}
