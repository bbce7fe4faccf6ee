//! What an expression over one row may not hold, found in the parsed text so that it can be named as written.

use std::ops::ControlFlow;

use datafusion::execution::SessionState;
use datafusion::logical_expr::Volatility;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Function, Query, Visit, Visitor};

use super::functions::BatchTime;
use super::patterns;
use super::plan::{SqlProblem, nearest};

/// The first thing in `expression` that is refused.
pub(super) fn refusal(state: &SessionState, expression: &Expr) -> Option<SqlProblem> {
    expression.visit(&mut Refusals { state }).break_value().map(|problem| *problem)
}

/// Whether an expression may call the function of this name.
#[cfg(test)]
pub(super) fn allowed(state: &SessionState, name: &str) -> bool {
    match state.scalar_functions().get(name) {
        Some(scalar) if scalar.inner().downcast_ref::<BatchTime>().is_some() => true,
        Some(scalar) => scalar.signature().volatility != Volatility::Volatile && name != "current_time",
        None => true,
    }
}

struct Refusals<'a> {
    state: &'a SessionState,
}

impl Visitor for Refusals<'_> {
    type Break = Box<SqlProblem>;

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<Self::Break> {
        ControlFlow::Break(Box::new(SqlProblem {
            what: "subqueries are refused: an expression sees one row".into(),
            hint: "join or look up in a stage before this table".into(),
        }))
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Self::Break> {
        let problem = match expression {
            Expr::Function(function) => self.function(function).or_else(|| patterns::argument(function)),
            Expr::BinaryOp { op: BinaryOperator::MyIntegerDivide, right, .. } => ambiguous_division(right),
            Expr::BinaryOp { op, right, .. } => patterns::operand(op, right),
            _ => None,
        };
        problem.map_or(ControlFlow::Continue(()), |problem| ControlFlow::Break(Box::new(problem)))
    }
}

/// The parser takes all that follows `DIV` for the divisor.
fn ambiguous_division(divisor: &Expr) -> Option<SqlProblem> {
    let single = matches!(
        divisor,
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Nested(_) | Expr::Function(_)
    );
    (!single).then(|| SqlProblem {
        what: format!("`DIV {divisor}` needs parentheses"),
        hint: "write `(a DIV b) + 1`, or `a DIV (b + 1)`".into(),
    })
}

impl Refusals<'_> {
    fn function(&self, function: &Function) -> Option<SqlProblem> {
        let name = function.name.to_string().to_lowercase();
        let refused = |why: &str, hint: &str| Some(SqlProblem { what: format!("`{name}` {why}"), hint: hint.into() });
        if function.over.is_some() || self.state.window_functions().contains_key(&name) {
            return refused("is a window function: an expression sees one row", "use a `rank` stage");
        }
        match self.state.scalar_functions().get(&name) {
            Some(scalar) if scalar.inner().downcast_ref::<BatchTime>().is_some() => None,
            Some(scalar) if scalar.signature().volatility == Volatility::Volatile => {
                refused("is refused: it gives another value at each call", "the same input must give the same rows")
            }
            Some(_) if name == "current_time" => {
                refused("is refused", "use `current_timestamp`, the batch's timestamp")
            }
            Some(_) => None,
            None if matches!(name.as_str(), "rand" | "randn" | "monotonically_increasing_id") => {
                refused("is refused: it gives another value at each call", "the same input must give the same rows")
            }
            None if self.state.aggregate_functions().contains_key(&name) => {
                refused("is an aggregate function: an expression sees one row", "use an `aggregate` stage")
            }
            None if self.state.higher_order_functions().contains_key(&name) => None,
            // Planned by the parser itself.
            None if matches!(name.as_str(), "map" | "make_map" | "struct" | "grouping") => None,
            None => {
                let known = self.state.scalar_functions().keys().map(String::as_str);
                let hint = nearest(&name, known).map_or_else(
                    || "functions are those of DataFusion's SQL".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                Some(SqlProblem { what: format!("no function `{name}`"), hint })
            }
        }
    }
}
