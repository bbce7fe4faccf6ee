//! Options of librdkafka: the host's own, and what a person set.

use crisol_contract::KafkaSpec;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::KafkaError;

use crate::SourceError;

/// Fetched ahead and not yet taken, over all partitions.
const QUEUED_BYTES: usize = 64 << 20;
const QUEUED_MESSAGES: usize = 200_000;

/// Most of one partition in one answer; a queue may exceed its limit by as much.
const FETCH_BYTES_MAX: usize = 8 << 20;
/// Least that a partition may queue or fetch, however many there are. One message comes whatever its size.
const PARTITION_BYTES_MIN: usize = 64 << 10;

/// The group of a client that nobody named.
const GROUP: &str = "crisol-kafka-source";

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

/// What a client is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role<'a> {
    /// Asks for topics and offsets.
    Planner,
    /// Also reads this many partitions.
    Reader { partitions: usize },
    /// Tells positions to this consumer group.
    Reporter { group: &'a str },
}

/// The options of a client.
pub(super) fn options(spec: &KafkaSpec, role: Role<'_>) -> Result<ClientConfig, SourceError> {
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
            .set("group.id", GROUP)
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
    if let Role::Reporter { group } = role {
        config.set("group.id", group);
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

pub(super) fn refused_option(servers: &str, error: KafkaError) -> SourceError {
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

#[cfg(test)]
mod tests {
    use super::*;

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
