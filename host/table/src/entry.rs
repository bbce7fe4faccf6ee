//! One entry of the log as text: ours written, anyone's read.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use deltalake::kernel::{Metadata, Protocol};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::merge::{LiveFile, Rewrite};
use crate::{AppTransaction, CommitNote, PendingFile, Standing};

pub(crate) const ENGINE: &str = concat!("crisol/", env!("CARGO_PKG_VERSION"));

/// How the line of a file starts in an entry of ours.
const ADD: &[u8] = b"{\"add\"";

/// What the host looks at in an entry. File actions are counted unread.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) transactions: BTreeMap<String, i64>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) metadata: Option<Metadata>,
    /// Token of the one call that wrote this entry, when a host of ours did.
    pub(crate) token: Option<String>,
    /// Stream that wrote it, when a host of ours did.
    pub(crate) stream: Option<String>,
    /// Files added, as far as they stand as we write them.
    pub(crate) added: usize,
}

#[derive(Deserialize)]
struct Line {
    txn: Option<Txn>,
    protocol: Option<Protocol>,
    #[serde(rename = "metaData")]
    metadata: Option<Metadata>,
    #[serde(rename = "commitInfo")]
    info: Option<Info>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Txn {
    app_id: String,
    version: i64,
}

#[derive(Deserialize)]
struct Info {
    crisol: Option<Note>,
}

#[derive(Deserialize)]
struct Note {
    token: Option<String>,
    stream: Option<String>,
}

impl Entry {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        let mut entry = Self::default();
        for line in text.split(|b| *b == b'\n') {
            let line = line.trim_ascii();
            let adds = line.starts_with(ADD);
            entry.added += usize::from(adds);
            if line.is_empty() || adds || line.starts_with(b"{\"remove\"") {
                continue;
            }
            let line: Line = serde_json::from_slice(line)?;
            if let Some(txn) = line.txn {
                entry.transactions.insert(txn.app_id, txn.version);
            }
            entry.protocol = line.protocol.or(entry.protocol);
            entry.metadata = line.metadata.or(entry.metadata);
            if let Some(note) = line.info.and_then(|info| info.crisol) {
                entry.token = note.token;
                entry.stream = note.stream;
            }
        }
        Ok(entry)
    }
}

/// The entry of an append (D-001, D-010, D-013). `token` is made anew for each call of `commit`, so that a put whose
/// answer was lost is known again (D-069).
pub(crate) fn append(
    files: &[PendingFile],
    transaction: &AppTransaction,
    note: &CommitNote,
    token: &str,
    read_version: i64,
) -> Result<Bytes, serde_json::Error> {
    let now = now_millis();
    let mut lines = Vec::with_capacity(files.len() + 2);
    lines.push(json!({"commitInfo": append_info(files, transaction, note, token, read_version, now)?}));
    lines.push(json!({"txn": {
        "appId": transaction.app_id, "version": transaction.version, "lastUpdated": now,
    }}));
    lines.extend(files.iter().map(|file| add(file, true)));
    text(&lines)
}

fn append_info(
    files: &[PendingFile],
    transaction: &AppTransaction,
    note: &CommitNote,
    token: &str,
    read_version: i64,
    now: i64,
) -> Result<Value, serde_json::Error> {
    let rows: u64 = files.iter().map(|f| f.rows).sum();
    let bytes: i64 = files.iter().map(|f| f.size).sum();
    let mut own = serde_json::to_value(note)?;
    own["token"] = json!(token);
    Ok(json!({
        "timestamp": now,
        "operation": "STREAMING UPDATE",
        "operationParameters": {
            "outputMode": "Append", "queryId": transaction.app_id, "epochId": transaction.version.to_string(),
        },
        "readVersion": read_version,
        "isolationLevel": "Serializable",
        "isBlindAppend": true,
        "operationMetrics": {
            "numRemovedFiles": "0",
            "numOutputRows": rows.to_string(),
            "numOutputBytes": bytes.to_string(),
            "numAddedFiles": files.len().to_string(),
        },
        "engineInfo": ENGINE,
        "txnId": token,
        "crisol": own,
    }))
}

