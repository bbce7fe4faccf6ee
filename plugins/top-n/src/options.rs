//! What a contract says.

use crisol_sdk::{Column, Failure};
use serde::Deserialize;

use crate::Function;

/// JSON Schema of [`Options`].
pub(crate) const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "n": { "type": "integer", "minimum": 1, "maximum": 2147483647, "description": "the last position that is kept" },
    "function": {
      "enum": ["row_number", "rank", "dense_rank"], "default": "row_number",
      "description": "whose positions are compared with `n`"
    },
    "order_by": {
      "type": "array", "minItems": 1, "items": { "type": "string" },
      "description": "the order in a group, each `COLUMN [asc|desc] [nulls first|nulls last]`; nulls come first ascending and last descending unless it says otherwise"
    },
    "position": { "type": "string", "default": "position", "description": "the column that gets the position" },
    "functions": {
      "type": "object", "minProperties": 1, "additionalProperties": false,
      "properties": {
        "row_number": { "type": "string" }, "rank": { "type": "string" }, "dense_rank": { "type": "string" }
      },
      "description": "instead of `position`: several functions at once, each with its column"
    }
  },
  "required": ["n", "order_by"],
  "additionalProperties": false
}"#;

/// Options of the ranker.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The last position that is kept.
    pub n: i32,
    /// Whose positions are compared with `n`.
    #[serde(default)]
    pub function: Function,
    /// The order in a group.
    pub order_by: Vec<String>,
    /// The column that gets the position.
    pub position: Option<String>,
    /// Several functions at once.
    pub functions: Option<Functions>,
}

/// The column of each function.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Functions {
    /// For `row_number`.
    pub row_number: Option<String>,
    /// For `rank`.
    pub rank: Option<String>,
    /// For `dense_rank`.
    pub dense_rank: Option<String>,
}

impl Options {
    /// The functions that are asked for, and their columns.
    pub(crate) fn positions(&self) -> Result<Vec<(Function, String)>, Failure> {
        if self.n < 1 {
            return Err(Failure::options(format!("`n` is {}; it must be at least 1", self.n)));
        }
        let Some(functions) = &self.functions else {
            let position = self.position.clone().unwrap_or_else(|| "position".to_string());
            return Ok(vec![(self.function, position)]);
        };
        if self.position.is_some() {
            return Err(Failure::options("`position` and `functions` both name columns; give one of them"));
        }
        let named = [
            (Function::RowNumber, &functions.row_number),
            (Function::Rank, &functions.rank),
            (Function::DenseRank, &functions.dense_rank),
        ];
        let positions: Vec<(Function, String)> =
            named.into_iter().filter_map(|(function, column)| Some((function, column.clone()?))).collect();
        if !positions.iter().any(|(function, _)| *function == self.function) {
            let word = self.function.word();
            let text = format!(
                "`functions` has no `{word}`, whose positions are compared with `n`; add it, or name another in `function`"
            );
            return Err(Failure::options(text));
        }
        Ok(positions)
    }

    /// The columns that are written, none of them there already.
    pub(crate) fn writes(&self, input: &[Column]) -> Result<Vec<Column>, Failure> {
        let positions = self.positions()?;
        for (at, (function, name)) in positions.iter().enumerate() {
            if input.iter().any(|column| &column.name == name) {
                let text = format!("the input has a column `{name}` already; name another for `{}`", function.word());
                return Err(Failure::options(text));
            }
            if positions[..at].iter().any(|(_, other)| other == name) {
                return Err(Failure::options(format!("`functions` has the column `{name}` twice")));
            }
        }
        let column = |(_, name)| Column::new(name, crisol_sdk::arrow::DataType::Int32).not_null();
        Ok(positions.into_iter().map(column).collect())
    }
}
