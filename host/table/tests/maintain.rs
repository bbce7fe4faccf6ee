//! Compaction: no row changes, whatever else happens to the table meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeListArray, Float64Array, Int64Array,
    ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use common::faulty::{Fault, Faulty};
use common::{batch, files, log, note, partitioned, rows, spec, store, table};
use crisol_table::{Compaction, KeepFiles, Table, TableError, TableSpec, TableWriter};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

/// The `add` of each live file, in the order of the log: replayed here.
fn live(folder: &Path) -> Vec<Value> {
    let mut live: Vec<Value> = Vec::new();
    for action in log(folder).into_iter().flatten() {
        if let Some(remove) = action.get("remove") {
            live.retain(|add| add["path"] != remove["path"]);
        }
        live.extend(action.get("add").cloned());
    }
    live
}

/// Ids and countries of a table, as another reader finds them: file by file, rows in order.
fn seen(folder: &Path) -> Vec<(i64, Option<String>)> {
    let of_file = |add: Value| {
        let file = std::fs::File::open(folder.join(add["path"].as_str().unwrap())).unwrap();
        let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batches: Vec<RecordBatch> = batches.map(Result::unwrap).collect();
        let stats: Value = serde_json::from_str(add["stats"].as_str().unwrap()).unwrap();
        let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(stats["numRecords"], found, "{add}");
        batches.into_iter().flat_map(move |rows| countries(&rows, &add["partitionValues"])).collect::<Vec<_>>()
    };
    live(folder).into_iter().flat_map(of_file).collect()
}

fn countries(rows: &RecordBatch, partition: &Value) -> Vec<(i64, Option<String>)> {
    let ids = rows.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec();
    let country = |row| match (partition.get("country"), rows.column_by_name("country")) {
        (Some(value), _) => value.as_str().map(str::to_string),
        (None, Some(column)) => column.as_string::<i32>().iter().nth(row).unwrap().map(str::to_string),
        (None, None) => panic!("no country"),
    };
    ids.into_iter().enumerate().map(|(row, id)| (id, country(row))).collect()
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

fn expected(ids: &[i64]) -> Vec<(i64, Option<String>)> {
    sorted(countries(&rows(ids), &json!({})))
}

async fn append(table: &Table, stream: &str, number: i64, ids: &[i64]) {
    let _ = table.commit(&files(table, ids), &batch(stream, number), &note(stream, 0)).await.unwrap();
}

/// Files of one row each.
async fn with_files(spec: &TableSpec, ids: &[i64]) -> Table {
    let table = table(spec).await;
    for (number, id) in (0..).zip(ids) {
        append(&table, "plays", number, &[*id]).await;
    }
    table
}

fn parquet_files(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "parquet")).count()
}

fn lines(actions: &[Value]) -> Bytes {
    actions.iter().map(|a| format!("{a}\n")).collect::<String>().into()
}

/// A table whose next put goes wrong as told.
async fn faulty(spec: &TableSpec) -> (Table, Faulty) {
    let (store, faulty) = Faulty::wrap(store(Path::new(&spec.path)));
    (Table::open(spec, &store).await.unwrap().unwrap(), faulty)
}

