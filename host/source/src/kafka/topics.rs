//! Which partitions a subscription stands for (K-006 … K-010, K-012).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crisol_checkpoint::KafkaPosition;
use crisol_contract::{Subscription, is_internal};
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use regex::Regex;

use super::client::{Broker, Trouble};
use crate::SourceError;

/// Partitions by topic.
pub(super) type Places = BTreeMap<String, BTreeSet<i32>>;

const ASKING: &str = "asking for topics";

impl Broker {
    /// The partitions that a subscription stands for now. A topic or partition that is asked for by name and missing
    /// is refused after the retries, and never created (K-008, K-009); one that `known` stands in was there, and is left
    /// out (K-012). Internal topics are left out (K-007).
    pub(super) fn partitions(
        &self,
        subscription: &Subscription,
        known: Option<&KafkaPosition>,
    ) -> Result<Places, SourceError> {
        match (self.tried(ASKING, |left| self.subscribed(subscription, None, left)), known) {
            (Ok(places), Some(known)) => self.with_unseen(subscription, places, known),
            (Ok(places), None) => Ok(places),
            (Err(Trouble::Missing(_)), Some(known)) => {
                self.retried(ASKING, |left| self.subscribed(subscription, Some(known), left))
            }
            (Err(Trouble::Missing(error) | Trouble::Final(error)), _) => Err(error),
            (Err(Trouble::Broker(error)), _) => Err(SourceError::caused(ASKING, error)),
        }
    }

    /// Asks by name for what a list of all topics does not hold: that a user may not see a topic is only told so.
    fn with_unseen(
        &self,
        subscription: &Subscription,
        mut places: Places,
        known: &KafkaPosition,
    ) -> Result<Places, SourceError> {
        let unseen = |topic: &&str| !places.contains_key(*topic) && names(subscription, topic);
        let unseen: BTreeSet<&str> = known.0.keys().map(String::as_str).filter(unseen).collect();
        if !unseen.is_empty() {
            places.extend(self.existing(&unseen)?);
        }
        Ok(places)
    }

    /// The partitions of these topics that exist; a missing topic is no error.
    pub(super) fn existing(&self, topics: &BTreeSet<&str>) -> Result<Places, SourceError> {
        self.retried(ASKING, |left| {
            let mut places = Places::new();
            for topic in topics {
                match self.topic(topic, left) {
                    Ok((topic, partitions)) => drop(places.insert(topic, partitions)),
                    Err(Trouble::Missing(_)) => {}
                    Err(other) => return Err(other),
                }
            }
            Ok(places)
        })
    }

    fn subscribed(
        &self,
        subscription: &Subscription,
        known: Option<&KafkaPosition>,
        deadline: Duration,
    ) -> Result<Places, Trouble> {
        let was_there = |topic: &str| known.is_some_and(|known| known.0.contains_key(topic));
        let mut places = Places::new();
        let mut add = |topic: &str, found: Result<(String, BTreeSet<i32>), Trouble>| match found {
            Ok((topic, partitions)) => {
                places.insert(topic, partitions);
                Ok(())
            }
            Err(Trouble::Missing(_)) if was_there(topic) => Ok(()),
            Err(trouble) => Err(trouble),
        };
        match subscription {
            Subscription::Pattern { pattern, whole } => return self.matching(&regex(pattern, *whole)?, deadline),
            Subscription::Topics(topics) => {
                for topic in topics.iter().filter(|topic| !is_internal(topic)) {
                    add(topic, self.topic(topic, deadline))?;
                }
            }
            Subscription::Assign(assigned) => {
                for (topic, wanted) in assigned {
                    let known = known.and_then(|known| known.0.get(topic));
                    let was_there = |partition: &i32| known.is_some_and(|known| known.contains_key(partition));
                    add(topic, self.assigned(topic, wanted, was_there, deadline))?;
                }
            }
        }
        Ok(places)
    }

