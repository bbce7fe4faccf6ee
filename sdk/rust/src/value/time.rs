//! Dates and timestamps.

use std::fmt;

use crate::scan::{POWERS, digits};

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    /// Days since 1970-01-01.
    pub days: i32,
}

/// A moment, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01 UTC.
    pub micros: i64,
}

const DAY: i64 = 86_400_000_000;
const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;
const SECOND: i64 = 1_000_000;

impl Date {
    /// Reads `2026-03-14`, of the years 0001 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        match days(text.as_bytes())? {
            (days, []) => Some(Date { days }),
            _ => None,
        }
    }
}

impl Timestamp {
    /// Reads RFC 3339 and its relatives: `2026-03-14T09:26:53.589Z`, `2026-03-14 09:26:53+01:00`, `2026-03-14T09:26`,
    /// `2026-03-14`. Without an offset it is UTC; digits after the microseconds are cut.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((moment, length)) = Self::read_utc(text.as_bytes())
            && length == text.len()
        {
            return Some(moment);
        }
        let (days, rest) = days(text.as_bytes())?;
        let midnight = i64::from(days) * DAY;
        let Some((b'T' | b't' | b' ', rest)) = rest.split_first() else {
            return rest.is_empty().then_some(Timestamp { micros: midnight });
        };
        let (hour, rest) = number::<2>(rest, 23)?;
        let (minute, mut rest) = number::<2>(rest.strip_prefix(b":")?, 59)?;
        let mut micros = i64::from(hour) * HOUR + i64::from(minute) * MINUTE;
        if let Some(seconds) = rest.strip_prefix(b":") {
            let (second, after) = number::<2>(seconds, 59)?;
            let (fraction, after) = fraction(after)?;
            micros += i64::from(second) * SECOND + fraction;
            rest = after;
        }
        Some(Timestamp { micros: midnight + micros - offset(rest)? })
    }

    /// Reads the form that nearly all have, `2026-03-14T09:26:53.589Z`, from the start of a text: with `T` or a space,
    /// seconds, perhaps one to seven digits after them (those after the microseconds are cut), and `Z`. Gives its bytes,
    /// too; `None` for any other form.
    #[inline]
    pub fn read_utc(text: &[u8]) -> Option<(Self, usize)> {
        let (moment, rest) = text.split_first_chunk::<19>()?;
        let [c, y, e, a, b'-', m, n, b'-', d, f, b'T' | b' ', h, i, b':', j, k, b':', s, t] = *moment else {
            return None;
        };
        let (fraction, length) = match rest {
            [b'Z', ..] => (0, 20),
            [b'.', fraction @ ..] => {
                let (micros, digits) = micros(fraction)?;
                (micros, 21 + digits)
            }
            _ => return None,
        };
        let pairs = [[c, y], [e, a], [m, n], [d, f], [h, i], [j, k], [s, t]];
        let [century, year, month, day, hour, minute, second] = two_digits(pairs)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = day_of(century * 100 + year, month, day)?;
        let seconds = i64::from(days) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
        Some((Timestamp { micros: seconds * SECOND + fraction }, length))
    }

    /// The day, in UTC.
    pub fn date(self) -> Date {
        Date { days: self.micros.div_euclid(DAY) as i32 }
    }
}

/// A number of exactly `N` digits.
#[inline]
fn number<const N: usize>(text: &[u8], max: u32) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<N>()?;
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u32::from(digit);
    }
    (value <= max).then_some((value, rest))
}

/// The day at the start of a text, and what follows it.
#[inline]
fn days(text: &[u8]) -> Option<(i32, &[u8])> {
    let (year, rest) = number::<4>(text, 9999)?;
    let (month, rest) = number::<2>(rest.strip_prefix(b"-")?, 12)?;
    let (day, rest) = number::<2>(rest.strip_prefix(b"-")?, 31)?;
    Some((day_of(year, month, day)?, rest))
}

/// Days since 1970 of a day that there is, from the year 1 on.
#[inline]
fn day_of(year: u32, month: u32, day: u32) -> Option<i32> {
    if year == 0 || month == 0 || month > 12 || day == 0 || day > length(year, month) {
        return None;
    }
    // Days from the civil calendar, with the year starting in March, and from the year -400 on: nothing is negative.
    let year = year + 400 - u32::from(month <= 2);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days as i32 - 146_097 - 719_468)
}