#[tokio::test(flavor = "multi_thread")]
async fn d102_small_files_become_one_with_the_same_rows_in_the_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let table = with_files(&spec(folder.path()), &[5, 3, 9, 1]).await;
    let before = seen(folder.path());

    let planned = table.compactable().await.unwrap();
    let done = table.compact().await.unwrap();

    assert_eq!((planned.version, planned.files_before, planned.files_after), (4, 4, 1));
    assert_eq!((done.version, done.files_before, done.files_after), (5, 4, 1));
    assert_eq!(done.bytes_before, planned.bytes_before);
    let size = live(folder.path())[0]["size"].as_u64();
    assert_eq!((done.bytes_after, planned.bytes_after), (size, None));
    assert_eq!(seen(folder.path()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn d102_run_again_it_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let table = with_files(&partitioned(folder.path()), &[0, 1, 2, 3, 4]).await;
    let first = table.compact().await.unwrap();
    let second = table.compact().await.unwrap();
    assert_eq!((first.files_before, first.files_after), (5, 3));
    assert_eq!(second, Compaction { files_before: 3, bytes_before: first.bytes_after.unwrap(), ..first });
    assert_eq!(log(folder.path()).len(), 7, "entry 0, five batches and one compaction");
    assert_eq!(sorted(seen(folder.path())), expected(&[0, 1, 2, 3, 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn d125_every_action_says_that_no_row_changes_and_the_entry_names_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let table = with_files(&spec(folder.path()), &[1, 2]).await;
    let paths: Vec<Value> = live(folder.path()).iter().map(|add| add["path"].clone()).collect();
    table.compact().await.unwrap();
    let entry = log(folder.path()).pop().unwrap();
    let of = |name: &str| entry.iter().filter_map(|action| action.get(name).cloned()).collect::<Vec<Value>>();
    let removed: Vec<Value> = of("remove").iter().map(|remove| remove["path"].clone()).collect();
    assert_eq!(removed, paths);
    assert!(of("remove").iter().chain(&of("add")).all(|action| action["dataChange"] == false), "{entry:?}");
    assert_eq!((of("add").len(), of("txn").len(), of("cdc").len()), (1, 0, 0));
    let info = &of("commitInfo")[0];
    assert_eq!((&info["operation"], &info["crisol"]["stream"]), (&json!("OPTIMIZE"), &json!("plays")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_own_target_size_counts() {
    let folder = tempfile::tempdir().unwrap();
    let properties = [("delta.targetFileSize".to_string(), "4k".to_string())].into();
    let table = with_files(&TableSpec { properties, ..spec(folder.path()) }, &(0..20).collect::<Vec<_>>()).await;
    let before: u64 = live(folder.path()).iter().map(|add| add["size"].as_u64().unwrap()).sum();
    let done = table.compact().await.unwrap();
    assert!(done.files_after >= before / 4096 && done.files_after < 20, "{done:?} of {before} bytes");
    assert_eq!(sorted(seen(folder.path())), expected(&(0..20).collect::<Vec<_>>()));
}

#[tokio::test(flavor = "multi_thread")]
async fn d104_compactions_count_for_log_checkpoints_and_survive_them() {
    let folder = tempfile::tempdir().unwrap();
    let table = with_files(&spec(folder.path()), &(0..9).collect::<Vec<_>>()).await;
    assert_eq!(table.compact().await.unwrap().version, 10);
    table.settled().await;
    assert!(folder.path().join(format!("_delta_log/{:020}.checkpoint.parquet", 10)).exists());
    for version in 0..10 {
        std::fs::remove_file(folder.path().join(format!("_delta_log/{version:020}.json"))).unwrap();
    }
    let reopened = common::table(&spec(folder.path())).await;
    append(&reopened, "plays", 9, &[9]).await;
    assert_eq!(reopened.compact().await.unwrap().files_after, 1, "entry 10 still says whose rows these are");
    assert_eq!(common::visible_ids(folder.path()).await, (0..10).collect::<Vec<i64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn r030_what_another_writer_appends_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path());
    let writer = with_files(&spec, &[1, 2, 3]).await;
    let (compactor, faulty) = faulty(&spec).await;
    let new = files(&writer, &[4]).remove(0);
    let add = json!({"add": {
        "path": new.path, "partitionValues": {}, "size": new.size, "modificationTime": 1, "dataChange": true,
        "stats": new.stats,
    }});
    faulty.next(Fault::Rival(lines(&[json!({"commitInfo": {"operation": "WRITE"}}), add])));

    let done = compactor.compact().await.unwrap();

    assert_eq!((done.version, done.files_after), (5, 1));
    assert_eq!(live(folder.path()).len(), 2);
    assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 3, 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn r030_rows_that_another_writer_deletes_meanwhile_do_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path());
    with_files(&spec, &[1, 2, 3]).await;
    let (compactor, faulty) = faulty(&spec).await;
    let first = live(folder.path())[0]["path"].clone();
    faulty.next(Fault::Rival(lines(&[json!({"remove": {"path": first, "deletionTimestamp": 1, "dataChange": true}})])));

    let done = compactor.compact().await.unwrap();

    assert_eq!((done.version, done.files_before, done.files_after), (3, 3, 3), "it gave way");
    assert_eq!(seen(folder.path()), [(2, None), (3, Some("ES".into()))]);
    assert_eq!(parquet_files(folder.path()), 3, "what it wrote in vain is gone");
    assert_eq!(compactor.compact().await.unwrap().files_after, 1);
    assert_eq!(seen(folder.path()), [(2, None), (3, Some("ES".into()))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn t121_a_compaction_that_loses_to_another_doubles_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path());
    let writer = with_files(&spec, &[1, 2, 3]).await;
    let (compactor, faulty) = faulty(&spec).await;
    let removed = live(folder.path());
    let new = files(&writer, &[1, 2, 3]).remove(0);
    let mut actions = vec![json!({"add": {
        "path": new.path, "partitionValues": {}, "size": new.size, "modificationTime": 1, "dataChange": false,
        "stats": new.stats,
    }})];
    actions.extend(removed.iter().map(|file| json!({"remove": {"path": file["path"], "dataChange": false}})));
    faulty.next(Fault::Rival(lines(&actions)));

    let done = compactor.compact().await.unwrap();

    assert_eq!((done.version, done.files_after), (3, 3), "it gave way");
    assert_eq!(log(folder.path()).len(), 5);
    assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 3]));
}

#[tokio::test(flavor = "multi_thread")]
async fn t121_compactions_at_once_and_appends_between_them_double_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let spec = partitioned(folder.path());
    let writer = with_files(&spec, &[0, 1, 2]).await;
    let mut ids = vec![0, 1, 2];
    for round in 1..8 {
        let next: Vec<i64> = (round * 10..round * 10 + 6).collect();
        let (a, b, c) = (table(&spec).await, table(&spec).await, table(&spec).await);
        let (a, b, c, ()) =
            tokio::join!(a.compact(), b.compact(), c.compact(), append(&writer, "plays", round * 10, &next));
        for done in [a, b, c] {
            done.unwrap();
        }
        ids.extend(next);
        assert_eq!(sorted(seen(folder.path())), expected(&ids), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d069_a_compaction_whose_put_fails_leaves_the_table_and_deletes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path());
    with_files(&spec, &[1, 2, 3]).await;
    let (compactor, faulty) = faulty(&spec).await;
    faulty.next(Fault::Refused);

    assert!(matches!(compactor.compact().await, Err(TableError::External { .. })));

    assert_eq!(log(folder.path()).len(), 4);
    assert_eq!(parquet_files(folder.path()), 4, "its outcome was unknown, so what it wrote stays");
    assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 3]));
    // As after a crash at that place: the next one begins anew.
    let again = table(&spec).await.compact().await.unwrap();
    assert_eq!((again.version, again.files_after), (4, 1));
    assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 3]));
}

