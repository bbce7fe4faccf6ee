//! `host show TABLE`: rows of a table or of its quarantine.

use crisol::EngineError;

use crate::args::{Global, Output, Show};
use crate::exit::Exit;
use crate::run::engine;
use crate::tables;

/// Shows rows.
pub(crate) async fn show(global: &Global, show: &Show) -> Result<Exit, EngineError> {
    let shown = engine(global).tables()?.rows(&show.table, show.quarantine, show.limit).await?;
    let printed = match global.output {
        Output::Text => {
            crate::out::println!("{} version {} at {}", show.table, shown.version, shown.path);
            tables::print_rows(&shown.rows)
        }
        Output::Json => tables::print_rows_json(&shown.rows),
    };
    printed.map_err(EngineError::internal)?;
    Ok(Exit::Done)
}
