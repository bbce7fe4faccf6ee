//! `host quarantine`: rows that were refused, counted, shown and replayed.

use arrow_array::RecordBatch;
use crisol::{EngineError, Replayed, Selection};

use crate::args::{Chosen, Global, Output, Quarantine, QuarantineReplay, QuarantineShow};
use crate::exit::Exit;
use crate::out::println;
use crate::rows;
use crate::run::engine;
use crate::tables::plain;
use crate::watch::thousands;

/// Does what was asked.
pub(crate) async fn quarantine(global: &Global, quarantine: &Quarantine) -> Result<Exit, EngineError> {
    match quarantine {
        Quarantine::List { tables } => list(global, tables).await?,
        Quarantine::Show(show) => show_rows(global, show).await?,
        Quarantine::Replay(replay) => replay_rows(global, replay).await?,
    }
    Ok(Exit::Done)
}

async fn list(global: &Global, tables: &[String]) -> Result<(), EngineError> {
    let counts = engine(global).tables()?.refused_counts(tables).await?;
    let counts = if counts.num_rows() == 0 { Vec::new() } else { vec![counts] };
    let printed = match global.output {
        Output::Text => rows::print_rows(&counts),
        Output::Json => rows::print_rows_json(&counts),
    };
    printed.map_err(EngineError::internal)
}

async fn show_rows(global: &Global, show: &QuarantineShow) -> Result<(), EngineError> {
    if show.as_test {
        return show_samples(global, show).await;
    }
    let found = engine(global).tables()?.refused_rows(&show.table, &selection(&show.chosen), show.limit).await?;
    print_refused(global, &found).map_err(EngineError::internal)
}

async fn show_samples(global: &Global, show: &QuarantineShow) -> Result<(), EngineError> {
    let engine = engine(global).beside_a_host().streams([show.table.clone()]).build()?;
    let samples = engine.refused_samples(&show.table, &selection(&show.chosen), show.limit).await?;
    println!("{:#}", serde_json::Value::from(samples));
    Ok(())
}

/// Rows of a quarantine: for people what they look for first, for programs whole.
pub(crate) fn print_refused(global: &Global, found: &[RecordBatch]) -> Result<(), arrow_schema::ArrowError> {
    match global.output {
        Output::Text => rows::print_rows(&rows::quarantine_for_people(found)?),
        Output::Json => rows::print_rows_json(found),
    }
}

async fn replay_rows(global: &Global, replay: &QuarantineReplay) -> Result<(), EngineError> {
    let engine = engine(global).beside_a_host().streams([replay.table.clone()]).build()?;
    let done = engine.replay(&replay.table, &selection(&replay.chosen), replay.dry_run).await?;
    for replayed in &done {
        match global.output {
            Output::Text => print_replayed(replay, replayed),
            Output::Json => println!("{}", json(replay, replayed)),
        }
    }
    Ok(())
}

fn selection(chosen: &Chosen) -> Selection {
    let Chosen { code, stage, since_us, until_us } = chosen.clone();
    Selection { code, stage, since_us, until_us }
}

fn print_replayed(replay: &QuarantineReplay, replayed: &Replayed) {
    let Replayed { accounts, .. } = replayed;
    let what = match (replayed.resumed, replay.dry_run) {
        (true, _) => "an earlier replay, finished now",
        (_, true) => "dry run, nothing was written",
        (..) => "replay",
    };
    let [rows, passed, added, again, filtered] = [
        accounts.rows_in,
        accounts.rows_accepted,
        accounts.rows_written,
        accounts.rows_rejected(),
        accounts.rows_filtered(),
    ]
    .map(thousands);
    println!(
        "{}: {what}: {rows} replayed, {passed} passed ({added} rows), {again} refused again, {filtered} filtered",
        replay.table
    );
    for (code, rows) in &replayed.replayed {
        println!("  {} replayed: {}", thousands(*rows), plain(code));
    }
    for (code, rows) in &accounts.rejected {
        println!("  {} refused again: {}", thousands(*rows), plain(code));
    }
    for (code, rows) in &accounts.filtered {
        println!("  {} filtered: {}", thousands(*rows), plain(code));
    }
    if let Some(changes) = &accounts.changes {
        let [inserted, updated, superseded, deleted] =
            [changes.inserted, changes.updated, changes.superseded, changes.deleted].map(thousands);
        println!("  {inserted} inserted, {updated} updated, {superseded} superseded, {deleted} deleted");
    }
}

fn json(replay: &QuarantineReplay, replayed: &Replayed) -> serde_json::Value {
    serde_json::json!({
        "schema": "crisol.replay/v1",
        "table": replay.table,
        "dry_run": replay.dry_run,
        "resumed": replayed.resumed,
        "selection": replayed.selection,
        "replayed": replayed.replayed,
        "accounts": replayed.accounts,
    })
}
