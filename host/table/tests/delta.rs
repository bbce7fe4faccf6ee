//! The Delta form: what stands in the log, other writers, other tables.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use common::faulty::{Fault, Faulty};
use common::{batch, files, log, note, spec, store, table, visible_ids};
use crisol_table::{CommitOutcome, Table, TableError, TableSpec, TableWriter};
use serde_json::{Value, json};

fn mismatch(error: TableError) -> (String, String) {
    match error {
        TableError::Mismatch { what, hint, .. } => (what, hint),
        other => panic!("expected a mismatch, got {other}"),
    }
}

async fn refused(spec: &TableSpec) -> (String, String) {
    let opened = Table::open_or_create(spec, &store(Path::new(&spec.path))).await;
    mismatch(opened.expect_err("this table must be refused"))
}

fn action<'a>(entry: &'a [Value], name: &str) -> Vec<&'a Value> {
    entry.iter().filter_map(|line| line.get(name)).collect()
}

/// Puts an entry as another engine would.
fn foreign(folder: &Path, version: usize, actions: &[Value]) {
    let text: String = actions.iter().map(|a| format!("{a}\n")).collect();
    std::fs::write(folder.join(format!("_delta_log/{version:020}.json")), text).unwrap();
}

fn foreign_append() -> Vec<Value> {
    vec![json!({"commitInfo": {"operation": "WRITE"}}), json!({"txn": {"appId": "spark", "version": 9}})]
}

fn lines(actions: &[Value]) -> Bytes {
    actions.iter().map(|a| format!("{a}\n")).collect::<String>().into()
}

