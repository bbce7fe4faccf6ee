//! `host show TABLE`: rows of a table or of its quarantine.

use crisol::EngineError;

use crate::args::{Global, Output, Show};
use crate::exit::Exit;
use crate::rows;
use crate::run::engine;

/// Shows rows.
pub(crate) async fn show(global: &Global, show: &Show) -> Result<Exit, EngineError> {
    let shown = engine(global).tables()?.rows(&show.table, show.quarantine, show.limit).await?;
    let printed = match global.output {
        Output::Text => {
            crate::out::println!("{} version {} at {}", show.table, shown.version, shown.path);
            if show.quarantine {
                rows::quarantine_for_people(&shown.rows).and_then(|rows| rows::print_rows(&rows))
            } else {
                rows::print_rows(&shown.rows)
            }
        }
        Output::Json => rows::print_rows_json(&shown.rows),
    };
    printed.map_err(EngineError::internal)?;
    Ok(Exit::Done)
}
