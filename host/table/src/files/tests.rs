use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, cast::AsArray,
};
use arrow_schema::{DataType, Field, Schema};
use deltalake::kernel::new_metadata;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::{Files, LIMITS, Layout, Limits};
use crate::ahead::Behind;
use crate::error::Place;
use crate::{FileWriter, PendingFile, TableError, TableSpec, check};

fn layout(folder: &Path, rows: &RecordBatch, partition_by: &[&str]) -> Layout {
    let spec = TableSpec {
        name: "silver.t".to_string(),
        path: folder.display().to_string(),
        schema: rows.schema(),
        partition_by: partition_by.iter().map(|s| s.to_string()).collect(),
        write: crate::WriteMode::Append,
        properties: Default::default(),
    };
    let place = Arc::new(Place { table: spec.name.clone(), path: spec.path.clone() });
    let schema = check::delta_schema(&place, &spec).unwrap();
    let metadata = new_metadata(&schema, &spec.partition_by, std::iter::empty::<(&str, &str)>()).unwrap();
    let store = crisol_store::open(&spec.path).unwrap();
    Layout::new(place, &spec, store, &metadata).unwrap()
}

fn write(folder: &Path, rows: &[RecordBatch], partition_by: &[&str]) -> Result<Vec<PendingFile>, TableError> {
    write_within(LIMITS, folder, rows, partition_by)
}

fn write_within(
    limits: Limits,
    folder: &Path,
    rows: &[RecordBatch],
    partition_by: &[&str],
) -> Result<Vec<PendingFile>, TableError> {
    let layout = Layout { limits, ..layout(folder, &rows[0], partition_by) };
    let mut files = Box::new(Files::new(Arc::new(layout)).unwrap());
    for rows in rows {
        files.write(rows)?;
    }
    files.finish()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

fn stats_of(columns: Vec<(&str, ArrayRef)>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let files = write(folder.path(), &[batch(columns)], &[]).unwrap();
    serde_json::from_str(&files[0].stats).unwrap()
}

fn read(folder: &Path, file: &PendingFile) -> Vec<RecordBatch> {
    let decoded = file.path.replace("%25", "%").replace("%20", " ");
    let file = std::fs::File::open(folder.join(decoded)).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(|b| b.unwrap()).collect()
}

fn ids(batches: &[RecordBatch]) -> Vec<i64> {
    let columns = batches.iter().map(|b| b.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec());
    let mut ids: Vec<i64> = columns.flatten().collect();
    ids.sort_unstable();
    ids
}

#[test]
fn d105_stats_hold_counts_and_bounds_by_type() {
    let stats = stats_of(vec![
        ("n", Arc::new(Int32Array::from(vec![Some(3), None, Some(-7)]))),
        ("s", Arc::new(StringArray::from(vec![Some("b\"x"), Some("a"), None]))),
        ("d", Arc::new(Date32Array::from(vec![Some(20513), Some(0), None]))),
        ("ok", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("raw", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"x"), None, None]))),
        ("f", Arc::new(Float64Array::from(vec![Some(1.5), Some(-0.25), None]))),
        ("empty", Arc::new(Int64Array::from(vec![None, None, None]))),
    ]);

    assert_eq!(
        stats,
        json!({
            "numRecords": 3,
            "minValues": {"n": -7, "s": "a", "d": "1970-01-01", "f": -0.25},
            "maxValues": {"n": 3, "s": "b\"x", "d": "2026-03-01", "f": 1.5},
            "nullCount": {"n": 1, "s": 1, "d": 1, "ok": 1, "raw": 2, "f": 1, "empty": 3},
        })
    );
}

#[test]
fn stats_of_timestamps_are_milliseconds_rounded_outwards() {
    let micros = TimestampMicrosecondArray::from(vec![-1, 1_772_323_200_123_456]).with_timezone("UTC");

    let stats = stats_of(vec![("t", Arc::new(micros))]);

    assert_eq!(stats["minValues"]["t"], "1969-12-31T23:59:59.999Z");
    assert_eq!(stats["maxValues"]["t"], "2026-03-01T00:00:00.124Z");
}

