//! Text read many bytes at a time. In a component each turn of a loop is dear (the host can stop it there), and so is a
//! call to copy or compare a few bytes; what is here has few turns and no calls for the short texts that rows hold.

/// Powers of ten, up to the largest decimal.
pub const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Where the first quote, backslash or control character stands from `at` on; the end when there is none.
#[inline(always)]
pub fn special<const QUOTE: u8>(text: &[u8], at: usize) -> usize {
    // Most texts end in the first block; there is no loop for them.
    match text.get(at..).and_then(special_in_block::<QUOTE>) {
        Some(found) => at + found,
        None => special_far::<QUOTE>(text, at),
    }
}

/// Where it stands among the next 16 bytes.
#[inline]
fn special_in_block<const QUOTE: u8>(text: &[u8]) -> Option<usize> {
    let (first, second) = halves(text.first_chunk::<16>()?);
    let (first, second) = (special_marks::<QUOTE>(first), special_marks::<QUOTE>(second));
    if first != 0 {
        return Some(first.trailing_zeros() as usize / 8);
    }
    (second != 0).then(|| 8 + second.trailing_zeros() as usize / 8)
}

fn special_far<const QUOTE: u8>(text: &[u8], mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match special_in_block::<QUOTE>(rest) {
            Some(found) => return at + found,
            None if rest.len() >= 16 => at += 16,
            None => return at + special_at_end::<QUOTE>(rest),
        }
    }
}

/// Where it stands in less than 16 bytes.
fn special_at_end<const QUOTE: u8>(text: &[u8]) -> usize {
    let is_special = |b: &u8| *b == QUOTE || *b == b'\\' || *b < b' ';
    let (first, rest) = text.split_at(text.len().min(8));
    let found = special_marks::<QUOTE>(word(first)).trailing_zeros() as usize / 8;
    if found < first.len() {
        return found;
    }
    first.len() + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// The highest bit of each byte that is special; bits above the lowest one that is set may be wrong.
#[inline]
fn special_marks<const QUOTE: u8>(word: u64) -> u64 {
    let zero = |x: u64| x.wrapping_sub(LOW) & !x;
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    (zero(word ^ (LOW * QUOTE as u64)) | zero(word ^ (LOW * b'\\' as u64)) | control) & HIGH
}

#[inline]
fn halves(block: &[u8; 16]) -> (u64, u64) {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *block;
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(rest))
}

/// The first eight bytes as a number, the first one lowest; what is not there counts as zero.
#[inline]
fn word(text: &[u8]) -> u64 {
    if let Some(bytes) = text.first_chunk::<8>() {
        return u64::from_le_bytes(*bytes);
    }
    // Two halves that overlap where there are less than eight.
    let place = |width: usize| 8 * (text.len() - width);
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << place(4);
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<2>(), text.last_chunk::<2>()) {
        return u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << place(2);
    }
    text.first().map_or(0, |byte| u64::from(*byte))
}

/// The digits at the start of a text, eight at most: how many there are, and their value.
#[inline]
pub fn digits(text: &[u8]) -> (usize, u64) {
    let word = word(text) ^ (LOW * b'0' as u64);
    // Digits are below 10 now; the lowest mark is right.
    let others = (word | word.wrapping_add(LOW * 0x76)) & HIGH;
    let count = others.trailing_zeros() / 8;
    // Zeros before the digits, and nothing after them.
    let word = word.checked_shl(64 - 8 * count).unwrap_or(0);
    let pairs = (word & (LOW * 0x0f)).wrapping_mul(10 * 0x100 + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * 0x1_0000 + 1) >> 16;
    let value = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * 0x1_0000_0000 + 1) >> 32;
    (count as usize, value)
}

