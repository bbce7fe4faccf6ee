//! Files as a source: what the checkpoint keeps of them, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{read, walk};
use crisol_checkpoint::{FilesPosition, Position, Range};
use crisol_contract::{FileFormat, FilesSpec};
use crisol_source::{FilesSource, MemoryLog, Source, SourceError, SourceLog};

struct Folder {
    folder: tempfile::TempDir,
    log: MemoryLog,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap(), log: MemoryLog::default() };
        files.iter().for_each(|(name, content)| folder.put(name, content));
        folder
    }

    fn put(&self, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    fn source(&self, format: FileFormat, max_files: Option<u64>) -> FilesSource {
        let spec = FilesSpec {
            format,
            path: self.folder.path().to_str().unwrap().to_owned(),
            schema: None,
            max_files_per_trigger: max_files,
            max_bytes_per_trigger: None,
            latest_first: false,
        };
        FilesSource::new(spec, Arc::new(self.log.clone()))
    }
}

fn at(log_offset: i64) -> Position {
    Position::Files(FilesPosition { log_offset })
}

fn range(start: i64, end: i64) -> Range {
    Range { start: at(start), end: at(end) }
}

#[tokio::test]
async fn f007_a_file_that_was_read_is_not_read_again_whatever_happens_to_it() {
    let folder = Folder::new(&[("a", "1\n"), ("b", "2\n")]);
    let mut source = folder.source(FileFormat::Text, None);
    let start = source.initial().await.unwrap();
    assert_eq!(start, at(-1));
    let (batches, end) = walk(&mut source, start).await;
    assert_eq!((batches.len(), &end), (1, &at(0)));
    folder.put("a", "1\n3\n");
    assert!(source.plan(&end).await.unwrap().is_none());
    assert!(folder.source(FileFormat::Text, None).plan(&end).await.unwrap().is_none(), "nor after a new start");
    folder.put("c", "4\n");
    let (batches, _) = walk(&mut source, end).await;
    assert_eq!(batches[0].1.len(), 1);
}

#[tokio::test]
async fn c005_the_entry_is_sparks_text_and_says_which_files() {
    let folder = Folder::new(&[("a b.json", "{}\n")]);
    folder.source(FileFormat::Json, None).plan(&at(-1)).await.unwrap().unwrap();
    let text = folder.log.get(0).await.unwrap().unwrap();
    let (version, entry) = text.split_once('\n').unwrap();
    let entry: serde_json::Value = serde_json::from_str(entry).unwrap();
    assert_eq!(version, "v1");
    assert_eq!(entry["path"], format!("file://{}/a%20b.json", folder.folder.path().display()));
    assert_eq!(entry["batchId"], 0);
    assert!(entry["timestamp"].as_i64().unwrap() > 1_600_000_000_000);
}

#[tokio::test]
async fn f030_a_logged_batch_is_read_again_as_the_same_batch_though_more_files_came() {
    let folder = Folder::new(&[("a", "1\n")]);
    let planned = folder.source(FileFormat::Text, None).plan(&at(-1)).await.unwrap().unwrap();
    folder.put("b", "2\n");
    let mut source = folder.source(FileFormat::Text, None);
    assert_eq!(source.plan(&at(-1)).await.unwrap().unwrap().end, planned.end);
    assert_eq!(read(&mut source, &range(-1, 0)).await.unwrap().len(), 1);
    assert_eq!(source.plan(&planned.end).await.unwrap().unwrap().end, at(1));
}

#[tokio::test]
async fn f017_a_missing_entry_is_an_error_and_never_an_empty_memory() {
    let folder = Folder::new(&[("a", "1\n"), ("b", "2\n"), ("c", "3\n")]);
    let (_, end) = walk(&mut folder.source(FileFormat::Text, Some(1)), at(-1)).await;
    assert_eq!(end, at(2));
    folder.log.remove(1);
    let error = folder.source(FileFormat::Text, None).plan(&end).await.unwrap_err();
    assert!(error.to_string().contains("sources/0/1 is missing"), "{error}");
    assert!(matches!(error, SourceError::Config { .. }), "no row is lost: {error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--rebuild")), "a new checkpoint alone is refused");
    let error = read(&mut folder.source(FileFormat::Text, None), &range(0, 2)).await.unwrap_err();
    assert!(error.to_string().contains("sources/0/1 is missing"), "{error}");
    let emptied = Folder { log: MemoryLog::default(), ..folder };
    assert!(emptied.source(FileFormat::Text, None).plan(&end).await.is_err());
}

#[tokio::test]
async fn c038_an_entry_of_another_host_stops_this_one() {
    let folder = Folder::new(&[("a", "1\n")]);
    let mut first = folder.source(FileFormat::Text, None);
    assert!(first.plan(&at(0)).await.is_err(), "the log is empty");
    let mut late = folder.source(FileFormat::Text, None);
    assert!(first.plan(&at(-1)).await.unwrap().is_some());
    // The other host looked at the log before, and sees another set of files.
    folder.put("b", "2\n");
    assert!(late.plan(&at(-1)).await.unwrap().is_some_and(|planned| planned.end == at(0)));
    let mut other = folder.source(FileFormat::Text, None);
    assert!(other.plan(&at(0)).await.unwrap().is_some());
    folder.put("c", "3\n");
    let error = first.plan(&at(0)).await.unwrap_err();
    assert!(matches!(error, SourceError::Concurrent { .. }), "{error:?}");
    assert!(error.to_string().contains("sources/0/1"), "{error}");
    // The log is read again before it is believed: the other's files are not planned once more.
    assert_eq!(first.plan(&at(0)).await.unwrap().unwrap().end, at(1));
    let planned = first.plan(&at(1)).await.unwrap().unwrap();
    assert_eq!(read(&mut first, &Range { start: at(1), end: planned.end }).await.unwrap().len(), 1, "only `c` is new");
}

#[tokio::test]
async fn f003_f021_what_is_not_there_is_named() {
    let folder = Folder::new(&[("a", "1\n")]);
    let mut source = folder.source(FileFormat::Text, None);
    source.plan(&at(-1)).await.unwrap().unwrap();
    std::fs::remove_file(folder.folder.path().join("a")).unwrap();
    let error = read(&mut source, &range(-1, 0)).await.unwrap_err();
    assert!(error.to_string().ends_with("a` of a planned batch is gone"), "{error}");
    assert!(error.hint().unwrap().contains("or an empty one in its place to go on without its rows"));
    folder.put("a", "");
    assert!(read(&mut source, &range(-1, 0)).await.unwrap().is_empty(), "which is what the hint says");
    let path = folder.folder.path().to_owned();
    drop(folder.folder);
    let error = source.initial().await.unwrap_err();
    assert_eq!(error.to_string(), format!("path `{}` does not exist", path.display()));
}

#[tokio::test]
async fn rows_say_file_line_and_time() {
    let folder = Folder::new(&[("a.json", "{\"a\":1}\r\n\n{\"a\":2}")]);
    let mut source = folder.source(FileFormat::Json, None);
    let (batches, _) = walk(&mut source, at(-1)).await;
    let path = folder.folder.path().join("a.json").display().to_string();
    let rows = &batches[0].1;
    assert_eq!(rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), [path.as_str(); 2]);
    assert_eq!(rows.iter().map(|row| row[2].as_str()).collect::<Vec<_>>(), ["0", "2"]);
    assert!(rows[0][3].parse::<i64>().unwrap() > 1_600_000_000_000_000, "microseconds");
}