#[tokio::test(flavor = "multi_thread")]
async fn r008_t129_a_new_table_has_checkpoints_every_10_and_no_cleanup_on_the_side() {
    let folder = tempfile::tempdir().unwrap();
    table(&spec(folder.path())).await;

    let entry = &log(folder.path())[0];
    let metadata = action(entry, "metaData");

    assert_eq!(metadata.len(), 1, "T-130: one metaData in a commit");
    assert_eq!(metadata[0]["configuration"]["delta.checkpointInterval"], "10");
    assert_eq!(metadata[0]["configuration"]["delta.enableExpiredLogCleanup"], "false");
    assert_eq!(action(entry, "protocol")[0], &json!({"minReaderVersion": 1, "minWriterVersion": 2}));
    let schema: Value = serde_json::from_str(metadata[0]["schemaString"].as_str().unwrap()).unwrap();
    assert_eq!(schema["fields"][0], json!({"name": "id", "type": "long", "nullable": false, "metadata": {}}));
    assert_eq!(schema["fields"][1]["metadata"], json!({"comment": "where it was played"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn d013_commit_info_says_what_was_written_and_by_whom() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    let outcome = table.commit(&files(&table, &[1, 2, 3]), &batch("q", 4), &note("plays", 4)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });

    let entry = &log(folder.path())[1];
    let info = action(entry, "commitInfo")[0];

    assert_eq!(info["operation"], "STREAMING UPDATE");
    assert_eq!(info["operationParameters"], json!({"outputMode": "Append", "queryId": "q", "epochId": "4"}));
    assert_eq!(info["isBlindAppend"], true);
    assert_eq!(info["readVersion"], 0);
    assert_eq!(info["crisol"]["stream"], "plays");
    assert_eq!(info["crisol"]["batch"], 4);
    assert_eq!(info["crisol"]["range"], json!({"plays": {"0": [0, 3]}}));
    assert_eq!(info["crisol"]["components"], json!({"json@1.0.0": "ab12"}));
    assert_eq!(info["crisol"]["accounts"]["written"], 3);
    assert_eq!(action(entry, "txn").len(), 1);
    assert_eq!(action(entry, "txn")[0]["appId"], "q");
    assert_eq!(action(entry, "txn")[0]["version"], 4);
    assert!(action(entry, "protocol").is_empty() && action(entry, "metaData").is_empty());
    let stats: Value = serde_json::from_str(action(entry, "add")[0]["stats"].as_str().unwrap()).unwrap();
    assert_eq!(stats["numRecords"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn d060_a_foreign_append_in_between_moves_the_commit_up() {
    let folder = tempfile::tempdir().unwrap();
    let (store, faults) = Faulty::wrap(store(folder.path()));
    let table = Table::open_or_create(&spec(folder.path()), &store).await.unwrap();
    let pending = files(&table, &[1]);
    faults.next(Fault::Rival(lines(&foreign_append())));

    let outcome = table.commit(&pending, &batch("q", 0), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::Committed { version: 2 });
    assert_eq!(action(&log(folder.path())[2], "commitInfo")[0]["readVersion"], 1);
    assert_eq!(visible_ids(folder.path()).await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d003_the_same_batch_by_another_host_between_look_and_put_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (store, faults) = Faulty::wrap(store(folder.path()));
    let table = Table::open_or_create(&spec(folder.path()), &store).await.unwrap();
    let pending = files(&table, &[1]);
    faults.next(Fault::Rival(lines(&[json!({"txn": {"appId": "q", "version": 0}})])));

    let outcome = table.commit(&pending, &batch("q", 0), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::AlreadyCommitted { version: 1 });
    assert_eq!(log(folder.path()).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn d069_an_own_entry_reported_as_existing_is_known_by_its_token() {
    for fault in [Fault::ToldToExist, Fault::AnswerLost] {
        let folder = tempfile::tempdir().unwrap();
        let (store, faults) = Faulty::wrap(store(folder.path()));
        let table = Table::open_or_create(&spec(folder.path()), &store).await.unwrap();
        let pending = files(&table, &[1]);
        faults.next(fault.clone());

        let outcome = table.commit(&pending, &batch("q", 0), &note("s", 0)).await.unwrap();

        assert_eq!(outcome, CommitOutcome::Committed { version: 1 }, "{fault:?}");
        assert_eq!(visible_ids(folder.path()).await, [1], "{fault:?}");
        assert_eq!(table.transaction("q").await.unwrap(), Some(0), "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r032_transaction_sees_what_others_committed() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    assert_eq!(table.transaction("spark").await.unwrap(), None);

    foreign(folder.path(), 1, &foreign_append());

    assert_eq!(table.transaction("spark").await.unwrap(), Some(9));
    assert_eq!(table.latest_version().await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn d026_a_foreign_change_of_columns_stops_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    assert_eq!(table.transaction("q").await.unwrap(), None);
    let mut metadata = action(&log(folder.path())[0], "metaData")[0].clone();
    let fields = json!({"type": "struct", "fields": [
        {"name": "id", "type": "string", "nullable": true, "metadata": {}},
        {"name": "country", "type": "string", "nullable": true, "metadata": {}}]});
    metadata["schemaString"] = fields.to_string().into();
    foreign(folder.path(), 1, &[json!({"metaData": metadata})]);

    for _ in 0..2 {
        let pending = files(&table, &[1]);
        let failed = table.commit(&pending, &batch("q", 0), &note("s", 0)).await;
        let (what, _) = mismatch(failed.expect_err("the columns have changed"));
        assert!(what.contains("column `id` is string in the table, the contract says long"), "{what}");
    }
    assert_eq!(log(folder.path()).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_change_of_properties_is_no_reason_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    let mut metadata = action(&log(folder.path())[0], "metaData")[0].clone();
    metadata["configuration"]["owner"] = "analytics".into();
    foreign(folder.path(), 1, &[json!({"metaData": metadata})]);

    let outcome = table.commit(&files(&table, &[1]), &batch("q", 0), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::Committed { version: 2 });
}

#[tokio::test(flavor = "multi_thread")]
async fn r025_a_table_made_anew_under_a_writer_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let first = table(&spec(folder.path())).await;
    let outcome = first.commit(&files(&first, &[1]), &batch("q", 0), &note("s", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    std::fs::remove_dir_all(folder.path().join("_delta_log")).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    table(&spec(folder.path())).await;

    let failed = first.commit(&[], &batch("q", 1), &note("s", 1)).await;

    let (what, _) = mismatch(failed.expect_err("another table lies there"));
    assert!(what.starts_with("the table was replaced"), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r033_t123_d071_of_two_creators_one_creates_and_both_write_to_the_same_table() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(folder.path());
        let (a, b) = tokio::join!(table(&spec), table(&spec));

        assert_eq!(a.id().await, b.id().await);
        let created = log(folder.path());
        assert_eq!(created.len(), 1, "the loser puts no protocol and metaData of its own");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d071_the_loser_of_a_creation_race_is_refused_when_the_winner_has_other_columns() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let mut theirs = spec(other.path());
    theirs.schema = std::sync::Arc::new(Schema::new(vec![Field::new("x", DataType::Int32, true)]));
    table(&theirs).await;
    let entry = std::fs::read(other.path().join("_delta_log/00000000000000000000.json")).unwrap();
    let (store, faults) = Faulty::wrap(store(folder.path()));
    faults.next(Fault::Rival(entry.into()));

    let failed = Table::open_or_create(&spec(folder.path()), &store).await;

    let (what, _) = mismatch(failed.expect_err("the winner's table is another"));
    assert!(what.contains("column `id long` is new, the table has none"), "{what}");
    assert_eq!(log(folder.path()).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r033_a_creation_whose_answer_was_lost_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (store, faults) = Faulty::wrap(store(folder.path()));
    faults.next(Fault::AnswerLost);

    let table = Table::open_or_create(&spec(folder.path()), &store).await.unwrap();

    assert_eq!(table.latest_version().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_holds_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();

    let (what, hint) = refused(&spec(folder.path())).await;

    assert_eq!(what, "the folder is not empty and holds no Delta table (found `notes.txt`)");
    assert_eq!(hint, "give the table another `path`, or empty the folder");
    assert!(!folder.path().join("_delta_log").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_table_at_the_path_is_refused_with_every_difference() {
    let folder = tempfile::tempdir().unwrap();
    let mut theirs = spec(folder.path());
    theirs.schema = std::sync::Arc::new(Schema::new(vec![
        Field::new("ID", DataType::Int64, false),
        Field::new("country", DataType::Utf8, false),
        Field::new("extra", DataType::Utf8, true),
    ]));
    table(&theirs).await;

    let (what, _) = refused(&spec(folder.path())).await;

    assert_eq!(
        what,
        "its columns are not the contract's: column `id` is written `ID` in the table; column `country` is NOT NULL in \
         the table, the contract allows null; column `extra string` of the table is not in the contract"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn d020_a_changed_contract_is_refused_with_the_column_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    table(&spec(folder.path())).await;
    let columns = |change: Vec<Field>| {
        let mut changed = spec(folder.path());
        changed.schema = std::sync::Arc::new(Schema::new(change));
        changed
    };
    let (id, country) = (Field::new("id", DataType::Int64, true), Field::new("country", DataType::Utf8, true));
    let id = id.with_nullable(spec(folder.path()).schema.field(0).is_nullable());
    for (change, expected) in [
        (
            vec![id.clone(), country.clone(), Field::new("price", DataType::Decimal128(9, 2), true)],
            "column `price decimal(9,2)` is new, the table has none",
        ),
        (vec![id.clone()], "column `country string` of the table is not in the contract"),
        (
            vec![id.clone(), country.with_data_type(DataType::Int32)],
            "column `country` is string in the table, the contract says integer",
        ),
    ] {
        let (what, hint) = refused(&columns(change)).await;
        assert_eq!(what, format!("its columns are not the contract's: {expected}"));
        assert!(hint.contains("another `path`") && hint.contains("set the table"), "{hint}");
    }
    assert_eq!(log(folder.path()).len(), 1, "nothing is written");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_in_another_order_are_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    table(&spec(folder.path())).await;
    let mut turned = spec(folder.path());
    turned.schema = std::sync::Arc::new(turned.schema.project(&[1, 0]).unwrap());

    let opened = table(&turned).await;

    assert_eq!(opened.schema(), turned.schema);
}

#[tokio::test(flavor = "multi_thread")]
async fn d025_another_partitioning_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    table(&spec(folder.path())).await;

    let (what, _) = refused(&common::partitioned(folder.path())).await;

    assert_eq!(what, "it is partitioned by nothing, the contract says `country`");
}

#[tokio::test(flavor = "multi_thread")]
async fn d088_r019_foreign_features_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    table(&spec(folder.path())).await;
    let features = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors", "appendOnly", "rowTracking", "domainMetadata"]}});
    foreign(folder.path(), 1, &[features]);

    let (what, hint) = refused(&spec(folder.path())).await;

    assert_eq!(
        what,
        "it needs table features that this host does not write: `deletionVectors`, `domainMetadata`, `rowTracking`"
    );
    assert!(hint.contains("DROP FEATURE"), "{hint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d088_a_feature_nobody_knows_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    assert_eq!(table.transaction("q").await.unwrap(), None);
    let features =
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["sortedByMoon"]}});
    foreign(folder.path(), 1, &[features]);

    let failed = table.commit(&[], &batch("q", 0), &note("s", 0)).await;

    let (what, _) = mismatch(failed.expect_err("the table needs what we do not know"));
    assert!(what.ends_with("`sortedByMoon`"), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d081_d083_d087_what_a_foreign_engine_asks_of_writers_is_refused_by_name() {
    let own = json!({"type": "long", "name": "id", "nullable": false});
    let with = |key: &str| {
        let mut field = own.clone();
        field["metadata"] = json!({ key: "1" });
        field
    };
    let plain = json!({"type": "long", "name": "id", "nullable": false, "metadata": {}});
    for (field, property, expected) in [
        (plain.clone(), Some(("delta.constraints.positive", "id > 0")), "`delta.constraints.positive` = `id > 0`"),
        (plain.clone(), Some(("delta.columnMapping.mode", "name")), "`delta.columnMapping.mode` = `name`"),
        (with("delta.invariants"), None, "column `id` has `delta.invariants`"),
        (with("delta.generationExpression"), None, "column `id` has `delta.generationExpression`"),
        (with("delta.identity.start"), None, "column `id` has `delta.identity.start`"),
        (plain, Some(("delta.columnMapping.mode", "none")), ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        table(&spec(folder.path())).await;
        let mut metadata = action(&log(folder.path())[0], "metaData")[0].clone();
        let mut schema: Value = serde_json::from_str(metadata["schemaString"].as_str().unwrap()).unwrap();
        schema["fields"][0] = field;
        metadata["schemaString"] = schema.to_string().into();
        if let Some((key, value)) = property {
            metadata["configuration"][key] = value.into();
        }
        foreign(folder.path(), 1, &[json!({"metaData": metadata})]);
        if expected.is_empty() {
            table(&spec(folder.path())).await;
            continue;
        }
        let (what, _) = refused(&spec(folder.path())).await;
        assert!(what.contains(expected), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_partition_columns_alone_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path());
    spec.partition_by = vec!["id".to_string(), "country".to_string()];

    let (what, _) = refused(&spec).await;

    assert_eq!(what, "every column is a partition column");
    assert!(!folder.path().join("_delta_log").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn r019_t134_d061_d008_properties_that_lie_or_hurt_are_refused_at_creation() {
    let cases = [
        ("delta.enableRowTracking", "true", "needs a table feature"),
        ("delta.enableInCommitTimestamps", "true", "needs a table feature"),
        ("delta.columnMapping.mode", "name", "needs a table feature"),
        ("delta.isolationLevel", "WriteSerializable", "must be `Serializable`"),
        ("delta.setTransactionRetentionDuration", "interval 1 day", "a batch could land twice"),
        ("delta.checkpointInterval", "100", "is always `10`"),
    ];
    for (key, value, why) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = spec(folder.path());
        spec.properties.insert(key.to_string(), value.to_string());

        let (what, _) = refused(&spec).await;

        assert!(what.contains(key) && what.contains(why), "{what}");
        assert!(!folder.path().join("_delta_log").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d023_names_that_delta_cannot_keep_apart_or_store_are_refused() {
    for (other, why) in [("Id", "differ only in case"), ("my id", "cannot be the name of a column")] {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = spec(folder.path());
        let fields = vec![Field::new("id", DataType::Int64, false), Field::new(other, DataType::Utf8, true)];
        spec.schema = std::sync::Arc::new(Schema::new(fields));

        let (what, _) = refused(&spec).await;

        assert!(what.contains(why), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d104_a_log_checkpoint_follows_every_tenth_version_and_replays_to_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let first = table(&spec(folder.path())).await;
    for number in 0..10 {
        let outcome = first.commit(&files(&first, &[number]), &batch("q", number), &note("s", 0)).await.unwrap();
        assert_eq!(outcome, CommitOutcome::Committed { version: number + 1 });
    }
    let hint = folder.path().join("_delta_log/_last_checkpoint");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !hint.exists() {
        assert!(Instant::now() < deadline, "no log checkpoint within 30 s of version 10");
        tokio::task::yield_now().await;
    }
    // What the checkpoint holds must do alone.
    for version in 0..10 {
        std::fs::remove_file(folder.path().join(format!("_delta_log/{version:020}.json"))).unwrap();
    }

    let reopened = table(&spec(folder.path())).await;

    assert_eq!(reopened.latest_version().await.unwrap(), 10);
    assert_eq!(reopened.transaction("q").await.unwrap(), Some(9));
    assert_eq!(visible_ids(folder.path()).await, (0..10).collect::<Vec<i64>>());
    let outcome = reopened.commit(&files(&reopened, &[10]), &batch("q", 10), &note("s", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 11 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_slept_while_the_log_was_cleaned_up_does_not_commit_into_the_past() {
    // The version at which it slept is gone, too; or it is the only one that is left.
    for first_removed in [0, 1] {
        slept_while_the_log_was_cleaned_up(first_removed).await;
    }
}

async fn slept_while_the_log_was_cleaned_up(first_removed: i64) {
    let folder = tempfile::tempdir().unwrap();
    let sleeper = table(&spec(folder.path())).await;
    assert_eq!(sleeper.transaction("q").await.unwrap(), None);
    let other = table(&spec(folder.path())).await;
    for number in 0..10 {
        let outcome = other.commit(&files(&other, &[number]), &batch("q", number), &note("s", 0)).await.unwrap();
        assert_eq!(outcome, CommitOutcome::Committed { version: number + 1 });
    }
    let hint = folder.path().join("_delta_log/_last_checkpoint");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !hint.exists() {
        assert!(Instant::now() < deadline, "no log checkpoint within 30 s of version 10");
        tokio::task::yield_now().await;
    }
    for version in first_removed..10 {
        std::fs::remove_file(folder.path().join(format!("_delta_log/{version:020}.json"))).unwrap();
    }

    assert_eq!(sleeper.transaction("q").await.unwrap(), Some(9));
    let outcome = sleeper.commit(&files(&sleeper, &[10]), &batch("q", 10), &note("s", 0)).await.unwrap();

    assert_eq!(outcome, CommitOutcome::Committed { version: 11 });
    assert!(!folder.path().join(format!("_delta_log/{:020}.json", 1)).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_this_stream_under_another_checkpoint_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    assert!(!table.holds_rows_of("plays", "new").await.unwrap(), "an empty table holds nothing");
    let outcome = table.commit(&files(&table, &[1]), &batch("old", 0), &note("plays", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });

    assert!(table.holds_rows_of("plays", "new").await.unwrap());
    assert!(!table.holds_rows_of("plays", "old").await.unwrap(), "its own rows are no surprise");
    assert!(!table.holds_rows_of("another", "new").await.unwrap(), "another stream may share the table");
}

#[tokio::test(flavor = "multi_thread")]
async fn summary_and_newest_rows_are_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&common::partitioned(folder.path())).await;
    for (number, ids) in [[1, 2, 3], [4, 5, 6]].iter().enumerate() {
        let outcome = table.commit(&files(&table, ids), &batch("q", number as i64), &note("s", 0)).await.unwrap();
        assert_eq!(outcome, CommitOutcome::Committed { version: number as i64 + 1 });
    }

    let summary = table.summary().await.unwrap();
    assert_eq!((summary.version, summary.files, summary.rows), (2, 6, Some(6)));
    assert!(summary.bytes > 0);

    let all = table.read_rows(10, &[]).await.unwrap();
    let all = arrow_select::concat::concat_batches(&common::schema(), &all).unwrap();
    let mut found: Vec<(i64, Option<String>)> = (0..all.num_rows())
        .map(|row| {
            use arrow_array::{Array, cast::AsArray, types::Int64Type};
            let country = all.column(1).as_string::<i32>();
            let value = (!country.is_null(row)).then(|| country.value(row).to_string());
            (all.column(0).as_primitive::<Int64Type>().value(row), value)
        })
        .collect();
    found.sort();
    let country = |id: i64| [Some("ES"), Some("FR"), None][id as usize % 3].map(str::to_string);
    assert_eq!(found, (1..=6).map(|id| (id, country(id))).collect::<Vec<_>>());

    let few = table.read_rows(2, &["country".to_string()]).await.unwrap();
    assert_eq!(few.iter().map(|b| b.num_rows()).sum::<usize>(), 2);
    assert_eq!(few[0].num_columns(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_without_a_table_is_none_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();

    let opened = Table::open(&spec(folder.path()), &store(folder.path())).await.unwrap();

    assert!(opened.is_none());
    assert!(!folder.path().join("_delta_log").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn r034_a_commit_asks_the_store_as_often_after_50_versions_as_after_one() {
    let folder = tempfile::tempdir().unwrap();
    let (store, watched) = Faulty::wrap(store(folder.path()));
    let table = Table::open_or_create(&spec(folder.path()), &store).await.unwrap();
    let neighbour = common::table(&spec(folder.path())).await;
    assert_eq!(table.transaction("q").await.unwrap(), None);
    let mut asked = Vec::new();
    for number in 0..3 {
        // Two in a row: the second stands on what the first left.
        for batch_number in [number * 2, number * 2 + 1] {
            let (pending, before) = (files(&table, &[batch_number]), watched.calls());
            let outcome = table.commit(&pending, &batch("q", batch_number), &note("s", 0)).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed { .. }));
            asked.push(watched.calls() - before);
        }

        for other in 0..25 {
            let outcome = neighbour.commit(&[], &batch("n", number * 25 + other), &note("n", 0)).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed { .. }));
        }
        assert_eq!(table.transaction("q").await.unwrap(), Some(number * 2 + 1));
    }

    assert_eq!(table.latest_version().await.unwrap(), 81);
    assert!(asked.iter().all(|calls| *calls <= 4), "calls of the store per commit: {asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clear_takes_out_every_file_whatever_its_path_looks_like() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&common::partitioned(folder.path())).await;
    let countries = ["ES", "a/b=c d%20", "ñandú", "x'y\"z", "#?[]", " lead", "a+b", "a&b;c,d", "~!@$()"];
    let ids: Vec<i64> = (0..countries.len() as i64).collect();
    let columns: Vec<arrow_array::ArrayRef> = vec![
        std::sync::Arc::new(arrow_array::Int64Array::from(ids)),
        std::sync::Arc::new(arrow_array::StringArray::from(countries.to_vec())),
    ];
    let mut writer = table.writer().unwrap();
    writer.write(&arrow_array::RecordBatch::try_new(common::schema(), columns).unwrap()).unwrap();
    let pending = writer.finish().unwrap();
    let outcome = table.commit(&pending, &batch("old", 0), &note("plays", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    assert_eq!(visible_ids(folder.path()).await.len(), countries.len());

    table.clear("plays", &[]).await.unwrap();

    assert_eq!(table.summary().await.unwrap().files, 0);
    assert!(visible_ids(folder.path()).await.is_empty());
    assert!(!table.holds_rows_of("plays", "new").await.unwrap());
    let outcome = table.commit(&files(&table, &[7]), &batch("new", 0), &note("plays", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 3 });
    assert_eq!(visible_ids(folder.path()).await, [7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn clear_leaves_the_rows_of_other_streams() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    for (number, stream) in ["mine", "theirs", "mine"].iter().enumerate() {
        let pending = files(&table, &[number as i64]);
        let outcome = table.commit(&pending, &batch(stream, number as i64), &note(stream, 0)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed { .. }));
    }

    table.clear("mine", &[]).await.unwrap();

    assert_eq!(visible_ids(folder.path()).await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn clear_closes_the_table_to_a_host_that_still_works_with_the_discarded_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let old = table(&spec(folder.path())).await;
    let outcome = old.commit(&files(&old, &[1]), &batch("old", 0), &note("mine", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    let pending = files(&old, &[2]);

    let new = table(&spec(folder.path())).await;
    new.clear("mine", &["old".to_string()]).await.unwrap();

    let late = old.commit(&pending, &batch("old", 1), &note("mine", 1)).await.unwrap();
    assert_eq!(late, CommitOutcome::AlreadyCommitted { version: 2 });
    let outcome = new.commit(&files(&new, &[3]), &batch("new", 0), &note("mine", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 3 });
    assert_eq!(visible_ids(folder.path()).await, [3]);

    // Also when there is nothing to take out yet.
    let other = tempfile::tempdir().unwrap();
    let empty = table(&spec(other.path())).await;
    empty.clear("mine", &["old".to_string()]).await.unwrap();
    let late = empty.commit(&files(&empty, &[1]), &batch("old", 0), &note("mine", 0)).await.unwrap();
    assert_eq!(late, CommitOutcome::AlreadyCommitted { version: 1 });
}

#[tokio::test(flavor = "multi_thread")]
async fn clear_removes_nothing_when_another_engine_may_have_rewritten_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    let pending = files(&table, &[1]);
    let outcome = table.commit(&pending, &batch("q", 0), &note("mine", 0)).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed { version: 1 });
    let mut compacted = action(&log(folder.path())[1], "add")[0].clone();
    let removed = json!({"remove": {"path": compacted["path"], "deletionTimestamp": 1, "dataChange": false}});
    std::fs::copy(folder.path().join(pending[0].path.as_str()), folder.path().join("big.parquet")).unwrap();
    compacted["path"] = "big.parquet".into();
    compacted["dataChange"] = false.into();
    foreign(folder.path(), 2, &[json!({"commitInfo": {"operation": "OPTIMIZE"}}), removed, json!({"add": compacted})]);

    let (what, _) = mismatch(table.clear("mine", &[]).await.expect_err("whose rows these are is not known"));

    assert!(what.contains("`big.parquet`"), "{what}");
    assert_eq!(visible_ids(folder.path()).await, [1]);
}
