//! `source.kafka` and a Kafka source's `options`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::options::{Allowed, Options, Refused, Why};
use crate::client;
use crate::ingestion::{KafkaSpec, StartingOffsets, Subscription};
use crate::keys::KeyFile;
use crate::placeholder::Braces;
use crate::problem::{Code, Problem};
use crate::read::{Spelling, Value};
use crate::settings::KafkaSettings;
use crate::suggest;
use crate::text::{Data, Node, parse_embedded};

const NO_END: Why = Why::Never("a stream has no end; `available_now` reads what is there and stops");
const COLUMNS: Why = Why::Never("is decided by `metadata.add_kafka_metadata`");

/// Options of Spark's Kafka source that this release does not take (K-026, K-043, K-052).
const REFUSED: &[Refused] = &[
    Refused { names: &["ending_offsets", "ending_offsets_by_timestamp", "ending_timestamp"], why: NO_END },
    Refused { names: &["starting_timestamp", "starting_offsets_by_timestamp"], why: Why::NotYet },
    Refused { names: &["starting_offsets_by_timestamp_strategy"], why: Why::NotYet },
    Refused { names: &["min_offsets_per_trigger", "max_trigger_delay"], why: Why::NotYet },
    Refused { names: &["min_partitions", "max_records_per_partition"], why: Why::NotYet },
    Refused { names: &["group_id_prefix"], why: Why::NotYet },
    Refused { names: &["include_headers"], why: COLUMNS },
    Refused {
        names: &["fetch_offset.time_out_ms", "kafka_consumer.use_deprecated_offset_fetching"],
        why: Why::Never("is a switch inside Spark"),
    },
];

/// Where Kafka options may stand.
pub(super) const ALLOWED: Allowed = Allowed { file: KeyFile::Ingestion, parent: "source.kafka", refused: REFUSED };

/// Most milliseconds that any time-out may have: a day.
const DAY_MS: u64 = 86_400_000;

/// A Kafka source; `source` is where what is missing is missed.
pub(super) fn kafka(
    source: &Value<'_>,
    options: &Options<'_>,
    settings: &KafkaSettings,
    add_kafka_metadata: bool,
) -> KafkaSpec {
    let number = |name: &str, default: u64| {
        let value = options.get(name).and_then(|value| value.count(1, Spelling::Spark));
        value.unwrap_or(default).min(DAY_MS)
    };
    let starting = options.get("starting_offsets");
    let limit = options.get("max_offsets_per_trigger").and_then(|value| value.count(1, Spelling::Spark));
    let loss = options.get("fail_on_data_loss").and_then(|value| value.flag(Spelling::Spark));
    let subscription = subscription(source, options);
    let starting_offsets = starting.and_then(starting_offsets).unwrap_or(StartingOffsets::Latest);
    if let Some(value) = starting {
        check_same_partitions(value, &subscription, &starting_offsets);
    }
    KafkaSpec {
        subscription,
        starting_offsets,
        starting_offsets_given: starting.is_some(),
        max_offsets_per_trigger: limit,
        fail_on_data_loss: loss.unwrap_or(true),
        add_kafka_metadata,
        client: merged_client(source, options, settings),
        fetch_offset_num_retries: u32::try_from(number("fetch_offset_num_retries", 3)).unwrap_or(u32::MAX),
        fetch_offset_retry_interval: Duration::from_millis(number("fetch_offset_retry_interval_ms", 1_000)),
        poll_timeout: Duration::from_millis(number("poll_timeout_ms", 120_000)),
    }
}

/// The contract's options, over them `[kafka]`, over them the cluster's.
fn merged_client(source: &Value<'_>, options: &Options<'_>, settings: &KafkaSettings) -> BTreeMap<String, String> {
    let own = options.client.iter();
    let mut merged: BTreeMap<String, String> =
        own.filter_map(|(name, value)| client::option(name, value).map(|text| (name.clone(), text))).collect();
    merged.extend(settings.common.clone());
    if let Some(value) = options.get("cluster")
        && let Some(name) = value.plain()
    {
        match settings.clusters.get(&name) {
            Some(cluster) => merged.extend(cluster.clone()),
            None => {
                let names = || settings.clusters.keys().map(String::as_str);
                let near = suggest::did_you_mean(&name, names());
                let message = format!("no `[kafka.{name}]` in crisol.toml{near}");
                let problem = value.problem(Code::Unresolved, message);
                value.report.push(Problem { hint: suggest::choose(names()), ..problem });
            }
        }
    }
    check_brokers(source, options, &merged);
    merged
}