/// How many digits stand from `at` on.
#[inline]
pub fn digit_count(text: &[u8], at: usize) -> usize {
    let mut count = 0;
    loop {
        let word = word(text.get(at + count..).unwrap_or_default()) ^ (LOW * b'0' as u64);
        let others = (word | word.wrapping_add(LOW * 0x76)) & HIGH;
        count += others.trailing_zeros() as usize / 8;
        if others != 0 {
            return count;
        }
    }
}

/// Up to fifteen digits; `None` when there are more.
#[inline]
fn more_digits(text: &[u8]) -> Option<(usize, u64)> {
    let (count, value) = digits(text);
    if count < 8 {
        return Some((count, value));
    }
    let (more, low) = digits(text.get(8..)?);
    (more < 8).then(|| (8 + more, value * POWERS[more] as u64 + low))
}

/// A number without exponent whose digits are few enough to be read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortNumber {
    /// Bytes of its text.
    pub length: usize,
    negative: bool,
    /// All its digits.
    digits: u64,
    places: usize,
}

impl ShortNumber {
    /// The number, as JSON writes it, that a text starts with. `None` when it is longer, or none at all.
    #[inline]
    pub fn read(text: &[u8]) -> Option<Self> {
        let negative = text.first() == Some(&b'-');
        let whole = text.get(usize::from(negative)..)?;
        let (count, mut digits) = more_digits(whole)?;
        if count == 0 || (count > 1 && whole.first() == Some(&b'0')) {
            return None;
        }
        let mut rest = whole.get(count..)?;
        let mut places = 0;
        if let [b'.', fraction @ ..] = rest {
            let (count, value) = self::digits(fraction);
            if count == 0 || count == 8 {
                return None;
            }
            places = count;
            digits = shifted(digits, count)?.checked_add(value)?;
            rest = fraction.get(count..)?;
        }
        let length = text.len() - rest.len();
        (!matches!(rest, [b'e' | b'E', ..])).then_some(Self { length, negative, digits, places })
    }

    /// It, when it has no fraction.
    #[inline]
    pub fn integer(self) -> Option<i64> {
        let digits = i64::try_from(self.digits).ok().filter(|_| self.places == 0)?;
        Some(if self.negative { -digits } else { digits })
    }

    /// It times ten to the power of `scale`, when that is an integer of at most `precision` digits, and no more than
    /// 16 of them are added.
    #[inline]
    pub fn decimal(self, precision: u8, scale: u8) -> Option<i128> {
        let more = usize::from(scale).checked_sub(self.places).filter(|more| *more <= 16)?;
        let units = match shifted(self.digits, more) {
            Some(units) => i128::from(units),
            None => i128::from(self.digits) * POWERS[more],
        };
        let fits = units < *POWERS.get(usize::from(precision))?;
        fits.then_some(if self.negative { -units } else { units })
    }
}

/// `digits` times ten to the power of `places`, when both have at most 64 bits. A component has no instruction for a product
/// that is longer, or that may be.
#[inline]
fn shifted(digits: u64, places: usize) -> Option<u64> {
    const MOST: [u64; 20] = {
        let mut most = [0; 20];
        let mut i = 0;
        while i < most.len() {
            most[i] = u64::MAX / POWERS[i] as u64;
            i += 1;
        }
        most
    };
    let fits = digits <= *MOST.get(places)?;
    fits.then(|| digits.wrapping_mul(POWERS[places] as u64))
}

/// Do these bytes stand at the start of a text?
#[inline]
pub fn starts_with(text: &[u8], wanted: &[u8]) -> bool {
    text.get(..wanted.len()).is_some_and(|found| equal(found, wanted))
}

/// Are two texts equal?
#[inline]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0 => true,
        1 => a.first() == b.first(),
        2..=3 => same_ends::<2>(a, b),
        4..=7 => same_ends::<4>(a, b),
        8..=16 => same_ends::<8>(a, b),
        17..=32 => same_ends::<16>(a, b),
        _ => a == b,
    }
}

/// Are the first `N` bytes and the last `N` bytes the same?
#[inline(always)]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
}

