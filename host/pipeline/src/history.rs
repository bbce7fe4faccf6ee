//! `host history`: who made which version of a table from what. From the table's log; the checkpoint adds which files the
//! batches of a source of files read.

mod read;

use std::collections::BTreeMap;
use std::path::Path;

use crisol_observe::Accounts;
use crisol_stream::Failure;
use crisol_table::{CommitNote, History, LoggedCommit};
use serde::Serialize;
use serde_json::Value;

pub use self::read::{PartitionRange, Read, TablePlace};
use crate::inspect::find;
use crate::plan::StreamPlan;
use crate::{EngineError, Tables, open};

/// The newest commits of a table.
#[derive(Debug, Clone, Serialize)]
pub struct TableHistory {
    /// Its name.
    pub table: String,
    /// Where it lies.
    pub path: String,
    /// Whether these are the commits of its quarantine.
    pub quarantine: bool,
    /// Newest version of it.
    pub version: i64,
    /// The newest first.
    pub commits: Vec<TableCommit>,
    /// Whether older entries were deleted from the table's log, and so are not here.
    pub older_deleted: bool,
}

/// What a commit came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A batch of the stream.
    Batch,
    /// A batch under a checkpoint that the stream has no more.
    EarlierCheckpoint,
    /// `host quarantine replay`.
    Replay,
    /// `host rebuild`, or the batch of a stream that follows one.
    Rebuild,
    /// Another work of a host: the table made, its files put together.
    Host,
    /// Another writer.
    Foreign,
}

/// One commit.
#[derive(Debug, Clone, Serialize)]
pub struct TableCommit {
    /// The version that it made.
    pub version: i64,
    /// When, ISO 8601; absent when it does not say.
    pub time: Option<String>,
    /// What it says that it did, in Delta's words.
    pub operation: Option<String>,
    /// What it came from.
    pub origin: Origin,
    /// Who wrote it.
    pub engine: Option<String>,
    /// The stream that wrote it.
    pub stream: Option<String>,
    /// The batch.
    pub batch: Option<u64>,
    /// What became of the rows of the batch.
    pub accounts: Option<Accounts>,
    /// The components that made the rows.
    pub components: Vec<UsedComponent>,
    /// What the batch read; `None` when the commit does not say it in a form that is known.
    pub read: Option<Read>,
    /// The same as the commit has it.
    pub range: Value,
    /// What the batch passed over, because the source no longer had it.
    pub losses: Value,
    /// What was rebuilt.
    pub rebuild: Option<String>,
    /// Data files added.
    pub files_added: u64,
    /// Data files removed.
    pub files_removed: u64,
    /// Counts in Delta's words.
    pub metrics: Value,
}

/// A component that made rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsedComponent {
    /// Its own name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// SHA-256 of its file; of several builds, each for its own schema versions, of each.
    pub digests: Vec<String>,
}

impl Tables {
    /// The newest commits of a table, or of its quarantine, at most `limit`.
    ///
    /// # Errors
    /// No contract describes the table, it does not exist yet, or its log or a checkpoint cannot be read.
    pub async fn history(&self, name: &str, quarantine: bool, limit: usize) -> Result<TableHistory, EngineError> {
        let Some(stream) = self.streams.iter().find(|stream| stream.table.name == name) else {
            return Err(self.unknown(name));
        };
        let path = if quarantine { &stream.table.quarantine_path } else { &stream.table.path };
        let table = find(stream, path).await?.ok_or_else(|| Self::missing(name, quarantine))?;
        let fail = |failure: Failure| EngineError::opening(&stream.name, failure);
        let History { version, commits, older_deleted } =
            table.history(limit).await.map_err(|error| fail(error.into()))?;
        let known = Checkpoints::of(stream).await.map_err(fail)?;
        let mut told = Vec::new();
        for commit in commits {
            told.push(known.tell(commit).await);
        }
        let (table, path) = (name.to_owned(), path.clone());
        Ok(TableHistory { table, path, quarantine, version, commits: told, older_deleted })
    }
}

/// The checkpoints under which a host writes to a stream's tables, as far as they exist.
struct Checkpoints {
    stream: Option<crisol_checkpoint::Checkpoint>,
    /// That of replays and rebuilds.
    replay: Option<crisol_checkpoint::Checkpoint>,
}

impl Checkpoints {
    async fn of(stream: &StreamPlan) -> Result<Self, Failure> {
        Ok(Self { stream: existing(&stream.checkpoint).await?, replay: existing(&stream.replay).await? })
    }