fn check_brokers(source: &Value<'_>, options: &Options<'_>, merged: &BTreeMap<String, String>) {
    let was_refused = options.client.iter().any(|(name, value)| name == "bootstrap.servers" && !value.is_empty_text());
    if !merged.contains_key("bootstrap.servers") && !was_refused {
        source.refuse_hinting(
            Code::MissingKey,
            "no brokers are named",
            "set `bootstrap_servers` in `source.kafka`, or `\"bootstrap.servers\"` under `[kafka]` in crisol.toml",
        );
    }
    if let Some((_, value)) = options.client.iter().find(|(name, _)| name == "group.id") {
        let text = "others that use this consumer group may disturb this stream, and be disturbed by it";
        value.report.warn(value.problem(Code::Conflict, text));
    }
}

fn subscription(source: &Value<'_>, options: &Options<'_>) -> Subscription {
    const NAMES: [&str; 3] = ["topic", "topic_pattern", "assign"];
    let given: Vec<&Value<'_>> = NAMES.iter().filter_map(|name| options.get(name)).collect();
    if given.is_empty() {
        source.refuse_hinting(
            Code::MissingKey,
            "says nothing of what to read",
            "set exactly one of `topic` (Spark: `subscribe`), `topic_pattern` (`subscribePattern`), `assign`",
        );
    }
    for other in given.iter().skip(1) {
        other.refuse_hinting(
            Code::Conflict,
            "only one of `topic`, `topic_pattern` and `assign` may be set",
            format!("`{}` is set too", given.first().map_or("", |first| first.key.as_str())),
        );
    }
    let faulty = Subscription::Topics(Vec::new());
    if let Some(value) = options.get("topic") {
        topics(value).map_or(faulty, Subscription::Topics)
    } else if let Some(value) = options.get("topic_pattern") {
        pattern(value).map_or(faulty, Subscription::Pattern)
    } else {
        options.get("assign").and_then(assign).map_or(faulty, Subscription::Assign)
    }
}

/// One topic, several with commas between them, or a list (K-003).
fn topics(value: &Value<'_>) -> Option<Vec<String>> {
    let texts: Vec<String> = match &value.node.data {
        Data::List(_) => value.items()?.iter().filter_map(|item| item.text(Braces::Placeholder)).collect(),
        Data::Text(_) => vec![value.text(Braces::Placeholder)?],
        _ => {
            let found = value.node.type_name();
            value.refuse(Code::WrongType, format!("expected a topic or a list of topics, found {found}"));
            return None;
        }
    };
    let mut topics: Vec<String> = Vec::new();
    for topic in texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|topic| !topic.is_empty()) {
        check_topic(value, topic);
        if !topics.iter().any(|known| known == topic) {
            topics.push(topic.to_owned());
        }
    }
    if topics.is_empty() {
        value.refuse(Code::InvalidValue, "names no topic");
        return None;
    }
    Some(topics)
}

fn check_topic(value: &Value<'_>, topic: &str) {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if topic.len() > 249 || !topic.chars().all(legal) {
        value.refuse_hinting(
            Code::InvalidValue,
            "is no name of a topic: ASCII letters, digits, `.`, `_` and `-` make one, 249 at most",
            "a regular expression goes into `topic_pattern`",
        );
    }
}

fn pattern(value: &Value<'_>) -> Option<String> {
    let text = value.text(Braces::Own)?;
    let text = text.trim();
    if text.is_empty() {
        value.refuse(Code::InvalidValue, "must not be empty");
        return None;
    }
    if let Err(error) = regex::Regex::new(&format!("^(?:{text})$")) {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        value.refuse_hinting(
            Code::InvalidValue,
            format!("is no regular expression: {reason}"),
            "look-around and back-references of Java are not there",
        );
        return None;
    }
    Some(text.to_owned())
}

