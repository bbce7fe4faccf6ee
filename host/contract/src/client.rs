//! Options of the Kafka client: which may be set, and what librdkafka calls what the Java client calls otherwise.

use crate::jaas;
use crate::problem::Code;
use crate::read::Value;

/// Options that the host sets itself (K-090, K-071).
const HOST: &[(&str, &str)] = &[
    ("auto.offset.reset", "where reading begins is `starting_offsets`, and afterwards the checkpoint"),
    ("key.deserializer", "keys are always read as bytes; decode them in a stage"),
    ("value.deserializer", "values are always read as bytes; decode them in a stage"),
    ("enable.auto.commit", "offsets are kept in the checkpoint and never committed to Kafka"),
    ("enable.auto.offset.store", "offsets are kept in the checkpoint and never committed to Kafka"),
    ("interceptor.classes", "interceptors are Java classes and could change what is read"),
    ("allow.auto.create.topics", "the host never creates a topic"),
    ("enable.partition.eof", "the host needs it and sets it itself"),
    ("topic.blacklist", "what is read is said by `topic`, `topic_pattern` or `assign`"),
    ("plugin.library.paths", "it would load native code into the host"),
    ("ssl.engine.location", "it would load native code into the host"),
    ("ssl.engine.id", "it would load native code into the host"),
    ("ssl.providers", "it would load native code into the host"),
    ("sasl.kerberos.kinit.cmd", "it would run a command"),
];

/// Options of the Java client, and what to use in their place (K-095).
const JAVA: &[(&str, &str)] = &[
    ("sasl.client.callback.handler.class", "set `sasl.oauthbearer.method` and its options"),
    ("sasl.login.callback.handler.class", "set `sasl.oauthbearer.method` and its options"),
    ("sasl.login.class", "set `sasl.mechanism`, `sasl.username` and `sasl.password`"),
    ("ssl.truststore.location", "set `ssl.ca.location` to a PEM file"),
    ("ssl.truststore.password", "set `ssl.ca.location` to a PEM file; it needs no password"),
    ("ssl.truststore.type", "set `ssl.ca.location` to a PEM file"),
    ("ssl.truststore.certificates", "set `ssl.ca.pem`"),
    (
        "ssl.keystore.type",
        "`ssl.keystore.location` is PKCS#12; or set `ssl.certificate.location` and `ssl.key.location` (PEM)",
    ),
    ("ssl.keystore.key", "set `ssl.key.pem`"),
    ("ssl.keystore.certificate.chain", "set `ssl.certificate.pem`"),
    ("ssl.protocol", "leave it out: OpenSSL chooses the version"),
    ("ssl.enabled.protocols", "leave it out: OpenSSL chooses the version"),
    ("ssl.provider", "leave it out: `ssl.providers` names OpenSSL's"),
    ("ssl.trustmanager.algorithm", "leave it out"),
    ("ssl.keymanager.algorithm", "leave it out"),
    ("fetch.max.wait.ms", "set `fetch.wait.max.ms`"),
    ("request.timeout.ms", "set `socket.timeout.ms`"),
    ("default.api.timeout.ms", "set `socket.timeout.ms`"),
    ("receive.buffer.bytes", "set `socket.receive.buffer.bytes`"),
    ("send.buffer.bytes", "set `socket.send.buffer.bytes`"),
    ("max.poll.records", "leave it out: `max_offsets_per_trigger` bounds a batch"),
    ("metric.reporters", "leave it out: it names Java classes"),
];

/// The options of the client that an option stands for: itself, or what it says in the Java client's words. `None` when
/// it is empty (it counts as not set) or refused.
pub(crate) fn option(name: &str, value: &Value<'_>) -> Option<Vec<(String, String)>> {
    if let Some((_, reason)) = HOST.iter().find(|(refused, _)| refused.eq_ignore_ascii_case(name)) {
        value.refuse(Code::Refused, format!("cannot be set: {reason}"));
        return None;
    }
    if let Some((_, instead)) = JAVA.iter().find(|(java, _)| java.eq_ignore_ascii_case(name)) {
        value.refuse_hinting(Code::Refused, "is an option of the Java client", *instead);
        return None;
    }
    let value = Value { fill: value.fill.for_kafka(), ..value.clone() };
    let text = value.scalar().filter(|text| !text.is_empty())?;
    if name == "ssl.keystore.location" && text.ends_with(".jks") {
        value.refuse_hinting(
            Code::Refused,
            "a Java keystore cannot be read",
            "give PKCS#12, or set `ssl.certificate.location` and `ssl.key.location` (PEM)",
        );
        return None;
    }
    match name {
        "sasl.jaas.config" => jaas_options(&value, &text),
        // Two names of librdkafka for one option: what wins is told by ours.
        "metadata.broker.list" => Some(vec![("bootstrap.servers".to_owned(), text)]),
        "sasl.mechanisms" => Some(vec![("sasl.mechanism".to_owned(), text)]),
        _ => Some(vec![(name.to_owned(), text)]),
    }
}

/// Refuses a user or password beside a `sasl.jaas.config` that says them, too.
pub(crate) fn check_jaas_alone<'v>(options: impl Iterator<Item = (&'v str, &'v Value<'v>)> + Clone) {
    let jaas = options.clone().find(|(name, _)| *name == "sasl.jaas.config");
    let user = options.clone().find(|(name, _)| matches!(*name, "sasl.username" | "sasl.password"));
    if let (Some((_, jaas)), Some((name, user))) = (jaas, user)
        && !jaas.is_empty_text()
        && !user.is_empty_text()
    {
        jaas.refuse(Code::Conflict, format!("says what `{name}` says, which is given too"));
    }
}

/// User name and password of a `sasl.jaas.config`.
fn jaas_options(value: &Value<'_>, text: &str) -> Option<Vec<(String, String)>> {
    if !value.fill.lookup.has_secrets() {
        return Some(Vec::new());
    }
    let said = match jaas::parse(text) {
        Ok(said) => said,
        Err(reason) => {
            let hint = "set `sasl.mechanism`, `sasl.username` and `sasl.password`; there is PLAIN, SCRAM and OAUTHBEARER, no \
                        Kerberos";
            value.refuse_hinting(Code::InvalidValue, format!("cannot be translated: it {reason}"), hint);
            return None;
        }
    };
    let mechanism = said.mechanism.map(|mechanism| ("sasl.mechanism".to_owned(), mechanism.to_owned()));
    let user = [("sasl.username".to_owned(), said.username), ("sasl.password".to_owned(), said.password)];
    Some(mechanism.into_iter().chain(user).collect())
}

/// Whether the value of a client option may be a secret (K-096).
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["password", "secret", "token", "pem", "jaas", "credential", "oauthbearer.config", "access.key"]
        .iter()
        .any(|part| name.contains(part))
}
