//! One version of a Delta log: what it adds, and whether this source can follow it.

use std::collections::HashMap;

use deltalake::kernel::{Metadata, Protocol};
use serde::Deserialize;
use serde_json::Value;

use super::TableSourceSpec;
use crate::SourceError;

/// Reader features that change nothing for whoever reads added files.
const KNOWN_FEATURES: [&str; 4] = ["timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening"];

/// A data file, as its commit names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AddedFile {
    /// URI, relative to the table.
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) rows: Option<u64>,
    pub(super) partition_values: HashMap<String, Option<String>>,
    /// Change data: each row says what became of it.
    pub(super) changes: bool,
}

/// What one version changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Commit {
    /// Files that bring rows, in the order of the log.
    pub(super) added: Vec<AddedFile>,
    /// Whether a rebuild took rows out: the files are change data then, whether or not changes are followed otherwise.
    pub(super) rebuilt: bool,
    metadata: Option<NewMetadata>,
    protocol: Option<NewProtocol>,
}

/// What must stay as it is for the rows to be read rightly.
#[derive(Debug, Clone)]
pub(super) struct TableLayout {
    pub(super) id: String,
}

impl TableLayout {
    pub(super) fn of(name: &str, protocol: &Protocol, metadata: &Metadata) -> Result<Self, SourceError> {
        let protocol = serde_json::to_value(protocol).ok().and_then(|p| serde_json::from_value(p).ok());
        let metadata = serde_json::to_value(metadata).ok().and_then(|m| serde_json::from_value(m).ok());
        let (Some(protocol), Some(metadata)) = (protocol, metadata) else {
            return Err(SourceError::data(format!("table `{name}`: its protocol or metadata cannot be read")));
        };
        check_protocol(name, &protocol)?;
        check_metadata(name, &metadata)?;
        Ok(Self { id: metadata.id })
    }

