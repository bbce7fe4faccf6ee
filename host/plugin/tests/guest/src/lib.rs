//! A component that does what the option `do` says, some of it wrong.
//!
//! Its description stands in a buffer of fixed length that the tests overwrite in the finished file.

mod ambient;
#[cfg(feature = "decoder")]
mod decoder;
mod disaster;
#[cfg(feature = "group")]
mod group;
#[cfg(feature = "validator")]
mod validator;

#[cfg(feature = "decoder")]
wit_bindgen::generate!({ path: "../../../../../wit", world: "decoder" });
#[cfg(feature = "validator")]
wit_bindgen::generate!({ path: "../../../../../wit", world: "validator" });
// An aggregator exports the same; which of them it is stands in the description.
#[cfg(feature = "group")]
wit_bindgen::generate!({ path: "../../../../../wit", world: "ranker" });

use crisol::stage::types::{Column, Failure, StagePlan};
use exports::crisol::stage::description::Guest;

/// The longest description, padded with spaces.
const DESCRIPTION_BYTES: usize = 1024;
const WORDS: &str = r#"{"name":"guest","version":"1.0.0","kind":"KIND","schema_versions":"all","options":{"type":"object","properties":{"do":{"type":"string"}}}}"#;

static DESCRIPTION: [u8; DESCRIPTION_BYTES] = padded(WORDS);

const fn padded(words: &str) -> [u8; DESCRIPTION_BYTES] {
    let mut bytes = [b' '; DESCRIPTION_BYTES];
    let mut at = 0;
    while at < words.len() {
        bytes[at] = words.as_bytes()[at];
        at += 1;
    }
    bytes
}

fn description() -> String {
    let bytes: [u8; DESCRIPTION_BYTES] = *std::hint::black_box(&DESCRIPTION);
    String::from_utf8_lossy(&bytes).trim_end().to_string()
}

struct Component;

export!(Component);

impl Guest for Component {
    fn describe() -> String {
        let words = description();
        match words.strip_prefix('!') {
            Some(disaster) => {
                disaster::happen(disaster);
                words
            }
            None => words,
        }
    }

    fn plan(options: String, _input: Vec<Column>) -> Result<StagePlan, Failure> {
        let what = wanted(&options);
        if let Some(disaster) = what.strip_prefix("plan-") {
            disaster::happen(disaster);
        }
        let reads = match what.as_str() {
            "read-missing" => vec!["idd".into()],
            "read-nothing" => vec![],
            "read-group" => vec!["id".into(), "_group".into()],
            _ => vec!["id".into()],
        };
        let writes = if cfg!(feature = "validator") {
            Vec::new()
        } else {
            let type_ = if what == "write-unknown" { "strng" } else { "bigint" };
            vec![Column { name: "value".into(), type_: type_.into(), nullable: false }]
        };
        Ok(StagePlan { reads, writes })
    }
}

/// The value of the option `do`.
fn wanted(options: &str) -> String {
    options.split("\"do\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("echo").to_string()
}

fn failure(code: &str, text: &str) -> Failure {
    Failure { code: code.into(), text: text.into(), attributes: vec![("at".into(), "\u{1b}[31mred".into())] }
}
