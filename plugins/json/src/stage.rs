//! The component: what it says of itself, its options, what it reads and writes.

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use crisol_sdk::columns::{Output, Stage};
use crisol_sdk::{About, Batch, Column, Failure, Plan, types};
use serde::Deserialize;

use crate::Decoder;

/// JSON Schema of [`Options`].
const OPTIONS: &str = r#"{
  "type": "object",
  "properties": {
    "column": { "type": "string", "default": "payload", "description": "the column to decode, string or binary" },
    "columns": {
      "type": "array", "minItems": 1,
      "description": "the columns to fill, each from the field of its name; by default the table's",
      "items": {
        "type": "object",
        "properties": { "name": { "type": "string" }, "type": { "type": "string" }, "nullable": { "type": "boolean" } },
        "required": ["name", "type"]
      }
    }
  },
  "required": ["columns"],
  "additionalProperties": false
}"#;

/// Options of the decoder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The column to decode.
    #[serde(default = "payload")]
    pub column: String,
    /// The columns to fill.
    pub columns: Vec<Declared>,
}

/// A column to fill. Whatever else a table's contract says of it is not read: NOT NULL is the host's to enforce, after
/// decoding (P-002).
#[derive(Debug, Deserialize)]
pub struct Declared {
    /// The field that fills it, and its own name.
    pub name: String,
    /// Its type, in the words of contracts.
    #[serde(rename = "type")]
    pub data_type: String,
}

/// The decoder `json`.
#[derive(Debug)]
pub struct Json {
    decoder: Decoder,
}

impl Stage for Json {
    type Options = Options;

    const ABOUT: About = About::new("json", env!("CARGO_PKG_VERSION")).options(OPTIONS).reuse();

    fn plan(options: &Options, input: &[Column]) -> Result<Plan, Failure> {
        let name = &options.column;
        let Some(column) = input.iter().find(|column| &column.name == name) else {
            let names: Vec<&str> = input.iter().map(|column| column.name.as_str()).collect();
            return Err(Failure::input(format!("no column `{name}` to decode; there are: {}", names.join(", "))));
        };
        if !matches!(column.data_type, DataType::Utf8 | DataType::Binary) {
            let found = types::name(&column.data_type).unwrap_or_else(|| column.data_type.to_string());
            return Err(Failure::input(format!("column `{name}` is {found}; JSON is read from string or binary")));
        }
        let fields = fields(&options.columns)?;
        Decoder::new(name, &fields).map_err(Failure::options)?;
        let writes = fields.iter().map(|field| Column::new(field.name(), field.data_type().clone())).collect();
        Ok(Plan { reads: vec![name.clone()], writes })
    }

    fn open(options: Options, _input: &SchemaRef, _batch: &Batch) -> Result<Self, Failure> {
        let fields = fields(&options.columns)?;
        let decoder = Decoder::new(&options.column, &fields).map_err(Failure::options)?;
        Ok(Self { decoder })
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Output, Failure> {
        let Some(payloads) = rows.columns().first() else {
            return Err(Failure::bug("the column to decode is missing from the rows"));
        };
        Ok(self.decoder.decode(payloads)?)
    }
}

fn payload() -> String {
    "payload".to_string()
}

/// The declared columns. All may be null: a field that is missing gives null (P-002).
fn fields(declared: &[Declared]) -> Result<Fields, Failure> {
    if declared.is_empty() {
        return Err(Failure::options("`columns` is empty: there is nothing to fill"));
    }
    let mut fields: Vec<Field> = Vec::with_capacity(declared.len());
    for column in declared {
        let name = &column.name;
        if fields.iter().any(|field| field.name() == name) {
            return Err(Failure::options(format!("`columns` has `{name}` twice")));
        }
        let data_type =
            types::parse(&column.data_type).map_err(|what| Failure::options(format!("column `{name}`: {what}")))?;
        fields.push(Field::new(name, data_type, true));
    }
    Ok(fields.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        serde_json::from_str(text).unwrap()
    }

    fn input() -> Vec<Column> {
        [("message_key", "binary"), ("payload", "binary"), ("line", "string"), ("offset", "bigint")]
            .map(|(name, data_type)| Column::new(name, types::parse(data_type).unwrap()))
            .into()
    }

    fn refused(text: &str) -> Failure {
        Json::plan(&options(text), &input()).unwrap_err()
    }

    #[test]
    fn p002_a_plan_reads_one_column_and_writes_nullable_ones() {
        let options = options(
            r#"{"columns":[{"name":"id","type":"string","nullable":false},{"name":"at","type":"timestamp","comment":"x"}]}"#,
        );
        let plan = Json::plan(&options, &input()).unwrap();
        assert_eq!(plan.reads, ["payload"]);
        assert_eq!(plan.writes, [Column::new("id", DataType::Utf8), Column::new("at", types::timestamp())]);
        let read = Json::plan(&options, &input()[1..2]).unwrap();
        assert_eq!(read, plan, "the same when the input is only what it reads");
    }

    #[test]
    fn another_column_can_be_read() {
        let options = options(r#"{"column":"line","columns":[{"name":"a","type":"int"}]}"#);
        assert_eq!(Json::plan(&options, &input()).unwrap().reads, ["line"]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let column = r#""columns":[{"name":"a","type":"int"}]"#;
        let failure = refused(&format!(r#"{{"column":"body",{column}}}"#));
        assert_eq!(failure.code, "input");
        assert_eq!(failure.text, "no column `body` to decode; there are: message_key, payload, line, offset");
        let failure = refused(&format!(r#"{{"column":"offset",{column}}}"#));
        assert_eq!(failure.text, "column `offset` is bigint; JSON is read from string or binary");
        let failure = refused(r#"{"columns":[]}"#);
        assert_eq!(
            (failure.code.as_str(), failure.text.as_str()),
            ("options", "`columns` is empty: there is nothing to fill")
        );
        let failure = refused(r#"{"columns":[{"name":"a","type":"int"},{"name":"a","type":"string"}]}"#);
        assert_eq!(failure.text, "`columns` has `a` twice");
        let failure = refused(r#"{"columns":[{"name":"a","type":"intt"}]}"#);
        assert!(failure.text.starts_with("column `a`: `intt`"), "{failure}");
        let failure = refused(r#"{"columns":[{"name":"a","type":"array<map<int,string>>"}]}"#);
        assert_eq!(failure.text, "`a`: `map<int,string>`: a map read from JSON has keys of type `string`");
    }

    #[test]
    fn the_schema_of_the_options_is_json() {
        let schema: serde_json::Value = serde_json::from_str(OPTIONS).unwrap();
        assert_eq!(schema["properties"]["column"]["default"], payload());
    }
}
