//! Encrypted and authenticated connections, what the broker does not let a user do, and secrets that show nowhere.

use std::path::Path;
use std::process::Output;

use crisol_tests::{Host, Project, Secure, Topic};
use serde_json::{Value, json};

use crate::bronze::{numbered, offsets, places};

/// A topic of the secured broker with three records.
fn topic(name: &str) -> Topic {
    let topic = Topic::create_at(Secure::given().address("plaintext"), name, 1, &[]);
    topic.send(numbered(0, 0..3));
    topic
}

/// A project that reads a topic over a listener, with these options of the client, named as in librdkafka or Spark.
fn project(topic: &Topic, listener: &str, client: &[(&str, String)]) -> Project {
    let mut source = json!({ "topic": topic.name(), "starting_offsets": "earliest" });
    for (name, value) in client {
        source[format!("kafka.{name}")] = json!(value);
    }
    Project::kafka(Secure::given().address(listener), &source)
}

/// `host ARGUMENTS…`, with the passwords in its environment.
fn host(project: &Project, arguments: &[&str]) -> Host {
    let secure = Secure::given();
    let host = project.host(arguments).env("READER", secure.password("reader")).env("WRONG", WRONG);
    let host = host.env("VIEWER", secure.password("viewer")).env("STRANGER", secure.password("stranger"));
    host.env("KEY", secure.password("key"))
}

const WRONG: &str = "no-such-p4ss-7d41";

fn option(name: &str, value: impl Into<String>) -> (&str, String) {
    (name, value.into())
}

fn encrypted(protocol: &str) -> Vec<(&'static str, String)> {
    vec![option("security.protocol", protocol), option("ssl.ca.location", Secure::given().file("ca.pem"))]
}

/// Options of a user of the encrypted listener; the password is in the environment under `variable`.
fn user(mechanism: &str, name: &str, variable: &str) -> Vec<(&'static str, String)> {
    let mut options = encrypted("SASL_SSL");
    options.extend(credentials(mechanism, name, variable));
    options
}

fn credentials(mechanism: &str, name: &str, variable: &str) -> [(&'static str, String); 3] {
    [
        option("sasl.mechanism", mechanism),
        option("sasl.username", name),
        option("sasl.password", format!("${{env:{variable}}}")),
    ]
}

/// Reads a topic over a listener and finds its three records.
fn reads(topic: &Topic, listener: &str, client: &[(&str, String)]) {
    let project = project(topic, listener, client);
    host(&project, &["run"]).succeed();
    assert_eq!(places(&project), offsets(0, 0..3), "{listener} {client:?}");
}

#[test]
fn k095_encrypted_connections_are_read_with_and_without_a_certificate_of_the_client() {
    let secure = Secure::given();
    let topic = topic("secure.tls");
    reads(&topic, "ssl", &encrypted("SSL"));
    let mut pem = encrypted("SSL");
    pem.push(option("ssl.certificate.location", secure.file("reader.pem")));
    pem.push(option("ssl.key.location", secure.file("reader-locked.key")));
    pem.push(option("ssl.key.password", "${env:KEY}"));
    reads(&topic, "mutual", &pem);
    let mut store = encrypted("SSL");
    store.push(option("ssl.keystore.location", secure.file("reader.p12")));
    store.push(option("ssl.keystore.password", "${env:KEY}"));
    reads(&topic, "mutual", &store);
}

#[test]
fn k095_k097_plain_and_scram_are_read_on_both_kinds_of_listeners_without_any_right_on_groups() {
    let topic = topic("secure.sasl");
    for mechanism in ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] {
        let mut open = vec![option("security.protocol", "SASL_PLAINTEXT")];
        open.extend(credentials(mechanism, "reader", "READER"));
        reads(&topic, "sasl_plaintext", &open);
        reads(&topic, "sasl_ssl", &user(mechanism, "reader", "READER"));
    }
}

#[test]
fn k095_the_login_string_of_spark_is_understood() {
    let topic = topic("secure.spark");
    for (mechanism, module) in [
        ("PLAIN", "plain.PlainLoginModule"),
        ("SCRAM-SHA-256", "scram.ScramLoginModule"),
        ("SCRAM-SHA-512", "scram.ScramLoginModule"),
    ] {
        let mut spark = encrypted("SASL_SSL");
        let login = format!(
            "org.apache.kafka.common.security.{module} required username=\"reader\" password=\"${{env:READER}}\";"
        );
        spark.extend([option("sasl.mechanism", mechanism), option("sasl.jaas.config", login)]);
        reads(&topic, "sasl_ssl", &spark);
    }
}

/// Runs a project that a person must mend, whichever trigger it has.
fn stops(project: &Project, words: &[&str]) {
    for trigger in ["available_now", "continuous"] {
        let said = host(project, &["run", "--trigger", trigger]).fail_with(3);
        for word in words {
            assert!(said.to_lowercase().contains(&word.to_lowercase()), "{trigger}: `{word}` is missing in:\n{said}");
        }
        holds_no_secret("what it said", said.as_bytes());
    }
}

