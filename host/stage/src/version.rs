//! Where the schema version of a row stands, and how it is read there.
//!
//! A JSON field is looked for by a scan of the text, without a tree, at the top level; the first one counts. The scan
//! ends there: what follows is the decoder's business.

mod plain;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use crisol_contract::VersionSource;
use jiter::{Jiter, JiterResult, NumberInt, Peek};

/// Column of Kafka's headers: a list of `key` and `value`.
const HEADERS: &str = "headers";

/// What was found of one row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its version.
    Version(u32),
    /// It has none.
    Missing(String),
    /// What stands there is no version.
    Odd(String),
    /// The text is no JSON.
    Corrupt(String),
}

/// The place, in rows of certain columns.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Json { field: String, column: usize },
    Header { name: String, column: usize },
    Column { name: String, column: usize },
}

impl Place {
    /// The place that a contract names, among these columns.
    ///
    /// # Errors
    /// Key below `version`, and why the place cannot be read.
    pub(crate) fn of(source: &VersionSource, input: &Schema) -> Result<Option<Self>, (&'static str, String)> {
        let find = |key: &'static str, name: &str, fits: fn(&DataType) -> bool, wanted: &str| {
            let (at, field) =
                input.fields().find(name).ok_or_else(|| (key, format!("no column `{name}` reaches it")))?;
            if fits(field.data_type()) { Ok(at) } else { Err((key, format!("column `{name}` is no {wanted}"))) }
        };
        Ok(Some(match source {
            VersionSource::Constant(_) => return Ok(None),
            VersionSource::Json { field, column } => {
                Self::Json { field: field.clone(), column: find("in", column, is_text, "text")? }
            }
            VersionSource::Header(name) => {
                Self::Header { name: name.clone(), column: find("header", HEADERS, is_headers, "list of headers")? }
            }
            VersionSource::Column(name) => {
                Self::Column { name: name.clone(), column: find("column", name, DataType::is_integer, "whole number")? }
            }
        }))
    }

    /// The column that a contract's version needs.
    pub(crate) fn column(source: &VersionSource) -> Option<&str> {
        match source {
            VersionSource::Json { column, .. } | VersionSource::Column(column) => Some(column),
            VersionSource::Header(_) => Some(HEADERS),
            VersionSource::Constant(_) => None,
        }
    }

    /// The versions of all rows.
    ///
    /// # Errors
    /// The columns are not those that the place was found in.
    pub(crate) fn read(&self, rows: &RecordBatch) -> Result<Vec<Found>, arrow_schema::ArrowError> {
        match self {
            Self::Json { field, column } => {
                let texts = as_bytes(rows.column(*column))?;
                Ok(texts.iter().map(|text| in_json(text, field)).collect())
            }
            Self::Header { name, column } => in_headers(rows.column(*column), name),
            Self::Column { name, column } => {
                let numbers = arrow_cast::cast(rows.column(*column), &DataType::Int64)?;
                let missing = || Found::Missing(format!("column `{name}` is null"));
                let numbers = numbers.as_primitive::<Int64Type>().iter();
                Ok(numbers.map(|number| number.map_or_else(missing, version)).collect())
            }
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::Binary)
}

fn is_headers(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)))
}

fn as_bytes(column: &ArrayRef) -> Result<BinaryArray, arrow_schema::ArrowError> {
    Ok(arrow_cast::cast(column, &DataType::Binary)?.as_binary::<i32>().clone())
}

fn version(number: i64) -> Found {
    u32::try_from(number).map_or_else(|_| Found::Odd(format!("{number} is no schema version")), Found::Version)
}

/// Digits, as headers and some producers have them.
fn in_text(text: &str) -> Found {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    let shown: String = text.chars().take(40).flat_map(char::escape_default).collect();
    number.map_or_else(|| Found::Odd(format!("`{shown}` is no schema version")), Found::Version)
}

fn in_json(text: Option<&[u8]>, field: &str) -> Found {
    let Some(text) = text else { return Found::Missing("there is no text".into()) };
    plain::version(text, field.as_bytes()).map_or_else(|| parsed(text, field), Found::Version)
}

fn parsed(text: &[u8], field: &str) -> Found {
    let mut json = Jiter::new(text);
    match scan(&mut json, field) {
        Ok(Some(found)) => found,
        // The scan does not look into the strings that it passes over.
        Ok(None) if simdutf8::basic::from_utf8(text).is_err() => Found::Corrupt("no UTF-8".into()),
        Ok(None) => Found::Missing(format!("there is no field `{field}`")),
        Err(error) => {
            let place = json.error_position(error.index);
            Found::Corrupt(format!("no JSON at line {} column {}", place.line, place.column))
        }
    }
}

