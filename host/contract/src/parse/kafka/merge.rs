//! Options of the client: a contract's own, the project's, a cluster's.

use std::collections::BTreeMap;

use crate::client;
use crate::parse::options::Options;
use crate::problem::{Code, Problem};
use crate::read::Value;
use crate::settings::KafkaSettings;
use crate::suggest;
use crate::text::{At, Data};

/// The contract's options, over them `[kafka]`, over them the cluster's.
pub(super) fn client(source: &Value<'_>, options: &Options<'_>, settings: &KafkaSettings) -> BTreeMap<String, String> {
    client::check_jaas_alone(options.client.iter().map(|(name, value)| (name.as_str(), value)));
    let own = options.client.iter().filter(|(name, value)| !is_plain_secret(name, value));
    let mut merged: BTreeMap<String, String> =
        own.flat_map(|(name, value)| client::option(name, value).unwrap_or_default()).collect();
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
    check_mechanism(source, &merged);
    merged
}

/// The client's own default is Kerberos, which is not built in. What is no mechanism may be a password, and is not shown.
fn check_mechanism(source: &Value<'_>, merged: &BTreeMap<String, String>) {
    if !source.fill.for_kafka().lookup.has_secrets() {
        return;
    }
    const KNOWN: [&str; 4] = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"];
    let given = merged.get("sasl.mechanism").filter(|given| !given.is_empty());
    if given.is_some_and(|given| !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(given))) {
        source.refuse_hinting(
            Code::InvalidValue,
            "`sasl.mechanism` is none that the client has",
            "choose `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`",
        );
    }
    let protocol = merged.get("security.protocol").map(|protocol| protocol.to_ascii_uppercase()).unwrap_or_default();
    if protocol.starts_with("SASL_") && !merged.contains_key("sasl.mechanism") {
        source.refuse_hinting(
            Code::MissingKey,
            format!("`security.protocol` is `{protocol}`, and nothing says how the user is told"),
            "set `sasl.mechanism` to `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`; a `ScramLoginModule` does \
             not say which",
        );
    }
}

fn check_brokers(source: &Value<'_>, options: &Options<'_>, merged: &BTreeMap<String, String>) {
    if merged.get("bootstrap.servers").is_some_and(|servers| servers.contains('@')) {
        source.refuse_hinting(
            Code::InvalidValue,
            "the brokers' addresses hold an `@`: no user and no password belongs there",
            "name brokers as `host:port,…`; users go into `sasl.username` and `sasl.password`",
        );
    }
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

/// Refuses a secret that stands in a contract: contracts are shown and shared (K-096).
fn is_plain_secret(name: &str, value: &Value<'_>) -> bool {
    let plain = matches!(&value.node.data, Data::Text(text) if !text.is_empty() && !text.contains("${"));
    let found = plain && client::is_secret(name) && !matches!(value.node.at, At::Outside(_));
    if found {
        value.refuse_hinting(
            Code::Refused,
            "may be a secret, which must not stand in a contract",
            "write `${env:NAME}` or `${file:PATH}`, or set it under `[kafka]` in crisol.toml",
        );
    }
    found
}
