//! Dates and timestamps in the forms that Spark reads, in UTC (P-014).
//!
//! Years have four digits. A part of an hour after the date may be left out from its end; an offset may follow the
//! seconds. White space around the text does not count.

use chrono::NaiveDate;

const MICROS: i64 = 1_000_000;
/// Seconds of the first and the last moment of the years 0 to 9999.
const EPOCH_SECONDS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// Days since 1970 of the date in `text`. A time after it must be valid and does not count.
pub(crate) fn date(text: &[u8]) -> Option<i32> {
    let mut scan = Scan(text.trim_ascii());
    let days = scan.date()?;
    if !scan.0.is_empty() {
        scan.time()?;
    }
    Some(days)
}

/// Microseconds since 1970 UTC of the moment in `text`.
pub(crate) fn timestamp(text: &[u8]) -> Option<i64> {
    let mut scan = Scan(text.trim_ascii());
    let days = scan.date()?;
    let micros = if scan.0.is_empty() { 0 } else { scan.time()? };
    let micros = i64::from(days) * 86_400 * MICROS + micros;
    EPOCH_SECONDS.contains(&micros.div_euclid(MICROS)).then_some(micros)
}

/// Microseconds since 1970 UTC, from seconds within the years 0 to 9999.
pub(crate) fn from_seconds(seconds: i64) -> Option<i64> {
    EPOCH_SECONDS.contains(&seconds).then(|| seconds * MICROS)
}

/// What is left of a text.
struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.0.first() == Some(&wanted);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// A number of one or two digits.
    #[inline]
    fn two(&mut self) -> Option<u32> {
        let (length, value) = match self.0 {
            [a @ b'0'..=b'9', b @ b'0'..=b'9', ..] => (2, u32::from(a - b'0') * 10 + u32::from(b - b'0')),
            [a @ b'0'..=b'9', ..] => (1, u32::from(a - b'0')),
            _ => return None,
        };
        self.0 = &self.0[length..];
        Some(value)
    }

    /// A number below `end`, for people's clocks.
    fn below(&mut self, end: u32) -> Option<i64> {
        self.two().filter(|&value| value < end).map(i64::from)
    }

    /// `yyyy`, `yyyy-m`, `yyyy-m-d`.
    fn date(&mut self) -> Option<i32> {
        let (year, rest) = self.0.split_first_chunk::<4>()?;
        if !year.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let year = year.iter().fold(0, |year, b| year * 10 + i32::from(b - b'0'));
        self.0 = rest;
        let month = if self.eat(b'-') { self.two()? } else { 1 };
        let day = if rest.len() > self.0.len() && self.eat(b'-') { self.two()? } else { 1 };
        Some(NaiveDate::from_ymd_opt(year, month, day)?.to_epoch_days())
    }

    /// What may follow the date, to its end: `T` or a space, hours, minutes, seconds, fraction, offset; in microseconds.
    fn time(&mut self) -> Option<i64> {
        if !self.eat(b'T') && !self.eat(b' ') {
            return None;
        }
        let mut seconds = self.below(24)? * 3600;
        let (mut micros, mut offset) = (0, 0);
        if self.eat(b':') {
            seconds += self.below(60)? * 60;
            if self.eat(b':') {
                seconds += self.below(60)?;
                micros = if self.eat(b'.') { self.fraction() } else { 0 };
                offset = self.offset()?;
            }
        }
        self.0.is_empty().then_some((seconds - offset) * MICROS + micros)
    }

    /// Digits after the point; those beyond microseconds are cut off, as Spark does.
    fn fraction(&mut self) -> i64 {
        let (mut micros, mut unit) = (0, 100_000);
        while let [b @ b'0'..=b'9', rest @ ..] = self.0 {
            micros += i64::from(b - b'0') * unit;
            unit /= 10;
            self.0 = rest;
        }
        micros
    }

    /// `Z`, `UTC`, `+1`, `+01:00`, `+0100`, `+01:00:30`, `UTC+1` or nothing; in seconds.
    fn offset(&mut self) -> Option<i64> {
        self.0 = self.0.trim_ascii_start();
        if self.0.is_empty() || self.eat(b'Z') {
            return Some(0);
        }
        for name in [&b"UTC"[..], b"GMT", b"UT"] {
            if let Some(rest) = self.0.strip_prefix(name) {
                self.0 = rest;
                break;
            }
        }
        let sign = match self.0 {
            [] => return Some(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let mut seconds = self.below(19)? * 3600;
        let colon = self.eat(b':');
        if !self.0.is_empty() {
            // Without colons every part has two digits.
            if !colon && self.0.len() % 2 == 1 {
                return None;
            }
            seconds += self.below(60)? * 60;
            if !self.0.is_empty() {
                seconds += if self.eat(b':') == colon { self.below(60)? } else { return None };
            }
        }
        (seconds <= 18 * 3600).then_some(sign * seconds)
    }
}

#[cfg(test)]
#[path = "time/tests.rs"]
mod tests;