#[test]
fn a_wrong_password_stops_the_stream_and_is_told_as_such() {
    let topic = topic("secure.wrong");
    for mechanism in ["PLAIN", "SCRAM-SHA-512"] {
        let project = project(&topic, "sasl_ssl", &user(mechanism, "reader", "WRONG"));
        stops(&project, &["authentication failed", Secure::given().address("sasl_ssl")]);
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_stops_the_stream_and_is_told_as_such() {
    let topic = topic("secure.unknown");
    let mut client = encrypted("SSL");
    client[1].1 = Secure::given().file("other-ca.pem");
    stops(&project(&topic, "ssl", &client), &["certificate", Secure::given().address("ssl")]);
}

#[test]
fn k097_who_may_not_see_or_not_read_a_topic_is_told_what_is_missing() {
    let topic = topic("secure.acl");
    let viewer = project(&topic, "sasl_ssl", &user("PLAIN", "viewer", "VIEWER"));
    stops(&viewer, &["topic `secure.acl`", "needs READ on the topic"]);
    let stranger = project(&topic, "sasl_ssl", &user("PLAIN", "stranger", "STRANGER"));
    stops(&stranger, &["topic `secure.acl`", "DESCRIBE and READ"]);
}

fn holds_no_secret(place: &str, bytes: &[u8]) {
    let secure = Secure::given();
    for secret in secure.passwords().into_iter().chain([WRONG]) {
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "a password is in {place}");
    }
}

fn said_no_secret(what: &str, output: &Output) {
    holds_no_secret(&format!("standard output of {what}"), &output.stdout);
    holds_no_secret(&format!("standard error of {what}"), &output.stderr);
}

fn written_no_secret(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            written_no_secret(&path);
        } else {
            holds_no_secret(&path.display().to_string(), &std::fs::read(&path).expect("a file"));
        }
    }
}

#[test]
fn k096_secrets_are_in_no_output_log_checkpoint_or_table() {
    let topic = topic("secure.secrets");
    let mut client = user("SCRAM-SHA-512", "reader", "READER");
    client.push(option("ssl.certificate.location", Secure::given().file("reader.pem")));
    client.push(option("ssl.key.location", Secure::given().file("reader-locked.key")));
    client.push(option("ssl.key.password", "${env:KEY}"));
    // The client tells all that it can.
    client.push(option("debug", "all"));
    let whole = project(&topic, "sasl_ssl", &client);
    let mut wrong = client.clone();
    wrong[4].1 = "${env:WRONG}".into();
    wrong.push(option("socket.timeout.ms", "5000"));
    let wrong = project(&topic, "sasl_ssl", &wrong);
    let mut refused = client.clone();
    refused.push(option("ssl.key.pem", "${env:KEY}"));
    refused.push(option("fetch.max.bytes", "${env:KEY}"));
    let refused = project(&topic, "sasl_ssl", &refused);

    for project in [&whole, &wrong, &refused] {
        for format in ["text", "json"] {
            for arguments in [&["run", "-vv", "--log-format", format][..], &["check", "-vv"], &["status", "-vv"]] {
                let arguments = [arguments, &["-o", format]].concat();
                said_no_secret(&format!("{arguments:?}"), &host(project, &arguments).run());
            }
        }
        written_no_secret(project.path());
    }
    assert_eq!(places(&whole), offsets(0, 0..3), "the first one reads");
    assert_eq!(project_text(&whole).matches(&Value::from("${env:READER}").to_string()).count(), 1);
}

#[test]
fn k096_a_secret_that_stands_in_a_contract_is_refused_and_not_shown() {
    let topic = topic("secure.literal");
    let mut client = user("PLAIN", "reader", "READER");
    client[4].1 = WRONG.into();
    let said = host(&project(&topic, "sasl_ssl", &client), &["run"]).fail_with(3);
    assert!(said.contains("sasl.password") && said.contains("must not stand in a contract"), "{said}");
    holds_no_secret("what it said", said.as_bytes());
}

fn project_text(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("ingestion/streaming/log.json")).expect("the contract")
}

#[test]
fn a_topic_that_a_user_may_not_see_is_never_taken_for_a_deleted_one() {
    let topic = topic("secure.unseen");
    let project_of = |name: &str, variable: &str| {
        let mut source = json!({ "topic_pattern": "secure[.]unseen", "starting_offsets": "earliest",
            "fail_on_data_loss": false });
        for (option, value) in user("PLAIN", name, variable) {
            source[format!("kafka.{option}")] = json!(value);
        }
        Project::kafka(Secure::given().address("sasl_ssl"), &source)
    };
    let project = project_of("reader", "READER");
    host(&project, &["run"]).succeed();
    let contract = "ingestion/streaming/log.json";
    let text = |project: &Project| std::fs::read_to_string(project.path().join(contract)).expect("the contract");
    let (reader, stranger) = (text(&project), text(&project_of("stranger", "STRANGER")));
    project.write(contract, &stranger);
    let said = host(&project, &["run"]).fail_with(3);
    assert!(said.contains("does not let this user see topic `secure.unseen`"), "{said}");
    project.write(contract, &reader);
    topic.send(numbered(0, 3..5));
    host(&project, &["run"]).succeed();
    assert_eq!(places(&project), offsets(0, 0..5), "none is there twice");
}
