//! A client of one Kafka cluster: its options, and questions with a deadline. Everything here blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crisol_checkpoint::KafkaPosition;
use crisol_contract::{KafkaSpec, Subscription};
use rdkafka::config::{ClientConfig, FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use regex::Regex;

use super::ahead::Held;
use crate::SourceError;

/// How long a question to the broker may take where `socket.timeout.ms` is not set (T-009).
const DEADLINE: Duration = Duration::from_secs(30);

/// Fetched ahead and not yet taken, over all partitions.
const QUEUED_BYTES: usize = 64 << 20;
const QUEUED_MESSAGES: usize = 200_000;

/// Most of one partition in one answer; a queue may exceed its limit by as much.
const FETCH_BYTES_MAX: usize = 8 << 20;
/// Least that a partition may queue or fetch, however many there are.
const PARTITION_BYTES_MIN: usize = 1 << 20;

/// Events taken in at once.
const EVENTS_MAX: usize = 100;

/// How long the client is heard after a question failed, for the reason.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// Options that are the source's own business (K-071, K-090).
const FORBIDDEN: [(&str, &str); 7] = [
    ("auto.offset.reset", "positions are kept in the checkpoint; use `starting_offsets`"),
    ("enable.auto.commit", "nothing is committed to a consumer group"),
    ("enable.partition.eof", "ranges end by it"),
    ("allow.auto.create.topics", "topics are never created"),
    ("key.deserializer", "keys are always bytes"),
    ("value.deserializer", "values are always bytes"),
    ("interceptor.classes", "interceptors could change what is read"),
];

/// Topics that Kafka keeps for itself (K-007).
const INTERNAL_TOPICS: [&str; 4] =
    ["__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"];

/// What a client is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    /// Asks for topics and offsets.
    Planner,
    /// Also reads this many partitions.
    Reader { partitions: usize },
}

/// Partitions by topic.
pub(super) type Places = BTreeMap<String, BTreeSet<i32>>;

/// A client, its name for messages and its deadlines.
pub(super) struct Broker {
    consumer: BaseConsumer<Context>,
    servers: String,
    deadline: Duration,
    retries: u32,
    retry_interval: Duration,
}

/// Keeps the client's last complaint: the answer to a question only says that it failed.
pub(super) struct Context(Mutex<Option<String>>);

impl ClientContext for Context {
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, text: &str) {
        tracing::debug!(target: "librdkafka", facility, "{text}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "librdkafka", "{error}: {reason}");
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // "All brokers are down" says less than what was heard of each of them.
        let says_little = error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown);
        if !(says_little && last.is_some()) {
            *last = Some(reason.to_owned());
        }
    }
}

impl ConsumerContext for Context {}

/// Why one try failed.
enum Trouble {
    Broker(KafkaError),
    /// May come right, since metadata lag behind.
    Missing(SourceError),
    Final(SourceError),
}

impl From<KafkaError> for Trouble {
    fn from(error: KafkaError) -> Self {
        Self::Broker(error)
    }
}

impl Broker {
    /// Makes the client. Does not wait for the broker.
    pub(super) fn connect(spec: &KafkaSpec, role: Role) -> Result<Self, SourceError> {
        let config = options(spec, role)?;
        let servers = config.get("bootstrap.servers").unwrap_or_default().to_owned();
        let consumer = consumer(&config).map_err(|error| refused_option(&servers, error))?;
        let deadline = spec.client.get("socket.timeout.ms").and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
        Ok(Self {
            consumer,
            servers,
            deadline: deadline.unwrap_or(DEADLINE),
            retries: spec.fetch_offset_num_retries.max(1),
            retry_interval: spec.fetch_offset_retry_interval,
        })
    }

    pub(super) fn consumer(&self) -> &BaseConsumer<Context> {
        &self.consumer
    }

    /// Pause before a question is asked again.
    pub(super) fn retry_interval(&self) -> Duration {
        self.retry_interval
    }

    /// Name of the broker and its last complaint, for messages.
    pub(super) fn name(&self) -> String {
        let complaint = self.consumer.context().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match complaint {
            Some(complaint) => format!("broker `{}` (last heard: {complaint})", self.servers),
            None => format!("broker `{}`", self.servers),
        }
    }

    /// The partitions that a subscription stands for now. A topic or partition that is asked for by name and missing
    /// is refused after the retries, and never created (K-008, K-009); internal topics are left out (K-007).
    pub(super) fn partitions(&self, subscription: &Subscription) -> Result<Places, SourceError> {
        match subscription {
            Subscription::Topics(topics) => {
                let topics: Vec<&str> = topics.iter().map(String::as_str).filter(|t| !is_internal(t)).collect();
                self.retried("asking for topics", |left| topics.iter().map(|topic| self.topic(topic, left)).collect())
            }
            Subscription::Pattern(pattern) => {
                let whole = whole_name(pattern)?;
                self.retried("asking for topics", |left| self.matching(&whole, left))
            }
            Subscription::Assign(assigned) => self.retried("asking for topics", |left| {
                assigned.iter().map(|(topic, wanted)| self.assigned(topic, wanted, left)).collect()
            }),
        }
    }