/// Appends bytes.
#[inline(always)]
pub fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        2..=3 => append_ends::<2>(to, bytes),
        4..=7 => append_ends::<4>(to, bytes),
        8..=16 => append_ends::<8>(to, bytes),
        17..=32 => append_ends::<16>(to, bytes),
        _ => to.extend_from_slice(bytes),
    }
}

/// Appends `N` to `2 N` bytes: the first `N` and the last `N`, which overlap.
#[inline]
fn append_ends<const N: usize>(to: &mut Vec<u8>, bytes: &[u8]) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
        let middle = to.len() + bytes.len() - N;
        to.extend_from_slice(first);
        to.truncate(middle);
        to.extend_from_slice(last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn special_bytes_are_found_wherever_they_stand(text in "[a-zé\"\\\\'\n\u{1f}]{0,60}|[a-zé]{0,60}", at in 0usize..20) {
            let text = text.as_bytes();
            let at = at.min(text.len());
            for quote in [b'"', b'\''] {
                let is_special = |b: &u8| *b == quote || *b == b'\\' || *b < b' ';
                let expected = text[at..].iter().position(is_special).map_or(text.len(), |found| at + found);
                let found = if quote == b'"' { special::<b'"'>(text, at) } else { special::<b'\''>(text, at) };
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn digits_are_counted_and_read(text in "[0-9]{0,20}[/:a.é-]?[0-9]{0,3}") {
            let count = text.bytes().take_while(u8::is_ascii_digit).count().min(8);
            let value = text[..count].parse().unwrap_or(0);
            prop_assert_eq!(digits(text.as_bytes()), (count, value));
            for at in 0..=text.len() {
                let count = text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                prop_assert_eq!(digit_count(text.as_bytes(), at), count);
            }
        }

        #[test]
        fn short_numbers_are_read_as_they_are_written(text in "-?(0|[1-9][0-9]{0,16})(\\.[0-9]{1,9})?", after in "[ ,}e0x.]?[0-9]{0,2}") {
            let whole = format!("{text}{after}");
            let Some(number) = ShortNumber::read(whole.as_bytes()) else {
                let digits = text.bytes().filter(u8::is_ascii_digit).count();
                prop_assert!(digits > 7 || after.starts_with(['e', '0', '.']) || whole.len() > text.len(), "{}", whole);
                return Ok(());
            };
            let read = &whole[..number.length];
            let expected: f64 = read.parse().unwrap();
            let units = number.decimal(38, 8).unwrap();
            prop_assert_eq!((units as f64 / 1e8 - expected).abs() <= expected.abs() * 1e-12, true, "{} {}", read, units);
            prop_assert_eq!(number.integer(), read.parse().ok());
            let next = whole.as_bytes().get(number.length);
            prop_assert!(!matches!(next, Some(b'0'..=b'9' | b'e' | b'E')), "{} of {}", read, whole);
        }

        #[test]
        fn texts_are_compared_and_appended_whatever_their_length(a in "[ab]{0,40}", b in "[ab]{0,40}") {
            prop_assert_eq!(starts_with(a.as_bytes(), b.as_bytes()), a.starts_with(&b));
            prop_assert!(starts_with((a.clone() + &b).as_bytes(), a.as_bytes()));
            let mut appended = a.clone().into_bytes();
            append(&mut appended, b.as_bytes());
            prop_assert_eq!(appended, (a + &b).into_bytes());
        }
    }

    #[test]
    fn a_short_number_fits_its_decimal_or_is_none() {
        let decimal =
            |text: &str, precision, scale| ShortNumber::read(text.as_bytes()).unwrap().decimal(precision, scale);
        assert_eq!(decimal("12.5", 18, 2), Some(1250));
        assert_eq!(decimal("-12.5", 18, 1), Some(-125));
        assert_eq!(decimal("12.5", 18, 0), None);
        assert_eq!(decimal("123", 3, 1), None);
        assert_eq!(decimal("1", 38, 30), None);
    }
}