    /// Refuses a version after which the table is another, or one that this source cannot read.
    pub(super) fn follow(&mut self, name: &str, commit: &Commit) -> Result<(), SourceError> {
        if let Some(protocol) = &commit.protocol {
            check_protocol(name, protocol)?;
        }
        let Some(metadata) = &commit.metadata else { return Ok(()) };
        check_metadata(name, metadata)?;
        if metadata.id == self.id {
            return Ok(());
        }
        Err(SourceError::config(
            format!("table `{name}` was replaced by another (id {}, before {})", metadata.id, self.id),
            "run with `--rebuild` to take out what was made of the other and read this one",
        ))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Action {
    commit_info: Option<CommitInfo>,
    add: Option<Add>,
    remove: Option<Remove>,
    cdc: Option<ChangeData>,
    meta_data: Option<NewMetadata>,
    protocol: Option<NewProtocol>,
}

#[derive(Deserialize)]
struct CommitInfo {
    crisol: Option<Note>,
}

/// What a host of ours says of its commit.
#[derive(Deserialize)]
struct Note {
    rebuild: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Add {
    path: String,
    size: u64,
    data_change: bool,
    #[serde(default)]
    partition_values: HashMap<String, Option<String>>,
    stats: Option<String>,
    deletion_vector: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeData {
    path: String,
    size: u64,
    #[serde(default)]
    partition_values: HashMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remove {
    path: String,
    data_change: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct NewMetadata {
    id: String,
    #[serde(default)]
    configuration: HashMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewProtocol {
    min_reader_version: i32,
    #[serde(default)]
    reader_features: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    num_records: Option<u64>,
}

impl Commit {
    /// A version that brings these files and changes nothing else.
    pub(super) fn of(added: Vec<AddedFile>) -> Self {
        Self { added, ..Self::default() }
    }

    /// Parses a log entry. What changes no data is left out (D-125). A version with change data is read from that alone
    /// (D-084), by whoever follows changes, and by all streams below a rebuild; any other commit that removes rows is
    /// refused (D-123).
    pub(super) fn parse(spec: &TableSourceSpec, version: i64, entry: &[u8]) -> Result<Self, SourceError> {
        let name = &spec.name;
        let mut commit = Self::default();
        let (mut removed, mut changed, mut rebuild) = (None, Vec::new(), None);
        for action in serde_json::Deserializer::from_slice(entry).into_iter::<Action>() {
            let action = action.map_err(|e| {
                SourceError::data(format!("table `{name}`: version {version} of its log is damaged: {e}"))
            })?;
            rebuild = action.commit_info.and_then(|info| info.crisol).and_then(|note| note.rebuild).or(rebuild);
            if let Some(remove) = action.remove.filter(|remove| remove.data_change) {
                removed.get_or_insert(remove.path);
            }
            changed.extend(action.cdc.map(AddedFile::from));
            if let Some(add) = action.add.filter(|add| add.data_change) {
                if add.deletion_vector.is_some() {
                    return Err(unsupported(name, "deletion vectors"));
                }
                commit.added.push(add.into());
            }
            commit.metadata = action.meta_data.or(commit.metadata);
            commit.protocol = action.protocol.or(commit.protocol);
        }
        match removed.or_else(|| changed.first().map(|file| file.path.clone())) {
            None => {}
            Some(_) if !changed.is_empty() && (spec.changes || (rebuild.is_some() && !spec.external)) => {
                commit.added = changed;
                commit.rebuilt = rebuild.is_some();
            }
            Some(path) => return Err(rows_removed(spec, version, &path)),
        }
        Ok(commit)
    }
}

impl From<Add> for AddedFile {
    fn from(add: Add) -> Self {
        let stats = add.stats.and_then(|stats| serde_json::from_str::<Stats>(&stats).ok());
        Self {
            path: add.path,
            size: add.size,
            rows: stats.and_then(|stats| stats.num_records),
            partition_values: add.partition_values,
            changes: false,
        }
    }
}

impl From<ChangeData> for AddedFile {
    fn from(file: ChangeData) -> Self {
        let ChangeData { path, size, partition_values } = file;
        Self { path, size, rows: None, partition_values, changes: true }
    }
}

fn check_protocol(name: &str, protocol: &NewProtocol) -> Result<(), SourceError> {
    // Version 2 only allows column mapping, which the metadata then switches on; 3 lists its features.
    if protocol.min_reader_version > 3 {
        return Err(unsupported(name, &format!("reader version {}", protocol.min_reader_version)));
    }
    let features = protocol.reader_features.iter().flatten();
    let unknown: Vec<&str> = features
        .map(String::as_str)
        // Column mapping counts when the metadata use it, deletion vectors when a file has one.
        .filter(|f| !KNOWN_FEATURES.contains(f) && *f != "columnMapping" && *f != "deletionVectors")
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(unsupported(name, &format!("features {}", unknown.join(", ")))) }
}

fn check_metadata(name: &str, metadata: &NewMetadata) -> Result<(), SourceError> {
    match metadata.configuration.get("delta.columnMapping.mode").map(String::as_str) {
        None | Some("none") => Ok(()),
        Some(mode) => Err(unsupported(name, &format!("column mapping (mode `{mode}`)"))),
    }
}

pub(super) fn unsupported(name: &str, what: &str) -> SourceError {
    SourceError::config(
        format!("table `{name}` uses {what}, which this version does not read"),
        "switch it off for the table and rewrite its files, or read a copy",
    )
}

fn rows_removed(spec: &TableSourceSpec, version: i64, path: &str) -> SourceError {
    let TableSourceSpec { name, anew, .. } = spec;
    let hint = if spec.external {
        format!("to go on from what the table holds now, {anew}")
    } else {
        format!(
            "when the table was rebuilt, run with `--rebuild` to rebuild this one too; when someone else removed the \
             rows, {anew}"
        )
    };
    SourceError::config(
        format!("table `{name}`: version {version} removes rows (file `{path}`); only appended rows can be followed"),
        hint,
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Schema;

    use super::*;
    use crate::table::Cut;

    fn parse(lines: &[&str]) -> Result<Commit, SourceError> {
        parse_of(false, lines)
    }

    fn parse_of(external: bool, lines: &[&str]) -> Result<Commit, SourceError> {
        let spec = TableSourceSpec {
            name: "silver.t".into(),
            path: "/t".into(),
            columns: Arc::new(Schema::empty()),
            external,
            anew: "begin anew".into(),
            changes: false,
            cut: Cut::Files,
            held: None,
            max_files: 1,
            max_bytes: 1,
        };
        Commit::parse(&spec, 7, lines.join("\n").as_bytes())
    }

    fn changes(lines: &[&str]) -> Result<Commit, SourceError> {
        let spec = TableSourceSpec {
            name: "silver.t".into(),
            path: "/t".into(),
            columns: Arc::new(Schema::empty()),
            external: false,
            anew: "begin anew".into(),
            changes: true,
            cut: Cut::Versions,
            held: None,
            max_files: 1,
            max_bytes: 1,
        };
        Commit::parse(&spec, 7, lines.join("\n").as_bytes())
    }

    const ADD: &str = r#"{"add":{"path":"a.parquet","size":5,"dataChange":true,"partitionValues":{"d":null},"modificationTime":1,"stats":"{\"numRecords\":3}"}}"#;

    #[test]
    fn added_files_come_in_the_order_of_the_log_and_other_actions_do_not_matter() {
        let second = ADD.replace("a.parquet", "b.parquet");
        let commit = parse(&[
            r#"{"commitInfo":{"operation":"WRITE"}}"#,
            ADD,
            r#"{"txn":{"appId":"x","version":1}}"#,
            &second,
            r#"{"somethingNew":{"a":1}}"#,
        ])
        .unwrap();
        assert_eq!(commit.added.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["a.parquet", "b.parquet"]);
        assert_eq!((commit.added[0].rows, &commit.added[0].partition_values["d"]), (Some(3), &None));
    }

    #[test]
    fn d123_a_commit_that_removes_rows_is_refused_with_its_version() {
        let error = parse(&[ADD, r#"{"remove":{"path":"old.parquet","dataChange":true}}"#]).unwrap_err();
        assert!(error.to_string().contains("version 7 removes rows (file `old.parquet`)"), "{error}");
        assert!(error.hint().unwrap().ends_with("when someone else removed the rows, begin anew"));
        let error = parse_of(true, &[r#"{"remove":{"path":"old.parquet","dataChange":true}}"#]).unwrap_err();
        assert_eq!(error.hint(), Some("to go on from what the table holds now, begin anew"));
    }

    const REMOVE: &str = r#"{"remove":{"path":"old.parquet","dataChange":true}}"#;
    const CHANGES: &str =
        r#"{"cdc":{"path":"_change_data/c.parquet","size":9,"dataChange":false,"partitionValues":{"d":"x"}}}"#;

    #[test]
    fn d084_a_version_with_change_data_is_read_from_that_alone() {
        let commit = changes(&[REMOVE, ADD, CHANGES]).unwrap();
        let [file] = commit.added.as_slice() else { panic!("{commit:?}") };
        assert_eq!((file.path.as_str(), file.size, file.changes), ("_change_data/c.parquet", 9, true));
        assert_eq!(file.partition_values["d"].as_deref(), Some("x"));
    }

    #[test]
    fn d084_a_version_that_only_adds_needs_no_change_data() {
        let commit = changes(&[ADD]).unwrap();
        assert!(!commit.added[0].changes);
    }

    #[test]
    fn d123_rows_that_went_without_change_data_cannot_be_followed() {
        assert!(changes(&[REMOVE, ADD]).unwrap_err().to_string().contains("removes rows (file `old.parquet`)"));
    }

    #[test]
    fn d123_whoever_reads_appended_rows_refuses_change_data() {
        assert!(parse(&[ADD, CHANGES]).unwrap_err().to_string().contains("version 7 removes rows"));
    }

    #[test]
    fn d123_a_rebuild_of_ours_is_followed_by_all_streams_below_it() {
        let info = r#"{"commitInfo":{"operation":"REBUILD","crisol":{"stream":"s","rebuild":"day = '1'"}}}"#;
        for found in [parse(&[info, REMOVE, ADD, CHANGES]), changes(&[info, REMOVE, ADD, CHANGES])] {
            let commit = found.unwrap();
            assert!(commit.rebuilt && commit.added.len() == 1 && commit.added[0].changes, "{commit:?}");
        }
        let only_adds = parse(&[info, ADD]).unwrap();
        assert!(!only_adds.rebuilt && !only_adds.added[0].changes, "what only came is read as ever");
        assert!(parse_of(true, &[info, REMOVE, CHANGES]).is_err(), "of a table of others nothing is known");
    }

    #[test]
    fn d125_what_changes_no_data_gives_no_rows() {
        let compacted = ADD.replace("\"dataChange\":true", "\"dataChange\":false");
        let commit = parse(&[&compacted, r#"{"remove":{"path":"old.parquet","dataChange":false}}"#]).unwrap();
        assert!(commit.added.is_empty());
    }

    #[test]
    fn features_that_change_what_rows_are_there_are_refused_by_name() {
        let with_vector = ADD.replace("\"size\"", "\"deletionVector\":{\"storageType\":\"u\"},\"size\"");
        assert!(parse(&[&with_vector]).unwrap_err().to_string().contains("deletion vectors"));
        let mut layout = TableLayout { id: "one".into() };
        for (line, expected) in [
            (r#"{"metaData":{"id":"one","configuration":{"delta.columnMapping.mode":"name"}}}"#, "column mapping"),
            (
                r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogOwned"]}}"#,
                "catalogOwned",
            ),
            (r#"{"protocol":{"minReaderVersion":4,"minWriterVersion":7}}"#, "reader version 4"),
            (r#"{"metaData":{"id":"two"}}"#, "was replaced by another"),
        ] {
            let error = layout.follow("t", &parse(&[line]).unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        layout.follow("t", &parse(&[r#"{"metaData":{"id":"one"}}"#]).unwrap()).unwrap();
    }

    #[test]
    fn a_damaged_log_entry_is_an_error() {
        assert!(matches!(parse(&[ADD, "{\"add\":{\"path\""]), Err(SourceError::Data { .. })));
    }
}
