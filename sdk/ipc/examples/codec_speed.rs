//! Time to encode and to decode 16,384 typed rows: `cargo run --release -p crisol-ipc --example codec_speed`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Decimal128Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use crisol_ipc::{Limits, decode, encode, schema_of};

const ROWS: i32 = 16_384;

fn shortest<T>(mut work: impl FnMut() -> T) -> Duration {
    let times = (0..200).map(|_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = schema_of([
        ("order_id", "string", true),
        ("event_ts", "timestamp", true),
        ("amount", "decimal(18,2)", true),
        ("country", "string", true),
        ("_row", "int", false),
    ])?;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|i| format!("o-{i:09}")))),
        Arc::new(TimestampMicrosecondArray::from_iter_values((0..ROWS).map(i64::from)).with_timezone("UTC")),
        Arc::new(Decimal128Array::from_iter_values((0..ROWS).map(i128::from)).with_precision_and_scale(18, 2)?),
        Arc::new(StringArray::from_iter((0..ROWS).map(|i| (i % 3 == 0).then_some("ES")))),
        Arc::new(Int32Array::from_iter_values(0..ROWS)),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    let message = encode(&batch)?;
    let buffer = arrow_buffer::Buffer::from(message.clone());
    eprintln!("{} bytes", message.len());
    eprintln!("encode {:?}", shortest(|| encode(&batch)));
    eprintln!("decode {:?}", shortest(|| decode(buffer.clone(), &schema, &Limits::default())));
    Ok(())
}
