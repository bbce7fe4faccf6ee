//! The checkpoint's folder, as runs, rivals and people see it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use crisol_checkpoint::{
    Checkpoint, CheckpointError, Fact, FilesPosition, KafkaPosition, NextStep, Position, RangeEntry, Step, next_step,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

async fn open(dir: &Path) -> Checkpoint {
    try_open(dir).await.unwrap()
}

async fn try_open(dir: &Path) -> Result<Checkpoint, CheckpointError> {
    Checkpoint::open(crisol_store::open(dir.to_str().unwrap()).unwrap(), Uuid::new_v4()).await
}

fn files(log_offset: i64) -> Position {
    Position::Files(FilesPosition { log_offset })
}

fn kafka(offset: i64) -> Position {
    Position::Kafka(KafkaPosition::from_iter([("t".to_owned(), 0, offset)]))
}

/// Runs batches `from..to` of files to their marks.
async fn run(checkpoint: &Checkpoint, batches: std::ops::Range<u64>) {
    for n in batches {
        checkpoint.log_range(n, &RangeEntry::new(n as i64, files(n as i64))).await.unwrap();
        checkpoint.mark(n).await.unwrap();
    }
}

fn write(dir: &TempDir, file: &str, text: &str) {
    let path = dir.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(dir: &TempDir, folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir.path().join(folder)) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

#[tokio::test]
async fn c002_the_id_is_made_once_and_never_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (open(dir.path()).await, open(dir.path()).await);
    assert_eq!(first.id(), second.id());
    assert_ne!(first.run_id(), second.run_id());
    let text = std::fs::read_to_string(dir.path().join("metadata")).unwrap();
    assert_eq!(text, format!("{{\"id\":\"{}\"}}", first.id()));
}

#[tokio::test]
async fn c002_hosts_that_start_at_once_agree_on_the_id() {
    let dir = tempfile::tempdir().unwrap();
    let opened = (0..8).map(|_| {
        let path = dir.path().to_owned();
        tokio::spawn(async move { open(&path).await.id() })
    });
    let ids: Vec<_> = futures::future::join_all(opened).await.into_iter().map(Result::unwrap).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn c001_a_batch_leaves_sparks_files() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    checkpoint.log_range(0, &RangeEntry::new(1_764_460_800_000, files(0))).await.unwrap();
    checkpoint.mark(0).await.unwrap();
    let read = |file: &str| std::fs::read_to_string(dir.path().join(file)).unwrap();
    let run = checkpoint.run_id();
    assert_eq!(
        read("offsets/0"),
        format!(
            "v1\n{{\"batchWatermarkMs\":0,\"batchTimestampMs\":1764460800000,\"conf\":{{\"crisol.runId\":\"{run}\"}}}}\n\
             {{\"logOffset\":0}}"
        )
    );
    assert_eq!(read("commits/0"), format!("v1\n{{\"nextBatchWatermarkMs\":0,\"runId\":\"{run}\"}}"));
    assert_eq!(names(&dir, "offsets"), ["0"]);
    assert_eq!(names(&dir, "commits"), ["0"]);
}

#[tokio::test]
async fn c030_a_restart_goes_on_after_the_newest_mark() {
    let dir = tempfile::tempdir().unwrap();
    run(&open(dir.path()).await, 0..12).await;
    let state = open(dir.path()).await.state().await.unwrap();
    assert_eq!(next_step(&state).unwrap(), NextStep::Plan { batch: 12, start: Some(files(11)) });
}

#[tokio::test]
async fn c031_a_restart_runs_a_batch_without_mark_again() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    run(&checkpoint, 0..2).await;
    checkpoint.log_range(2, &RangeEntry::new(777, files(9))).await.unwrap();
    let state = open(dir.path()).await.state().await.unwrap();
    let NextStep::Rerun { batch: 2, range, timestamp_ms: 777 } = next_step(&state).unwrap() else {
        panic!("{state:?}")
    };
    assert_eq!((range.start, range.end), (files(1), files(9)));
}

