//! A secured Apache Kafka: `scripts/kafka-secure.sh` says what it has.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Its listeners, files and users.
#[derive(Debug)]
pub struct Secure {
    dir: PathBuf,
    said: Value,
}

impl Secure {
    /// The one of this run.
    pub fn given() -> Self {
        Self::in_folder(Path::new(&crate::given("CRISOL_TEST_KAFKA_SECURE")))
    }

    /// The one that was started in a folder.
    pub(crate) fn in_folder(dir: &Path) -> Self {
        let text = std::fs::read_to_string(dir.join("secure.json")).expect("the secured broker says what it has");
        Self { dir: dir.into(), said: serde_json::from_str(&text).expect("JSON") }
    }

    /// Where a listener is: `plaintext` (of the administrator), `ssl`, `mutual`, `sasl_plaintext`, `sasl_ssl`.
    pub fn address(&self, listener: &str) -> &str {
        self.said[listener].as_str().unwrap_or_else(|| panic!("no listener `{listener}`"))
    }

    /// The password of a user, `reader`, `viewer` or `stranger`, or that of the client's `key`.
    pub fn password(&self, of: &str) -> &str {
        self.said["passwords"][of].as_str().unwrap_or_else(|| panic!("no password of `{of}`"))
    }

    /// All passwords.
    pub fn passwords(&self) -> Vec<&str> {
        let all = self.said["passwords"].as_object().expect("passwords");
        all.values().map(|password| password.as_str().expect("text")).collect()
    }

    /// A file of keys or certificates, `ca.pem`.
    pub fn file(&self, name: &str) -> String {
        let path = self.dir.join(name);
        assert!(path.is_file(), "{} is missing", path.display());
        path.to_str().expect("a path of text").to_owned()
    }
}
