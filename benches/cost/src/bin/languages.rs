//! The same two stages in each language: a decoder of orders, and a validator of them. `scripts/bench-sdk.sh` builds them and
//! runs this.
//!
//! ```text
//! languages [--cache DIR] [--seconds N] FILE.wasm …
//! ```
//!
//! A line of a table for each component: size, seconds to compile it, milliseconds of a start with the code in the cache (a fresh instance,
//! one row), rows a second, memory. Rows and starts are processor time of the one thread, the least of many; all limits hold, and calls have
//! as many rows as those of the host.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use crisol_cost::{Error, data, timing};
use crisol_plugin::{Component, Engine, Kind, Limits, ROWS_MAX, RowStage};
use serde_json::json;

/// Starts that are measured.
const STARTS: usize = 5;

struct Arguments {
    cache: PathBuf,
    time: Duration,
    files: Vec<PathBuf>,
}

fn arguments() -> Result<Arguments, Error> {
    let mut found = Arguments {
        cache: std::env::temp_dir().join("crisol-languages"),
        time: Duration::from_secs(5),
        files: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cache" => found.cache = words.next().ok_or("--cache needs a folder")?.into(),
            "--seconds" => found.time = Duration::from_secs(words.next().ok_or("--seconds needs a number")?.parse()?),
            _ => found.files.push(word.into()),
        }
    }
    Ok(found)
}

fn main() -> Result<(), Error> {
    let Arguments { cache, time, files } = arguments()?;
    println!("{}\n", timing::machine());
    println!("| stage | size | compile | start | rows/s | memory |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for file in files {
        println!("{}", line(&file, &cache, time)?);
    }
    Ok(())
}

fn line(file: &Path, cache: &Path, time: Duration) -> Result<String, Error> {
    let bytes = std::fs::metadata(file)?.len();
    let started = Instant::now();
    Component::load(file, &Engine::new()?, None)?;
    let compiled = started.elapsed().as_secs_f64();
    let mut start = f64::MAX;
    for _ in 0..STARTS {
        let (_, stage, rows) = stage(file, cache)?;
        start = start.min(timing::of(|| Ok(stage.call(&rows.slice(0, 1), data::NOW_US)?))?);
    }
    let (engine, stage, rows) = stage(file, cache)?;
    let [seconds] = timing::fastest(time, [&mut || timing::of(|| Ok(stage.call(&rows, data::NOW_US)?))])?;
    Ok(format!(
        "| {} | {:.1} MB | {compiled:.1} s | {:.1} ms | {:.3} M | {:.0} MiB |",
        stage.component().name(),
        bytes as f64 / 1e6,
        start * 1e3,
        rows.num_rows() as f64 / seconds / 1e6,
        engine.memory_bytes().1 as f64 / f64::from(1 << 20),
    ))
}

/// A component that no instance of has started, and rows for it.
fn stage(file: &Path, cache: &Path) -> Result<(Engine, RowStage, RecordBatch), Error> {
    let engine = Engine::new()?;
    let component = Arc::new(Component::load(file, &engine, Some(cache))?);
    let (options, rows) = match component.kind() {
        Kind::Decoder => (json!({}), data::payloads(ROWS_MAX, true)?),
        Kind::Validator => (json!({ "currencies": ["EUR", "USD", "GBP"] }), data::orders(ROWS_MAX)?),
        kind => return Err(format!("{}: a {kind} is not measured here", file.display()).into()),
    };
    let options = options.as_object().ok_or("options are an object")?;
    let stage = component.row_stage(options, &rows.schema(), &Limits::default())?;
    let read: Vec<usize> = stage.reads().iter().map(|name| rows.schema().index_of(name)).collect::<Result<_, _>>()?;
    Ok((engine, stage, rows.project(&read)?))
}
