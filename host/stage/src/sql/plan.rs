//! From text to an [`Expression`].

use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, SchemaRef};
use datafusion::common::config::Dialect;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, DataFusionError, Result, SchemaError};
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, ScalarUDF, cast};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::BinaryExpr as PhysicalBinaryExpr;
use datafusion::prelude::SessionConfig;
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType as SqlType};
use datafusion::sql::sqlparser::dialect::SparkSqlDialect;

use super::date_parts::PartOfTime;
use super::depth;
use super::doubles::as_doubles;
use super::evaluate::Expression;
use super::functions::{BatchTime, Divisor};
use super::patterns;
use super::refusals::refusal;
use super::seconds::in_seconds;
use super::type_names::contract_types;

/// Turns SQL texts into expressions; made once for a chain.
#[derive(Debug)]
pub(crate) struct Planner {
    state: SessionState,
}

/// Why a text is not a usable expression.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SqlProblem {
    /// What is wrong.
    pub(crate) what: String,
    /// What a person can do.
    pub(crate) hint: String,
}

impl Planner {
    /// Sets DataFusion up.
    ///
    /// # Errors
    /// A defect: DataFusion did not take our functions.
    pub(crate) fn new() -> Result<Self> {
        let mut config = SessionConfig::new();
        let options = config.options_mut();
        options.sql_parser.dialect = Dialect::Spark;
        options.sql_parser.enable_ident_normalization = false;
        options.sql_parser.parse_float_as_decimal = true;
        options.sql_parser.map_string_types_to_utf8view = false;
        options.execution.time_zone = Some("UTC".into());
        let mut builder = SessionStateBuilder::new()
            .with_config(config)
            .with_type_planner(Arc::new(ContractTypes))
            .with_default_features();
        builder.expr_planners().get_or_insert_default().insert(0, Arc::new(SparkDivision));
        let mut state = builder.build();
        for function in BatchTime::all() {
            state.register_udf(Arc::new(ScalarUDF::from(function)))?;
        }
        for function in PartOfTime::all() {
            state.register_udf(Arc::new(ScalarUDF::from(function)))?;
        }
        Ok(Self { state })
    }

    /// An expression over rows of `schema`.
    pub(crate) fn plan(&self, text: &str, schema: &SchemaRef) -> Result<Expression, SqlProblem> {
        let problem = |error| explain(&error, schema);
        let dialect = self.state.config_options().sql_parser.dialect;
        if let Some(refused) = depth::refusal(text, &SparkSqlDialect {}) {
            return Err(refused);
        }
        let mut parsed = self.state.sql_to_expr_with_alias(text, &dialect).map_err(problem)?;
        patterns::respell(&mut parsed.expr);
        if let Some(alias) = &parsed.alias {
            return Err(SqlProblem { what: format!("`AS {alias}` has no meaning here"), hint: "leave it out".into() });
        }
        if let Some(refused) = refusal(&self.state, &parsed.expr) {
            return Err(refused);
        }
        let df_schema = DFSchema::try_from(Arc::clone(schema)).map_err(problem)?;
        let logical = self.state.create_logical_expr_from_sql_expr(parsed, &df_schema).map_err(problem)?;
        let columns = logical.column_refs().into_iter().map(|column| column.name.clone()).collect();
        let physical = self.physical(logical, df_schema).map_err(problem)?;
        Expression::new(text, physical, columns, schema).map_err(problem)
    }

    /// Names of the functions that an expression may call.
    #[cfg(test)]
    pub(super) fn functions(&self) -> Vec<String> {
        let mut names: Vec<String> = self.state.scalar_functions().keys().cloned().collect();
        names.extend(self.state.higher_order_functions().keys().cloned());
        names.extend(["map", "struct"].map(str::to_owned));
        names.retain(|name| super::refusals::allowed(&self.state, name));
        names.sort();
        names.dedup();
        names
    }

    fn physical(&self, logical: Expr, schema: DFSchema) -> Result<Arc<dyn PhysicalExpr>> {
        let schema = Arc::new(schema);
        let context = SimplifyContext::builder()
            .with_schema(Arc::clone(&schema))
            .with_config_options(Arc::clone(self.state.config_options()))
            .build();
        let simplifier = ExprSimplifier::new(context);
        let typed = simplifier.coerce(as_doubles(logical, &schema)?, &schema)?;
        let counted = in_seconds(dates(typed, &schema)?, &schema)?;
        let guarded = guard_divisions(counted, &schema)?;
        let simple = simplifier.simplify(guarded)?;
        check_arithmetic(self.state.create_physical_expr(simple, &schema)?)
    }
}

