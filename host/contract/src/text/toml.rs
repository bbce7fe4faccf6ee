//! TOML texts.

use toml_edit::{Document, Item, TableLike, Value};

use super::json::Flaw;
use super::{At, Data, Entry, Node};

/// The tree of a TOML text, or the flaw of its syntax.
///
/// Below `kafka` a dotted key (`bootstrap.servers = …`) is one name with a dot in it, as it is when quoted: names of
/// Kafka's options have dots, and nobody should lose an evening over that.
pub(super) fn parse(text: &str) -> Result<Node, Flaw> {
    let document = Document::parse(text).map_err(|error| Flaw {
        offset: error.span().map_or(0, |span| span.start),
        key: None,
        message: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    let entries = entries(document.as_table(), Names::Split);
    Ok(Node { at: At::Offset(0), data: Data::Object(entries) })
}

/// How dotted keys are taken.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Split,
    Joined,
}

fn entries(table: &dyn TableLike, names: Names) -> Vec<Entry> {
    let mut out = Vec::new();
    for (name, item) in table.iter() {
        let offset =
            table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span()).map_or(0, |span| span.start);
        let below = if names == Names::Joined || name == "kafka" { Names::Joined } else { Names::Split };
        let value = convert(item, offset, below);
        match value.data {
            Data::Object(inner) if names == Names::Joined && is_dotted(item) => {
                out.extend(inner.into_iter().map(|entry| Entry { name: format!("{name}.{}", entry.name), ..entry }));
            }
            _ => out.push(Entry { name: name.to_owned(), at: At::Offset(offset), value }),
        }
    }
    out
}

fn is_dotted(item: &Item) -> bool {
    item.as_table_like().is_some_and(TableLike::is_dotted)
}

fn convert(item: &Item, offset: usize, names: Names) -> Node {
    let start = item.span().map_or(offset, |span| span.start);
    let data = match item {
        Item::None => Data::Null,
        Item::Value(value) => return convert_value(value, start, names),
        Item::Table(table) => Data::Object(entries(table, names)),
        Item::ArrayOfTables(tables) => Data::List(
            tables
                .iter()
                .map(|table| Node {
                    at: At::Offset(table.span().map_or(start, |span| span.start)),
                    data: Data::Object(entries(table, names)),
                })
                .collect(),
        ),
    };
    Node { at: At::Offset(start), data }
}

fn convert_value(value: &Value, offset: usize, names: Names) -> Node {
    let start = value.span().map_or(offset, |span| span.start);
    let data = match value {
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Integer(number) => Data::Number(number.value().to_string()),
        Value::Float(number) => Data::Number(number.value().to_string()),
        Value::Boolean(flag) => Data::Bool(*flag.value()),
        Value::Datetime(_) => Data::Other("a date or time"),
        Value::Array(items) => Data::List(items.iter().map(|item| convert_value(item, start, names)).collect()),
        Value::InlineTable(table) => Data::Object(entries(table, names)),
    };
    Node { at: At::Offset(start), data }
}
