//! Messages per second of the decoder, natively: `cargo run --release -p crisol-plugin-orders --example speed [FILE]`.
//! FILE has one message a line, perhaps after a key and a tab.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use crisol_plugin_orders::Orders;
use crisol_sdk::arrow::{ArrayRef, StringArray};
use crisol_sdk::raw::session::RowSession;
use crisol_sdk::rows::Decoding;
use crisol_sdk::{Column, testing, types};

const ROWS: usize = 16_384;

fn messages() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    if let Some(path) = std::env::args().nth(1) {
        let text = std::fs::read_to_string(path)?;
        return Ok(text.lines().map(|l| l.split_once('\t').map_or(l, |(_, value)| value).to_string()).collect());
    }
    let message = |i: usize| {
        let extra = if i % 10 < 7 { "" } else { r#","customer_id":"c-00042","country":"ES","currency":"EUR""# };
        let version = if i % 10 < 7 { 1 } else { 2 };
        format!(
            r#"{{"order_id":"o-{i:09}","event_ts":"2026-03-{:02}T09:26:53.589Z","amount":{}.{:02},"schema_version":{version}{extra}}}"#,
            1 + i % 28,
            i % 5000,
            i % 100,
        )
    };
    Ok((0..ROWS).map(message).collect())
}

/// Seconds that this thread was on a processor, where the system tells; else by the clock.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanos.map_or_else(|| START.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let messages = messages()?;
    let (mut chunks, mut accepted, mut rejected) = (Vec::new(), 0, 0);
    for chunk in messages.chunks(ROWS) {
        let column: ArrayRef = Arc::new(StringArray::from(chunk.to_vec()));
        let rows = testing::input(&[("payload", column)])?;
        let outcome = testing::stage::<Decoding<Orders>>("{}", &rows)?;
        accepted += outcome.rows.num_rows();
        rejected += outcome.rejected.len();
        chunks.push(testing::message(&rows)?);
    }
    eprintln!("{accepted} accepted, {rejected} rejected");
    let input = [Column::new("payload", types::parse("string")?)];
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = seconds();
        for chunk in &chunks {
            let mut session = RowSession::<Decoding<Orders>>::open("{}", &input, 0)?;
            std::hint::black_box(session.push(chunk.clone())?);
        }
        best = best.min(seconds() - start);
    }
    eprintln!(
        "{} messages, {:.2} million a second of processor time",
        messages.len(),
        messages.len() as f64 / best / 1e6
    );
    Ok(())
}