/// Type names as in contracts.
#[derive(Debug)]
struct ContractTypes;

impl TypePlanner for ContractTypes {
    fn plan_type_field(&self, sql_type: &SqlType) -> Result<Option<FieldRef>> {
        let data_type = match sql_type {
            SqlType::TimestampNtz(_) => Some(DataType::Timestamp(arrow_schema::TimeUnit::Microsecond, None)),
            other => crisol_ipc::types::parse(&other.to_string()).ok(),
        };
        Ok(data_type.map(|data_type| Arc::new(arrow_schema::Field::new("", data_type, true))))
    }
}

/// `/` of two integers is a double in Spark, `DIV` the integer division.
#[derive(Debug)]
struct SparkDivision;

impl ExprPlanner for SparkDivision {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let integer = |expr: &Expr| expr.get_type(schema).is_ok_and(|data_type| data_type.is_integer());
        if !integer(&raw.left) || !integer(&raw.right) {
            return Ok(PlannerResult::Original(raw));
        }
        let operand = match raw.op {
            BinaryOperator::Divide => DataType::Float64,
            BinaryOperator::MyIntegerDivide => DataType::Int64,
            _ => return Ok(PlannerResult::Original(raw)),
        };
        let quotient = cast(raw.left, operand.clone()) / cast(raw.right, operand);
        Ok(PlannerResult::Planned(quotient))
    }
}

/// `to_date` of a timestamp is its date, as in Spark.
fn dates(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    expr.transform_up(|expr| match expr {
        Expr::ScalarFunction(mut call) if call.func.name() == "to_date" && call.args.len() == 1 => {
            let Some(argument) = call.args.pop() else { return Ok(Transformed::no(Expr::ScalarFunction(call))) };
            if matches!(argument.get_type(schema)?, DataType::Timestamp(..) | DataType::Date32) {
                return Ok(Transformed::yes(cast(argument, DataType::Date32)));
            }
            call.args.push(argument);
            Ok(Transformed::no(Expr::ScalarFunction(call)))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

/// Makes divisions of floats fail at zero.
fn guard_divisions(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let divisor = Arc::new(ScalarUDF::from(Divisor::new()));
    expr.transform_up(|expr| match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Divide | Operator::Modulo), right })
            if right.get_type(schema)?.is_floating() =>
        {
            let guarded = ScalarFunction::new_udf(Arc::clone(&divisor), vec![*right, (*left).clone()]);
            let right = Box::new(Expr::ScalarFunction(guarded));
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right })))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

/// Makes sums, differences and products fail on overflow (P-050) instead of wrapping around.
fn check_arithmetic(physical: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let arithmetic = |op: &Operator| matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply);
    physical
        .transform_up(|expr| match expr.downcast_ref::<PhysicalBinaryExpr>() {
            Some(binary) if arithmetic(binary.op()) => {
                let checked =
                    PhysicalBinaryExpr::new(Arc::clone(binary.left()), *binary.op(), Arc::clone(binary.right()))
                        .with_fail_on_overflow(true);
                Ok(Transformed::yes(Arc::new(checked) as Arc<dyn PhysicalExpr>))
            }
            _ => Ok(Transformed::no(expr)),
        })
        .data()
}

/// The name most like `name`, if one is like it at all.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |other: &&str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    known.into_iter().min_by_key(|other| (near(other), other.len())).filter(|other| near(other) <= 1 + name.len() / 4)
}

fn explain(error: &DataFusionError, schema: &SchemaRef) -> SqlProblem {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    if let DataFusionError::SchemaError(schema_error, _) = error.find_root()
        && let SchemaError::FieldNotFound { field, .. } = schema_error.as_ref()
    {
        let hint = nearest(field.name(), names()).map_or_else(
            || format!("columns are {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return SqlProblem { what: format!("no column `{}`", field.name()), hint };
    }
    let what = error.find_root().strip_backtrace();
    if what.contains("RecursionLimitExceeded") {
        return depth::too_deep();
    }
    let what = what.lines().next().unwrap_or_default().trim_end_matches('.');
    let prefixes = ["Error during planning: ", "This feature is not implemented: "];
    let what = prefixes.iter().find_map(|prefix| what.rsplit_once(prefix)).map_or(what, |(_, what)| what);
    // A part of the parsed text that DataFusion cannot plan is shown with all its innards.
    let what = what.strip_prefix("Unsupported ast node in sqltorel: ").map_or_else(
        || what.to_owned(),
        |node| format!("`{}` is not supported", node.split([' ', '(']).next().unwrap_or(node)),
    );
    SqlProblem { what: contract_types(&what), hint: "an expression is SQL over the columns of one row".into() }
}
