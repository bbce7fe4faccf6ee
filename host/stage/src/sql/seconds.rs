//! Casts between timestamps and numbers. Spark counts seconds, Arrow what the type stores: microseconds.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TryCast,
    Volatility, cast, lit,
};

const MICROSECONDS: i64 = 1_000_000;

/// Whether a value of one type becomes another only by saying what a number counts.
pub(crate) fn needs_a_unit(from: &DataType, to: &DataType) -> bool {
    let timestamp = |data_type: &DataType| matches!(data_type, DataType::Timestamp(..));
    (timestamp(from) && to.is_numeric()) || (from.is_numeric() && timestamp(to))
}

/// Makes casts between timestamps and whole numbers count seconds; refuses those that would need fractions.
pub(super) fn in_seconds(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let seconds = Arc::new(ScalarUDF::from(UnixSeconds::new()));
    expr.transform_up(|expr| {
        let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let (from, to) = (inner.get_type(schema)?, field.data_type().clone());
        if !needs_a_unit(&from, &to) {
            return Ok(Transformed::no(expr));
        }
        let tries = matches!(expr, Expr::TryCast(_));
        let inner = inner.as_ref().clone();
        let counted = if to.is_integer() {
            let whole = Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&seconds), vec![inner]));
            if tries { Expr::TryCast(TryCast::new(Box::new(whole), to)) } else { cast(whole, to) }
        } else if from.is_integer() && !tries {
            cast(cast(inner, DataType::Int64) * lit(MICROSECONDS), to)
        } else {
            return refused(&from, &to, tries);
        };
        Ok(Transformed::yes(counted))
    })
    .data()
}

fn refused(from: &DataType, to: &DataType, tries: bool) -> Result<Transformed<Expr>> {
    let name = |data_type| crisol_ipc::types::name(data_type).unwrap_or_else(|| data_type.to_string());
    let function = if tries { "try_cast" } else { "CAST" };
    plan_err!(
        "`{function}` from `{}` to `{}` is refused: use CAST with whole seconds since 1970, as `bigint`",
        name(from),
        name(to)
    )
}

/// Whole seconds since 1970, rounded down.
#[derive(Debug, PartialEq, Eq, Hash)]
struct UnixSeconds {
    signature: Signature,
}

impl UnixSeconds {
    fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for UnixSeconds {
    fn name(&self) -> &str {
        "unix_seconds"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.as_slice() {
            [ColumnarValue::Array(times)] => Ok(ColumnarValue::Array(seconds(times)?)),
            [ColumnarValue::Scalar(time)] => {
                let seconds = seconds(&time.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&seconds, 0)?))
            }
            _ => exec_err!("`{}` takes one argument", self.name()),
        }
    }
}

fn seconds(times: &ArrayRef) -> Result<ArrayRef> {
    let plain = arrow_cast::cast(times, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
    let times = plain.as_primitive::<TimestampMicrosecondType>();
    let seconds: PrimitiveArray<Int64Type> = times.unary(|time| time.div_euclid(MICROSECONDS));
    Ok(Arc::new(seconds))
}
