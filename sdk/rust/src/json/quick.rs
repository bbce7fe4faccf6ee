//! The short way through a plain message: no escapes, no exponents, no deep nesting. It gives up at anything else, and at
//! anything wrong; the [`Reader`](super::Reader) then reads the message from its start and says what is wrong.

mod skip;

use crate::json::FromJson;
use crate::scan::{self, ShortNumber};

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// What stands between the quotes.
    Text(&'a str),
    /// Digits, perhaps with a sign and a point; and what they are, if they are few.
    Number(&'a str, Option<ShortNumber>),
    /// An array, whose bracket comes next.
    Array,
    /// An object, whose brace comes next.
    Object,
}

/// Walks through a plain message. Every method gives `None` when it gives up.
#[derive(Debug)]
pub struct Quick<'a> {
    text: &'a str,
    at: usize,
    /// What stands before the next name or element: a bracket or a comma.
    before: u8,
}

impl<'a> Quick<'a> {
    /// At the start of a message.
    #[inline]
    pub fn new(text: &'a str) -> Self {
        Quick { text, at: 0, before: b'{' }
    }

    /// The name of the next field; `Some(None)` at the end of the object.
    #[inline]
    pub fn field(&mut self) -> Option<Option<&'a str>> {
        if !self.follows(b'{', b'}')? {
            return Some(None);
        }
        if self.next()? != b'"' {
            return None;
        }
        let name = self.string()?;
        (self.next()? == b':').then_some(Some(name))
    }

    /// The next element of an array; `Some(None)` at its end.
    #[inline]
    pub fn element(&mut self) -> Option<Option<Plain<'a>>> {
        if self.follows(b'[', b']')? { self.value().map(Some) } else { Some(None) }
    }

    /// Does another name or element follow?
    #[inline]
    fn follows(&mut self, opening: u8, closing: u8) -> Option<bool> {
        let byte = self.next()?;
        let before = std::mem::replace(&mut self.before, b',');
        if byte != before {
            return (byte == closing && before == b',').then_some(false);
        }
        if before == opening && self.next()? == closing {
            return Some(false);
        }
        self.at -= usize::from(before == opening);
        Some(true)
    }

    /// Steps over the name of the next field, if it is this one and stands where it is expected, without spaces.
    #[inline]
    pub fn named(&mut self, name: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = match rest {
            [first, b'"', rest @ ..] if *first == self.before && scan::starts_with(rest, name.as_bytes()) => {
                matches!(rest.get(name.len()..), Some([b'"', b':', ..]))
            }
            _ => false,
        };
        if found {
            self.before = b',';
            self.at += name.len() + 4;
        }
        found
    }

    /// The value of a field as the type that it should have; `Some(None)` when it is null.
    #[inline]
    pub fn value_of<T: FromJson<'a>>(&mut self) -> Option<Option<T>> {
        match self.value()? {
            Plain::Null => Some(None),
            plain => T::from_plain(plain, self).map(Some),
        }
    }

    /// The value of a field.
    #[inline]
    pub fn value(&mut self) -> Option<Plain<'a>> {
        match self.next()? {
            b'"' => self.string().map(Plain::Text),
            first @ (b'-' | b'0'..=b'9') => self.number(first),
            b'n' => self.word(b"ull").map(|()| Plain::Null),
            b't' => self.word(b"rue").map(|()| Plain::Bool(true)),
            b'f' => self.word(b"alse").map(|()| Plain::Bool(false)),
            b'{' => Some(self.nested(b'{', Plain::Object)),
            b'[' => Some(self.nested(b'[', Plain::Array)),
            _ => None,
        }
    }

    #[inline]
    fn nested(&mut self, bracket: u8, value: Plain<'a>) -> Plain<'a> {
        self.at -= 1;
        self.before = bracket;
        value
    }

    /// The next byte that is no space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte <= b' ' {
            return self.next_after_space();
        }
        self.at += 1;
        Some(byte)
    }

    #[inline(never)]
    fn next_after_space(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t')).count() + 1;
        self.text.as_bytes().get(self.at - 1).copied()
    }

    /// Is it at the end of the message?
    #[inline]
    pub fn at_end(&mut self) -> bool {
        self.next().is_none()
    }

    #[inline]
    fn word(&mut self, rest: &[u8]) -> Option<()> {
        let found = self.text.as_bytes().get(self.at..self.at + rest.len())?;
        self.at += rest.len();
        (found == rest).then_some(())
    }

    /// The text up to the next quote.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let end = scan::special::<b'"'>(bytes, start);
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    #[inline]
    fn number(&mut self, first: u8) -> Option<Plain<'a>> {
        let start = self.at - 1;
        match ShortNumber::read(self.text.as_bytes().get(start..)?) {
            Some(short) => {
                self.at = start + short.length;
                Some(Plain::Number(self.text.get(start..self.at)?, Some(short)))
            }
            None => self.long_number(first).map(|text| Plain::Number(text, None)),
        }
    }

    fn long_number(&mut self, first: u8) -> Option<&'a str> {
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
