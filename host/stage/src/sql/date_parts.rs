//! Spark's functions for parts of dates and times: `year`, `month`, `day`, `hour`, `minute`, `second`; all in UTC.

use arrow_array::ArrayRef;
use arrow_schema::{DataType, TimeUnit};
use datafusion::arrow::compute::{DatePart, date_part};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// One of the functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PartOfTime {
    part: Part,
    aliases: Vec<String>,
    signature: Signature,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl PartOfTime {
    /// All of them.
    pub(super) fn all() -> [Self; 6] {
        [Part::Year, Part::Month, Part::Day, Part::Hour, Part::Minute, Part::Second].map(|part| Self {
            part,
            aliases: if part == Part::Day { vec!["dayofmonth".into()] } else { Vec::new() },
            signature: Signature::user_defined(Volatility::Immutable),
        })
    }
}

impl ScalarUDFImpl for PartOfTime {
    fn name(&self) -> &str {
        match self.part {
            Part::Year => "year",
            Part::Month => "month",
            Part::Day => "day",
            Part::Hour => "hour",
            Part::Minute => "minute",
            Part::Second => "second",
        }
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// A date is midnight, a text is a timestamp as in a cast, as in Spark.
    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [given] = arguments else {
            return plan_err!("`{}` takes one argument, a date or a timestamp", self.name());
        };
        let taken = match given {
            DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
            DataType::Date32 | DataType::Date64 | DataType::Null => DataType::Timestamp(TimeUnit::Microsecond, None),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
            }
            other => {
                let given = crisol_ipc::types::name(other).unwrap_or_else(|| other.to_string());
                return plan_err!("`{}` takes a date or a timestamp, not `{given}`", self.name());
            }
        };
        Ok(vec![taken])
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.as_slice() {
            [ColumnarValue::Array(times)] => Ok(ColumnarValue::Array(self.of(times)?)),
            [ColumnarValue::Scalar(time)] => {
                let part = self.of(&time.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&part, 0)?))
            }
            _ => exec_err!("`{}` takes one argument", self.name()),
        }
    }
}

impl PartOfTime {
    fn of(&self, times: &ArrayRef) -> Result<ArrayRef> {
        let part = match self.part {
            Part::Year => DatePart::Year,
            Part::Month => DatePart::Month,
            Part::Day => DatePart::Day,
            Part::Hour => DatePart::Hour,
            Part::Minute => DatePart::Minute,
            Part::Second => DatePart::Second,
        };
        // Timestamps are in UTC: without the zone nothing has to be looked up for each row.
        let plain = arrow_cast::cast(times, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
        Ok(date_part(&plain, part)?)
    }
}
