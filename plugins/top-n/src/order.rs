//! The order in a group: what a contract says, and keys that compare as bytes.

use std::sync::Arc;

use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::SortOptions;
use crisol_sdk::arrow::cast::AsArray;
use crisol_sdk::arrow::types::{Float32Type, Float64Type};
use crisol_sdk::arrow::{ArrayRef, DataType, RecordBatch};
use crisol_sdk::{Column, Failure, types};

/// Columns that tell any two rows of a source apart.
const PROVENANCE: [&[&str]; 2] = [&["topic", "partition", "offset"], &["file_path", "file_row"]];

/// A column of the order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    column: String,
    options: SortOptions,
}

/// The order, bound to the columns of an input.
#[derive(Debug)]
pub(crate) struct Order {
    terms: Vec<Term>,
    data_types: Vec<DataType>,
}

impl Order {
    /// Binds the order; a `total` one is completed by provenance where the input has it.
    pub(crate) fn bind(order_by: &[String], total: bool, input: &[Column]) -> Result<Self, Failure> {
        if order_by.is_empty() {
            return Err(Failure::options("`order_by` is empty; without an order no row comes before another"));
        }
        let mut order = Order { terms: Vec::new(), data_types: Vec::new() };
        for (at, text) in order_by.iter().enumerate() {
            let place = format!("`order_by[{at}]`");
            let term = Term::parse(text).map_err(|what| Failure::options(format!("{place}: {what}")))?;
            order.add(term, input).map_err(|what| Failure::options(format!("{place}: {what}")))?;
        }
        if total {
            order.complete(input)?;
        }
        Ok(order)
    }

    fn add(&mut self, term: Term, input: &[Column]) -> Result<(), String> {
        let name = &term.column;
        let Some(column) = input.iter().find(|column| &column.name == name) else {
            let names: Vec<&str> = input.iter().map(|column| column.name.as_str()).collect();
            return Err(format!("no column `{name}`; there are: {}", names.join(", ")));
        };
        if column.data_type.is_nested() {
            let data_type = types::name(&column.data_type).unwrap_or_else(|| column.data_type.to_string());
            return Err(format!("column `{name}` is {data_type}, which has no order"));
        }
        if self.has(name) {
            return Err(format!("column `{name}` is there twice"));
        }
        self.data_types.push(column.data_type.clone());
        self.terms.push(term);
        Ok(())
    }

    fn complete(&mut self, input: &[Column]) -> Result<(), Failure> {
        let is_there = |name: &&str| input.iter().any(|column| column.name == **name);
        let Some(provenance) = PROVENANCE.into_iter().find(|names| names.iter().all(is_there)) else { return Ok(()) };
        for name in provenance {
            if !self.has(name) {
                let term = Term { column: (*name).to_string(), options: SortOptions::new(false, true) };
                self.add(term, input).map_err(Failure::input)?;
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.terms.iter().any(|term| term.column == name)
    }

    /// The columns to read, in this order.
    pub(crate) fn reads(&self) -> Vec<String> {
        self.terms.iter().map(|term| term.column.clone()).collect()
    }

    /// What makes keys of rows that have the columns of [`Self::reads`].
    pub(crate) fn converter(&self) -> Result<RowConverter, Failure> {
        let fields = self.terms.iter().zip(&self.data_types);
        let field =
            |(term, data_type): (&Term, &DataType)| SortField::new_with_options(data_type.clone(), term.options);
        Ok(RowConverter::new(fields.map(field).collect())?)
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let term = |term: &Term| format!("`{}`{}", term.column, if term.options.descending { " desc" } else { "" });
        f.write_str(&self.terms.iter().map(term).collect::<Vec<_>>().join(", "))
    }
}

/// Keys of the rows: those of peers are equal, others compare as the rows do.
pub(crate) fn keys(converter: &RowConverter, rows: &RecordBatch) -> Result<Rows, Failure> {
    let columns: Vec<ArrayRef> = rows.columns().iter().map(normal).collect();
    Ok(converter.convert_columns(&columns)?)
}

/// One NaN, greater than all, and one zero: Arrow's total order tells them apart, SQL does not.
fn normal(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let normal = |value: f32| if value.is_nan() { f32::NAN } else { value + 0.0 };
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(normal))
        }
        DataType::Float64 => {
            let normal = |value: f64| if value.is_nan() { f64::NAN } else { value + 0.0 };
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(normal))
        }
        _ => Arc::clone(column),
    }
}

impl Term {
    /// Reads `COLUMN [asc|desc] [nulls first|nulls last]`.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not `COLUMN [asc|desc] [nulls first|nulls last]`");
        let (column, rest) = column(text.trim()).ok_or_else(wrong)?;
        let rest = rest.to_ascii_lowercase();
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (descending, words) = match words.as_slice() {
            ["asc", words @ ..] => (false, words),
            ["desc", words @ ..] => (true, words),
            words => (false, words),
        };
        let nulls_first = match words {
            [] => !descending,
            ["nulls", "first"] => true,
            ["nulls", "last"] => false,
            _ => return Err(wrong()),
        };
        Ok(Term { column, options: SortOptions::new(descending, nulls_first) })
    }
}

/// The name at the start of a text, in backticks or up to white space, and what follows it.
fn column(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('`') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_string(), &text[end..]));
    };
    let mut name = String::new();
    loop {
        let (part, after) = rest.split_once('`')?;
        name.push_str(part);
        match after.strip_prefix('`') {
            Some(after) => {
                name.push('`');
                rest = after;
            }
            None => return (!name.is_empty()).then_some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str) -> (String, bool, bool) {
        let term = Term::parse(text).unwrap();
        (term.column, term.options.descending, term.options.nulls_first)
    }

    #[test]
    fn w002_nulls_come_first_ascending_and_last_descending_unless_said_otherwise() {
        for (text, descending, nulls_first) in [
            ("a", false, true),
            ("a asc", false, true),
            ("a DESC", true, false),
            ("a desc nulls first", true, true),
            ("a Nulls Last", false, false),
            ("  a   asc  nulls  last ", false, false),
        ] {
            assert_eq!(term(text), ("a".to_string(), descending, nulls_first), "{text}");
        }
    }

    #[test]
    fn names_in_backticks_may_hold_anything() {
        assert_eq!(term("`a b` desc"), ("a b".to_string(), true, false));
        assert_eq!(term("`a``b`"), ("a`b".to_string(), false, true));
        assert_eq!(term("desc"), ("desc".to_string(), false, true));
    }

    #[test]
    fn what_is_no_term_is_shown_with_what_is_allowed() {
        for text in ["", "  ", "a down", "a desc nulls", "a nulls first desc", "a, b", "`a", "``"] {
            let what = Term::parse(text).unwrap_err();
            assert_eq!(what, format!("`{text}` is not `COLUMN [asc|desc] [nulls first|nulls last]`"));
        }
    }
}
