//! `host maintain`: small files of tables put together.

use comfy_table::Cell;
use crisol::{EngineError, Maintained};

use crate::args::{Global, Maintain, Output};
use crate::exit::{Exit, render};
use crate::out::println;
use crate::run::engine;
use crate::tables::{number, table};

/// Compacts tables. Of several errors the gravest decides how it ends.
pub(crate) async fn maintain(global: &Global, maintain: &Maintain) -> Result<Exit, EngineError> {
    let mut exit = Exit::Done;
    let mut tables = Vec::new();
    for one in engine(global).tables()?.maintain(&maintain.tables, maintain.dry_run).await? {
        match one {
            Ok(maintained) => tables.push(maintained),
            Err(error) => exit = exit.max(render(&error, global.output, None)),
        }
    }
    match global.output {
        Output::Text => print(&tables, maintain.dry_run),
        Output::Json => println!(
            "{}",
            serde_json::json!({ "schema": "crisol.maintain/v1", "dry_run": maintain.dry_run, "tables": tables })
        ),
    }
    Ok(exit)
}

fn print(tables: &[Maintained], dry_run: bool) {
    let mut shown = table(&["table", "version", "files before", "files after", "bytes before", "bytes after"]);
    for one in tables {
        let name = if one.quarantine { format!("{} (quarantine)", one.table) } else { one.table.clone() };
        let mut cells = vec![Cell::new(name), Cell::new(one.version)];
        cells.extend([one.files_before, one.files_after, one.bytes_before].map(number));
        cells.push(one.bytes_after.map_or_else(|| Cell::new("-"), number));
        shown.add_row(cells);
    }
    println!("{shown}");
    if dry_run {
        println!("nothing was written");
    }
}
