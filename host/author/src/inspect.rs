//! `host inspect`: what a component is.

use std::fs;
use std::path::Path;

use crisol_plugin::{Limits, Sample, SampleColumns};
use serde::Serialize;
use serde_json::Value;

use crate::{AuthorError, Bench};

/// What a component says of itself, and what can be seen of it. Keys of the JSON are the names of the fields.
#[derive(Debug, Clone, Serialize)]
pub struct Inspected {
    /// What contracts call it.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// What it is for.
    pub kind: String,
    /// Schema versions that it handles.
    pub schema_versions: String,
    /// Whether one instance may work on many chunks.
    pub reuse: bool,
    /// SHA-256 of the file.
    pub digest: String,
    /// Size of the file.
    pub size_bytes: u64,
    /// JSON Schema of its options; null when it takes none.
    pub options: Option<Value>,
    /// Interfaces that it imports, as they are named in it.
    pub imports: Vec<String>,
    /// Names of the samples that it carries.
    pub samples: Vec<String>,
    /// The first of them that it can be given, and its columns there.
    #[serde(skip)]
    pub columns: Option<(String, SampleColumns)>,
}

impl Bench {
    /// Tells what a component is. Its samples are not run.
    ///
    /// # Errors
    /// It is refused.
    pub fn inspect(&self, path: &Path) -> Result<Inspected, AuthorError> {
        let component = self.load(path)?;
        let columns = |sample: &Sample| {
            let columns = sample.columns(&component, &Limits::default()).ok()?;
            Some((sample.name.clone(), columns))
        };
        let size_bytes = fs::metadata(path).map_err(AuthorError::io(path))?.len();
        Ok(Inspected {
            name: component.name().into(),
            version: component.version().to_string(),
            kind: component.kind().to_string(),
            schema_versions: component.schema_versions().to_string(),
            reuse: component.reuse(),
            digest: component.digest().into(),
            size_bytes,
            options: component.options().cloned(),
            imports: component.imports().to_vec(),
            samples: component.samples().iter().map(|sample| sample.name.clone()).collect(),
            columns: component.samples().iter().find_map(columns),
        })
    }
}
