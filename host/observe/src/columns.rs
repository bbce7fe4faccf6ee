//! Columns before and after an exchange, side by side.

use std::fmt;

use serde::{Deserialize, Serialize};

/// All columns of two schemas, in the order of the old one; those that only the new one has come last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColumnChanges(pub Vec<ColumnChange>);

/// One column in both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ColumnChange {
    /// Its name.
    pub name: String,
    /// What it was, `int not null`; `None`: it is new.
    pub old: Option<String>,
    /// What it is now; `None`: it is gone.
    pub new: Option<String>,
}

/// What stands where a column is not.
const ABSENT: &str = "-";

impl ColumnChanges {
    /// Those that are not the same before and after.
    pub fn differing(&self) -> impl Iterator<Item = &ColumnChange> {
        self.0.iter().filter(|column| column.old != column.new)
    }
}

/// A line a column that differs, old beside new; how many are the same is said below. Names and types can come from a
/// component: what would steer a terminal is escaped.
impl fmt::Display for ColumnChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: Option<&String>| text.map_or_else(|| ABSENT.to_owned(), |text| escaped(text));
        let mut rows = vec![["column".to_owned(), "old".to_owned(), "new".to_owned()]];
        rows.extend(
            self.differing()
                .map(|column| [escaped(&column.name), text(column.old.as_ref()), text(column.new.as_ref())]),
        );
        let width = |at: usize| rows.iter().map(|row| row.get(at).map_or(0, |cell| cell.chars().count())).max();
        let (first, second) = (width(0).unwrap_or_default(), width(1).unwrap_or_default());
        let lines: Vec<String> =
            rows.iter().map(|[name, old, new]| format!("  {name:first$} | {old:second$} | {new}")).collect();
        f.write_str(&lines.join("\n"))?;
        match self.0.len() - self.differing().count() {
            0 => Ok(()),
            1 => f.write_str("\n  1 column is the same"),
            same => write!(f, "\n  {same} columns are the same"),
        }
    }
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str, old: Option<&str>, new: Option<&str>) -> ColumnChange {
        ColumnChange { name: name.into(), old: old.map(Into::into), new: new.map(Into::into) }
    }

    #[test]
    fn old_and_new_stand_side_by_side_and_what_is_the_same_is_counted() {
        let changes = ColumnChanges(vec![
            change("order_id", Some("string"), Some("string")),
            change("amount", Some("int not null"), Some("bigint not null")),
            change("a\u{1b}[31m", None, Some("string")),
            change("day", Some("date"), None),
        ]);
        let expected = [
            "  column      | old          | new",
            "  amount      | int not null | bigint not null",
            "  a\\u{1b}[31m | -            | string",
            "  day         | date         | -",
            "  1 column is the same",
        ];
        assert_eq!(changes.to_string(), expected.join("\n"));
    }

    #[test]
    fn programs_get_all_columns() {
        let changes = ColumnChanges(vec![change("a", Some("int"), Some("int")), change("b", None, Some("date"))]);
        let text = serde_json::to_string(&changes).unwrap();
        assert_eq!(text, r#"[{"name":"a","old":"int","new":"int"},{"name":"b","old":null,"new":"date"}]"#);
        assert_eq!(serde_json::from_str::<ColumnChanges>(&text).unwrap(), changes);
    }
}
