//! Where a new checkpoint begins: words, offsets, timestamps, and which of them counts (K-020 … K-023, K-029, K-034).

use std::collections::{BTreeMap, BTreeSet};

use crate::ingestion::{KafkaBound, NoRecord, Subscription};
use crate::parse::options::Options;
use crate::placeholder::Braces;
use crate::problem::Code;
use crate::read::Value;
use crate::suggest;
use crate::text::{Data, Node, parse_embedded};

const OFFSETS_EXAMPLE: &str = r#"{"orders.v1": {"0": 23, "1": -2}}"#;
const TIMESTAMPS_EXAMPLE: &str = r#"{"orders.v1": {"0": 1767225600000}}"#;

/// The options of a start, the first that is given wins (K-021).
const BY_PRECEDENCE: [&str; 3] = ["starting_timestamp", "starting_offsets_by_timestamp", "starting_offsets"];

/// Where a new checkpoint begins.
pub(super) struct Starting {
    pub(super) bound: KafkaBound,
    pub(super) given: bool,
    pub(super) no_record: NoRecord,
}

/// The start that the options say; the default is Spark's `latest` (K-020).
pub(super) fn starting(options: &Options<'_>, subscription: &Subscription) -> Starting {
    let given: Vec<&Value<'_>> = BY_PRECEDENCE.iter().filter_map(|name| options.get(name)).collect();
    for beaten in given.iter().skip(1) {
        let winner = given.first().map_or("", |first| first.key.as_str());
        beaten.report.warn(beaten.problem(Code::Conflict, format!("has no effect: `{winner}` comes first")));
    }
    // What is beaten is read all the same: a mistake in it is one.
    let bounds = BY_PRECEDENCE.map(|name| options.get(name).and_then(|value| bound(name, value, subscription)));
    let bound = bounds.into_iter().flatten().next().unwrap_or(KafkaBound::Latest);
    Starting { no_record: no_record(options, &bound), given: !given.is_empty(), bound }
}

fn bound(option: &str, value: &Value<'_>, subscription: &Subscription) -> Option<KafkaBound> {
    let bound = match option {
        "starting_timestamp" => KafkaBound::Timestamp(timestamp(value)?),
        "starting_offsets_by_timestamp" => KafkaBound::Timestamps(partitions(value, TIMESTAMPS, |ms| *ms >= 0)?),
        _ => offsets(value)?,
    };
    check_same_partitions(value, subscription, &bound);
    Some(bound)
}

fn no_record(options: &Options<'_>, bound: &KafkaBound) -> NoRecord {
    const CHOICES: [(&str, NoRecord); 2] = [("error", NoRecord::Error), ("latest", NoRecord::Latest)];
    let Some(value) = options.get("starting_offsets_by_timestamp_strategy") else { return NoRecord::Error };
    if !matches!(bound, KafkaBound::Timestamp(_) | KafkaBound::Timestamps(_)) {
        value.report.warn(value.problem(Code::Conflict, "has no effect: no timestamp says where to start"));
    }
    value.choice("a strategy", &CHOICES).unwrap_or(NoRecord::Error)
}

/// Milliseconds since 1970 (K-034).
fn timestamp(value: &Value<'_>) -> Option<i64> {
    let ms = value.scalar()?.trim().parse::<i64>().ok().filter(|ms| *ms >= 0);
    if ms.is_none() {
        value.refuse_hinting(
            Code::InvalidValue,
            "expected a single long value, milliseconds since 1970, not negative",
            "a timestamp for each partition goes into `starting_offsets_by_timestamp`",
        );
    }
    ms
}

fn offsets(value: &Value<'_>) -> Option<KafkaBound> {
    if let Data::Text(text) = &value.node.data {
        match text.trim().to_lowercase().as_str() {
            "earliest" => return Some(KafkaBound::Earliest),
            "latest" => return Some(KafkaBound::Latest),
            word if !word.starts_with(['{', '$']) => {
                let near = suggest::did_you_mean(word, ["earliest", "latest"]);
                let message = format!("`{text}` is not a place to start{near}");
                let hint = format!("choose `earliest`, `latest` or offsets: `{OFFSETS_EXAMPLE}`");
                value.refuse_hinting(Code::InvalidValue, message, hint);
                return None;
            }
            _ => {}
        }
    }
    partitions(value, OFFSETS, |offset| *offset >= -2).map(KafkaBound::Offsets)
}

