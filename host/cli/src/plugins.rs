//! `host plugins`: the components that serve, and those that were refused.

use crate::out::println;
use crisol::EngineError;

use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::run::engine;
use crate::tables::{plain, table};

/// Shows components.
pub(crate) fn plugins(global: &Global) -> Result<Exit, EngineError> {
    let found = engine(global).components()?;
    if global.output == Output::Json {
        println!(
            "{}",
            serde_json::json!({ "schema": "crisol.plugins/v1", "serving": found.serving, "refused": found.refused })
        );
    } else {
        let mut shown = table(&["name", "version", "kind", "schema versions", "digest", "file"]);
        for component in &found.serving {
            let digest = component.digest.get(..12).unwrap_or(&component.digest);
            let cells = [
                component.name.as_str(),
                &component.version,
                &component.kind,
                &component.schema_versions,
                digest,
                &component.file,
            ];
            shown.add_row(cells);
        }
        println!("{shown}");
        for refused in &found.refused {
            println!("refused: {}: {}", refused.file, plain(&refused.reason));
        }
    }
    Ok(if found.refused.is_empty() { Exit::Done } else { Exit::No })
}
