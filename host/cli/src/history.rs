//! `host history`: the commits of a table, the newest first.

use crisol::{EngineError, Origin, PartitionRange, Read, TableCommit, TableHistory, TablePlace, UsedComponent};

use crate::args::{Global, History, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::plugins::short;
use crate::run::engine;
use crate::tables::plain;
use crate::watch::thousands;

/// Files that are named for people.
const FILES_SHOWN_MAX: usize = 5;

/// Shows commits.
pub(crate) async fn history(global: &Global, asked: &History) -> Result<Exit, EngineError> {
    let found = engine(global).tables()?.history(&asked.table, asked.quarantine, asked.limit).await?;
    match global.output {
        Output::Json => {
            let mut told = serde_json::to_value(&found).map_err(EngineError::internal)?;
            told["schema"] = "crisol.history/v1".into();
            println!("{told}");
        }
        Output::Text => print(&found),
    }
    Ok(Exit::Done)
}

fn print(found: &TableHistory) {
    let quarantine = if found.quarantine { ", quarantine" } else { "" };
    println!("{}{quarantine} at {}, version {}", found.table, found.path, found.version);
    for commit in &found.commits {
        println!("{}", lines(commit).join("\n    "));
    }
    if found.older_deleted {
        println!("older commits are not in the table's log any more");
    }
}

/// A heading and what is known below it.
fn lines(commit: &TableCommit) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.as_ref().map_or_else(|| "-".into(), |text| plain(text));
    let (version, time, operation) = (commit.version, or_dash(&commit.time), or_dash(&commit.operation));
    let mut lines = vec![format!("version {version}  {time}  {operation}{}", mark(commit))];
    if let (Some(stream), Some(batch)) = (&commit.stream, commit.batch) {
        lines.push(format!("batch {batch} of {}", plain(stream)));
    }
    lines.extend(rows(commit));
    lines.extend(components(&commit.components));
    let of = match (&commit.read, commit.origin) {
        (Some(Read::Table { .. }), Origin::Replay) => " of the quarantine",
        (Some(Read::Table { .. }), _) => " of the table above",
        _ => "",
    };
    lines.extend(commit.read.as_ref().and_then(read).map(|read| format!("read: {read}{of}")));
    if let Some(losses) = commit.losses.as_array() {
        lines.push(format!("passed over: {} gaps, see `host losses`", losses.len()));
    }
    lines.extend(commit.rebuild.as_ref().map(|what| format!("rebuilt: {}", plain(what))));
    lines
}

fn mark(commit: &TableCommit) -> String {
    match commit.origin {
        Origin::Batch | Origin::Host | Origin::Rebuild => String::new(),
        Origin::EarlierCheckpoint => "  (under an earlier checkpoint)".into(),
        Origin::Replay => "  (replay of the quarantine)".into(),
        Origin::Foreign => {
            let engine = commit.engine.as_ref().map_or_else(String::new, |engine| format!(": {}", plain(engine)));
            format!("  (another writer{engine})")
        }
    }
}

fn rows(commit: &TableCommit) -> Option<String> {
    let Some(accounts) = &commit.accounts else {
        let (added, removed) = (thousands(commit.files_added), thousands(commit.files_removed));
        return (commit.files_added + commit.files_removed > 0)
            .then(|| format!("files: {added} added, {removed} removed"));
    };
    let counts = [accounts.rows_in, accounts.rows_written, accounts.rows_rejected(), accounts.rows_filtered()];
    let [rows_in, written, rejected, filtered] = counts.map(thousands);
    Some(format!("rows: {rows_in} in, {written} written, {rejected} rejected, {filtered} filtered"))
}

fn components(used: &[UsedComponent]) -> Option<String> {
    let one = |UsedComponent { name, version, digests }: &UsedComponent| {
        let digests = digests.iter().map(|digest| plain(short(digest))).collect::<Vec<_>>().join(", ");
        format!("{} {} ({digests})", plain(name), plain(version))
    };
    (!used.is_empty()).then(|| format!("components: {}", used.iter().map(one).collect::<Vec<_>>().join("; ")))
}