#[test]
fn dates_and_times_whose_year_has_not_four_digits_have_no_bound() {
    let (day, far) = (0, 2_932_897);
    let times = [day, far].map(|day| i64::from(day) * 86_400_000_000);

    let stats = stats_of(vec![
        ("d", Arc::new(Date32Array::from(vec![day, far]))),
        ("t", Arc::new(TimestampMicrosecondArray::from(times.to_vec()).with_timezone("UTC"))),
    ]);

    assert_eq!(stats["minValues"], json!({"d": "1970-01-01", "t": "1970-01-01T00:00:00.000Z"}));
    assert_eq!(stats["maxValues"], json!({}));
}

#[test]
fn stats_of_decimals_keep_every_digit_in_each_physical_form() {
    // 20 digits take 9 bytes: the sign fills up what is missing.
    for precision in [9, 18, 20, 38] {
        let column = Decimal128Array::from(vec![-5, 123_456_789]).with_precision_and_scale(precision, 2).unwrap();
        let folder = tempfile::tempdir().unwrap();

        let files = write(folder.path(), &[batch(vec![("amount", Arc::new(column))])], &[]).unwrap();

        assert!(files[0].stats.contains("\"minValues\":{\"amount\":-0.05}"), "{}", files[0].stats);
        assert!(files[0].stats.contains("\"maxValues\":{\"amount\":1234567.89}"), "{}", files[0].stats);
    }
    let big = Decimal128Array::from(vec![12_345_678_901_234_567_890_123_456_789_i128]);
    let column = big.with_precision_and_scale(38, 10).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = write(folder.path(), &[batch(vec![("amount", Arc::new(column))])], &[]).unwrap();
    assert!(files[0].stats.contains("{\"amount\":1234567890123456789.0123456789}"), "{}", files[0].stats);
}

#[test]
fn bounds_are_those_of_all_row_groups_wherever_they_stand() {
    let limits = Limits { gather_rows: 1, wait_bytes: 0, ..LIMITS };
    let part = |n: i64| {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![n]));
        batch(vec![("p", Arc::new(StringArray::from(vec!["a"]))), ("n", column)])
    };
    for order in [[9, 1, 5], [1, 9, 5], [5, 1, 9], [5, 9, 1]] {
        let folder = tempfile::tempdir().unwrap();
        let files = write_within(limits, folder.path(), &order.map(part), &["p"]).unwrap();
        let file = std::fs::File::open(folder.path().join(&files[0].path)).unwrap();
        let groups = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().num_row_groups();
        assert_eq!((files.len(), groups), (1, 3), "each batch is a row group of one file");
        let stats: Value = serde_json::from_str(&files[0].stats).unwrap();
        assert_eq!((&stats["minValues"]["n"], &stats["maxValues"]["n"]), (&json!(1), &json!(9)), "{order:?}");
    }
}

#[test]
fn a_column_with_nan_or_infinity_has_no_false_bound() {
    let stats = stats_of(vec![
        ("nan", Arc::new(Float64Array::from(vec![1.0, f64::NAN]))),
        ("inf", Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]))),
    ]);

    assert_eq!(stats["minValues"], json!({"inf": 1.0}));
    assert_eq!(stats["maxValues"], json!({}));
    assert_eq!(stats["nullCount"], json!({"nan": 0, "inf": 0}));
}

#[test]
fn long_texts_are_cut_and_stay_bounds() {
    let long = "é".repeat(500);

    let stats = stats_of(vec![("s", Arc::new(StringArray::from(vec![long.as_str()])))]);

    let (min, max) = (stats["minValues"]["s"].as_str().unwrap(), stats["maxValues"]["s"].as_str().unwrap());
    assert!(min.len() <= 64 && min.as_bytes() <= long.as_bytes(), "{min}");
    assert!(max.len() <= 64 && max.as_bytes() >= long.as_bytes(), "{max}");
}

