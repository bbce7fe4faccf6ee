//! `host status`: where each stream stands, read from checkpoints and tables.

use crate::out::println;
use crisol::EngineError;

use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::run::engine;
use crate::tables::table;

/// Shows where streams stand.
pub(crate) async fn status(global: &Global) -> Result<Exit, EngineError> {
    let streams = engine(global).tables()?.status().await?;
    if global.output == Output::Json {
        println!("{}", serde_json::json!({ "schema": "crisol.status/v1", "streams": streams }));
        return Ok(Exit::Done);
    }
    let mut shown =
        table(&["stream", "table", "batch", "committed", "position", "table version", "rows", "quarantine"]);
    for stream in &streams {
        fn number<N: ToString>(number: Option<N>) -> String {
            number.map_or_else(|| "-".into(), |number| number.to_string())
        }
        shown.add_row([
            stream.stream.clone(),
            stream.table.clone(),
            number(stream.batch_logged),
            number(stream.batch_committed),
            stream.position.clone().unwrap_or_else(|| "-".into()),
            number(stream.table_version),
            number(stream.table_rows),
            number(stream.quarantine_rows),
        ]);
    }
    println!("{shown}");
    Ok(Exit::Done)
}
