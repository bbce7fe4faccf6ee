//! Columns: of a table, and of JSON files.

use arrow_schema::DataType;

use crate::problem::Code;
use crate::read::{Object, Spelling, Value};
use crate::table::ColumnSpec;

/// `columns` of a table contract.
pub(super) fn table_columns(columns: &Value<'_>) -> Option<Vec<ColumnSpec>> {
    read(columns, |object| ColumnSpec {
        nullable: object.get("nullable").and_then(|value| value.flag(Spelling::Json)).unwrap_or(true),
        generated: object.get("generated").and_then(|value| value.plain_not_empty()),
        ..column(object)
    })
}

/// `source.schema` of an ingestion contract; every column is nullable (F-002).
pub(super) fn source_schema(schema: &Value<'_>) -> Option<Vec<ColumnSpec>> {
    read(schema, |object| {
        if let Some(value) = object.get("nullable")
            && value.flag(Spelling::Json) == Some(false)
        {
            let text = "files are always read as nullable; put `\"nullable\": false` on the table's column";
            value.report.warn(value.problem(Code::Conflict, text));
        }
        column(object)
    })
}

fn read(columns: &Value<'_>, one: impl Fn(&Object<'_>) -> ColumnSpec) -> Option<Vec<ColumnSpec>> {
    let items = columns.items()?;
    if items.is_empty() {
        columns.refuse(Code::InvalidValue, "must name at least one column");
    }
    Some(items.iter().filter_map(Value::object).map(|object| one(&object)).collect())
}

fn column(object: &Object<'_>) -> ColumnSpec {
    ColumnSpec {
        name: object.require("name").and_then(|value| column_name(&value)).unwrap_or_default(),
        data_type: object.require("type").and_then(|value| data_type(&value)).unwrap_or(DataType::Null),
        nullable: true,
        comment: object.get("comment").and_then(|value| value.plain()),
        generated: None,
    }
}

/// Delta without column mapping refuses these characters.
fn column_name(value: &Value<'_>) -> Option<String> {
    let name = value.plain_not_empty()?;
    if name.contains([' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '=']) {
        value.refuse(Code::InvalidValue, "a Delta column has no spaces and none of `,;{}()=` in its name");
    }
    Some(name)
}

fn data_type(value: &Value<'_>) -> Option<DataType> {
    let text = value.plain()?;
    crisol_ipc::types::parse(&text).map_err(|message| value.refuse(Code::InvalidValue, message)).ok()
}