#[test]
fn d105_fields_of_a_struct_are_nested_and_only_the_first_32_leaves_have_stats() {
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let nested = StructArray::from(vec![
        (Arc::new(Field::new("x", DataType::Int64, true)), x.clone()),
        (Arc::new(Field::new("y", DataType::Int64, true)), x.clone()),
    ]);
    let names: Vec<String> = (0..40).map(|i| format!("c{i}")).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![("nested", Arc::new(nested))];
    columns.extend(names.iter().map(|name| (name.as_str(), x.clone())));

    let stats = stats_of(columns);

    assert_eq!(stats["minValues"]["nested"], json!({"x": 1, "y": 1}));
    assert_eq!(stats["nullCount"]["nested"], json!({"x": 0, "y": 0}));
    assert_eq!(stats["maxValues"]["c29"], 2);
    assert_eq!(stats["maxValues"]["c30"], Value::Null);
}

#[test]
fn d089_partition_values_are_text_and_folders_and_paths_are_escaped() {
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5]))),
        ("country", Arc::new(StringArray::from(vec![Some("ES"), Some("a/b=c d"), None, Some("ES"), Some("ñ")]))),
        ("day", Arc::new(Date32Array::from(vec![20513, 20513, 20513, 20514, 20513]))),
    ]);
    let folder = tempfile::tempdir().unwrap();

    let mut files = write(folder.path(), &[rows], &["country", "day"]).unwrap();

    files.sort_by_key(|f| f.stats.clone());
    let found: Vec<(Option<&str>, &str, Vec<i64>)> = files
        .iter()
        .map(|f| {
            let values = &f.partition_values;
            let rows = read(folder.path(), f);
            assert!(rows.iter().all(|b| b.num_columns() == 1), "partition columns are not in the file");
            (values["country"].as_deref(), values["day"].as_deref().unwrap(), ids(&rows))
        })
        .collect();
    assert_eq!(
        found,
        [
            (Some("ES"), "2026-03-01", vec![1]),
            (Some("a/b=c d"), "2026-03-01", vec![2]),
            (None, "2026-03-01", vec![3]),
            (Some("ES"), "2026-03-02", vec![4]),
            (Some("ñ"), "2026-03-01", vec![5]),
        ]
    );
    let folders: Vec<&str> = files.iter().map(|f| f.path.rsplit_once('/').unwrap().0).collect();
    assert_eq!(
        folders,
        [
            "country=ES/day=2026-03-01",
            "country=a%252Fb%253Dc%20d/day=2026-03-01",
            "country=__HIVE_DEFAULT_PARTITION__/day=2026-03-01",
            "country=ES/day=2026-03-02",
            "country=ñ/day=2026-03-01",
        ]
    );
    assert!(folder.path().join("country=a%2Fb%3Dc d/day=2026-03-01").is_dir());
}

#[test]
fn d089_partition_values_of_each_type_in_the_protocols_text() {
    let time = TimestampMicrosecondArray::from(vec![1_772_323_200_123_456]).with_timezone("UTC");
    let amount = Decimal128Array::from(vec![-250]).with_precision_and_scale(9, 2).unwrap();
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1]))),
        ("t", Arc::new(time)),
        ("amount", Arc::new(amount)),
        ("ok", Arc::new(BooleanArray::from(vec![true]))),
        ("n", Arc::new(Int32Array::from(vec![-3]))),
    ]);
    let folder = tempfile::tempdir().unwrap();

    let files = write(folder.path(), &[rows], &["t", "amount", "ok", "n"]).unwrap();

    let values: Vec<(&str, &str)> =
        files[0].partition_values.iter().map(|(k, v)| (k.as_str(), v.as_deref().unwrap())).collect();
    assert_eq!(values, [("amount", "-2.50"), ("n", "-3"), ("ok", "true"), ("t", "2026-03-01T00:00:00.123456Z")]);
}