    /// The partitions of these topics that exist; a missing topic is no error.
    pub(super) fn existing(&self, topics: &BTreeSet<&str>) -> Result<Places, SourceError> {
        self.retried("asking for topics", |left| {
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

    fn topic(&self, topic: &str, deadline: Duration) -> Result<(String, BTreeSet<i32>), Trouble> {
        let metadata = self.consumer.fetch_metadata(Some(topic), deadline)?;
        let missing = || Trouble::Missing(missing(topic, &self.servers));
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

    fn matching(&self, whole: &Regex, deadline: Duration) -> Result<Places, Trouble> {
        let metadata = self.consumer.fetch_metadata(None, deadline)?;
        let topics = metadata.topics().iter().filter(|t| whole.is_match(t.name()) && !is_internal(t.name()));
        Ok(topics.map(|t| (t.name().to_owned(), t.partitions().iter().map(|p| p.id()).collect())).collect())
    }

    fn assigned(&self, topic: &str, wanted: &[i32], deadline: Duration) -> Result<(String, BTreeSet<i32>), Trouble> {
        let (topic, present) = self.topic(topic, deadline)?;
        let absent: Vec<String> = wanted.iter().filter(|p| !present.contains(p)).map(i32::to_string).collect();
        if absent.is_empty() {
            return Ok((topic, wanted.iter().copied().collect()));
        }
        Err(Trouble::Missing(SourceError::config(
            format!("topic `{topic}` has no partition {} at broker `{}`", absent.join(", "), self.servers),
            format!("`assign` may name the partitions 0 to {}", present.last().unwrap_or(&0)),
        )))
    }

    /// Earliest and latest offsets of partitions. With `isolation.level=read_committed` latest is the last stable
    /// offset, since librdkafka sends the level along (K-061).
    pub(super) fn held(&self, places: &Places) -> Result<Held, SourceError> {
        let earliest =
            self.retried("asking for the earliest offsets", |left| self.offsets(places, Offset::Beginning, left))?;
        Ok(Held { earliest, latest: self.latest(places)? })
    }

    /// Latest offsets of partitions.
    pub(super) fn latest(&self, places: &Places) -> Result<KafkaPosition, SourceError> {
        self.retried("asking for the latest offsets", |left| self.offsets(places, Offset::End, left))
    }

    /// One request per leader for all partitions: the times -2 and -1 stand for earliest and latest.
    fn offsets(&self, places: &Places, which: Offset, deadline: Duration) -> Result<KafkaPosition, Trouble> {
        let mut list = TopicPartitionList::new();
        for (topic, partitions) in places {
            for partition in partitions {
                list.add_partition_offset(topic, *partition, which)?;
            }
        }
        let mut found = KafkaPosition::default();
        if list.count() == 0 {
            return Ok(found);
        }
        for element in self.consumer.offsets_for_times(list, deadline)?.elements() {
            element.error()?;
            let Offset::Offset(offset) = element.offset() else {
                return Err(Trouble::Broker(KafkaError::OffsetFetch(RDKafkaErrorCode::NoOffset)));
            };
            found.0.entry(element.topic().to_owned()).or_default().insert(element.partition(), offset);
        }
        Ok(found)
    }

    /// Tries until the retries or the deadline are used up, whichever comes first.
    fn retried<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut(Duration) -> Result<T, Trouble>,
    ) -> Result<T, SourceError> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            let left = self.deadline.saturating_sub(begun.elapsed());
            let trouble = match attempt(left) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Final(error)) => return Err(error),
                Err(trouble) => trouble,
            };
            tries += 1;
            let time_is_up = begun.elapsed() + self.retry_interval >= self.deadline;
            if tries < self.retries && !time_is_up {
                std::thread::sleep(self.retry_interval);
                continue;
            }
            return Err(match trouble {
                Trouble::Broker(error) => self.unanswered(what, begun.elapsed(), &error),
                Trouble::Missing(error) | Trouble::Final(error) => error,
            });
        }
    }

    /// Takes in what the client has to say, for a while. Records never come this way.
    pub(super) fn listen(&self, wait: Duration) -> Result<(), SourceError> {
        for _ in 0..EVENTS_MAX {
            match self.consumer.poll(wait) {
                Some(Ok(_)) => return Err(SourceError::external("a record came outside its partition's queue")),
                Some(Err(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn unanswered(&self, what: &str, waited: Duration, error: &KafkaError) -> SourceError {
        if let Err(error) = self.listen(LAST_WORDS) {
            return error;
        }
        let reason = error.rdkafka_error_code().map_or_else(|| error.to_string(), |code| code.to_string());
        let what = format!(
            "{}: {what} failed after {:.1} s (deadline {:.1} s): {reason}",
            self.name(),
            waited.as_secs_f64(),
            self.deadline.as_secs_f64()
        );
        SourceError::external(what)
    }
}

/// A client of librdkafka.
pub(super) fn consumer(config: &ClientConfig) -> KafkaResult<BaseConsumer<Context>> {
    BaseConsumer::from_config_and_context(config, Context(Mutex::new(None)))
}

pub(super) fn options(spec: &KafkaSpec, role: Role) -> Result<ClientConfig, SourceError> {
    for (key, reason) in FORBIDDEN {
        if spec.client.contains_key(key) {
            return Err(SourceError::config(
                format!("Kafka option `{key}` cannot be set: {reason}"),
                "take it out of the contract or of `[kafka]`",
            ));
        }
    }
    if spec.client.get("bootstrap.servers").is_none_or(|servers| servers.trim().is_empty()) {
        return Err(SourceError::config(
            "no Kafka broker is named",
            "set `bootstrap.servers` under `[kafka]` in crisol.toml, or `bootstrap_servers` in the contract",
        ));
    }
    let mut config = ClientConfig::new();
    config
        .set("client.id", "crisol")
        .set("isolation.level", "read_uncommitted")
        .set("fetch.wait.max.ms", "100")
        .set("fetch.queue.backoff.ms", "5")
        .set("fetch.max.bytes", "33554432");
    if let Role::Reader { partitions } = role {
        // Each partition has its own queue, and librdkafka's limits hold per queue.
        let partitions = partitions.max(1);
        let bytes = (QUEUED_BYTES / partitions).max(PARTITION_BYTES_MIN);
        config
            .set("group.id", "crisol")
            .set("queued.max.messages.kbytes", (bytes / 1024).to_string())
            .set("queued.min.messages", (QUEUED_MESSAGES / partitions).max(1000).to_string())
            .set("max.partition.fetch.bytes", bytes.min(FETCH_BYTES_MAX).to_string());
    }
    for (key, value) in &spec.client {
        // A client with a group serves its events differently; planning needs none.
        if key != "group.id" || matches!(role, Role::Reader { .. }) {
            config.set(key, value);
        }
    }
    config
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("auto.offset.reset", "error")
        .set("allow.auto.create.topics", "false")
        .set("enable.partition.eof", "true")
        .set_log_level(RDKafkaLogLevel::Info);
    Ok(config)
}

fn refused_option(servers: &str, error: KafkaError) -> SourceError {
    match error {
        // The value may be a secret.
        KafkaError::ClientConfig(_, reason, key, value) => {
            let reason = if value.is_empty() { reason } else { reason.replace(&value, "…") };
            SourceError::config(
                format!("Kafka option `{key}` is refused: {reason}"),
                "options are those of librdkafka, see its CONFIGURATION.md",
            )
        }
        // What options do not allow; starting again does not help.
        KafkaError::ClientCreation(reason) => SourceError::config(
            format!("the Kafka client cannot be made: {reason}"),
            "options are those of librdkafka, see its CONFIGURATION.md",
        ),
        other => SourceError::caused(format!("broker `{servers}`: the client cannot be made"), other),
    }
}

fn whole_name(pattern: &str) -> Result<Regex, SourceError> {
    Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
        SourceError::config(
            format!("`topic_pattern` is no regular expression: {error}"),
            "the pattern must match the whole name of a topic, for example `orders[.].*`",
        )
    })
}

/// True when the pattern matches the topic's whole name (K-006).
pub(super) fn pattern_matches(pattern: &str, topic: &str) -> bool {
    whole_name(pattern).is_ok_and(|whole| whole.is_match(topic))
}

fn is_internal(topic: &str) -> bool {
    INTERNAL_TOPICS.contains(&topic)
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
    fn k006_a_pattern_matches_whole_names_only() {
        assert!(pattern_matches("topic.*", "topic1"));
        assert!(!pattern_matches("topic.*", "my-topic1"));
        assert!(!pattern_matches("a|b", "ab"));
        assert!(whole_name("(").is_err());
    }

    #[test]
    fn a_refused_option_never_shows_its_value() {
        let error = KafkaError::ClientConfig(
            rdkafka::types::RDKafkaConfRes::RD_KAFKA_CONF_INVALID,
            "Invalid value \"s3cret\" for sasl.password".into(),
            "sasl.password".into(),
            "s3cret".into(),
        );
        let text = refused_option("b:1", error).to_string();
        assert!(text.contains("sasl.password") && !text.contains("s3cret"), "{text}");
    }
}
