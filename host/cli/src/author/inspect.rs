//! `host inspect`

use std::path::Path;

use crisol_author::{AuthorError, Inspected};
use serde_json::json;

use super::bench;
use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::plugins::options;
use crate::tables::plain;
use crate::watch::thousands;

/// Tells what a component is.
pub(super) fn inspect(global: &Global, component: &Path) -> Result<Exit, AuthorError> {
    let inspected = bench()?.inspect(component)?;
    match global.output {
        Output::Json => println!("{}", json!({ "schema": "crisol.inspect/v1", "component": inspected })),
        Output::Text => print(&inspected),
    }
    Ok(Exit::Done)
}

fn print(inspected: &Inspected) {
    let Inspected { name, version, kind, schema_versions, reuse, digest, size_bytes, imports, samples, .. } = inspected;
    let listed = |names: &[String]| match names {
        [] => "none".to_string(),
        names => plain(&names.join(", ")),
    };
    println!("{} {version}, {kind}", plain(name));
    println!("schema versions: {schema_versions}");
    println!("options: {}", options(inspected.options.as_ref()));
    println!("instances: {}", if *reuse { "kept for up to 64 calls" } else { "a fresh one for each call" });
    println!("size: {} bytes", thousands(*size_bytes));
    println!("digest: {digest}");
    println!("imports: {}", listed(imports));
    println!("samples: {}", listed(samples));
}
