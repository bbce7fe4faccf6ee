//! `host losses`: what streams went on without.

use comfy_table::{Cell, CellAlignment};
use crisol::{EngineError, Loss};

use crate::args::{Global, Losses, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::run::engine;
use crate::tables::table;
use crate::watch::thousands;

/// Shows every gap that was ever accepted.
pub(crate) async fn losses(global: &Global, losses: &Losses) -> Result<Exit, EngineError> {
    let found = engine(global).tables()?.losses(&losses.streams).await?;
    match global.output {
        Output::Json => println!("{}", serde_json::json!({ "schema": "crisol.losses/v1", "losses": found })),
        Output::Text if found.is_empty() => println!("nothing was ever passed over"),
        Output::Text => print(&found),
    }
    Ok(Exit::Done)
}

fn print(losses: &[Loss]) {
    let mut shown = table(&["stream", "batch", "topic", "partition", "from", "until", "offsets", "reason"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for Loss { stream, batch, gap, .. } in losses {
        let unknown = || "not known".to_string();
        shown.add_row([
            Cell::new(stream),
            right(batch.to_string()),
            Cell::new(&gap.topic),
            right(gap.partition.to_string()),
            right(gap.from.to_string()),
            right(gap.until.map_or_else(unknown, |until| until.to_string())),
            right(gap.offsets.map_or_else(unknown, thousands)),
            Cell::new(gap.reason),
        ]);
    }
    println!("{shown}");
}