    async fn tell(&self, commit: LoggedCommit) -> TableCommit {
        let LoggedCommit { version, info, transaction, files_added, files_removed } = commit;
        let text = |key: &str| info[key].as_str().map(str::to_owned);
        let note: Option<CommitNote> = serde_json::from_value(info["crisol"].clone()).ok();
        let application = transaction.as_ref().map(|(application, _)| application.as_str());
        let origin = self.origin(&info, note.as_ref(), application);
        let range = note.as_ref().map_or(Value::Null, |note| note.range.clone());
        let log = self.stream.as_ref().filter(|stream| application == Some(&stream.id().to_string()));
        let read = match Read::of(&range) {
            Some(read) => Some(read.with_files(log.map(crisol_checkpoint::Checkpoint::source_log).as_ref()).await),
            None => None,
        };
        TableCommit {
            version,
            time: info["timestamp"].as_i64().and_then(rfc3339),
            operation: text("operation"),
            origin,
            engine: text("engineInfo"),
            stream: info["crisol"]["stream"].as_str().map(str::to_owned),
            batch: note.as_ref().map(|note| note.batch),
            accounts: note.as_ref().and_then(|note| serde_json::from_value(note.accounts.clone()).ok()),
            components: note.as_ref().map(|note| components(&note.components)).unwrap_or_default(),
            read,
            range,
            losses: note.as_ref().map_or(Value::Null, |note| note.losses.clone()),
            rebuild: note.and_then(|note| note.rebuild),
            files_added,
            files_removed,
            metrics: info["operationMetrics"].clone(),
        }
    }

    fn origin(&self, info: &Value, note: Option<&CommitNote>, application: Option<&str>) -> Origin {
        let is = |checkpoint: &Option<crisol_checkpoint::Checkpoint>| {
            checkpoint.as_ref().is_some_and(|own| application == Some(&own.id().to_string()))
        };
        match note {
            Some(note) if note.rebuild.is_some() => Origin::Rebuild,
            Some(_) if is(&self.stream) => Origin::Batch,
            Some(_) if is(&self.replay) => Origin::Replay,
            Some(_) => Origin::EarlierCheckpoint,
            None if info["engineInfo"].as_str().is_some_and(|engine| engine.starts_with("crisol/")) => Origin::Host,
            None => Origin::Foreign,
        }
    }
}

/// A checkpoint that does not exist is not made.
async fn existing(folder: &Path) -> Result<Option<crisol_checkpoint::Checkpoint>, Failure> {
    match folder.join("metadata").is_file() {
        true => open::checkpoint_in(folder).await.map(Some),
        false => Ok(None),
    }
}

/// `name@version` and digests with commas between them, as commits have it.
fn components(components: &BTreeMap<String, String>) -> Vec<UsedComponent> {
    let used = components.iter().map(|(id, digests)| {
        let (name, version) = id.rsplit_once('@').unwrap_or((id, ""));
        let digests = digests.split(',').map(str::to_owned).collect();
        UsedComponent { name: name.into(), version: version.into(), digests }
    });
    used.collect()
}

fn rfc3339(timestamp_ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(timestamp_ms).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_told_with_all_of_their_builds() {
        let noted = BTreeMap::from([("orders@1.0.0".into(), "a,b".into()), ("odd".into(), "c".into())]);
        let used = |name: &str, version: &str, digests: &[&str]| UsedComponent {
            name: name.into(),
            version: version.into(),
            digests: digests.iter().map(|digest| (*digest).to_owned()).collect(),
        };
        assert_eq!(components(&noted), [used("odd", "", &["c"]), used("orders", "1.0.0", &["a", "b"])]);
    }

    #[test]
    fn what_another_writer_says_is_not_taken_for_a_hosts() {
        let none = Checkpoints { stream: None, replay: None };
        let origin = |info: Value| {
            let note = serde_json::from_value(info["crisol"].clone()).ok();
            none.origin(&info, note.as_ref(), Some("q"))
        };
        let note = serde_json::json!({ "stream": "s", "batch": 1, "range": null, "components": {}, "accounts": {} });
        assert_eq!(origin(serde_json::json!({ "engineInfo": "Apache-Spark/4.0" })), Origin::Foreign);
        assert_eq!(origin(Value::Null), Origin::Foreign);
        assert_eq!(
            origin(serde_json::json!({ "engineInfo": "crisol/0.1.0", "crisol": { "token": "t" } })),
            Origin::Host
        );
        assert_eq!(origin(serde_json::json!({ "crisol": note })), Origin::EarlierCheckpoint);
    }
}