#[test]
fn d090_an_empty_string_in_a_partition_column_is_refused() {
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("country", Arc::new(StringArray::from(vec!["ES", ""]))),
    ]);
    let folder = tempfile::tempdir().unwrap();

    let failed = write(folder.path(), &[rows], &["country"]).unwrap_err();

    assert!(matches!(failed, TableError::Data { .. }));
    assert!(failed.to_string().contains("empty string in partition column `country`"), "{failed}");
}

#[test]
fn a_partition_value_longer_than_a_file_name_is_kept_whole_in_the_log() {
    let long = "ñ".repeat(400);
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1]))),
        ("country", Arc::new(StringArray::from(vec![long.as_str()]))),
    ]);
    let folder = tempfile::tempdir().unwrap();

    let files = write(folder.path(), &[rows], &["country"]).unwrap();

    assert_eq!(files[0].partition_values["country"].as_deref(), Some(long.as_str()));
    assert_eq!(ids(&read(folder.path(), &files[0])), [1]);
}

#[test]
fn a_partition_column_with_a_long_name_has_its_folder() {
    let name = "ñ".repeat(150);
    let column: ArrayRef = Arc::new(StringArray::from(vec!["v".repeat(300)]));
    let schema = Schema::new(vec![Field::new("id", DataType::Int64, true), Field::new(&name, DataType::Utf8, true)]);
    let rows = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![1])), column]).unwrap();
    let folder = tempfile::tempdir().unwrap();

    let files = write(folder.path(), &[rows], &[&name]).unwrap();

    assert_eq!(files[0].partition_values[&name].as_deref(), Some("v".repeat(300).as_str()));
    assert_eq!(ids(&read(folder.path(), &files[0])), [1]);
}

#[test]
fn one_file_per_partition_and_batch_whatever_the_order_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let chunks: Vec<RecordBatch> = (0..40)
        .map(|chunk| {
            let ids: Vec<i64> = (chunk * 10_000..(chunk + 1) * 10_000).collect();
            let countries: Vec<String> = ids.iter().map(|id| format!("c{}", id % 7)).collect();
            batch(vec![("id", Arc::new(Int64Array::from(ids))), ("country", Arc::new(StringArray::from(countries)))])
        })
        .collect();

    let files = write(folder.path(), &chunks, &["country"]).unwrap();

    assert_eq!(files.len(), 7);
    for file in &files {
        let remainder: i64 = file.partition_values["country"].as_deref().unwrap()[1..].parse().unwrap();
        let wanted: Vec<i64> = (0..400_000).filter(|id| id % 7 == remainder).collect();
        assert_eq!(ids(&read(folder.path(), file)), wanted);
        assert_eq!(file.rows as usize, wanted.len());
    }
}

/// Chunks of 1,000 rows, their partition the remainder of their id.
fn chunks(count: i64, partitions: i64) -> Vec<RecordBatch> {
    let chunk = |chunk: i64| {
        let ids: Vec<i64> = (chunk * 1_000..(chunk + 1) * 1_000).collect();
        let countries: Vec<String> = ids.iter().map(|id| format!("c{}", id % partitions)).collect();
        let texts: Vec<String> = ids
            .iter()
            .map(|id| format!("{:016x}", (*id as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).repeat(4))
            .collect();
        batch(vec![
            ("id", Arc::new(Int64Array::from(ids))),
            ("payload", Arc::new(StringArray::from(texts))),
            ("country", Arc::new(StringArray::from(countries))),
        ])
    };
    (0..count).map(chunk).collect()
}

#[test]
fn rows_beyond_the_budget_go_to_files_early_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { gather_rows: 2_000, wait_bytes: 500_000, ..LIMITS };

    let files = write_within(limits, folder.path(), &chunks(50, 3), &["country"]).unwrap();

    assert_eq!(files.len(), 3);
    let found = files.iter().flat_map(|f| ids(&read(folder.path(), f))).collect::<std::collections::BTreeSet<i64>>();
    assert_eq!(found.len(), 50_000);
    let first = std::fs::File::open(folder.path().join(&files[0].path)).unwrap();
    let groups = ParquetRecordBatchReaderBuilder::try_new(first).unwrap().metadata().num_row_groups();
    assert!(groups > 1, "all rows were kept in memory");
}