#[tokio::test(flavor = "multi_thread")]
async fn d069_a_compaction_whose_answer_is_lost_lands_once() {
    for fault in [Fault::AnswerLost, Fault::ToldToExist] {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(folder.path());
        with_files(&spec, &[1, 2, 3]).await;
        let (compactor, faulty) = faulty(&spec).await;
        faulty.next(fault.clone());
        let done = compactor.compact().await.unwrap();
        assert_eq!((done.version, done.files_after), (4, 1), "{fault:?}");
        assert_eq!(log(folder.path()).len(), 5, "{fault:?}");
        assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 3]), "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r031_a_file_with_other_rows_than_the_log_says_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    with_files(&spec(folder.path()), &[1, 2]).await;
    let entry = folder.path().join(format!("_delta_log/{:020}.json", 2));
    let text = std::fs::read_to_string(&entry).unwrap();
    let changed = text.replace(r#"\"numRecords\":1"#, r#"\"numRecords\":2"#);
    assert_ne!(changed, text);
    std::fs::write(&entry, changed).unwrap();
    let table = table(&spec(folder.path())).await;
    let Err(TableError::External { source: Some(source), .. }) = table.compact().await else { panic!("no error") };
    assert!(source.to_string().contains("holds 1 rows, the log says 2"), "{source}");
    assert_eq!(log(folder.path()).len(), 3, "nothing was committed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_takes_out_a_streams_compacted_rows_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(&spec(folder.path())).await;
    for number in 0..3 {
        append(&table, "mine", number, &[number]).await;
        append(&table, "other", number, &[10 + number]).await;
    }
    assert_eq!(table.compact().await.unwrap().files_after, 2);
    assert!(table.holds_rows_of("mine", "a new checkpoint").await.unwrap());
    table.clear("mine", &["mine".to_string()]).await.unwrap();
    assert_eq!(sorted(seen(folder.path())), expected(&[10, 11, 12]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_another_engine_are_never_put_together_with_those_of_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let table = with_files(&spec(folder.path()), &[1, 2]).await;
    for (version, id) in [(3, 7), (4, 8)] {
        let new = files(&table, &[id]).remove(0);
        let add = json!({"add": {
            "path": new.path, "partitionValues": {}, "size": new.size, "modificationTime": 1, "dataChange": true,
            "stats": new.stats,
        }});
        std::fs::write(folder.path().join(format!("_delta_log/{version:020}.json")), lines(&[add])).unwrap();
    }
    assert_eq!(table.compact().await.unwrap().files_after, 2);
    assert_eq!(sorted(seen(folder.path())), expected(&[1, 2, 7, 8]));
    let Err(TableError::Mismatch { what, .. }) = table.clear("plays", &[]).await else { panic!("it was cleared") };
    assert!(what.contains("no stream of this host wrote"), "{what}");
}

/// One row of every kind of type, in the partition of its time and amount.
fn every_type(id: i64) -> RecordBatch {
    let keys = StringArray::from(vec![Some("k"), None]);
    let values = BinaryArray::from_opt_vec(vec![None, Some(b"\xff\x00")]);
    let header =
        vec![Arc::new(Field::new("key", DataType::Utf8, true)), Arc::new(Field::new("value", DataType::Binary, true))];
    let headers = StructArray::new(header.clone().into(), vec![Arc::new(keys), Arc::new(values)], None);
    let element = Arc::new(Field::new("element", DataType::Struct(header.into()), true));
    let headers = ListArray::from(FixedSizeListArray::new(element, 2, Arc::new(headers), None));
    let mut counts = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    counts.keys().append_value("plays");
    counts.values().append_option((id != 2).then_some(7));
    counts.append(true).unwrap();
    let time = TimestampMicrosecondArray::from(vec![(id != 3).then_some(1_700_000_000_000_001 + id % 2)]);
    let columns: [(&str, ArrayRef); 9] = [
        ("id", Arc::new(Int64Array::from(vec![id]))),
        ("at", Arc::new(time.with_timezone("UTC"))),
        ("amount", Arc::new(Decimal128Array::from(vec![-1_250]).with_precision_and_scale(18, 2).unwrap())),
        ("day", Arc::new(Date32Array::from(vec![(id != 1).then_some(19_782)]))),
        ("share", Arc::new(Float64Array::from(vec![[f64::NAN, -0.0, 0.1][id as usize % 3]]))),
        ("heard", Arc::new(BooleanArray::from(vec![id == 1]))),
        ("payload", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\x00raw")]))),
        ("headers", Arc::new(headers)),
        ("counts", Arc::new(counts.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_every_type_and_partition_are_the_same_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let spec = TableSpec {
        schema: every_type(0).schema(),
        partition_by: vec!["at".into(), "amount".into()],
        ..spec(folder.path())
    };
    let table = table(&spec).await;
    for number in 0..8 {
        let mut writer = table.writer().unwrap();
        writer.write(&every_type(number % 4)).unwrap();
        let files = writer.finish().unwrap();
        let _ = table.commit(&files, &batch("q", number), &note("q", 0)).await.unwrap();
    }
    let found = Table::find(&spec.name, &spec.path, &store(folder.path())).await.unwrap().unwrap();
    let read = async || {
        let read = found.read_rows(100, &[]).await.unwrap();
        let rows = read.iter().flat_map(|rows| (0..rows.num_rows()).map(|row| format!("{:?}", rows.slice(row, 1))));
        sorted(rows.collect::<Vec<_>>())
    };
    let before = read().await;
    assert_eq!(before.len(), 8);
    assert_eq!(found.compact().await.unwrap().files_after, 3, "two times, and none");
    assert_eq!(read().await, before);
}

#[derive(Debug, Default)]
struct Keeper(Mutex<Vec<PathBuf>>);

impl KeepFiles for Keeper {
    fn file_bytes_max(&self) -> usize {
        1 << 20
    }

    fn keep(&self, file: PathBuf, _rows: Vec<RecordBatch>, _bytes: usize) {
        self.0.lock().unwrap().push(file);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compacted_files_are_not_kept_for_the_streams_below() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = Arc::new(Keeper::default());
    let table = table(&spec(folder.path())).await.handing_over(keeper.clone());
    append(&table, "plays", 0, &[1]).await;
    append(&table, "plays", 1, &[2]).await;
    assert_eq!(table.compact().await.unwrap().files_after, 1);
    assert_eq!(keeper.0.lock().unwrap().len(), 2, "those of the appends");
}

mod random {
    use crisol_table::WriteMode;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        /// Rows by one of two streams.
        Append(bool, Vec<i64>),
        Compact,
    }

    #[derive(Debug, Clone)]
    enum Change {
        /// Id, sequence, and whether the row goes.
        Upsert(Vec<(i64, i64, bool)>),
        Compact,
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (any::<bool>(), vec(0..50_i64, 1..8)).prop_map(|(stream, ids)| Step::Append(stream, ids)),
            1 => Just(Step::Compact),
        ]
    }

    fn change() -> impl Strategy<Value = Change> {
        let event = (0..12_i64, 0..6_i64, prop::bool::weighted(0.2));
        prop_oneof![2 => vec(event, 1..6).prop_map(Change::Upsert), 1 => Just(Change::Compact)]
    }

    /// As upkeep opens it: without its contract.
    async fn compact(spec: &TableSpec) -> Compaction {
        let found = Table::find(&spec.name, &spec.path, &store(Path::new(&spec.path))).await.unwrap().unwrap();
        let done = found.compact().await.unwrap();
        found.settled().await;
        done
    }

    async fn appends(spec: TableSpec, steps: Vec<Step>) {
        let table = table(&spec).await;
        let mut ids = Vec::new();
        for (number, step) in (0..).zip(steps) {
            match step {
                Step::Append(stream, new) => {
                    append(&table, ["a", "b"][usize::from(stream)], number, &new).await;
                    ids.extend(new);
                }
                Step::Compact => {
                    let done = compact(&spec).await;
                    assert!(done.files_after <= 2 * 3, "{done:?}");
                }
            }
            assert_eq!(sorted(seen(Path::new(&spec.path))), expected(&ids));
        }
        table.settled().await;
    }

    fn upserted(folder: &Path, partition: bool) -> TableSpec {
        let fields =
            ["id", "seq", "place"].map(|name| arrow_schema::Field::new(name, arrow_schema::DataType::Int64, false));
        let country = common::schema().field(1).clone();
        TableSpec {
            schema: Arc::new(arrow_schema::Schema::new([fields.to_vec(), vec![country]].concat())),
            partition_by: if partition { vec!["country".into()] } else { Vec::new() },
            write: WriteMode::Upsert {
                keys: vec!["id".into()],
                sequence_by: vec!["seq".into()],
                position: vec!["place".into()],
            },
            ..spec(folder)
        }
    }

    fn events(table: &Table, events: &[(i64, i64, i64, bool)]) -> RecordBatch {
        let ids: Vec<i64> = events.iter().map(|event| event.0).collect();
        let country = rows(&ids).column(1).as_string::<i32>().iter().collect::<StringArray>();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(ids)),
            Arc::new(events.iter().map(|event| Some(event.1)).collect::<Int64Array>()),
            Arc::new(events.iter().map(|event| Some(event.2)).collect::<Int64Array>()),
            Arc::new(country),
            Arc::new(events.iter().map(|event| Some(event.3)).collect::<BooleanArray>()),
        ];
        RecordBatch::try_new(table.incoming(), columns).unwrap()
    }

    async fn upserts(spec: TableSpec, changes: Vec<Change>) {
        let table = table(&spec).await;
        let mut newest: BTreeMap<i64, (i64, i64, bool)> = BTreeMap::new();
        let mut place = 0;
        for (number, change) in (0..).zip(changes) {
            match change {
                Change::Upsert(batch_events) => {
                    let placed = batch_events.into_iter().map(|(id, seq, gone)| {
                        place += 1;
                        (id, seq, place, gone)
                    });
                    let placed: Vec<_> = placed.collect();
                    let mut writer = table.writer().unwrap();
                    writer.write(&events(&table, &placed)).unwrap();
                    let files = writer.finish().unwrap();
                    let _ = table.commit(&files, &batch("q", number), &note("q", 0)).await.unwrap();
                    for (id, seq, place, gone) in placed {
                        let known = newest.entry(id).or_insert((seq, place, gone));
                        *known = (*known).max((seq, place, gone));
                    }
                }
                Change::Compact => {
                    compact(&spec).await;
                }
            }
            let there: Vec<i64> = newest.iter().filter(|(_, event)| !event.2).map(|(id, _)| *id).collect();
            assert_eq!(sorted(seen(Path::new(&spec.path))), expected(&there));
        }
        table.settled().await;
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn r031_appended_rows_are_the_same_after_any_compactions(partition: bool, steps in vec(step(), 1..14)) {
            let folder = tempfile::tempdir().unwrap();
            let spec = if partition { partitioned(folder.path()) } else { spec(folder.path()) };
            block_on(appends(spec, steps));
        }

        #[test]
        fn r031_upserts_and_deletes_are_the_same_after_any_compactions(partition: bool, changes in vec(change(), 1..14)) {
            let folder = tempfile::tempdir().unwrap();
            block_on(upserts(upserted(folder.path(), partition), changes));
        }
    }
}
