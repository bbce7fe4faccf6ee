//! Measures as contracts write them, `sum(amount)`, and the types of their results.

use crisol_sdk::arrow::DataType;
use crisol_sdk::{Column, types};

use crate::values::Class;

/// What there is, for messages.
const KNOWN: &str = "`count(*)`, `count(COLUMN)`, `count(distinct COLUMN)`, `sum(COLUMN)`, `avg(COLUMN)`, \
                     `min(COLUMN)` and `max(COLUMN)`";
/// Most digits of a decimal.
const DIGITS_MAX: u8 = 38;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Count,
    CountDistinct,
    Sum,
    Avg,
    Min,
    Max,
}

/// One measure; without a column it counts rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) function: Function,
    pub(crate) column: Option<String>,
}

impl Measure {
    /// Reads `sum(amount)`. Case and white space do not matter, except in the name of the column.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let call = text.trim().strip_suffix(')').and_then(|call| call.split_once('('));
        let (word, argument) = call.ok_or_else(|| format!("`{text}` is not a measure; there are {KNOWN}"))?;
        let (function, name) = match (word.trim().to_ascii_lowercase().as_str(), argument.trim()) {
            ("count", "*") => return Ok(Measure { function: Function::Count, column: None }),
            ("count", argument) => match distinct(argument) {
                Some(name) => (Function::CountDistinct, name),
                None => (Function::Count, argument),
            },
            ("sum", name) => (Function::Sum, name),
            ("avg", name) => (Function::Avg, name),
            ("min", name) => (Function::Min, name),
            ("max", name) => (Function::Max, name),
            (other, _) => return Err(format!("`{text}`: `{other}` is not a function; there are {KNOWN}")),
        };
        let column = column(name).ok_or_else(|| format!("`{text}`: `{name}` is not the name of a column"))?;
        Ok(Measure { function, column: Some(column) })
    }

    /// The column that it gives for an input column of this type.
    pub(crate) fn result(&self, name: &str, input: Option<&DataType>) -> Result<Column, String> {
        let Some(input) = input else { return Ok(Column::new(name, DataType::Int64).not_null()) };
        let data_type = match self.function {
            Function::Count => return Ok(Column::new(name, DataType::Int64).not_null()),
            Function::CountDistinct if Class::of(input).is_some() => {
                return Ok(Column::new(name, DataType::Int64).not_null());
            }
            Function::Sum => total(input, 10, 0),
            Function::Avg => total(input, 4, 4).map(|data_type| match data_type {
                DataType::Int64 => DataType::Float64,
                other => other,
            }),
            Function::Min | Function::Max if Class::of(input).is_some() => Some(input.clone()),
            _ => None,
        };
        data_type.map(|data_type| Column::new(name, data_type)).ok_or_else(|| self.refused(input))
    }

    fn refused(&self, input: &DataType) -> String {
        let takes = match self.function {
            Function::Sum | Function::Avg => "takes numbers",
            _ => "takes no arrays, maps and structs",
        };
        let found = types::name(input).unwrap_or_else(|| input.to_string());
        format!("`{self}` {takes}, the column is {found}")
    }
}

/// The type of a sum: bigint, double, or a decimal with more digits, as Spark has it.
fn total(input: &DataType, digits: u8, places: u8) -> Option<DataType> {
    Some(match input {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => DataType::Int64,
        DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Decimal128(precision, scale) => {
            let places = scale.unsigned_abs().saturating_add(places).min(DIGITS_MAX);
            DataType::Decimal128(precision.saturating_add(digits).min(DIGITS_MAX), places as i8)
        }
        _ => return None,
    })
}

impl std::fmt::Display for Measure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let column = self.column.as_deref().unwrap_or("*");
        match self.function {
            Function::Count => write!(f, "count({column})"),
            Function::CountDistinct => write!(f, "count(distinct {column})"),
            Function::Sum => write!(f, "sum({column})"),
            Function::Avg => write!(f, "avg({column})"),
            Function::Min => write!(f, "min({column})"),
            Function::Max => write!(f, "max({column})"),
        }
    }
}

/// What follows the word `distinct`.
fn distinct(argument: &str) -> Option<&str> {
    let (word, name) = argument.split_at_checked("distinct".len())?;
    let ends = name.starts_with(|c: char| c.is_whitespace() || c == '`');
    (word.eq_ignore_ascii_case("distinct") && ends).then(|| name.trim_start())
}

