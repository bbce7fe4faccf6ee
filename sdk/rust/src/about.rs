//! What a component says of itself, and what it is told.

#[cfg(not(target_family = "wasm"))]
use arrow_schema::SchemaRef;
use arrow_schema::{DataType, Field};
use serde::de::DeserializeOwned;
use serde_json::json;

/// What a component says of itself.
///
/// ```
/// use crisol_sdk::About;
/// const ABOUT: About = About::new("orders", "1.2.0").schema_versions("1..2");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct About {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) schema_versions: &'static str,
    pub(crate) options: Option<&'static str>,
    pub(crate) reuse: bool,
}

impl About {
    /// The name that contracts use, and the component's semantic version; `env!("CARGO_PKG_VERSION")` does for it.
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        About { name, version, schema_versions: "all", options: None, reuse: false }
    }

    /// The schema versions that it handles: `1..3`, `2` or `all` (the default).
    pub const fn schema_versions(self, versions: &'static str) -> Self {
        About { schema_versions: versions, ..self }
    }

    /// The JSON Schema of its options, as text. Without it the component takes none.
    pub const fn options(self, json_schema: &'static str) -> Self {
        About { options: Some(json_schema), ..self }
    }

    /// Its start is dear: one instance may work on many chunks, or sessions of groups.
    pub const fn reuse(self) -> Self {
        About { reuse: true, ..self }
    }

    /// The text that `describe` gives.
    pub(crate) fn describe(&self, kind: &str) -> String {
        let mut about = json!({
            "name": self.name,
            "version": self.version,
            "kind": kind,
            "schema_versions": self.schema_versions,
            "reuse": self.reuse,
        });
        if let Some(schema) = self.options {
            // A schema that is no JSON shows as text, which the host refuses by name.
            about["options"] = serde_json::from_str(schema).unwrap_or_else(|_| json!(schema));
        }
        about.to_string()
    }
}

/// A column: name, Arrow type (of those that contracts have) and whether it may be null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type; [`crate::types`] turns text into types and back.
    pub data_type: DataType,
    /// May it be null?
    pub nullable: bool,
}

impl Column {
    /// A column that may be null.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Column { name: name.into(), data_type, nullable: true }
    }

    /// The same, never null.
    pub fn not_null(self) -> Self {
        Column { nullable: false, ..self }
    }

    pub(crate) fn field(&self) -> Field {
        Field::new(&self.name, self.data_type.clone(), self.nullable)
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn all_of(schema: &SchemaRef) -> Vec<Column> {
        let column =
            |f: &Field| Column { name: f.name().clone(), data_type: f.data_type().clone(), nullable: f.is_nullable() };
        schema.fields().iter().map(|f| column(f)).collect()
    }
}

/// What a stage reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Names of the input columns that it wants, in the order in which it wants them.
    pub reads: Vec<String>,
    /// Columns that it gives.
    pub writes: Vec<Column>,
}

/// What holds for all rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// What "now" means, in microseconds since 1970 UTC. A stage has no other clock.
    pub timestamp_us: i64,
}

/// Why a stage could not do its work: it stops the stream. A bad row is no failure; reject it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Short and stable: `options`, `input`, `bug`, or a word of the component's own.
    pub code: String,
    /// For people: what, where, why.
    pub text: String,
    /// Anything else worth knowing.
    pub attributes: Vec<(String, String)>,
}

impl Failure {
    /// A failure with a code of the component's own.
    pub fn new(code: impl Into<String>, text: impl Into<String>) -> Self {
        Failure { code: code.into(), text: text.into(), attributes: Vec::new() }
    }

    /// The options do not fit.
    pub fn options(text: impl Into<String>) -> Self {
        Failure::new("options", text)
    }

    /// The input columns do not fit.
    pub fn input(text: impl Into<String>) -> Self {
        Failure::new("input", text)
    }

    /// The component is wrong.
    pub fn bug(text: impl std::fmt::Display) -> Self {
        Failure::new("bug", text.to_string())
    }

    /// With one more thing worth knowing.
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.attributes.push((name.into(), value.to_string()));
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

impl std::error::Error for Failure {}

impl From<crisol_ipc::IpcError> for Failure {
    fn from(error: crisol_ipc::IpcError) -> Self {
        Failure::bug(error)
    }
}

impl From<arrow_schema::ArrowError> for Failure {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Failure::bug(error)
    }
}

/// Options of a component that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// A type in the words of contracts.
pub(crate) fn type_name(data_type: &DataType) -> String {
    crisol_ipc::types::name(data_type).unwrap_or_else(|| data_type.to_string())
}

/// The options from their JSON text; empty text is `{}`.
pub(crate) fn options<O: DeserializeOwned>(text: &str) -> Result<O, Failure> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    serde_json::from_str(text).map_err(|e| Failure::options(format!("the options do not fit: {e}")))
}
