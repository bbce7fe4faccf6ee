//! Rows per second of the decoder alone: `cargo bench -p crisol-plugin-json`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use arrow_array::BinaryArray;
use arrow_array::builder::BinaryBuilder;
use arrow_schema::{Field, Fields};
use crisol_plugin_json::Decoder;
use crisol_sdk::types;

const ROWS: usize = 8192;
const RUN: Duration = Duration::from_secs(2);

fn main() {
    let flat =
        [("order_id", "string"), ("event_ts", "timestamp"), ("amount", "decimal(18,2)"), ("schema_version", "int")];
    measure("flat, 100 bytes", &flat, flat_row);
    measure("flat, one row in ten refused", &flat, |i, to| {
        if i % 10 == 0 {
            to.push_str(r#"{"order_id":"7","event_ts":"yesterday","amount":12.5,"schema_version":1}"#);
        } else {
            flat_row(i, to);
        }
    });
    measure("flat, one field of it", &[("schema_version", "int")], flat_row);
    let nested = [
        &flat[..],
        &[
            ("customer", "struct<id:bigint,name:string,email:string,tier:string>"),
            ("items", "array<struct<sku:string,qty:int,price:decimal(18,2)>>"),
        ],
    ];
    measure("nested, 300 bytes", &nested.concat(), nested_row);
}

fn measure(what: &str, columns: &[(&str, &str)], row: impl Fn(u64, &mut String)) {
    let payloads = payloads(row);
    let bytes = payloads.value_data().len();
    let fields: Fields =
        columns.iter().map(|(name, data_type)| Field::new(*name, types::parse(data_type).unwrap(), true)).collect();
    let (started, mut best) = (Instant::now(), Duration::MAX);
    while started.elapsed() < RUN {
        // As the host does: a fresh instance for each chunk.
        let start = Instant::now();
        let mut decoder = Decoder::new("payload", &fields).unwrap();
        black_box(decoder.decode(black_box(&payloads)).unwrap());
        best = best.min(start.elapsed());
    }
    let rate = ROWS as f64 / best.as_secs_f64();
    println!(
        "{what:32} {:5.2} M rows/s {:6.0} MB/s, {} bytes a row",
        rate / 1e6,
        rate * (bytes / ROWS) as f64 / 1e6,
        bytes / ROWS
    );
}

fn payloads(row: impl Fn(u64, &mut String)) -> BinaryArray {
    let (mut builder, mut text) = (BinaryBuilder::new(), String::new());
    for i in 0..ROWS as u64 {
        text.clear();
        row(i, &mut text);
        builder.append_value(text.as_bytes());
    }
    builder.finish()
}

fn flat_row(i: u64, to: &mut String) {
    head(i, to);
    to.push('}');
}

fn nested_row(i: u64, to: &mut String) {
    head(i, to);
    let r = mix(i + 1);
    let (id, user) = (r % 1_000_000, (r >> 20) % 1_000_000);
    write!(
        to,
        r#","customer":{{"id":{id},"name":"Ada Lovelace","email":"user{user}@example.com","tier":"gold"}},"items":["#
    )
    .unwrap();
    for k in 0..2 {
        let q = mix(r + k);
        let (sku, qty, cents) = (q % 100_000, q % 9 + 1, q % 10_000_000);
        let comma = if k > 0 { "," } else { "" };
        write!(to, r#"{comma}{{"sku":"SKU-{sku:05}","qty":{qty},"price":{}.{:02}}}"#, cents / 100, cents % 100)
            .unwrap();
    }
    to.push_str("]}");
}

fn head(i: u64, to: &mut String) {
    let r = mix(i);
    let (month, day, hour) = (r % 12 + 1, r % 28 + 1, r % 24);
    let (minute, second, micros, cents) = ((r >> 8) % 60, (r >> 16) % 60, (r >> 20) % 1_000_000, r % 10_000_000);
    write!(
        to,
        r#"{{"order_id":"ord-{i:010}","event_ts":"2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z","amount":{}.{:02},"schema_version":{}"#,
        cents / 100, cents % 100, r % 4 + 1
    )
    .unwrap();
}

/// Well-spread bits (splitmix64).
fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
