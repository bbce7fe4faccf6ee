//! `host show TABLE`: rows of a table or of its quarantine.

use crisol::EngineError;

use crate::args::{Global, Output, Show};
use crate::exit::Exit;
use crate::quarantine::print_refused;
use crate::rows;
use crate::run::engine;

/// Shows rows.
pub(crate) async fn show(global: &Global, show: &Show) -> Result<Exit, EngineError> {
    let shown = engine(global).tables()?.rows(&show.table, show.quarantine, show.limit).await?;
    if global.output == Output::Text {
        crate::out::println!("{} version {} at {}", show.table, shown.version, shown.path);
    }
    let printed = match global.output {
        _ if show.quarantine => print_refused(global, &shown.rows),
        Output::Text => rows::print_rows(&shown.rows),
        Output::Json => rows::print_rows_json(&shown.rows),
    };
    printed.map_err(EngineError::internal)?;
    Ok(Exit::Done)
}
