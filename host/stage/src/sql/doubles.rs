//! Numbers of two kinds in one expression. Where a float meets a decimal both become doubles, as in Spark; left to itself
//! DataFusion makes the float a decimal, which rounds it, or fails for one that is large or not a number.

use arrow_schema::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Expr, ExprSchemable, Operator, cast};

/// Functions that put values side by side, and neither compare nor join them.
const APART: [&str; 4] = ["struct", "named_struct", "map", "make_map"];

/// Makes decimals beside floats doubles; before types are made to fit.
pub(super) fn as_doubles(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    expr.transform_up(|mut expr| {
        let met = match &mut expr {
            Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) => false,
            Expr::BinaryExpr(BinaryExpr { left, right, .. }) => meet([&mut **left, &mut **right], schema),
            Expr::Between(Between { expr, low, high, .. }) => meet([&mut **expr, &mut **low, &mut **high], schema),
            Expr::InList(InList { expr, list, .. }) => meet(std::iter::once(&mut **expr).chain(list), schema),
            Expr::Case(case) => meet_in_case(case, schema),
            Expr::ScalarFunction(ScalarFunction { func, args }) if !APART.contains(&func.name()) => meet(args, schema),
            _ => false,
        };
        Ok(if met { Transformed::yes(expr) } else { Transformed::no(expr) })
    })
    .data()
}

/// What is compared, and what is given, each among itself.
fn meet_in_case(case: &mut Case, schema: &DFSchema) -> bool {
    let Case { expr, when_then_expr, else_expr } = case;
    let (mut compared, mut given) = (Vec::new(), Vec::new());
    for (when, then) in when_then_expr {
        compared.push(&mut **when);
        given.push(&mut **then);
    }
    compared.extend(expr.as_deref_mut());
    given.extend(else_expr.as_deref_mut());
    // Both are to be done, so neither may stand behind `||`.
    let (compared, given) = (meet(compared, schema), meet(given, schema));
    compared || given
}

fn meet<'a>(parts: impl IntoIterator<Item = &'a mut Expr>, schema: &DFSchema) -> bool {
    let mut parts: Vec<(Option<DataType>, &mut Expr)> =
        parts.into_iter().map(|part| (part.get_type(schema).ok(), part)).collect();
    let is = |kind: fn(&DataType) -> bool| parts.iter().any(|(found, _)| found.as_ref().is_some_and(kind));
    if !is(DataType::is_floating) || !is(DataType::is_decimal) {
        return false;
    }
    for (found, part) in &mut parts {
        if found.as_ref().is_some_and(DataType::is_decimal) {
            **part = cast(std::mem::take(*part), DataType::Float64);
        }
    }
    true
}
