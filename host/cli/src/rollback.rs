//! `host plugins rollback`: the build that served before is put back.

use std::path::Path;

use crisol::{EngineError, RolledBack, ServedState};

use crate::args::{Global, Output, Rollback};
use crate::exit::Exit;
use crate::out::println;
use crate::plugins::short;
use crate::run::engine;
use crate::tables::plain;

/// Puts a build back.
pub(crate) fn rollback(global: &Global, asked: &Rollback) -> Result<Exit, EngineError> {
    let done = engine(global).rollback(&asked.component, asked.to.as_deref(), asked.dry_run)?;
    match global.output {
        Output::Json => {
            let RolledBack { component, from, to, written, taken_out } = done;
            println!(
                "{}",
                serde_json::json!({
                    "schema": "crisol.rollback/v1", "component": component, "dry_run": asked.dry_run, "from": from,
                    "to": to, "written": written, "taken_out": taken_out,
                })
            );
        }
        Output::Text => print(&done, asked.dry_run),
    }
    Ok(Exit::Done)
}

fn print(done: &RolledBack, dry_run: bool) {
    let RolledBack { component, from, to, written, taken_out } = done;
    let component = plain(component);
    if done.changes_nothing() {
        println!("{component}: {} is in its place already, nothing was written", builds(to));
        return;
    }
    if from == to {
        println!("{component}: {}, which serves, back in its place", builds(to));
    } else {
        println!("{component}: {} in place of {}; it served since {}", builds(to), builds(from), plain(&to.since));
    }
    for file in written {
        println!("  written: {}", shown(file));
    }
    for file in taken_out {
        println!("  taken out: {}", shown(file));
    }
    match dry_run {
        true => println!("dry run, nothing was written"),
        false => println!(
            "What was there before is beside it, as `*.rolled-back`. A host that runs takes the change from its next batch \
             on; `host plugins` shows what it decides. A stream that has failed goes on with the next start."
        ),
    }
}

fn builds(state: &ServedState) -> String {
    let one = |build: &crisol::KeptBuild| format!("{} ({})", plain(&build.version), plain(short(&build.digest)));
    state.builds.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn shown(file: &Path) -> String {
    plain(&file.to_string_lossy())
}