#[tokio::test]
async fn an_outcome_is_found_again_by_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    run(&checkpoint, 0..1).await;
    checkpoint.log_range(1, &RangeEntry::new(1, files(1))).await.unwrap();
    assert!(checkpoint.outcome::<Value>(1).await.unwrap().is_none());
    let payload = json!({ "table": ["part-0.parquet"], "rejected": 3 });
    checkpoint.log_outcome(1, &payload).await.unwrap();

    let next = open(dir.path()).await;
    let step = next_step(&next.state().await.unwrap()).unwrap();
    assert!(matches!(step, NextStep::AdoptOutcome { batch: 1, .. }), "{step:?}");
    let outcome = next.outcome::<Value>(1).await.unwrap().unwrap();
    assert_eq!((outcome.run_id, outcome.batch, outcome.payload), (checkpoint.run_id(), 1, payload));
}

#[tokio::test]
async fn c038_of_two_hosts_exactly_one_wins_each_put_and_the_other_learns_it() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await, open(dir.path()).await);
    for n in 0..20 {
        let entry = RangeEntry::new(n as i64, files(n as i64));
        let ranges = tokio::join!(a.log_range(n, &entry), b.log_range(n, &entry));
        exactly_one_held([ranges.0, ranges.1], &format!("offsets/{n}"));
        let outcomes = tokio::join!(a.log_outcome(n, &"a"), b.log_outcome(n, &"b"));
        exactly_one_held([outcomes.0, outcomes.1], &format!("outcome/{n}"));
        let marks = tokio::join!(a.mark(n), b.mark(n));
        exactly_one_held([marks.0, marks.1], &format!("commits/{n}"));
    }
}

fn exactly_one_held(results: [Result<(), CheckpointError>; 2], file: &str) {
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 1, "{file}: {errors:?}");
    assert!(errors[0].is_held());
    assert!(errors[0].to_string().contains(&format!("`{file}` was written by run ")), "{}", errors[0]);
}

#[tokio::test]
async fn a_put_whose_answer_was_lost_is_found_to_be_ours() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    let entry = RangeEntry::new(1, files(0));
    for _ in 0..2 {
        checkpoint.log_range(0, &entry).await.unwrap();
        checkpoint.log_outcome(0, &"same").await.unwrap();
        checkpoint.mark(0).await.unwrap();
    }
    assert_eq!(checkpoint.range(0).await.unwrap().unwrap().run_id, Some(checkpoint.run_id()));
}

#[tokio::test]
async fn an_entry_of_spark_belongs_to_another() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    write(&dir, "commits/0", include_str!("spark/commits"));
    let error = checkpoint.mark(0).await.unwrap_err();
    assert!(error.is_held());
    assert!(error.to_string().contains("written by a run that does not name itself"), "{error}");
}

#[tokio::test]
async fn c008_an_entry_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await, open(dir.path()).await);
    a.log_range(0, &RangeEntry::new(1, files(0))).await.unwrap();
    let before = std::fs::read(dir.path().join("offsets/0")).unwrap();
    assert!(b.log_range(0, &RangeEntry::new(2, files(5))).await.is_err());
    a.log_range(0, &RangeEntry::new(3, files(9))).await.unwrap();
    assert_eq!(std::fs::read(dir.path().join("offsets/0")).unwrap(), before);
}

#[tokio::test]
async fn c034_entries_without_metadata_are_refused() {
    for folder in ["offsets", "commits", "outcome"] {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, &format!("{folder}/3"), "v1\n{}");
        let error = try_open(dir.path()).await.unwrap_err();
        let expected = format!("`metadata` is missing although `{folder}/3` exists");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(!dir.path().join("metadata").exists());
    }
}

#[tokio::test]
async fn a_new_checkpoint_may_hold_a_kept_position_or_a_half_made_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("offsets")).unwrap();
    write(&dir, "offsets/.0.tmp#12000000", "half");
    open(dir.path()).await;
}

