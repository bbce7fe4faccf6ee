//! The commits of a table, as its log tells them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{Table, TableError};

/// The newest commits of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Newest version of the table.
    pub version: i64,
    /// The newest first.
    pub commits: Vec<LoggedCommit>,
    /// Whether older entries were deleted from the log, and so are not here.
    pub older_deleted: bool,
}

/// One commit. What it says of itself is another writer's word, unless a host wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCommit {
    /// The version that it made.
    pub version: i64,
    /// Its `commitInfo`, null when it has none.
    pub info: Value,
    /// Application and number of its first `txn`.
    pub transaction: Option<(String, i64)>,
    /// Data files added.
    pub files_added: u64,
    /// Data files removed.
    pub files_removed: u64,
}

#[derive(Deserialize)]
struct Line {
    add: Option<IgnoredAny>,
    remove: Option<IgnoredAny>,
    txn: Option<Txn>,
    #[serde(rename = "commitInfo")]
    info: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Txn {
    app_id: String,
    version: i64,
}

impl Table {
    /// The newest commits, at most `limit`.
    ///
    /// # Errors
    /// The log cannot be read, or an entry of it cannot be understood.
    pub async fn history(&self, limit: usize) -> Result<History, TableError> {
        let version = self.latest_version().await?;
        let mut history = History { version, commits: Vec::new(), older_deleted: false };
        for version in (0..=version).rev().take(limit) {
            let Some(text) = self.log().read(version).await? else {
                history.older_deleted = true;
                break;
            };
            let commit = LoggedCommit::parse(version, &text);
            let what = || format!("version {version} of its log cannot be understood");
            history.commits.push(commit.map_err(|error| self.place().external(what(), error))?);
        }
        Ok(history)
    }
}

impl LoggedCommit {
    fn parse(version: i64, text: &[u8]) -> Result<Self, serde_json::Error> {
        let mut commit = Self { version, info: Value::Null, transaction: None, files_added: 0, files_removed: 0 };
        for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
            let line: Line = serde_json::from_slice(line)?;
            commit.files_added += u64::from(line.add.is_some());
            commit.files_removed += u64::from(line.remove.is_some());
            let transaction = line.txn.map(|txn| (txn.app_id, txn.version));
            commit.transaction = commit.transaction.or(transaction);
            commit.info = line.info.unwrap_or(commit.info);
        }
        Ok(commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_another_engine_is_counted_and_its_words_are_kept() {
        let text = br#"{"commitInfo":{"operation":"WRITE","engineInfo":"x"}}
{ "add" : {"path":"a.parquet"}}
{"add":{"path":"b.parquet"}}
{"remove":{"path":"c.parquet"}}
{"txn":{"appId":"q","version":4}}
{"txn":{"appId":"q.rebuilds","version":5}}
{"somethingNew":{"a":1}}
"#;
        let commit = LoggedCommit::parse(7, text).unwrap();
        assert_eq!((commit.version, commit.files_added, commit.files_removed), (7, 2, 1));
        assert_eq!(commit.transaction, Some(("q".into(), 4)));
        assert_eq!(commit.info["operation"], "WRITE");
        assert_eq!(LoggedCommit::parse(0, b"").unwrap().info, Value::Null);
        assert!(LoggedCommit::parse(0, b"{\"add\":").is_err());
    }
}
