//! Options of the client are tried before anything is read, and without a broker.

use crisol_contract::KafkaSpec;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, KafkaResult};

use super::client;
use super::config::{self, Role};

const HINT: &str = "options are those of librdkafka, see its CONFIGURATION.md";

/// Characters from which on a secret is taken out of other words, too.
const WORD_MIN: usize = 6;

/// An option that librdkafka refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedOption {
    /// Its name; `None` when options do not fit each other and none can be blamed.
    pub option: Option<String>,
    /// Why. Values that may be secrets do not stand in it.
    pub what: String,
    /// What a person can do.
    pub hint: String,
}

/// All options of a source's client that librdkafka refuses. No broker is asked.
pub fn check_client(spec: &KafkaSpec) -> Vec<RefusedOption> {
    let alone = spec.client.iter().filter_map(|(option, value)| {
        let error = ClientConfig::new().set(option, value).create_native_config().err()?;
        Some(refused(spec, error))
    });
    let refused_alone: Vec<RefusedOption> = alone.collect();
    if !refused_alone.is_empty() {
        return refused_alone;
    }
    together(spec).err().map(|error| refused(spec, error)).into_iter().collect()
}

/// Makes the client and drops it. Without a broker's name it has nobody to talk to.
fn together(spec: &KafkaSpec) -> KafkaResult<()> {
    let oauth = |(option, value): (&String, &String)| {
        option.starts_with("sasl.mechanism") && value.eq_ignore_ascii_case("OAUTHBEARER")
    };
    // With this one the client may ask for a token as soon as it is made.
    if spec.client.iter().any(oauth) {
        return Ok(());
    }
    let Ok(mut config) = config::options(spec, Role::Planner) else { return Ok(()) };
    config.remove("bootstrap.servers").remove("metadata.broker.list");
    client::consumer(&config).map(drop)
}

fn refused(spec: &KafkaSpec, error: KafkaError) -> RefusedOption {
    let (option, reason) = match error {
        KafkaError::ClientConfig(_, reason, option, _) => (Some(option), reason),
        KafkaError::ClientCreation(reason) => (blamed(spec, &reason), reason),
        other => (None, other.to_string()),
    };
    RefusedOption {
        option,
        what: format!("the Kafka client refuses it: {}", redacted(spec, &reason)),
        hint: HINT.into(),
    }
}

/// The option that a reason speaks of; librdkafka says it in words only.
fn blamed(spec: &KafkaSpec, reason: &str) -> Option<String> {
    let named = spec.client.keys().filter(|option| reason.contains(option.as_str())).max_by_key(|option| option.len());
    let mechanism = || {
        let about = reason.contains("SASL mechanism");
        spec.client.keys().find(|option| about && option.starts_with("sasl.mechanism"))
    };
    named.or_else(mechanism).cloned()
}

/// A reason without values that may be secrets.
fn redacted(spec: &KafkaSpec, reason: &str) -> String {
    let shown = spec.client_redacted();
    let secrets = spec.client.iter().filter(|(option, value)| !value.is_empty() && shown.get(*option) != Some(value));
    secrets.fold(reason.trim_end_matches([':', ' ']).to_owned(), |text, (_, secret)| without(&text, secret))
}

/// A text without a word: letters inside other words, which short secrets may be, stay.
fn without(text: &str, secret: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (at, found) in text.match_indices(secret) {
        let (before, after) = (text.get(..at), text.get(at + found.len()..));
        let inside = before.is_some_and(|text| text.ends_with(char::is_alphanumeric))
            || after.is_some_and(|text| text.starts_with(char::is_alphanumeric));
        let kept = if inside && found.len() < WORD_MIN { found } else { "…" };
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(kept);
        from = at + found.len();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crisol_contract::{KafkaBound, NoRecord, Subscription};

    use super::*;

    fn spec(options: &[(&str, &str)]) -> KafkaSpec {
        let options = options.iter().chain(&[("bootstrap.servers", "127.0.0.1:1")]);
        KafkaSpec {
            subscription: Subscription::Topics(vec!["t".into()]),
            starting: KafkaBound::Earliest,
            starting_given: true,
            no_record: NoRecord::Error,
            ending: None,
            max_offsets_per_trigger: None,
            batch_minimum: None,
            group_id_prefix: None,
            report_group_id: None,
            fail_on_data_loss: true,
            add_kafka_metadata: true,
            client: options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            fetch_offset_num_retries: 1,
            fetch_offset_retry_interval: Duration::from_millis(1),
            poll_timeout: Duration::from_secs(1),
        }
    }

    fn blamed(options: &[(&str, &str)]) -> Vec<Option<String>> {
        check_client(&spec(options)).into_iter().map(|refused| refused.option).collect()
    }

    #[test]
    fn k090_options_that_fit_are_taken() {
        let sasl = [("sasl.mechanism", "PLAIN"), ("security.protocol", "SASL_PLAINTEXT"), ("group.id", "mine")];
        let user = [("sasl.username", "u"), ("sasl.password", "p")];
        assert_eq!(check_client(&spec(&[&sasl[..], &user].concat())), []);
        assert_eq!(blamed(&sasl), [None], "two options are missing");
    }

    #[test]
    fn k090_every_option_that_is_unknown_or_has_a_wrong_value_is_named() {
        let options = [("fetch.min.bites", "1"), ("security.protocol", "SSLL"), ("socket.timeout.ms", "60000")];
        assert_eq!(blamed(&options), [Some("fetch.min.bites".into()), Some("security.protocol".into())]);
    }

    #[test]
    fn k090_options_that_only_the_client_refuses_are_named() {
        let location = [("security.protocol", "SSL"), ("ssl.ca.location", "/no/such/file.pem")];
        assert_eq!(blamed(&location), [Some("ssl.ca.location".into())]);
        let mechanism = [("security.protocol", "SASL_SSL"), ("sasl.mechanism", "SCRAM")];
        assert_eq!(blamed(&mechanism), [Some("sasl.mechanism".into())]);
    }

    #[test]
    fn k096_a_refused_option_never_shows_a_secret() {
        let options = [("security.protocol", "SSL"), ("ssl.key.pem", "s3cret"), ("ssl.key.password", "s3cret")];
        let refused = check_client(&spec(&options));
        assert!(!refused.is_empty() && !format!("{refused:?}").contains("s3cret"), "{refused:?}");
    }

    #[test]
    fn k096_a_reason_keeps_what_is_no_secret_and_loses_what_is() {
        let spec = spec(&[("sasl.password", "s3cret"), ("sasl.username", "anna"), ("client.rack", "")]);
        let short = self::spec(&[("sasl.password", "p")]);
        assert_eq!(redacted(&short, "no provider: value \"p\" refused"), "no provider: value \"…\" refused");
        let reason = "`sasl.password` s3cret of anna at 127.0.0.1:1 is refused: ";
        assert_eq!(redacted(&spec, reason), "`sasl.password` … of anna at 127.0.0.1:1 is refused");
    }
}