/// Numbers of two digits each.
#[inline]
fn two_digits<const N: usize>(pairs: [[u8; 2]; N]) -> Option<[u32; N]> {
    let digits = pairs.map(|pair| pair.map(|byte| u32::from(byte.wrapping_sub(b'0'))));
    let good = digits.iter().all(|[tens, ones]| *tens < 10 && *ones < 10);
    good.then(|| digits.map(|[tens, ones]| tens * 10 + ones))
}

/// The microseconds of one to seven digits before a `Z`, and how many digits there are.
#[inline]
fn micros(text: &[u8]) -> Option<(i64, usize)> {
    let (count, value) = digits(text);
    let value = value as i64;
    let micros = match count {
        1..=6 => value * POWERS[6 - count] as i64,
        7 => value / 10,
        _ => return None,
    };
    (text.get(count) == Some(&b'Z')).then_some((micros, count))
}

fn length(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Microseconds of `.589…`, and what follows.
#[inline]
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, text)) };
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 || length > 9 {
        return None;
    }
    let micros = (0..6).fold(0, |v, i| v * 10 + if i < length { i64::from(digits[i] - b'0') } else { 0 });
    Some((micros, &digits[length..]))
}

/// Microseconds of an offset that ends the text.
#[inline]
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = number::<2>(rest, 18)?;
    let (minutes, rest) = match rest {
        [] => (0, rest),
        _ => number::<2>(rest.strip_prefix(b":").unwrap_or(rest), 59)?,
    };
    rest.is_empty().then_some(sign * (i64::from(hours) * HOUR + i64::from(minutes) * MINUTE))
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(i64::from(self.days));
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.micros.rem_euclid(DAY);
        let (year, month, day) = civil(self.micros.div_euclid(DAY));
        let (hour, minute) = (time / HOUR, time / MINUTE % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", time / SECOND % 60)?;
        match time % SECOND {
            0 => write!(f, "Z"),
            micros => write!(f, ".{micros:06}Z"),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDate};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_one_moment() {
        let moment = Timestamp { micros: 1_773_480_413_589_000 };
        for text in [
            "2026-03-14T09:26:53.589Z",
            "2026-03-14 09:26:53.589",
            "2026-03-14t09:26:53.589000999z",
            "2026-03-14T10:26:53.589+01:00",
            "2026-03-14T04:56:53.589-0430",
            "2026-03-14T10:26:53.589+01",
        ] {
            assert_eq!(Timestamp::parse(text), Some(moment), "{text}");
        }
        assert_eq!(moment.to_string(), "2026-03-14T09:26:53.589000Z");
        assert_eq!(moment.date().to_string(), "2026-03-14");
        assert_eq!(Timestamp::parse("1970-01-02"), Some(Timestamp { micros: DAY }));
        assert_eq!(Timestamp::parse("1970-01-01T00:01"), Some(Timestamp { micros: MINUTE }));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "ayer",
            "2026",
            "2026-3-14",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            "0000-01-01",
            "2026-03-14T",
            "2026-03-14T24:00:00Z",
            "2026-03-14T09:60",
            "2026-03-14T09:26:60Z",
            "2026-03-14T09:26:53.Z",
            "2026-03-14T09:26:53.1234567890Z",
            "2026-03-14T09:26:53Zx",
            "2026-03-14T09:26:53+19:00",
            "2026-03-14T09:26:53+1",
            "2026-03-14X09:26",
            "+2026-03-14",
            "２026-03-14",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
        assert_eq!(Date::parse("2026-03-14T00:00:00Z"), None);
    }

    proptest! {
        #[test]
        fn timestamps_are_read_as_chrono_reads_them(micros in -62_135_596_800_000_000i64..253_402_300_800_000_000) {
            let moment = Timestamp { micros };
            let text = moment.to_string();
            prop_assert_eq!(Timestamp::parse(&text), Some(moment));
            prop_assert_eq!(DateTime::parse_from_rfc3339(&text).unwrap().timestamp_micros(), micros);
        }

        #[test]
        fn days_are_those_of_chrono(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]") {
            let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
            let expected = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok().map(|d| (d - epoch).num_days() as i32);
            let expected = expected.filter(|_| !text.starts_with("0000"));
            prop_assert_eq!(Date::parse(&text).map(|d| d.days), expected);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9T:.Z ]{0,40}") {
            let _ = Timestamp::parse(&text);
        }
    }
}
