//! `host build`

use std::path::Path;

use crisol_author::{AuthorError, Built, Profile, Project};
use serde_json::json;

use crate::args::{Global, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::tables::plain;
use crate::watch::thousands;

/// Builds the plugin of a folder.
pub(super) fn build(global: &Global, folder: &Path) -> Result<Exit, AuthorError> {
    let Built { path, bytes, samples, changed } = crisol_author::build(&Project::open(folder)?, Profile::Release)?;
    match global.output {
        Output::Json => println!(
            "{}",
            json!({ "schema": "crisol.build/v1", "path": path, "size_bytes": bytes, "samples": samples, "changed": changed })
        ),
        Output::Text => {
            let (path, was) = (plain(&path.to_string_lossy()), if changed { "" } else { ", as before" });
            let samples = if samples == 1 { "1 sample".into() } else { format!("{samples} samples") };
            println!("{path}: {} bytes, {samples}{was}", thousands(bytes));
        }
    }
    Ok(Exit::Done)
}
