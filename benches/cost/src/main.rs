//! What the sandbox costs: the bundled components as the host calls them, with its limits, beside the same source in this
//! process. `scripts/cost.sh` builds it for x86-64-v3 and runs it.
//!
//! ```text
//! crisol-cost [--plugins DIR] [--cache DIR] [--seconds N] [NAME]
//! ```
//!
//! NAME runs the cases whose names begin with it, CACHE keeps compiled code. Times are processor time of the thread, the least of many runs that
//! take turns; both ways must give equal rows.
#![allow(clippy::print_stdout)]

mod boundary;
mod case;
mod cases;
mod native;
mod start;

use std::path::PathBuf;
use std::time::Duration;

use crisol_cost::{Error, timing};
use crisol_plugin::Engine;

use crate::case::Case;

struct Arguments {
    plugins: PathBuf,
    cache: PathBuf,
    time: Duration,
    only: String,
}

fn arguments() -> Result<Arguments, Error> {
    let (plugins, cache) = ("plugins".into(), "plugins/.compiled".into());
    let mut found = Arguments { plugins, cache, time: Duration::from_secs(3), only: String::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--plugins" => found.plugins = words.next().ok_or("--plugins needs a folder")?.into(),
            "--cache" => found.cache = words.next().ok_or("--cache needs a folder")?.into(),
            "--seconds" => found.time = Duration::from_secs(words.next().ok_or("--seconds needs a number")?.parse()?),
            _ => found.only = word,
        }
    }
    Ok(found)
}

fn main() -> Result<(), Error> {
    let Arguments { plugins, cache, time, only } = arguments()?;
    println!("cost host  {}", timing::machine());
    let engine = Engine::new()?;
    for case in cases::all(&plugins, &engine, &cache)? {
        if case.name().starts_with(&only) {
            measure(&case, time)?;
        }
    }
    if only.is_empty() || only == "start" {
        println!("cost host  {}", start::measure(&plugins)?);
    }
    Ok(())
}

fn measure(case: &Case, time: Duration) -> Result<(), Error> {
    case.check()?;
    let messages = case.messages()?;
    let [sandbox, native] = timing::fastest(
        time,
        // Both find their input just copied.
        [
            &mut || {
                let input = case.input(messages.clone())?;
                timing::of(|| case.sandbox(&input))
            },
            &mut || {
                let messages = messages.clone();
                timing::of(|| case.native(messages))
            },
        ],
    )?;
    let boundary = boundary::measure(case)?;
    let rate = |seconds: f64| case.rows() as f64 / seconds / 1e6;
    println!(
        "cost host  {:34} {:5} rows a call: sandbox {:6.2} M rows/s, native {:6.2}, ratio {:.2}; boundary {:4.1} % ({})",
        case.name(),
        case.rows_a_call(),
        rate(sandbox),
        rate(native),
        sandbox / native,
        100.0 * boundary.total() / sandbox,
        boundary.parts(sandbox),
    );
    Ok(())
}
