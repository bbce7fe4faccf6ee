//! Tests of the texts, against what Spark writes.

use super::*;
use crate::{FilesPosition, KafkaPosition};

const SPARK_OFFSETS: &str = include_str!("../../tests/spark/offsets");
const SPARK_FILE_OFFSETS: &str = include_str!("../../tests/spark/offsets-files");
const SPARK_COMMIT: &str = include_str!("../../tests/spark/commits");
const SPARK_METADATA: &str = include_str!("../../tests/spark/metadata");
const SPARK_INITIAL: &str = include_str!("../../tests/spark/sources-kafka");

fn kafka(offset: i64) -> Position {
    Position::Kafka(KafkaPosition::from_iter([("orders".to_owned(), 0, offset)]))
}

#[test]
fn c002_metadata_is_one_line_with_the_id() {
    let metadata = Metadata { id: Uuid::from_u128(0x0b3f) };
    assert_eq!(metadata.to_text(), r#"{"id":"00000000-0000-0000-0000-000000000b3f"}"#);
    assert_eq!(Metadata::parse(&metadata.to_text()).unwrap(), metadata);
    assert_eq!(
        Metadata::parse(SPARK_METADATA).unwrap().id,
        Uuid::parse_str("9f2f7a2d-6e0c-4d8c-9d8b-6f3b1c1f6a77").unwrap()
    );
    let error = Metadata::parse(r#"{"id":"no"}"#).unwrap_err().to_string();
    assert!(error.starts_with("`metadata` cannot be read: "), "{error}");
}

#[test]
fn c003_a_range_is_sparks_text() {
    let mut entry = RangeEntry::new(1_764_460_800_123, kafka(7));
    entry.run_id = Some(Uuid::from_u128(5));
    let text = "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1764460800123,\"conf\":{\"crisol.runId\":\
                \"00000000-0000-0000-0000-000000000005\"}}\n{\"orders\":{\"0\":7}}";
    assert_eq!(entry.to_text(), text);
    assert_eq!(RangeEntry::parse("offsets/0", text).unwrap(), entry);
    assert_eq!(RangeEntry::parse("offsets/0", &format!("{text}\n")).unwrap(), entry);
}

#[test]
fn c003_a_range_that_spark_wrote_is_read_and_keeps_its_conf() {
    let entry = RangeEntry::parse("offsets/4", SPARK_OFFSETS).unwrap();
    assert_eq!(entry.timestamp_ms, 1_764_331_206_409);
    assert_eq!(entry.run_id, None);
    assert_eq!(entry.conf["spark.sql.shuffle.partitions"], "2");
    let expected = [("orders".to_owned(), 0, 1204), ("orders".to_owned(), 1, 1180)];
    assert_eq!(entry.ends, [Some(Position::Kafka(KafkaPosition::from_iter(expected)))]);
    assert_eq!(RangeEntry::parse("offsets/4", &entry.to_text()).unwrap(), entry);

    let entry = RangeEntry::parse("offsets/0", SPARK_FILE_OFFSETS).unwrap();
    assert_eq!(entry.ends, [Some(Position::Files(FilesPosition { log_offset: 0 }))]);
}

#[test]
fn c003_sources_without_position_are_read() {
    let text = "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1}\n-\n{\"logOffset\":3}";
    let entry = RangeEntry::parse("offsets/0", text).unwrap();
    assert_eq!(entry.ends, [None, Some(Position::Files(FilesPosition { log_offset: 3 }))]);
    assert_eq!(RangeEntry::parse("offsets/0", &entry.to_text()).unwrap(), entry);
}

#[test]
fn c004_a_mark_is_sparks_text() {
    let entry = CommitEntry { run_id: Some(Uuid::from_u128(5)) };
    let text = "v1\n{\"nextBatchWatermarkMs\":0,\"runId\":\"00000000-0000-0000-0000-000000000005\"}";
    assert_eq!(entry.to_text(), text);
    assert_eq!(CommitEntry::parse("commits/0", text).unwrap(), entry);
    assert_eq!(CommitEntry::parse("commits/0", SPARK_COMMIT).unwrap(), CommitEntry { run_id: None });
    assert_eq!(CommitEntry { run_id: None }.to_text(), SPARK_COMMIT.trim_end());
}

#[test]
fn k032_a_first_position_is_sparks_text() {
    let text = initial_text(&kafka(3));
    assert_eq!(text, "\0v1\n{\"orders\":{\"0\":3}}");
    assert!(is_initial(text.as_bytes()));
    assert_eq!(parse_initial("sources/0/0", &text).unwrap(), kafka(3));
    assert!(is_initial(SPARK_INITIAL.as_bytes()));
    let expected = [("orders".to_owned(), 0, 17), ("orders".to_owned(), 1, 0)];
    assert_eq!(
        parse_initial("sources/0/0", SPARK_INITIAL).unwrap(),
        Position::Kafka(KafkaPosition::from_iter(expected))
    );
    assert!(!is_initial(b"v1\n{\"path\":\"file:///a\",\"timestamp\":1,\"batchId\":0}"), "a list of files");
    assert!(!is_initial(b""));
}

#[test]
fn c007_unknown_versions_are_refused_by_name() {
    let expected = |file: &str| {
        format!(
            "`{file}` has version `v9`, this host reads `v1`; use the host (or Spark) that wrote it, or a newer one"
        )
    };
    assert_eq!(RangeEntry::parse("offsets/3", "v9\n{}").unwrap_err().to_string(), expected("offsets/3"));
    assert_eq!(CommitEntry::parse("commits/3", "v9\n{}").unwrap_err().to_string(), expected("commits/3"));
    assert_eq!(parse_initial("sources/0/0", "\0v9\n{}").unwrap_err().to_string(), expected("sources/0/0"));
    for version in ["v10", "V1", " v1", "v1 ", "1", "{}"] {
        assert!(
            matches!(
                CommitEntry::parse("commits/3", &format!("{version}\n{{\"nextBatchWatermarkMs\":0}}")),
                Err(CheckpointError::UnsupportedVersion { .. })
            ),
            "{version:?}"
        );
    }
}

#[test]
fn damaged_entries_are_refused_and_named() {
    let range = "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1,\"conf\":{}}\n{\"logOffset\":3}";
    for text in ["", "\n", "v1", "v1\n", "v1\nx", "v1\n{}", "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1}\nx"] {
        let error = RangeEntry::parse("offsets/3", text).unwrap_err().to_string();
        assert!(error.starts_with("`offsets/3`"), "{text:?}: {error}");
    }
    for end in 0..range.len() {
        let torn = RangeEntry::parse("offsets/3", &range[..end]);
        assert!(torn.is_err() || torn.unwrap().ends.is_empty(), "cut at {end}: an end is whole or not there");
    }
    let run = "v1\n{\"nextBatchWatermarkMs\":0,\"runId\":\"me\"}";
    assert_eq!(
        CommitEntry::parse("commits/3", run).unwrap_err().to_string(),
        "`commits/3` cannot be read: run id `me` is no UUID; restore it from a backup"
    );
}
