//! Prints what one append commit costs at 10 and at 1,000 versions, and how fast rows become files.
//!
//! `cargo run --release -p crisol-table --example cost [FOLDER]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that prints and stops on any error")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use crisol_table::{AppTransaction, CommitNote, CommitOutcome, Table, TableSpec, TableWriter};

const CHUNK_ROWS: i64 = 16_384;
const ROWS: i64 = 2_000_000;

#[tokio::main]
async fn main() {
    let folder = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("crisol-cost"), PathBuf::from);
    std::fs::remove_dir_all(&folder).ok();
    write_speed(&folder.join("straight"), &[]).await;
    write_speed(&folder.join("by-country"), &["country"]).await;
    commit_cost(&folder.join("commits")).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn open(folder: &std::path::Path, schema: SchemaRef, partition_by: &[&str]) -> Table {
    let path = folder.display().to_string();
    let spec = TableSpec {
        name: "bench".to_string(),
        path: path.clone(),
        schema,
        partition_by: partition_by.iter().map(|s| s.to_string()).collect(),
        write: crisol_table::WriteMode::Append,
        properties: Default::default(),
    };
    Table::open_or_create(&spec, &crisol_store::open(&path).unwrap()).await.unwrap()
}

/// Rows as bronze has them: a payload of about 190 bytes, a key and where it came from.
fn chunk(first: i64) -> RecordBatch {
    let ids = first..first + CHUNK_ROWS;
    let mixed = |id: i64| (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let payloads: Vec<String> = ids
        .clone()
        .map(|id| {
            let (m, cents) = (mixed(id), mixed(id) % 1_000_000);
            format!(
                "{{\"schema_version\":1,\"order_id\":\"o-{id:010}\",\"customer_id\":\"c-{:06}\",\"amount\":\"{}.{:02}\",\
                 \"currency\":\"EUR\",\"event_ts\":\"2026-03-01T{:02}:{:02}:{:02}Z\",\"country\":\"ES\",\"items\":{}}}",
                m % 100_000, cents / 100, cents % 100, m % 24, m % 60, m % 59, m % 9
            )
        })
        .collect();
    let keys: Vec<String> = ids.clone().map(|id| format!("c-{:06}", mixed(id) % 100_000)).collect();
    let countries: Vec<String> = ids.clone().map(|id| format!("C{}", mixed(id) % 40)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("message_key", Arc::new(BinaryArray::from_iter_values(&keys))),
        ("payload", Arc::new(BinaryArray::from_iter_values(&payloads))),
        ("topic", Arc::new(StringArray::from(vec!["orders.v1"; CHUNK_ROWS as usize]))),
        ("partition", Arc::new(Int32Array::from_iter_values(ids.clone().map(|id| (id % 4) as i32)))),
        ("offset", Arc::new(Int64Array::from_iter_values(ids))),
        ("country", Arc::new(StringArray::from(countries))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// Time that this process spent on cores, in ticks of 10 ms: other load on the machine does not count.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = text.rsplit(')').next().unwrap();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).map(|n| n.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

async fn write_speed(folder: &std::path::Path, partition_by: &[&str]) {
    let chunks: Vec<RecordBatch> = (0..16).map(|i| chunk(i * CHUNK_ROWS)).collect();
    let table = open(folder, chunks[0].schema(), partition_by).await;
    let (begun, cpu) = (Instant::now(), cpu_time());
    let mut writer = table.writer().unwrap();
    for i in 0..ROWS / CHUNK_ROWS {
        writer.write(&chunks[i as usize % chunks.len()]).unwrap();
    }
    let encoded = begun.elapsed();
    let files = writer.finish().unwrap();
    let (elapsed, cpu) = (begun.elapsed(), cpu_time() - cpu);
    let (rows, bytes) = files.iter().fold((0, 0), |(r, b), f| (r + f.rows, b + f.size));
    println!(
        "partitioned by {partition_by:?}: {rows} rows in {elapsed:.2?} ({encoded:.2?} before finish), {:.2} M rows/s of one core, {} files, {:.1} bytes/row",
        rows as f64 / cpu.as_secs_f64() / 1e6,
        files.len(),
        bytes as f64 / rows as f64,
    );
}

async fn commit_cost(folder: &std::path::Path) {
    let rows = chunk(0).slice(0, 100);
    let table = open(folder, rows.schema(), &[]).await;
    let mut costs: Vec<Duration> = Vec::new();
    for number in 0..1_010 {
        let mut writer = table.writer().unwrap();
        writer.write(&rows).unwrap();
        let files = writer.finish().unwrap();
        let transaction = AppTransaction { app_id: "bench".to_string(), version: number };
        let begun = Instant::now();
        assert_eq!(table.transaction("bench").await.unwrap(), (number > 0).then_some(number - 1));
        let outcome = table.commit(&files, &transaction, &CommitNote::default()).await.unwrap();
        costs.push(begun.elapsed());
        assert_eq!(outcome, CommitOutcome::Committed { version: number + 1 });
    }
    for at in [10usize, 100, 1_000] {
        let mut near: Vec<Duration> = costs[at - 5..at + 5].to_vec();
        near.sort_unstable();
        println!("look and commit at {at} versions: median {:.2?}, longest {:.2?} of ten", near[5], near[9]);
    }
}