/// The entry of a commit that changes rows (D-084). `application` is that of the deleted keys.
pub(crate) fn rewrite(
    rewrite: &Rewrite,
    transaction: &AppTransaction,
    application: &str,
    note: &CommitNote,
    token: &str,
    read_version: i64,
) -> Result<Bytes, serde_json::Error> {
    let now = now_millis();
    let mut own = serde_json::to_value(note)?;
    own["token"] = json!(token);
    own["changes"] = serde_json::to_value(rewrite.counts)?;
    let (removed, added) = (rewrite.removes.len(), rewrite.adds.len());
    let operation = if note.rebuild.is_some() { "REBUILD" } else { "MERGE" };
    let txn = |app: &str, version: i64| json!({"txn": {"appId": app, "version": version, "lastUpdated": now}});
    let mut lines = vec![json!({"commitInfo": {
        "timestamp": now,
        "operation": operation,
        "operationParameters": { "queryId": transaction.app_id, "epochId": transaction.version.to_string() },
        "readVersion": read_version,
        "isolationLevel": "Serializable",
        "isBlindAppend": false,
        "operationMetrics": {
            "numTargetFilesRemoved": removed.to_string(),
            "numTargetFilesAdded": added.to_string(),
            "numTargetChangeFilesAdded": rewrite.changes.len().to_string(),
            "numTargetRowsInserted": rewrite.counts.inserted.to_string(),
            "numTargetRowsUpdated": rewrite.counts.updated.to_string(),
            "numTargetRowsDeleted": rewrite.counts.deleted.to_string(),
        },
        "engineInfo": ENGINE,
        "txnId": token,
        "crisol": own,
    }})];
    lines.push(txn(&transaction.app_id, transaction.version));
    if note.rebuild.is_some() {
        lines.push(txn(&Standing::rebuilds_of(&transaction.app_id), transaction.version));
    }
    lines.extend(rewrite.tombstones.map(|file| txn(application, file)));
    lines.extend(rewrite.removes.iter().map(|file| remove(file, now, true)));
    lines.extend(rewrite.adds.iter().map(|file| add(file, true)));
    lines.extend(rewrite.changes.iter().map(|file| {
        json!({"cdc": {
            "path": file.path, "partitionValues": file.partition_values, "size": file.size, "dataChange": false,
        }})
    }));
    text(&lines)
}

/// What a compaction puts in the place of what. All files are of one stream, or of none of this host's.
pub(crate) struct Compacted<'a> {
    pub(crate) removes: Vec<&'a LiveFile>,
    pub(crate) adds: Vec<&'a PendingFile>,
    pub(crate) stream: Option<&'a str>,
}

/// The entry of a compaction: no row changes, so streams below see nothing of it (D-102, D-125). It names the stream
/// whose rows its files hold, so that they still count as written by that stream.
pub(crate) fn compaction(
    compacted: &Compacted<'_>,
    token: &str,
    read_version: i64,
) -> Result<Bytes, serde_json::Error> {
    let now = now_millis();
    let Compacted { removes, adds, stream } = compacted;
    let removed_bytes: i64 = removes.iter().map(|file| file.size).sum();
    let added_bytes: i64 = adds.iter().map(|file| file.size).sum();
    let mut lines = vec![json!({"commitInfo": {
        "timestamp": now,
        "operation": "OPTIMIZE",
        "operationParameters": { "predicate": "[]" },
        "readVersion": read_version,
        "isolationLevel": "Serializable",
        "isBlindAppend": false,
        "operationMetrics": {
            "numRemovedFiles": removes.len().to_string(),
            "numRemovedBytes": removed_bytes.to_string(),
            "numAddedFiles": adds.len().to_string(),
            "numAddedBytes": added_bytes.to_string(),
        },
        "engineInfo": ENGINE,
        "txnId": token,
        "crisol": { "stream": stream, "token": token },
    }})];
    lines.extend(removes.iter().map(|file| remove(file, now, false)));
    lines.extend(adds.iter().map(|file| add(file, false)));
    text(&lines)
}

fn remove(file: &LiveFile, now: i64, data_change: bool) -> Value {
    json!({"remove": {
        "path": file.path,
        "deletionTimestamp": now,
        "dataChange": data_change,
        "extendedFileMetadata": true,
        "partitionValues": file.partition_values(),
        "size": file.size,
    }})
}

fn add(file: &PendingFile, data_change: bool) -> Value {
    json!({"add": {
        "path": file.path,
        "partitionValues": file.partition_values,
        "size": file.size,
        "modificationTime": file.modification_time,
        "dataChange": data_change,
        "stats": file.stats,
    }})
}

