//! What strings, numbers and booleans become in columns of each type: Spark's rules, without its coercions.

use std::borrow::Cow;
use std::str::FromStr;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use crate::column::Values;
use crate::decimal::{self, NotDecimal};
use crate::lexer::{Number, Scalar, named_number};
use crate::time;

/// Why a value does not fit its column; empty when its kind says it all.
type Why = &'static str;

const KIND: Why = "";
const OUT_OF_RANGE: Why = "out of range";
const SECONDS: Why = "integers are seconds since 1970, these are outside the years 0 to 9999";

/// Base 64 as Spark reads it: padded, whatever the unused bits hold.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Appends a value to a column that is neither string, struct, array nor map.
pub(crate) fn append(values: &mut Values, value: Scalar<'_>) -> Result<(), Why> {
    match values {
        Values::Boolean(values) => match value {
            Scalar::Boolean(value) => values.append(value),
            _ => return Err(KIND),
        },
        Values::Byte(values) => values.push(narrow(value)?),
        Values::Short(values) => values.push(narrow(value)?),
        Values::Int(values) => values.push(narrow(value)?),
        Values::Long(values) => values.push(integer(value)?),
        Values::Float(values) => values.push(float(value)?),
        Values::Double(values) => values.push(float(value)?),
        Values::Decimal { values, precision, scale } => values.push(decimal(value, *precision, *scale)?),
        Values::Date(values) => values.push(time::date(&string(value)?).ok_or(KIND)?),
        Values::Timestamp(values) => values.push(timestamp(value)?),
        Values::Binary(values) => {
            BASE64.decode_vec(string(value)?, &mut values.bytes).map_err(|_| "not base 64")?;
            values.end_value().map_err(|_| OUT_OF_RANGE)?;
        }
        Values::Text(_) | Values::Struct(_) | Values::List { .. } | Values::Map { .. } => return Err(KIND),
    }
    Ok(())
}

/// Integers are numbers without fraction and exponent, never strings (P-012).
#[inline]
fn integer(value: Scalar<'_>) -> Result<i64, Why> {
    let Scalar::Number(Number { raw, integer: true }) = value else { return Err(KIND) };
    let (negative, digits) = match raw {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, raw),
    };
    if digits.len() > 19 {
        return Err(OUT_OF_RANGE);
    }
    // Nineteen digits fit in 64 bits without sign.
    let magnitude = digits.iter().fold(0_u64, |value, b| value * 10 + u64::from(b - b'0'));
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }.ok_or(OUT_OF_RANGE)
}

#[inline]
fn narrow<T: TryFrom<i64>>(value: Scalar<'_>) -> Result<T, Why> {
    T::try_from(integer(value)?).map_err(|_| OUT_OF_RANGE)
}

/// Any number; of strings only the names of numbers that JSON does not have (P-015).
fn float<T: FromStr + Named>(value: Scalar<'_>) -> Result<T, Why> {
    match value {
        Scalar::Number(number) => std::str::from_utf8(number.raw).ok().and_then(|text| text.parse().ok()).ok_or(KIND),
        Scalar::Named(value) => Ok(T::named(value)),
        Scalar::String(string) => named_number(string.raw).map(T::named).ok_or(KIND),
        Scalar::Boolean(_) => Err(KIND),
    }
}

/// Floats of both widths, from a value that both have: NaN or an infinity.
trait Named {
    fn named(value: f64) -> Self;
}

impl Named for f32 {
    fn named(value: f64) -> Self {
        value as f32
    }
}

impl Named for f64 {
    fn named(value: f64) -> Self {
        value
    }
}

/// From a number or from the text of one (P-013).
fn decimal(value: Scalar<'_>, precision: u8, scale: u8) -> Result<i128, Why> {
    let parsed = match value {
        Scalar::Number(number) => decimal::parse(number.raw, precision, scale),
        Scalar::String(string) => decimal::parse(&string.text(), precision, scale),
        _ => return Err(KIND),
    };
    parsed.map_err(|why| match why {
        NotDecimal::Text => KIND,
        NotDecimal::TooLarge => "too large",
    })
}

/// A text, or seconds since 1970 (P-014).
fn timestamp(value: Scalar<'_>) -> Result<i64, Why> {
    match value {
        Scalar::String(string) => time::timestamp(&string.text()).ok_or(KIND),
        _ => time::from_seconds(integer(value)?).ok_or(SECONDS),
    }
}

fn string(value: Scalar<'_>) -> Result<Cow<'_, [u8]>, Why> {
    match value {
        Scalar::String(string) => Ok(string.text()),
        _ => Err(KIND),
    }
}