    fn topic(&self, topic: &str, deadline: Duration) -> Result<(String, BTreeSet<i32>), Trouble> {
        let metadata = self.consumer().fetch_metadata(Some(topic), deadline)?;
        let missing = || Trouble::Missing(missing(topic, self.servers()));
        let found = metadata.topics().iter().find(|found| found.name() == topic).ok_or_else(missing)?;
        match found.error().map(RDKafkaErrorCode::from) {
            None | Some(RDKafkaErrorCode::LeaderNotAvailable) => {}
            Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => return Err(missing()),
            Some(RDKafkaErrorCode::TopicAuthorizationFailed) => return Err(Trouble::Final(forbidden(topic))),
            Some(other) => return Err(Trouble::Broker(KafkaError::MetadataFetch(other))),
        }
        let partitions: BTreeSet<i32> = found.partitions().iter().map(|p| p.id()).collect();
        if partitions.is_empty() { Err(missing()) } else { Ok((topic.to_owned(), partitions)) }
    }

    fn matching(&self, name: &Regex, deadline: Duration) -> Result<Places, Trouble> {
        let metadata = self.consumer().fetch_metadata(None, deadline)?;
        let topics = metadata.topics().iter().filter(|t| name.is_match(t.name()) && !is_internal(t.name()));
        Ok(topics.map(|t| (t.name().to_owned(), t.partitions().iter().map(|p| p.id()).collect())).collect())
    }

    fn assigned(
        &self,
        topic: &str,
        wanted: &[i32],
        was_there: impl Fn(&i32) -> bool,
        deadline: Duration,
    ) -> Result<(String, BTreeSet<i32>), Trouble> {
        let (topic, present) = self.topic(topic, deadline)?;
        let absent: Vec<&i32> = wanted.iter().filter(|p| !present.contains(p) && !was_there(p)).collect();
        if absent.is_empty() {
            return Ok((topic, wanted.iter().copied().filter(|p| present.contains(p)).collect()));
        }
        let absent: Vec<String> = absent.into_iter().map(i32::to_string).collect();
        Err(Trouble::Missing(SourceError::config(
            format!("topic `{topic}` has no partition {} at broker `{}`", absent.join(", "), self.servers()),
            format!("`assign` may name the partitions 0 to {}", present.last().unwrap_or(&0)),
        )))
    }
}

/// True when a subscription stands for a topic (K-013).
pub(super) fn names(subscription: &Subscription, topic: &str) -> bool {
    match subscription {
        Subscription::Topics(topics) => topics.iter().any(|t| t == topic),
        Subscription::Pattern { pattern, whole } => regex(pattern, *whole).is_ok_and(|name| name.is_match(topic)),
        Subscription::Assign(assigned) => assigned.contains_key(topic),
    }
}

/// Spark's words for a subscription (K-114).
pub(super) fn described(subscription: &Subscription) -> String {
    match subscription {
        Subscription::Topics(topics) => format!("Subscribe[{}]", topics.join(", ")),
        Subscription::Pattern { pattern, .. } => format!("SubscribePattern[{pattern}]"),
        Subscription::Assign(assigned) => {
            let places = assigned.iter().flat_map(|(t, ps)| ps.iter().map(move |p| format!("{t}-{p}")));
            format!("Assign[{}]", places.collect::<Vec<_>>().join(", "))
        }
    }
}

fn regex(pattern: &str, whole: bool) -> Result<Regex, Trouble> {
    let text = if whole { format!("^(?:{pattern})$") } else { pattern.to_owned() };
    Regex::new(&text).map_err(|error| {
        Trouble::Final(SourceError::config(
            format!("`topic_pattern` is no regular expression: {error}"),
            "for example `orders[.].*`",
        ))
    })
}

fn missing(topic: &str, servers: &str) -> SourceError {
    SourceError::config(
        format!("topic `{topic}` does not exist at broker `{servers}`"),
        "topics are never created by reading: create it, or correct its name in the contract",
    )
}

fn forbidden(topic: &str) -> SourceError {
    SourceError::config(
        format!("the broker does not let this user see topic `{topic}`"),
        "the user needs DESCRIBE and READ on the topic",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k006_a_pattern_matches_whole_names_or_where_asked_any_part() {
        let pattern = |pattern: &str, whole| Subscription::Pattern { pattern: pattern.into(), whole };
        assert!(names(&pattern("topic.*", true), "topic1"));
        assert!(!names(&pattern("topic.*", true), "my-topic1"));
        assert!(names(&pattern("topic.*", false), "my-topic1"));
        assert!(!names(&pattern("a|b", true), "ab"));
        assert!(regex("(", true).is_err());
    }
}