/// `None` where nothing was read.
fn read(read: &Read) -> Option<String> {
    match read {
        Read::Kafka { partitions } if partitions.is_empty() => None,
        Read::Kafka { partitions } => {
            let one = |PartitionRange { topic, partition, from, until }: &PartitionRange| {
                let from = from.map_or_else(String::new, |from| from.to_string());
                format!("{}/{partition}: {from}..{until}", plain(topic))
            };
            Some(partitions.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Read::Files { from, until, .. } if from >= until => None,
        Read::Files { from, until, files } => Some(match files {
            Some(files) => named(files),
            None => format!("files of the entries {from}..{until}, which the checkpoint does not have any more"),
        }),
        Read::Table { from: Some(from), until } if from == until => None,
        Read::Table { from, until } => Some(match from {
            Some(from) => format!("{} .. {}", place(from), place(until)),
            None => format!("all before {}", place(until)),
        }),
    }
}

fn named(files: &[String]) -> String {
    let shown = files.iter().take(FILES_SHOWN_MAX).map(|file| plain(file)).collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(FILES_SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more as u64)),
    }
}

fn place(place: &TablePlace) -> String {
    let TablePlace { version, file, snapshot, .. } = place;
    let snapshot = if *snapshot { ", all of it" } else { "" };
    match file {
        0 => format!("version {version}{snapshot}"),
        file => format!("version {version} file {file}{snapshot}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn commit(origin: Origin) -> TableCommit {
        TableCommit {
            version: 3,
            time: Some("2026-03-01T10:00:00.000Z".into()),
            operation: Some("STREAMING UPDATE".into()),
            origin,
            engine: Some("other\u{1b}/1".into()),
            stream: Some("orders".into()),
            batch: Some(2),
            accounts: serde_json::from_value(json!({ "rows_in": 1200, "rows_accepted": 1199, "rows_written": 1199,
                "rejected": { "corrupt_record": 1 }, "filtered": {}, "expectations": {} }))
            .ok(),
            components: vec![UsedComponent {
                name: "orders".into(),
                version: "1.0.0".into(),
                digests: vec!["a".repeat(64), "b".repeat(64)],
            }],
            read: Some(Read::Kafka {
                partitions: vec![PartitionRange { topic: "t".into(), partition: 0, from: Some(3), until: 7 }],
            }),
            range: Value::Null,
            losses: json!([{}]),
            rebuild: None,
            files_added: 1,
            files_removed: 0,
            metrics: Value::Null,
        }
    }

    #[test]
    fn a_batch_is_told_with_rows_components_and_what_it_read() {
        let expected = [
            "version 3  2026-03-01T10:00:00.000Z  STREAMING UPDATE",
            "batch 2 of orders",
            "rows: 1,200 in, 1,199 written, 1 rejected, 0 filtered",
            "components: orders 1.0.0 (aaaaaaaaaaaa, bbbbbbbbbbbb)",
            "read: t/0: 3..7",
            "passed over: 1 gaps, see `host losses`",
        ];
        assert_eq!(lines(&commit(Origin::Batch)), expected);
    }

    #[test]
    fn a_commit_of_another_writer_is_told_as_such_and_steers_no_terminal() {
        let foreign = TableCommit {
            stream: None,
            batch: None,
            accounts: None,
            components: Vec::new(),
            read: None,
            losses: Value::Null,
            ..commit(Origin::Foreign)
        };
        let expected = [
            "version 3  2026-03-01T10:00:00.000Z  STREAMING UPDATE  (another writer: other\\u{1b}/1)",
            "files: 1 added, 0 removed",
        ];
        assert_eq!(lines(&foreign), expected);
    }

    #[test]
    fn files_and_versions_are_named_as_far_as_they_are_known() {
        let place = |version, file| TablePlace { table_id: "id".into(), version, file, snapshot: false };
        let files = |files| Read::Files { from: 0, until: 2, files };
        let cases = [
            (files(Some(vec!["file:///a".into()])), "file:///a"),
            (files(Some(vec!["f".into(); 7])), "f, f, f, f, f and 2 more"),
            (files(None), "files of the entries 0..2, which the checkpoint does not have any more"),
            (Read::Table { from: Some(place(1, 0)), until: place(4, 2) }, "version 1 .. version 4 file 2"),
            (Read::Table { from: None, until: place(4, 0) }, "all before version 4"),
        ];
        for (range, expected) in cases {
            assert_eq!(read(&range).as_deref(), Some(expected));
        }
        assert_eq!(read(&Read::Table { from: Some(place(1, 0)), until: place(1, 0) }), None);
        assert_eq!(read(&Read::Kafka { partitions: Vec::new() }), None);
    }
}
