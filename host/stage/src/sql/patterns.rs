//! Regular expressions in SQL: `RLIKE`, and patterns that are none.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value, visit_expressions_mut,
};
use regex::Regex;

use super::plan::SqlProblem;

/// Functions whose second argument is a pattern.
const WITH_PATTERN: [&str; 5] = ["regexp_like", "regexp_match", "regexp_replace", "regexp_count", "regexp_instr"];

/// Spark's `a RLIKE b` (and `REGEXP`) as the operator that DataFusion knows.
pub(super) fn respell(expression: &mut Expr) {
    let _: ControlFlow<()> = visit_expressions_mut(expression, |expression| {
        if let Expr::RLike { negated, expr, pattern, .. } = expression {
            let op = if *negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
            *expression = Expr::BinaryOp { left: expr.clone(), op, right: pattern.clone() };
        }
        ControlFlow::Continue(())
    });
}

/// What is wrong with a pattern that an operator is given.
pub(super) fn operand(op: &BinaryOperator, pattern: &Expr) -> Option<SqlProblem> {
    let matches = matches!(op, BinaryOperator::PGRegexMatch | BinaryOperator::PGRegexNotMatch);
    if matches { check(pattern) } else { None }
}

/// What is wrong with a pattern that a function is given.
pub(super) fn argument(function: &Function) -> Option<SqlProblem> {
    let name = function.name.to_string().to_lowercase();
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.get(1) {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(pattern))) if WITH_PATTERN.contains(&name.as_str()) => {
            check(pattern)
        }
        _ => None,
    }
}

fn check(pattern: &Expr) -> Option<SqlProblem> {
    let Expr::Value(value) = pattern else { return None };
    let Value::SingleQuotedString(pattern) = &value.value else { return None };
    let error = Regex::new(pattern).err()?.to_string();
    Some(SqlProblem {
        what: format!("`{pattern}` is no regular expression: {}", reason(&error).unwrap_or(&error)),
        hint: "look-around and back-references of Java are not there".into(),
    })
}

/// What is wrong, out of the picture that the parser of regular expressions draws.
pub(super) fn reason(text: &str) -> Option<&str> {
    let (_, picture) = text.split_once("regex parse error:")?;
    picture.lines().find_map(|line| line.trim_start().strip_prefix("error: "))
}
