//! `host check`: contracts and components, without reading data.

use crate::out::println;
use crisol::EngineError;

use crate::args::{Global, Output};
use crate::exit::{Exit, render_problems};
use crate::run::engine;

/// Checks the project.
pub(crate) fn check(global: &Global) -> Result<Exit, EngineError> {
    let engine = match engine(global).build() {
        Ok(engine) => engine,
        // The answer of a check is no; it is no failure of the check.
        Err(error @ EngineError::Contracts(_)) => {
            render_problems(&error, global.output);
            return Ok(Exit::No);
        }
        Err(error) => return Err(error),
    };
    let streams = engine.streams();
    let notes: Vec<&String> = engine.warnings().iter().chain(engine.notes()).collect();
    match global.output {
        Output::Text => {
            for note in &notes {
                println!("note: {note}");
            }
            for stream in &streams {
                println!("ok  {} -> {}", stream.name, stream.table);
            }
            println!("{} streams, no problems", streams.len());
        }
        Output::Json => println!(
            "{}",
            serde_json::json!({ "schema": "crisol.check/v1", "problems": [], "notes": notes, "streams": streams })
        ),
    }
    Ok(Exit::Done)
}