/// `None`: the text is JSON, and has no such field.
fn scan(json: &mut Jiter<'_>, field: &str) -> JiterResult<Option<Found>> {
    let first = json.peek()?;
    if first != Peek::Object {
        json.known_skip(first)?;
        json.finish()?;
        return Ok(None);
    }
    let mut here = json.known_object()?.map(|key| key == field);
    while let Some(is_it) = here {
        if is_it {
            return value(json, field).map(Some);
        }
        json.next_skip()?;
        here = json.next_key()?.map(|key| key == field);
    }
    json.finish()?;
    Ok(None)
}

fn value(json: &mut Jiter<'_>, field: &str) -> JiterResult<Found> {
    let peek = json.peek()?;
    Ok(match peek {
        Peek::Null => Found::Missing(format!("field `{field}` is null")),
        Peek::String => in_text(json.known_str()?),
        peek if peek.is_num() => match json.known_int(peek) {
            Ok(NumberInt::Int(number)) => version(number),
            _ => Found::Odd(format!("field `{field}` is no whole number")),
        },
        _ => Found::Odd(format!("field `{field}` is no number")),
    })
}

/// The last header of the name counts, as for Kafka's own clients.
fn in_headers(column: &ArrayRef, name: &str) -> Result<Vec<Found>, arrow_schema::ArrowError> {
    let lists = column.as_list::<i32>();
    let entries = lists.values().as_struct();
    let (Some(keys), Some(values)) = (entries.column_by_name("key"), entries.column_by_name("value")) else {
        return Err(arrow_schema::ArrowError::SchemaError("headers have `key` and `value`".into()));
    };
    let (keys, values) = (as_bytes(keys)?, as_bytes(values)?);
    let of_row = |row: usize| {
        let missing = || Found::Missing(format!("there is no header `{name}`"));
        let (Some(from), Some(until)) = (lists.value_offsets().get(row), lists.value_offsets().get(row + 1)) else {
            return missing();
        };
        let mut range = *from as usize..*until as usize;
        let is_it = |at: &usize| keys.is_valid(*at) && keys.value(*at) == name.as_bytes();
        match range.rfind(is_it).filter(|at| lists.is_valid(row) && values.is_valid(*at)) {
            None => missing(),
            Some(at) => match std::str::from_utf8(values.value(at)) {
                Ok(text) => in_text(text),
                Err(_) => Found::Odd(format!("header `{name}` is no text")),
            },
        }
    };
    Ok((0..lists.len()).map(of_row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        in_json(Some(text.as_bytes()), "v")
    }

    #[test]
    fn the_first_field_at_the_top_level_counts_wherever_it_stands() {
        assert_eq!(found(r#"{"v":2}"#), Found::Version(2));
        assert_eq!(found(r#" { "a" : {"v": 9}, "b":[{"v":8}], "c":"\"v\":7", "v" : 3 , "v": 4 }"#), Found::Version(3));
        assert_eq!(found(r#"{"\u0076":5}"#), Found::Version(5));
        assert_eq!(found(r#"{"v":"12"}"#), Found::Version(12));
        // What follows is the decoder's business.
        assert_eq!(found(r#"{"v":1, oops"#), Found::Version(1));
    }

    #[test]
    fn what_is_absent_what_is_no_version_and_what_is_no_json_are_kept_apart() {
        for missing in ["{}", r#"{"a":1}"#, "[1]", "3", "null", r#"{"v":null}"#, r#"{"V":1}"#] {
            assert!(matches!(found(missing), Found::Missing(_)), "{missing}");
        }
        assert!(matches!(in_json(None, "v"), Found::Missing(_)));
        for odd in [
            r#"{"v":-1}"#,
            r#"{"v":1.5}"#,
            r#"{"v":"v2"}"#,
            r#"{"v":""}"#,
            r#"{"v":true}"#,
            r#"{"v":4294967296}"#,
            r#"{"v":[1]}"#,
            r#"{"v":99999999999999999999}"#,
        ] {
            assert!(matches!(found(odd), Found::Odd(_)), "{odd}: {:?}", found(odd));
        }
        for corrupt in ["", "{", r#"{"a":1"#, r#"{"a":1} x"#, "{'v':1}", r#"{"a":,"v":1}"#, "nope"] {
            assert!(matches!(found(corrupt), Found::Corrupt(_)), "{corrupt}: {:?}", found(corrupt));
        }
        assert!(matches!(in_json(Some(b"{\"a\":\"\xff\"}"), "v"), Found::Corrupt(_)));
    }
}
