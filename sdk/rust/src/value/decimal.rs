//! Exact decimals.

use std::fmt;

/// A decimal of `P` digits, `S` of them after the point: `Decimal<18, 2>` is `decimal(18,2)`. Never a float on its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal<const P: u8, const S: u8>(i128);

/// An exponent beyond the digits of the text by more than this leaves no value of 38 digits, or zero.
const EXPONENT_MAX: usize = 1_000;

impl<const P: u8, const S: u8> Decimal<P, S> {
    /// Zero.
    pub const ZERO: Self = Decimal(0);
    const LIMIT: u128 = 10u128.pow(P as u32);

    /// A value from its smallest units: cents for `Decimal<18, 2>`.
    pub const fn of_units(units: i128) -> Self {
        Decimal(units)
    }

    /// Its smallest units.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Reads `12.5`, `-0.125`, `1e2`. Digits after the last place are rounded half up, as Spark does. `None` when it
    /// is no number or has too many digits.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_short(text.as_bytes()).or_else(|| Self::parse_any(text.as_bytes()))
    }

    /// Up to 18 digits without exponent and without rounding: nearly all there are.
    fn parse_short(text: &[u8]) -> Option<Self> {
        let (negative, digits) = sign(text);
        if digits.is_empty() || digits.len() > 19 {
            return None;
        }
        let mut value = 0u64;
        let mut point = None;
        for (i, byte) in digits.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            } else if *byte == b'.' && point.is_none() && i > 0 && i + 1 < digits.len() {
                point = Some(i);
            } else {
                return None;
            }
        }
        let places = point.map_or(0, |at| digits.len() - at - 1);
        if digits.len() - usize::from(point.is_some()) > 18 || places > S as usize {
            return None;
        }
        Self::checked(u128::from(value).checked_mul(10u128.checked_pow(S as u32 - places as u32)?)?, negative)
    }

    fn parse_any(text: &[u8]) -> Option<Self> {
        let (negative, text) = sign(text);
        let (mantissa, exponent) = match text.iter().position(|b| matches!(b, b'e' | b'E')) {
            Some(at) => (&text[..at], exponent(&text[at + 1..], at + EXPONENT_MAX)?),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|b| *b == b'.');
        let (whole, fraction) = match point {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        if whole.is_empty() || (point.is_some() && fraction.is_empty()) {
            return None;
        }
        let digits = || whole.iter().chain(fraction);
        if !digits().all(u8::is_ascii_digit) {
            return None;
        }
        // Digits that stay, counted from the first one; the next one rounds.
        let kept = whole.len() as i64 + exponent + i64::from(S);
        let mut value = 0u128;
        let mut rest = digits();
        for _ in 0..kept.max(0) {
            let digit = rest.next().map_or(0, |b| b - b'0');
            value = value.checked_mul(10)?.checked_add(u128::from(digit))?;
        }
        if kept >= 0 && rest.next().is_some_and(|b| *b >= b'5') {
            value += 1;
        }
        Self::checked(value, negative)
    }

    fn checked(value: u128, negative: bool) -> Option<Self> {
        if value >= Self::LIMIT {
            return None;
        }
        let value = i128::try_from(value).ok()?;
        Some(Decimal(if negative { -value } else { value }))
    }
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    }
}

/// The exponent, no more than this.
fn exponent(text: &[u8], most: usize) -> Option<i64> {
    let digits = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |v, b| (v * 10 + i64::from(b - b'0')).min(most as i64));
    Some(if text.starts_with(b"-") { -value } else { value })
}

impl<const P: u8, const S: u8> fmt::Display for Decimal<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs();
        if S == 0 {
            return write!(f, "{sign}{units}");
        }
        let scale = 10u128.pow(u32::from(S));
        write!(f, "{sign}{}.{:0width$}", units / scale, units % scale, width = S as usize)
    }
}

impl<const P: u8, const S: u8> fmt::Debug for Decimal<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cents(text: &str) -> Option<i128> {
        Decimal::<18, 2>::parse(text).map(Decimal::units)
    }

    #[test]
    fn numbers_are_read_exactly_and_rounded_half_up() {
        for (text, units) in [
            ("0", 0),
            ("12.5", 1250),
            ("-0.01", -1),
            ("12.345", 1235),
            ("12.344999999999999999999", 1234),
            ("-12.345", -1235),
            ("0.005", 1),
            ("0.0049", 0),
            ("1e2", 10_000),
            ("1.5E-1", 15),
            ("1e-400", 0),
            ("0e999999999999", 0),
            ("9999999999999999.99", 999_999_999_999_999_999),
            ("00000000000000000000001.00000000000000000000000", 100),
        ] {
            assert_eq!(cents(text), Some(units), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "1_0",
            "mucho",
            "NaN",
            "1.2.3",
            "10000000000000000",
            "9e99999",
            "9999999999999999.995",
        ] {
            assert_eq!(cents(text), None, "{text}");
        }
        let zeroes = "0".repeat(2_000);
        assert_eq!(cents(&format!("0.{zeroes}1e2001")), Some(100));
        assert_eq!(cents(&format!("1{zeroes}e-2000")), Some(100));
        let wide = "9".repeat(38);
        assert_eq!(Decimal::<38, 0>::parse(&wide).unwrap().to_string(), wide);
        assert_eq!(Decimal::<38, 0>::parse(&format!("{wide}0")), None);
        assert_eq!(Decimal::<38, 37>::parse("1.5").unwrap().units(), 15 * 10i128.pow(36));
    }

    proptest! {
        #[test]
        fn text_and_units_are_inverse(units in -999_999_999_999_999_999i128..=999_999_999_999_999_999) {
            prop_assert_eq!(cents(&Decimal::<18, 2>::of_units(units).to_string()), Some(units));
        }

        #[test]
        fn the_short_way_gives_what_the_long_way_gives(text in "-?[0-9]{1,17}(\\.[0-9]{1,4})?") {
            let short = Decimal::<20, 4>::parse_short(text.as_bytes());
            let long = Decimal::<20, 4>::parse_any(text.as_bytes());
            prop_assert!(short.is_none() || short == long, "{:?} {:?}", short, long);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9.eE]{0,45}") {
            let _ = Decimal::<38, 10>::parse(&text);
        }
    }
}