#[test]
fn more_partitions_than_open_files_end_files_early_and_lose_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { gather_rows: 2_000, wait_bytes: 200_000, open_files: 4, ..LIMITS };

    let files = write_within(limits, folder.path(), &chunks(30, 20), &["country"]).unwrap();

    assert!(files.len() > 20, "{} files", files.len());
    let found: Vec<i64> = files.iter().flat_map(|f| ids(&read(folder.path(), f))).collect();
    assert_eq!(found.len(), 30_000);
    assert_eq!(found.into_iter().collect::<std::collections::BTreeSet<i64>>().len(), 30_000);
}

#[test]
fn a_file_that_reached_its_size_is_followed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { file_bytes: 100_000, ..LIMITS };

    let files = write_within(limits, folder.path(), &chunks(50, 3), &[]).unwrap();

    assert!(files.len() > 1, "{} bytes in one file", files[0].size);
    let found: Vec<i64> = files.iter().flat_map(|f| ids(&read(folder.path(), f))).collect();
    assert_eq!(found.len(), 50_000);
    assert_eq!(files.iter().map(|f| f.rows).sum::<u64>(), 50_000);
}

#[test]
fn not_null_columns_take_no_null() {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let folder = tempfile::tempdir().unwrap();
    let empty = RecordBatch::new_empty(schema);
    let mut files = Files::new(Arc::new(layout(folder.path(), &empty, &[]))).unwrap();

    let failed = files.write(&batch(vec![("id", Arc::new(Int64Array::from(vec![Some(1), None])))])).unwrap_err();

    assert_eq!(failed.to_string(), "table `silver.t`: column `id` is NOT NULL, and 1 rows have null");
}

#[test]
fn r013_rows_with_other_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = batch(vec![("id", Arc::new(Int64Array::from(vec![1])))]);
    let mut files = Files::new(Arc::new(layout(folder.path(), &wanted, &[]))).unwrap();

    let failed = files.write(&batch(vec![("id", Arc::new(Int32Array::from(vec![1])))])).unwrap_err();

    assert_eq!(failed.to_string(), "table `silver.t`: rows have columns (id Int32), the table has (id Int64)");
}

#[test]
fn no_rows_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let rows = batch(vec![("id", Arc::new(Int64Array::from(Vec::<i64>::new())))]);

    assert!(write(folder.path(), &[rows], &[]).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn files_behind_a_merge_are_whole_or_not_there_and_their_errors_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let rows = batch(vec![("id", Arc::new(Int64Array::from(vec![1, 2])))]);
    let layout = Arc::new(layout(folder.path(), &rows, &[]));
    let mut whole = Behind::new(&layout).unwrap();
    whole.write(rows.clone()).unwrap();
    let files = whole.finish().unwrap();
    assert_eq!(ids(&files.iter().flat_map(|file| read(folder.path(), file)).collect::<Vec<_>>()), [1, 2]);

    let mut given_up = Behind::new(&layout).unwrap();
    given_up.write(rows).unwrap();
    given_up.give_up();
    let present = std::fs::read_dir(folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".parquet"));
    assert_eq!(present.count(), 1, "only the file that was finished");

    let mut wrong = Behind::new(&layout).unwrap();
    let other = batch(vec![("other", Arc::new(Int64Array::from(vec![1])))]);
    let error = (0..100).find_map(|_| wrong.write(other.clone()).err()).unwrap();
    assert!(error.to_string().contains("rows have columns (other"), "{error}");
}