#[tokio::test]
async fn c010_companions_and_foreign_names_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    run(&open(dir.path()).await, 0..3).await;
    for name in [".2.crc", "3.crc", ".9.tmp#1", "007", "99.compact", "x", "-1", "9/deeper", "18446744073709551616"] {
        write(&dir, &format!("offsets/{name}"), "junk");
        write(&dir, &format!("commits/{name}"), "junk");
    }
    write(&dir, ".metadata.crc", "junk");
    let state = open(dir.path()).await.state().await.unwrap();
    assert_eq!(next_step(&state).unwrap(), NextStep::Plan { batch: 3, start: Some(files(2)) });
}

#[tokio::test]
async fn c007_unknown_versions_stop_the_stream() {
    for file in ["offsets/2", "offsets/1", "commits/2"] {
        let dir = tempfile::tempdir().unwrap();
        run(&open(dir.path()).await, 0..3).await;
        write(&dir, file, "v9\n{}");
        let error = open(dir.path()).await.state().await.unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{file}` has version `v9`")), "{error}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    run(&open(dir.path()).await, 0..1).await;
    std::fs::write(dir.path().join("offsets/0"), [b'v', b'1', b'\n', 0xff]).unwrap();
    let error = open(dir.path()).await.state().await.unwrap_err();
    assert!(error.to_string().starts_with("`offsets/0` cannot be read: invalid utf-8"), "{error}");
}

#[tokio::test]
async fn a_checkpoint_that_spark_wrote_is_adopted() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "metadata", include_str!("spark/metadata"));
    write(&dir, "sources/0/0", include_str!("spark/sources-kafka"));
    write(&dir, "offsets/0", include_str!("spark/offsets"));
    write(&dir, "commits/0", include_str!("spark/commits"));
    let checkpoint = open(dir.path()).await;
    assert_eq!(checkpoint.id().to_string(), "9f2f7a2d-6e0c-4d8c-9d8b-6f3b1c1f6a77");
    let step = next_step(&checkpoint.state().await.unwrap()).unwrap();
    let NextStep::Plan { batch: 1, start: Some(start) } = step else { panic!("{step:?}") };
    assert_eq!(start.to_string(), r#"{"orders":{"0":1204,"1":1180}}"#);

    std::fs::remove_file(dir.path().join("commits/0")).unwrap();
    let step = next_step(&checkpoint.state().await.unwrap()).unwrap();
    let NextStep::Rerun { batch: 0, range, timestamp_ms: 1_764_331_206_409 } = step else { panic!("{step:?}") };
    assert_eq!(range.start.to_string(), r#"{"orders":{"0":17,"1":0}}"#);
    assert_eq!(range.distance(), 1187 + 1180);
}

#[tokio::test]
async fn k032_the_first_position_is_bound_by_whoever_keeps_it_first() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await, open(dir.path()).await);
    assert_eq!(a.state().await.unwrap().initial, None);
    assert_eq!(a.log_initial(&kafka(5)).await.unwrap(), kafka(5));
    assert_eq!(b.log_initial(&kafka(8)).await.unwrap(), kafka(5));
    let state = b.state().await.unwrap();
    assert_eq!(next_step(&state).unwrap(), NextStep::Plan { batch: 0, start: Some(kafka(5)) });
}

#[tokio::test]
async fn f030_the_files_of_a_source_are_kept_and_are_no_first_position() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await.source_log(), open(dir.path()).await.source_log());
    let entry = "v1\n{\"path\":\"file:///a.json\",\"timestamp\":1,\"batchId\":0}";
    assert_eq!(a.get(0).await.unwrap(), None);
    assert_eq!(a.put_if_absent(0, entry.into()).await.unwrap(), entry);
    assert_eq!(b.put_if_absent(0, "v1\n{}".into()).await.unwrap(), entry);
    assert_eq!(b.get(0).await.unwrap().as_deref(), Some(entry.as_bytes()));
    a.put_if_absent(11, "v1".into()).await.unwrap();
    a.put_if_absent(2, "v1".into()).await.unwrap();
    assert_eq!(b.list().await.unwrap(), [0, 2, 11]);
    assert_eq!(open(dir.path()).await.state().await.unwrap().initial, None);
}

#[tokio::test]
async fn c009_old_entries_are_purged_and_recovery_is_never_in_danger() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    run(&checkpoint, 0..105).await;
    for n in 0..105 {
        checkpoint.log_outcome(n, &n).await.unwrap();
    }
    checkpoint.source_log().put_if_absent(0, "v1".into()).await.unwrap();
    checkpoint.purge(104).await.unwrap();
    for folder in ["offsets", "commits", "outcome"] {
        let expected: Vec<_> = (4..105).map(|n| n.to_string()).collect();
        assert_eq!(names(&dir, folder), expected, "{folder}");
    }
    assert_eq!(names(&dir, "sources/0"), ["0"]);
    checkpoint.purge(104).await.unwrap();
    let step = next_step(&open(dir.path()).await.state().await.unwrap()).unwrap();
    assert_eq!(step, NextStep::Plan { batch: 105, start: Some(files(104)) });
}

#[tokio::test]
async fn c009_nothing_is_purged_before_there_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    run(&checkpoint, 0..3).await;
    checkpoint.purge(2).await.unwrap();
    assert_eq!(names(&dir, "offsets"), ["0", "1", "2"]);
}

#[tokio::test]
async fn a_copy_of_an_outcome_under_another_number_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = open(dir.path()).await;
    checkpoint.log_outcome(3, &"x").await.unwrap();
    std::fs::copy(dir.path().join("outcome/3"), dir.path().join("outcome/4")).unwrap();
    let error = checkpoint.outcome::<String>(4).await.unwrap_err();
    assert!(error.to_string().starts_with("`outcome/4` cannot be read: it names batch 3"), "{error}");
}

#[tokio::test]
async fn k031_a_fact_is_kept_in_sparks_place_as_first_written_and_outlives_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await, open(dir.path()).await);
    for (fact, file) in [(Fact::Columns, "schema"), (Fact::Starting, "starting")] {
        assert_eq!(a.kept(fact).await.unwrap(), None);
        assert_eq!(a.keep(fact, "first").await.unwrap(), "first");
        assert_eq!(b.keep(fact, "second").await.unwrap(), "first");
        assert_eq!(b.kept(fact).await.unwrap().as_deref(), Some("first"));
        assert_eq!(std::fs::read_to_string(dir.path().join(file)).unwrap(), "first");
    }
}

#[tokio::test]
async fn a_checkpoint_that_was_discarded_starts_anew_under_another_id() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("stream");
    let checkpoint = open(&folder).await;
    run(&checkpoint, 0..3).await;
    let id = checkpoint.id();
    checkpoint.discard().await.unwrap();
    assert!(!folder.exists());
    let anew = open(&folder).await;
    assert_ne!(anew.id(), id);
    assert_eq!(next_step(&anew.state().await.unwrap()).unwrap(), NextStep::Plan { batch: 0, start: None });
}

#[tokio::test]
async fn a_checkpoint_is_shown_by_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(open(dir.path()).await.to_string(), dir.path().display().to_string());
}

#[tokio::test]
async fn damage_a_rival_and_failing_storage_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(dir.path()).await, open(dir.path()).await);
    a.mark(0).await.unwrap();
    let rival = b.mark(0).await.unwrap_err();
    assert!(rival.is_held() && !rival.is_damage(), "{rival}");

    write(&dir, "commits/0", "v9\n{}");
    let damage = a.state().await.unwrap_err();
    assert!(damage.is_damage() && !damage.is_held(), "{damage}");

    write(&dir, "outcome", "a file where the folder should be");
    let storage = a.log_outcome(1, &"x").await.unwrap_err();
    assert!(!storage.is_damage() && !storage.is_held(), "{storage}");
}

#[test]
fn steps_are_shown_by_the_names_that_failpoints_use() {
    let shown: Vec<_> = Step::ALL.iter().map(ToString::to_string).collect();
    let names = ["plan", "log_range", "write_files", "log_outcome", "commit_quarantine", "commit_table", "mark"];
    assert_eq!(shown, names);
}