/// A name as it stands, or in backticks when it has more than letters, digits and `_-.`.
fn column(text: &str) -> Option<String> {
    if let Some(quoted) = text.strip_prefix('`') {
        let name = quoted.strip_suffix('`')?.replace("``", "\0");
        return (!name.is_empty() && !name.contains('`')).then(|| name.replace('\0', "`"));
    }
    let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    (!text.is_empty() && text.chars().all(plain)).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Function, Option<String>) {
        let measure = Measure::parse(text).unwrap();
        (measure.function, measure.column)
    }

    #[test]
    fn measures_are_read_whatever_their_case_and_space() {
        let column = |name: &str| Some(name.to_string());
        assert_eq!(parsed("count(*)"), (Function::Count, None));
        assert_eq!(parsed(" COUNT ( * ) "), (Function::Count, None));
        assert_eq!(parsed("count(id)"), (Function::Count, column("id")));
        assert_eq!(parsed("count(distinct id)"), (Function::CountDistinct, column("id")));
        assert_eq!(parsed("Count(DISTINCT`a b`)"), (Function::CountDistinct, column("a b")));
        assert_eq!(parsed("count(distinct)"), (Function::Count, column("distinct")));
        assert_eq!(parsed("count(distinct_id)"), (Function::Count, column("distinct_id")));
        assert_eq!(parsed("sum(`a``b`)"), (Function::Sum, column("a`b")));
        assert_eq!(parsed("avg( día )"), (Function::Avg, column("día")));
        assert_eq!(parsed("min(a.b)"), (Function::Min, column("a.b")));
        assert_eq!(parsed("MAX(A)"), (Function::Max, column("A")));
    }

    #[test]
    fn what_is_no_measure_is_shown_with_what_there_is() {
        for text in ["", "amount", "sum", "sum(amount", "sum amount)"] {
            assert!(Measure::parse(text).unwrap_err().starts_with(&format!("`{text}` is not a measure; there are ")));
        }
        let what = Measure::parse("summ(amount)").unwrap_err();
        assert_eq!(
            what,
            "`summ(amount)`: `summ` is not a function; there are `count(*)`, `count(COLUMN)`, \
             `count(distinct COLUMN)`, `sum(COLUMN)`, `avg(COLUMN)`, `min(COLUMN)` and `max(COLUMN)`"
        );
        for (text, name) in [
            ("sum()", ""),
            ("sum(*)", "*"),
            ("sum(a, b)", "a, b"),
            ("sum(a))", "a)"),
            ("min(`a)", "`a"),
            ("max(``)", "``"),
        ] {
            assert_eq!(Measure::parse(text).unwrap_err(), format!("`{text}`: `{name}` is not the name of a column"));
        }
    }

    #[test]
    fn p052_results_have_the_types_of_spark() {
        let result = |text: &str, input: &str| {
            let input = types::parse(input).unwrap();
            let column = Measure::parse(text).unwrap().result("m", Some(&input)).unwrap();
            format!("{}{}", types::name(&column.data_type).unwrap(), if column.nullable { "" } else { " not null" })
        };
        for (text, input, expected) in [
            ("count(a)", "map<string,int>", "bigint not null"),
            ("count(distinct a)", "boolean", "bigint not null"),
            ("sum(a)", "tinyint", "bigint"),
            ("sum(a)", "bigint", "bigint"),
            ("sum(a)", "float", "double"),
            ("sum(a)", "decimal(18,2)", "decimal(28,2)"),
            ("sum(a)", "decimal(30,4)", "decimal(38,4)"),
            ("avg(a)", "int", "double"),
            ("avg(a)", "float", "double"),
            ("avg(a)", "decimal(18,2)", "decimal(22,6)"),
            ("avg(a)", "decimal(38,18)", "decimal(38,22)"),
            ("avg(a)", "decimal(38,36)", "decimal(38,38)"),
            ("min(a)", "timestamp", "timestamp"),
            ("max(a)", "float", "float"),
        ] {
            assert_eq!(result(text, input), expected, "{text} of {input}");
        }
    }

    #[test]
    fn columns_of_the_wrong_type_are_refused_by_type() {
        let refused = |text: &str, input: &str| {
            Measure::parse(text).unwrap().result("m", Some(&types::parse(input).unwrap())).unwrap_err()
        };
        assert_eq!(refused("sum(a)", "string"), "`sum(a)` takes numbers, the column is string");
        assert_eq!(refused("avg(a)", "date"), "`avg(a)` takes numbers, the column is date");
        let expected = "`count(distinct a)` takes no arrays, maps and structs, the column is array<int>";
        assert_eq!(refused("count(distinct a)", "array<int>"), expected);
        assert!(refused("max(a)", "struct<a:int>").contains("struct<a:int>"));
    }
}
