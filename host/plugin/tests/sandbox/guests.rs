//! The guest that misbehaves on demand: built once for each world, its description overwritten in the finished file.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use crisol_plugin::Kind;
use serde_json::{Value, json};

/// What the guest's description starts with; as long as its buffer, see the guest.
const DESCRIPTION_START: &str = r#"{"name":"guest","version":"1.0.0","kind":"KIND""#;
const DESCRIPTION_BYTES: usize = 1024;

/// Decoder, validator, and the one that is ranker or aggregator.
static GUESTS: LazyLock<[Vec<u8>; 3]> = LazyLock::new(build);

fn build() -> [Vec<u8>; 3] {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest");
    let folders =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("host/plugin/tests/guest"));
    let source = folders.into_iter().find(|folder| folder.is_dir()).expect("the guest's source");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--target", "wasm32-wasip2", "--target-dir"])
        .arg(&target)
        .current_dir(source)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "the guests do not build:\n{}", String::from_utf8_lossy(&output.stderr));
    ["guest_decoder.wasm", "guest_validator.wasm", "guest_group.wasm"]
        .map(|file| std::fs::read(target.join("wasm32-wasip2/release").join(file)).unwrap())
}

/// A guest that describes itself in these words.
pub(crate) fn described(kind: Kind, words: &str) -> Vec<u8> {
    let guest = match kind {
        Kind::Decoder | Kind::Transformer => 0,
        Kind::Validator => 1,
        Kind::Ranker | Kind::Aggregator => 2,
    };
    let mut bytes = GUESTS[guest].clone();
    let start = DESCRIPTION_START.as_bytes();
    let at = bytes.windows(start.len()).position(|window| window == start).expect("the description stands in the file");
    assert!(words.len() <= DESCRIPTION_BYTES);
    bytes[at..at + DESCRIPTION_BYTES].fill(b' ');
    bytes[at..at + words.len()].copy_from_slice(words.as_bytes());
    bytes
}

/// The words of an ordinary guest, with some keys changed.
pub(crate) fn words(kind: Kind, changed: Value) -> String {
    let mut description = json!({
        "name": "guest", "version": "1.0.0", "kind": kind.word(),
        "options": { "type": "object", "properties": { "do": { "type": "string" } }, "additionalProperties": false },
    });
    for (key, value) in changed.as_object().unwrap() {
        description[key] = value.clone();
    }
    description.to_string()
}
