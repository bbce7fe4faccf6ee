//! Decimals, exactly: digits in, scaled integer out, rounded half up (P-013, P-054).

use crisol_sdk::scan::POWERS;

/// Most digits that a decimal holds.
const PRECISION_MAX: i64 = 38;

/// Why a text is no decimal of a given precision.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotDecimal {
    /// Not a number.
    Text,
    /// More digits before the point than the precision leaves.
    TooLarge,
}

/// `text` times ten to the power of `scale`, when it has at most `precision` digits after rounding.
///
/// Reads what Java's `BigDecimal` reads: a sign, digits with or without a point, an exponent.
pub(crate) fn parse(text: &[u8], precision: u8, scale: u8) -> Result<i128, NotDecimal> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let magnitude = match short(digits, scale) {
        Some(magnitude) => i128::from(magnitude),
        None => long(digits, scale)?,
    };
    if POWERS.get(usize::from(precision)).is_none_or(|limit| magnitude >= *limit) {
        return Err(NotDecimal::TooLarge);
    }
    Ok(if negative { -magnitude } else { magnitude })
}

/// The frequent case: up to 18 digits, no exponent, no rounding.
#[inline]
fn short(text: &[u8], scale: u8) -> Option<u64> {
    if text.len() > 18 {
        return None;
    }
    let (mut value, mut point) = (0_u64, None);
    for (i, &b) in text.iter().enumerate() {
        match b {
            b'0'..=b'9' => value = value * 10 + u64::from(b - b'0'),
            b'.' if point.is_none() => point = Some(i),
            _ => return None,
        }
    }
    let fraction = point.map_or(0, |i| text.len() - 1 - i);
    if text.len() == usize::from(point.is_some()) {
        return None;
    }
    let missing = usize::from(scale).checked_sub(fraction)?;
    10_u64.checked_pow(u32::try_from(missing).ok()?)?.checked_mul(value)
}

/// Any length, any exponent.
fn long(text: &[u8], scale: u8) -> Result<i128, NotDecimal> {
    let Parts { whole, fraction, exponent } = parts(text).ok_or(NotDecimal::Text)?;
    let digits = || whole.iter().chain(fraction).skip_while(|&&b| b == b'0').map(|&b| i128::from(b - b'0'));
    let count = digits().count() as i64;
    // So many of the digits (zeros after the last) stay; the next one rounds.
    let shift = exponent.saturating_add(i64::from(scale)).saturating_sub(fraction.len() as i64);
    let kept = count.saturating_add(shift);
    if count == 0 || kept < 0 {
        return Ok(0);
    }
    if kept > PRECISION_MAX {
        return Err(NotDecimal::TooLarge);
    }
    let mut all = digits().chain(std::iter::repeat(0));
    let value = (0..kept).fold(0, |value, _| value * 10 + all.next().unwrap_or(0));
    Ok(value + i128::from(all.next().unwrap_or(0) >= 5))
}

struct Parts<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

fn parts(text: &[u8]) -> Option<Parts<'_>> {
    let (mantissa, exponent) = match text.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (&text[..at], power(&text[at + 1..])?),
        None => (text, 0),
    };
    let (whole, fraction) = match mantissa.iter().position(|&b| b == b'.') {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &mantissa[..0]),
    };
    let good = whole.len() + fraction.len() > 0 && whole.iter().chain(fraction).all(u8::is_ascii_digit);
    good.then_some(Parts { whole, fraction, exponent })
}

/// An exponent; beyond any decimal it need not be exact.
fn power(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i64, |value, b| value.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, precision: u8, scale: u8, expected: Result<i128, NotDecimal>) {
        assert_eq!(parse(text.as_bytes(), precision, scale), expected, "{text} as decimal({precision},{scale})");
    }

    #[test]
    fn p013_rounds_half_up_and_reads_exponents() {
        for (text, expected) in [
            ("12.345", 1235),
            ("12.344", 1234),
            ("-12.345", -1235),
            ("12.30", 1230),
            ("1e2", 10000),
            ("1.5E+1", 1500),
            ("125e-3", 13),
            ("0.005", 1),
            ("0.0049999999999999999999999", 0),
            ("5e-3", 1),
            ("5e-4", 0),
            ("-0", 0),
            ("0", 0),
            ("7", 700),
            (".5", 50),
            ("5.", 500),
            ("+5", 500),
            ("0e999999999999999999999", 0),
            ("1e-999999999999999999999", 0),
            ("9999999999999999.99", 999_999_999_999_999_999),
            ("9999999999999999.994", 999_999_999_999_999_999),
            ("000000000000000000000000000000000000000000000012.3", 1230),
        ] {
            check(text, 18, 2, Ok(expected));
        }
    }

    #[test]
    fn p013_refuses_what_needs_more_than_the_precision() {
        for text in ["10000000000000000", "9999999999999999.995", "1e16", "1e999999999999999999999", "-1e17"] {
            check(text, 18, 2, Err(NotDecimal::TooLarge));
        }
        check("1", 2, 2, Err(NotDecimal::TooLarge));
        check("0.994", 2, 2, Ok(99));
        check("0.995", 2, 2, Err(NotDecimal::TooLarge));
    }

    #[test]
    fn p013_keeps_all_38_digits() {
        let nines = 10_i128.pow(38) - 1;
        check(&nines.to_string(), 38, 0, Ok(nines));
        check(&format!("-{nines}"), 38, 0, Ok(-nines));
        check(&format!("0.{nines}"), 38, 38, Ok(nines));
        check(&format!("{nines}.5"), 38, 0, Err(NotDecimal::TooLarge));
        check("123456789012345678901234567890.12345678", 38, 8, Ok(12_345_678_901_234_567_890_123_456_789_012_345_678));
    }

    #[test]
    fn p013_refuses_what_is_no_number() {
        for text in
            ["", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1,5", " 1", "1 ", "--1", "0x10", "NaN", "١", "1e5.0"]
        {
            check(text, 18, 2, Err(NotDecimal::Text));
        }
    }
}
