//! Functions of our own: time that stands still within a batch, and division that fails at zero.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

const MICROSECONDS_A_DAY: i64 = 86_400_000_000;

/// `now()`, `current_date()`, `localtimestamp()`: placeholders that are replaced by a literal for each batch (C-022).
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct BatchTime {
    moment: Moment,
    aliases: Vec<String>,
    signature: Signature,
}

/// What of the batch's timestamp is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Moment {
    Timestamp,
    Date,
    LocalTimestamp,
}

impl BatchTime {
    /// All of them.
    pub(super) fn all() -> [Self; 3] {
        [
            Self::new(Moment::Timestamp, &["current_timestamp"]),
            Self::new(Moment::Date, &["today", "curdate"]),
            Self::new(Moment::LocalTimestamp, &[]),
        ]
    }

    fn new(moment: Moment, aliases: &[&str]) -> Self {
        // Volatile, so that no planner folds it into a constant.
        let signature = Signature::nullary(Volatility::Volatile);
        Self { moment, aliases: aliases.iter().map(ToString::to_string).collect(), signature }
    }

    /// Its value in a batch.
    pub(super) fn value(&self, timestamp_us: i64) -> ScalarValue {
        match self.moment {
            Moment::Timestamp => ScalarValue::TimestampMicrosecond(Some(timestamp_us), Some("UTC".into())),
            Moment::LocalTimestamp => ScalarValue::TimestampMicrosecond(Some(timestamp_us), None),
            Moment::Date => ScalarValue::Date32(i32::try_from(timestamp_us.div_euclid(MICROSECONDS_A_DAY)).ok()),
        }
    }
}

impl ScalarUDFImpl for BatchTime {
    fn name(&self) -> &str {
        match self.moment {
            Moment::Timestamp => "now",
            Moment::Date => "current_date",
            Moment::LocalTimestamp => "localtimestamp",
        }
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.moment {
            Moment::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Moment::LocalTimestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Moment::Date => DataType::Date32,
        })
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("`{}` was not bound to a batch", self.name())
    }
}

/// `divisor(divisor, dividend)`: its first argument, or an error where a zero would divide something. Floats need it:
/// Arrow divides them as IEEE 754 says, ANSI SQL does not (E-008).
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Divisor {
    signature: Signature,
}

impl Divisor {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Divisor {
    fn name(&self) -> &str {
        "divisor"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        arguments.first().cloned().ok_or_else(|| DataFusionError::Internal("divisor without arguments".into()))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let [divisor, dividend] = arrays.as_slice() else {
            return exec_err!("divisor takes two arguments");
        };
        if divides_by_zero(divisor, dividend) {
            return Err(DataFusionError::from(ArrowError::DivideByZero));
        }
        arguments.args.into_iter().next().ok_or_else(|| DataFusionError::Internal("divisor without arguments".into()))
    }
}

fn divides_by_zero(divisor: &ArrayRef, dividend: &ArrayRef) -> bool {
    let at_fault = |row: usize| divisor.is_valid(row) && dividend.is_valid(row);
    match divisor.data_type() {
        DataType::Float64 => {
            divisor.as_primitive::<Float64Type>().values().iter().enumerate().any(|(row, v)| *v == 0.0 && at_fault(row))
        }
        DataType::Float32 => {
            divisor.as_primitive::<Float32Type>().values().iter().enumerate().any(|(row, v)| *v == 0.0 && at_fault(row))
        }
        _ => false,
    }
}