/// The object that a value is, or that its text holds (K-005).
fn object_or_text(value: &Value<'_>, example: &str) -> Option<Node> {
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

fn refuse_form(value: &Value<'_>, message: &str, example: &str) {
    let code = if message.starts_with("expected") { Code::WrongType } else { Code::InvalidValue };
    value.refuse_hinting(code, message, format!("for example `{example}`"));
}

fn assign(value: &Value<'_>) -> Option<BTreeMap<String, Vec<i32>>> {
    const EXAMPLE: &str = r#"{"orders.v1": [0, 1], "orders.v2": [0]}"#;
    let node = object_or_text(value, EXAMPLE)?;
    let mut out = BTreeMap::new();
    for entry in node.entries() {
        check_topic(value, &entry.name);
        let Data::List(items) = &entry.value.data else {
            refuse_form(value, &format!("expected a list of partitions for topic `{}`", entry.name), EXAMPLE);
            return None;
        };
        let mut partitions: Vec<i32> = items.iter().filter_map(integer).filter(|p| *p >= 0).collect();
        partitions.sort_unstable();
        partitions.dedup();
        if partitions.len() != items.len() || partitions.is_empty() {
            let message = format!("topic `{}` needs partitions: whole numbers from 0, each once", entry.name);
            refuse_form(value, &message, EXAMPLE);
            return None;
        }
        out.insert(entry.name.clone(), partitions);
    }
    if out.is_empty() {
        value.refuse(Code::InvalidValue, "names no topic");
        return None;
    }
    Some(out)
}

fn starting_offsets(value: &Value<'_>) -> Option<StartingOffsets> {
    const EXAMPLE: &str = r#"{"orders.v1": {"0": 23, "1": -2}}"#;
    if let Data::Text(text) = &value.node.data {
        match text.trim().to_lowercase().as_str() {
            "earliest" => return Some(StartingOffsets::Earliest),
            "latest" => return Some(StartingOffsets::Latest),
            word if !word.starts_with(['{', '$']) => {
                let near = suggest::did_you_mean(word, ["earliest", "latest"]);
                let message = format!("`{text}` is not a place to start{near}");
                let hint = format!("choose `earliest`, `latest` or offsets: `{EXAMPLE}`");
                value.refuse_hinting(Code::InvalidValue, message, hint);
                return None;
            }
            _ => {}
        }
    }
    let node = object_or_text(value, EXAMPLE)?;
    let mut topics = BTreeMap::new();
    for topic in node.entries() {
        let mut offsets = BTreeMap::new();
        for entry in topic.value.entries() {
            let place = entry.name.parse::<i32>().ok().filter(|partition| *partition >= 0);
            let offset = integer::<i64>(&entry.value).filter(|offset| *offset >= -2);
            let (Some(partition), Some(offset)) = (place, offset) else {
                let message = format!("topic `{}` needs an offset (or -1, -2) per partition", topic.name);
                refuse_form(value, &message, EXAMPLE);
                return None;
            };
            offsets.insert(partition, offset);
        }
        if offsets.is_empty() {
            refuse_form(value, &format!("topic `{}` names no partition", topic.name), EXAMPLE);
            return None;
        }
        topics.insert(topic.name.clone(), offsets);
    }
    if topics.is_empty() {
        value.refuse(Code::InvalidValue, "names no topic");
        return None;
    }
    Some(StartingOffsets::Exact(topics))
}

/// K-023, as far as the contract itself tells: offsets name what is read, no less and no more.
fn check_same_partitions(value: &Value<'_>, subscription: &Subscription, starting: &StartingOffsets) {
    let StartingOffsets::Exact(offsets) = starting else { return };
    let name = |(topic, partition): (&String, &i32)| format!("{topic}-{partition}");
    let (named, read): (BTreeSet<String>, BTreeSet<String>) = match subscription {
        Subscription::Topics(topics) => (offsets.keys().cloned().collect(), topics.iter().cloned().collect()),
        Subscription::Assign(assigned) => (
            offsets
                .iter()
                .flat_map(|(topic, of)| of.keys().map(move |partition| (topic, partition)))
                .map(name)
                .collect(),
            assigned
                .iter()
                .flat_map(|(topic, of)| of.iter().map(move |partition| (topic, partition)))
                .map(name)
                .collect(),
        ),
        Subscription::Pattern(_) => return,
    };
    // An empty subscription was reported already.
    if named != read && !read.is_empty() {
        let list = |names: &BTreeSet<String>| suggest::quoted(names.iter().map(String::as_str));
        let message = format!("gives offsets of {}, and {} would be read", list(&named), list(&read));
        value.refuse_hinting(Code::Conflict, message, "give an offset for each partition that is read: -2 is earliest");
    }
}

fn integer<T: std::str::FromStr>(node: &Node) -> Option<T> {
    match &node.data {
        Data::Number(text) => text.parse().ok(),
        _ => None,
    }
}
