//! What a batch will commit, bound before its first commit.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::CheckpointError;

/// Version of the form of `outcome/N`.
const VERSION: u64 = 1;

/// `outcome/N`: from when it is written, recovery commits what it names and calls no guest.
///
/// `T` is the stream's: the pending files of quarantine and table, notes and accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome<T> {
    version: u64,
    /// Run that decided it.
    pub run_id: Uuid,
    /// Number of the batch.
    pub batch: u64,
    /// What will be committed.
    pub payload: T,
}

#[derive(Deserialize)]
struct Probe {
    version: serde_json::Value,
}

impl<T> Outcome<T> {
    /// The outcome of a batch.
    pub fn new(run_id: Uuid, batch: u64, payload: T) -> Self {
        Self { version: VERSION, run_id, batch, payload }
    }
}

impl<T: Serialize> Outcome<T> {
    /// One line of JSON.
    pub fn to_text(&self, file: &str) -> Result<String, CheckpointError> {
        serde_json::to_string(self).map_err(|e| CheckpointError::storage("encode", file, e))
    }
}

impl<T: DeserializeOwned> Outcome<T> {
    /// Reads it back; another version is refused before the rest is looked at (C-007).
    pub fn parse(file: &str, text: &str) -> Result<Self, CheckpointError> {
        let malformed = |e| CheckpointError::malformed(file, e);
        let probe: Probe = serde_json::from_str(text).map_err(malformed)?;
        if probe.version != VERSION {
            let found = probe.version.to_string();
            return Err(CheckpointError::UnsupportedVersion { file: file.to_owned(), found, supported: "1" });
        }
        serde_json::from_str(text).map_err(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome<Vec<String>> {
        Outcome::new(Uuid::from_u128(7), 3, vec!["part-0.parquet".to_owned()])
    }

    #[test]
    fn an_outcome_reads_back_as_it_was_written() {
        let text = outcome().to_text("outcome/3").unwrap();
        assert_eq!(
            text,
            r#"{"version":1,"runId":"00000000-0000-0000-0000-000000000007","batch":3,"payload":["part-0.parquet"]}"#
        );
        assert_eq!(Outcome::parse("outcome/3", &text).unwrap(), outcome());
    }

    #[test]
    fn c007_an_outcome_of_another_version_is_refused_by_name() {
        let text = r#"{"version":2,"anything":"else"}"#;
        let error = Outcome::<Vec<String>>::parse("outcome/3", text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`outcome/3` has version `2`, this host reads `1`; use the host (or Spark) that wrote it, or a newer one"
        );
    }

    #[test]
    fn a_torn_outcome_is_refused() {
        let text = outcome().to_text("outcome/3").unwrap();
        for end in 0..text.len() {
            assert!(Outcome::<Vec<String>>::parse("outcome/3", &text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
