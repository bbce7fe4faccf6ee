//! The short way through a plain message: a flat object, no escapes, no exponents. It gives up at anything else, and
//! at anything wrong; the [`Reader`](super::Reader) then reads the message from its start and says what is wrong.

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// What stands between the quotes.
    Text(&'a str),
    /// Digits, perhaps with a sign and a point.
    Number(&'a str),
}

/// Walks through a plain message. Every method gives `None` when it gives up.
#[derive(Debug)]
pub struct Quick<'a> {
    text: &'a str,
    at: usize,
    inside: bool,
}

impl<'a> Quick<'a> {
    /// At the start of a message.
    #[inline]
    pub fn new(text: &'a str) -> Self {
        Quick { text, at: 0, inside: false }
    }

    /// The name of the next field; `Some(None)` at the end of the message.
    #[inline]
    pub fn field(&mut self) -> Option<Option<&'a str>> {
        let first = self.next()?;
        match (self.inside, first) {
            (false, b'{') => self.inside = true,
            (true, b',') => {}
            (true, b'}') => return self.at_end().then_some(None),
            _ => return None,
        }
        if self.next()? != b'"' {
            return None;
        }
        let name = self.string()?;
        (self.next()? == b':').then_some(Some(name))
    }

    /// The value of a field.
    #[inline]
    pub fn value(&mut self) -> Option<Plain<'a>> {
        match self.next()? {
            b'"' => self.string().map(Plain::Text),
            first @ (b'-' | b'0'..=b'9') => self.number(first).map(Plain::Number),
            b'n' => self.word(b"ull").map(|()| Plain::Null),
            b't' => self.word(b"rue").map(|()| Plain::Bool(true)),
            b'f' => self.word(b"alse").map(|()| Plain::Bool(false)),
            _ => None,
        }
    }

    /// The next byte that is no space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            self.at += 1;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
        }
    }

    fn at_end(&mut self) -> bool {
        self.next().is_none()
    }

    #[inline]
    fn word(&mut self, rest: &[u8]) -> Option<()> {
        let found = self.text.as_bytes().get(self.at..self.at + rest.len())?;
        self.at += rest.len();
        (found == rest).then_some(())
    }

    /// The text up to the next quote, eight bytes at a time.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut end = start;
        while let Some(chunk) = bytes.get(end..).and_then(|rest| rest.first_chunk::<8>()) {
            let special = special(u64::from_le_bytes(*chunk));
            if special != 0 {
                end += special.trailing_zeros() as usize / 8;
                break;
            }
            end += 8;
        }
        loop {
            match bytes.get(end)? {
                b'"' => break,
                b'\\' | 0..=0x1f => return None,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    #[inline]
    fn number(&mut self, first: u8) -> Option<&'a str> {
        let (start, bytes) = (self.at - 1, self.text.as_bytes());
        let whole = if first == b'-' { self.at } else { start };
        let digits = |from: usize| bytes.get(from..).map_or(0, |b| b.iter().take_while(|d| d.is_ascii_digit()).count());
        let count = digits(whole);
        if count == 0 || (count > 1 && bytes.get(whole) == Some(&b'0')) {
            return None;
        }
        self.at = whole + count;
        if bytes.get(self.at) == Some(&b'.') {
            let places = digits(self.at + 1);
            if places == 0 {
                return None;
            }
            self.at += 1 + places;
        }
        match bytes.get(self.at) {
            Some(b'e' | b'E') => None,
            _ => self.text.get(start..self.at),
        }
    }
}

/// The highest bit of each byte that is a quote, a backslash or a control character; bits above the lowest one that is
/// set may be wrong.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\'))) | control
}
