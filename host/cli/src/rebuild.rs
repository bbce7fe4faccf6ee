//! `host rebuild`: rows of a table, made anew from the table above.

use crisol::{EngineError, Rebuilt};

use crate::args::{Global, Output, Rebuild};
use crate::exit::Exit;
use crate::out::println;
use crate::run::engine;
use crate::tables::plain;
use crate::watch::thousands;

/// Does what was asked.
pub(crate) async fn rebuild(global: &Global, rebuild: &Rebuild) -> Result<Exit, EngineError> {
    let engine = engine(global).beside_a_host().streams([rebuild.table.clone()]).build()?;
    for rebuilt in engine.rebuild(&rebuild.table, &rebuild.predicate, rebuild.dry_run).await? {
        match global.output {
            Output::Text => print(rebuild, &rebuilt),
            Output::Json => println!("{}", json(rebuild, &rebuilt)),
        }
    }
    Ok(Exit::Done)
}

fn print(rebuild: &Rebuild, rebuilt: &Rebuilt) {
    let Rebuilt { accounts, predicate, .. } = rebuilt;
    let what = match (rebuilt.resumed, rebuild.dry_run) {
        (true, _) => "an earlier rebuild, finished now",
        (_, true) => "dry run, nothing was written",
        (..) => "rebuild",
    };
    println!("{}: {what}: {}", rebuild.table, plain(predicate));
    if let Some(held) = rebuilt.held {
        let files = if held.files == 1 { "file" } else { "files" };
        println!("  {} rows in the table, in {} {files}", thousands(held.rows), thousands(held.files));
    }
    let [rows, written, refused, filtered] =
        [accounts.rows_in, accounts.rows_written, accounts.rows_rejected(), accounts.rows_filtered()].map(thousands);
    println!("  {rows} rows above it, made into {written} rows, {refused} refused, {filtered} filtered");
    for (code, rows) in &accounts.rejected {
        println!("  {} refused: {}", thousands(*rows), plain(code));
    }
    for (code, rows) in &accounts.filtered {
        println!("  {} filtered: {}", thousands(*rows), plain(code));
    }
    if let (Some(removed), Some(added)) = (rebuilt.rows_removed, rebuilt.rows_added) {
        println!("  {} rows that differed removed, {} added", thousands(removed), thousands(added));
    }
}

fn json(rebuild: &Rebuild, rebuilt: &Rebuilt) -> serde_json::Value {
    serde_json::json!({
        "schema": "crisol.rebuild/v1",
        "table": rebuild.table,
        "where": rebuilt.predicate,
        "dry_run": rebuild.dry_run,
        "resumed": rebuilt.resumed,
        "accounts": rebuilt.accounts,
        "held": rebuilt.held,
        "rows_removed": rebuilt.rows_removed,
        "rows_added": rebuilt.rows_added,
    })
}