/// The entry that takes out files, named as the log names them, and closes the table to applications.
pub(crate) fn clear(
    paths: &[String],
    stream: &str,
    closed: &[String],
    read_version: i64,
) -> Result<Bytes, serde_json::Error> {
    let now = now_millis();
    let mut lines = vec![json!({"commitInfo": {
        "timestamp": now,
        "operation": "DELETE",
        "operationParameters": { "predicate": "[\"true\"]" },
        "readVersion": read_version,
        "isolationLevel": "Serializable",
        "isBlindAppend": false,
        "operationMetrics": { "numRemovedFiles": paths.len().to_string() },
        "engineInfo": ENGINE,
        "crisol": { "stream": stream },
    }})];
    lines.extend(closed.iter().map(|app| json!({"txn": { "appId": app, "version": i64::MAX, "lastUpdated": now }})));
    lines.extend(paths.iter().map(|path| {
        json!({"remove": {
            "path": path, "deletionTimestamp": now, "dataChange": true, "extendedFileMetadata": false,
        }})
    }));
    text(&lines)
}

/// Paths of the files that an entry of ours adds, as they stand there.
pub(crate) fn added_paths(text: &[u8]) -> Result<Vec<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Line {
        add: Add,
    }
    #[derive(Deserialize)]
    struct Add {
        path: String,
    }
    let adds = text.split(|b| *b == b'\n').filter(|line| line.starts_with(ADD));
    adds.map(|line| serde_json::from_slice::<Line>(line).map(|line| line.add.path)).collect()
}

/// The entry by which a table tells its changes from now on.
pub(crate) fn tell_changes(protocol: &Protocol, metadata: &Metadata, token: &str) -> Result<Bytes, serde_json::Error> {
    text(&[
        json!({"commitInfo": {
            "timestamp": now_millis(),
            "operation": "SET TBLPROPERTIES",
            "operationParameters": { "properties": "{\"delta.enableChangeDataFeed\":\"true\"}" },
            "isolationLevel": "Serializable",
            "isBlindAppend": true,
            "operationMetrics": {},
            "engineInfo": ENGINE,
            "txnId": token,
        }}),
        json!({"protocol": protocol}),
        json!({"metaData": metadata}),
    ])
}

/// Entry 0 of a new table.
pub(crate) fn create(protocol: &Protocol, metadata: &Metadata, token: &str) -> Result<Bytes, serde_json::Error> {
    text(&[
        json!({"commitInfo": {
            "timestamp": now_millis(),
            "operation": "CREATE TABLE",
            "operationParameters": {
                "isManaged": "false",
                "partitionBy": serde_json::to_string(metadata.partition_columns())?,
                "properties": serde_json::to_string(metadata.configuration())?,
            },
            "isolationLevel": "Serializable",
            "isBlindAppend": true,
            "operationMetrics": {},
            "engineInfo": ENGINE,
            "txnId": token,
        }}),
        json!({"protocol": protocol}),
        json!({"metaData": metadata}),
    ])
}

fn text(lines: &[Value]) -> Result<Bytes, serde_json::Error> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    Ok(text.into())
}

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_another_engine_is_read_for_what_matters() {
        let text = br#"{"commitInfo":{"operation":"MERGE","operationParameters":{"predicate":"[]"},"crisol":null}}

{"add":{"path":"a.parquet","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}
{"remove":{"path":"b.parquet","dataChange":true}}
{"domainMetadata":{"domain":"delta.x","configuration":"{}","removed":false}}
{"somethingNew":{"a":1}}
{"txn":{"appId":"q","version":4}}
{"txn":{"appId":"q","version":3,"lastUpdated":17}}"#;

        let entry = Entry::parse(text).unwrap();

        // D-007: the last one written counts.
        assert_eq!(entry.transactions, [("q".to_string(), 3)].into());
        assert_eq!((entry.token, entry.stream, entry.added), (None, None, 1));
        assert!(entry.protocol.is_none() && entry.metadata.is_none());
    }

    #[test]
    fn a_torn_entry_is_an_error() {
        assert!(Entry::parse(br#"{"txn":{"appId":"q","ver"#).is_err());
    }

    #[test]
    fn d001_our_own_entry_is_known_again() {
        let transaction = AppTransaction { app_id: "q".to_string(), version: 7 };
        let note = CommitNote { stream: "plays".to_string(), ..CommitNote::default() };

        let entry = Entry::parse(&append(&[], &transaction, &note, "t-1", 3).unwrap()).unwrap();

        assert_eq!(entry.transactions, [("q".to_string(), 7)].into());
        assert_eq!(entry.token.as_deref(), Some("t-1"));
        assert_eq!(entry.stream.as_deref(), Some("plays"));
    }
}
