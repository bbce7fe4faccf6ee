//! What is read: topics, a pattern, or partitions (K-001 … K-006).

use std::collections::BTreeMap;

use super::bounds::{integer, object_or_text, refuse_form};
use crate::ingestion::{Subscription, is_internal};
use crate::parse::options::Options;
use crate::placeholder::Braces;
use crate::problem::Code;
use crate::read::Value;
use crate::text::Data;

/// The subscription that exactly one of three options says.
pub(super) fn subscription(source: &Value<'_>, options: &Options<'_>) -> Subscription {
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
    if let (Some(matching), None) = (options.get("topic_pattern_match"), options.get("topic_pattern")) {
        matching.refuse(Code::Conflict, "has no effect without `topic_pattern`");
    }
    let faulty = Subscription::Topics(Vec::new());
    if let Some(value) = options.get("topic") {
        topics(value).map_or(faulty, Subscription::Topics)
    } else if let Some(value) = options.get("topic_pattern") {
        pattern(value, options).unwrap_or(faulty)
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
        if is_internal(topic) {
            value.report.warn(value.problem(Code::Refused, format!("`{topic}` is Kafka's own and left out")));
            continue;
        }
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

/// A pattern, and whether it must match the whole name; Spark's matches any part of it (K-006).
fn pattern(value: &Value<'_>, options: &Options<'_>) -> Option<Subscription> {
    const CHOICES: [(&str, bool); 2] = [("full", true), ("search", false)];
    let whole = options.get("topic_pattern_match").map_or(Some(true), |value| value.choice("a match", &CHOICES));
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
    Some(Subscription::Pattern { pattern: text.to_owned(), whole: whole? })
}

fn assign(value: &Value<'_>) -> Option<BTreeMap<String, Vec<i32>>> {
    const EXAMPLE: &str = r#"{"orders.v1": [0, 1], "orders.v2": [0]}"#;
    let node = object_or_text(value, EXAMPLE)?;
    let mut out = BTreeMap::new();
    for entry in node.entries() {
        check_topic(value, &entry.name);
        if is_internal(&entry.name) {
            value.refuse(Code::Refused, format!("`{}` is Kafka's own, and never read", entry.name));
            return None;
        }
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