/// What the numbers of a map are, and an example of it.
type Kind = (&'static str, &'static str);
const OFFSETS: Kind = ("an offset (or -1, -2)", OFFSETS_EXAMPLE);
const TIMESTAMPS: Kind = ("a timestamp in milliseconds", TIMESTAMPS_EXAMPLE);

/// A number for each partition of each topic.
fn partitions(value: &Value<'_>, kind: Kind, legal: fn(&i64) -> bool) -> Option<BTreeMap<String, BTreeMap<i32, i64>>> {
    let (what, example) = kind;
    let node = object_or_text(value, example)?;
    let mut topics = BTreeMap::new();
    for topic in node.entries() {
        let mut numbers = BTreeMap::new();
        for entry in topic.value.entries() {
            // `00` would be a second name of partition 0.
            let place = entry.name.parse::<i32>().ok().filter(|p| *p >= 0 && p.to_string() == entry.name);
            let number = integer::<i64>(&entry.value).filter(legal);
            let (Some(partition), Some(number)) = (place, number) else {
                refuse_form(value, &format!("topic `{}` needs {what} per partition", topic.name), example);
                return None;
            };
            numbers.insert(partition, number);
        }
        if numbers.is_empty() {
            refuse_form(value, &format!("topic `{}` names no partition", topic.name), example);
            return None;
        }
        topics.insert(topic.name.clone(), numbers);
    }
    if topics.is_empty() {
        value.refuse(Code::InvalidValue, "names no topic");
        return None;
    }
    Some(topics)
}

/// K-023, as far as the contract itself tells: the map names what is read, no less and no more.
fn check_same_partitions(value: &Value<'_>, subscription: &Subscription, bound: &KafkaBound) {
    let (KafkaBound::Offsets(given) | KafkaBound::Timestamps(given)) = bound else { return };
    let name = |topic: &String, partition: &i32| format!("{topic}-{partition}");
    let (named, read): (BTreeSet<String>, BTreeSet<String>) = match subscription {
        Subscription::Topics(topics) => (given.keys().cloned().collect(), topics.iter().cloned().collect()),
        Subscription::Assign(assigned) => (
            given.iter().flat_map(|(topic, of)| of.keys().map(move |partition| name(topic, partition))).collect(),
            assigned.iter().flat_map(|(topic, of)| of.iter().map(move |partition| name(topic, partition))).collect(),
        ),
        Subscription::Pattern { .. } => return,
    };
    // An empty subscription was reported already.
    if named != read && !read.is_empty() {
        let list = |names: &BTreeSet<String>| suggest::quoted(names.iter().map(String::as_str));
        let message = format!("gives positions of {}, and {} would be read", list(&named), list(&read));
        value.refuse_hinting(Code::Conflict, message, "give a position for each partition that is read");
    }
}

/// The object that a value is, or that its text holds (K-005).
pub(super) fn object_or_text(value: &Value<'_>, example: &str) -> Option<Node> {
    match &value.node.data {
        Data::Object(_) => Some(value.node.clone()),
        Data::Text(_) => {
            let text = value.text(Braces::Own)?;
            let parsed = match text.trim_start().starts_with('{') {
                true => parse_embedded(&text, &value.node.at),
                false => Err("it does not begin with `{`".to_owned()),
            };
            parsed.map_err(|reason| refuse_form(value, &format!("is no JSON object: {reason}"), example)).ok()
        }
        _ => {
            refuse_form(value, &format!("expected an object, found {}", value.node.type_name()), example);
            None
        }
    }
}

pub(super) fn refuse_form(value: &Value<'_>, message: &str, example: &str) {
    let code = if message.starts_with("expected") { Code::WrongType } else { Code::InvalidValue };
    value.refuse_hinting(code, message, format!("for example `{example}`"));
}

pub(super) fn integer<T: std::str::FromStr>(node: &Node) -> Option<T> {
    match &node.data {
        Data::Number(text) => text.parse().ok(),
        _ => None,
    }
}
