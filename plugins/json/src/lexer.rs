//! Tokens of one row's text: a cursor over bytes that are known to be UTF-8.
//!
//! JSON as Spark's parser reads it: single quotes are quotes, `\'` is an escape, `NaN` and `Infinity` are numbers;
//! comments, unquoted names, leading zeros and control characters in strings are not JSON.

use std::borrow::Cow;

use crisol_sdk::scan;

use crate::escape;
use crate::fault::{Fault, Parsed, excerpt};

/// Deepest nesting of objects and arrays that is read.
pub(crate) const DEPTH_MAX: usize = 128;

/// What is missing where a name should be.
pub(crate) const NAME: &str = "a field name in quotes";

/// Where the parser stands in a row.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// A string without its quotes. Its escapes are valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) escaped: bool,
}

/// The text of a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number<'a> {
    pub(crate) raw: &'a [u8],
    /// Neither fraction nor exponent.
    pub(crate) integer: bool,
}

/// A value without members.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar<'a> {
    String(Quoted<'a>),
    Number(Number<'a>),
    /// `NaN`, `Infinity`.
    Named(f64),
    Boolean(bool),
}

/// Numbers that JSON does not have and Spark reads.
const NAMED_NUMBERS: [(&[u8], f64); 6] = [
    (b"NaN", f64::NAN),
    (b"Infinity", f64::INFINITY),
    (b"+Infinity", f64::INFINITY),
    (b"-Infinity", f64::NEG_INFINITY),
    (b"+INF", f64::INFINITY),
    (b"-INF", f64::NEG_INFINITY),
];

impl<'a> Quoted<'a> {
    /// The string without its escapes.
    #[inline]
    pub(crate) fn text(self) -> Cow<'a, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut text = Vec::new();
        escape::append(self.raw, &mut text);
        Cow::Owned(text)
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was read since `start`.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// What is still to be read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Steps over one byte that was peeked at.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.at += 1;
    }

    /// Steps over bytes that were looked at.
    #[inline]
    pub(crate) fn step_over(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Steps over white space and peeks.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u8> {
        // Outside the loop: where one begins, the sandbox looks at the clock.
        match self.text.get(self.at) {
            Some(&b) if b > b' ' => Some(b),
            _ => self.next_after_space(),
        }
    }

    #[inline(never)]
    fn next_after_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Steps over `wanted`, unless it is empty, if the text goes on with it.
    #[inline]
    pub(crate) fn eat_all(&mut self, wanted: &[u8]) -> bool {
        let found = !wanted.is_empty() && scan::starts_with(self.rest(), wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// Steps over white space and the byte `wanted`.
    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Parsed<()> {
        if self.next() == Some(wanted) {
            self.at += 1;
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(wanted))))
    }

    /// Steps over `null`, `true` or `false`.
    #[inline]
    pub(crate) fn word(&mut self, word: &[u8]) -> Parsed<()> {
        if self.eat_all(word) { Ok(()) } else { Err(self.unexpected("a value")) }
    }

    #[inline]
    fn quoted<const QUOTE: u8>(&mut self) -> Parsed<Quoted<'a>> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        loop {
            self.at = scan::special::<QUOTE>(self.text, self.at);
            match self.peek() {
                Some(b) if b == QUOTE => {
                    let raw = self.since(start);
                    self.at += 1;
                    return Ok(Quoted { raw, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    match escape::read(self.rest()) {
                        Ok((_, length)) => self.at += length,
                        Err(what) => return Err(self.wrong_escape(what)),
                    }
                }
                Some(_) => return Err(Fault::new(format!("control character in a string at byte {}", self.at))),
                None => return Err(self.unexpected("the end of a string")),
            }
        }
    }

    /// The number that starts at the next byte.
    fn number(&mut self) -> Parsed<Number<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        match self.digits() {
            0 => return Err(self.unexpected("a digit")),
            digits if zero && digits > 1 => return Err(self.leading_zero(start)),
            _ => {}
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.unexpected("a digit"));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.unexpected("a digit"));
            }
        }
        Ok(Number { raw: self.since(start), integer })
    }

    #[inline]
    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn named_number(&mut self) -> Option<f64> {
        NAMED_NUMBERS.iter().find(|(name, _)| self.eat_all(name)).map(|(_, value)| *value)
    }

    /// The value that is next, which is neither `null` nor an object nor an array.
    #[inline]
    pub(crate) fn scalar(&mut self) -> Parsed<Scalar<'a>> {
        match self.next() {
            Some(b'"') => self.quoted::<b'"'>().map(Scalar::String),
            Some(b'\'') => self.quoted::<b'\''>().map(Scalar::String),
            Some(b'0'..=b'9') => self.number().map(Scalar::Number),
            Some(b't') => self.word(b"true").map(|()| Scalar::Boolean(true)),
            Some(b'f') => self.word(b"false").map(|()| Scalar::Boolean(false)),
            Some(b'-') if !matches!(self.text.get(self.at + 1), Some(b'I')) => self.number().map(Scalar::Number),
            _ => self.named_number().map(Scalar::Named).ok_or_else(|| self.unexpected("a value")),
        }
    }

    /// Steps over one value of any kind, which is checked like any other.
    pub(crate) fn skip(&mut self, depth: usize) -> Parsed<()> {
        match self.next() {
            Some(b'{') => self.skip_object(self.deeper(depth)?),
            Some(b'[') => self.skip_array(self.deeper(depth)?),
            Some(b'n') => self.word(b"null"),
            _ => self.scalar().map(drop),
        }
    }

    fn skip_object(&mut self, depth: usize) -> Parsed<()> {
        self.step();
        if self.next() == Some(b'}') {
            self.step();
            return Ok(());
        }
        loop {
            let _ = self.next();
            self.string(NAME)?;
            self.expect(b':')?;
            self.skip(depth)?;
            if !self.another(b'}')? {
                return Ok(());
            }
        }
    }

    fn skip_array(&mut self, depth: usize) -> Parsed<()> {
        self.step();
        if self.next() == Some(b']') {
            self.step();
            return Ok(());
        }
        loop {
            self.skip(depth)?;
            if !self.another(b']')? {
                return Ok(());
            }
        }
    }

    /// A string, which must come next; `what` names it when it does not.
    #[inline]
    pub(crate) fn string(&mut self, what: &str) -> Parsed<Quoted<'a>> {
        match self.peek() {
            Some(b'"') => self.quoted::<b'"'>(),
            Some(b'\'') => self.quoted::<b'\''>(),
            _ => Err(self.unexpected(what)),
        }
    }

    /// Steps over `,` (there is another member) or over `end`.
    #[inline]
    pub(crate) fn another(&mut self, end: u8) -> Parsed<bool> {
        match self.next() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(b) if b == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected(&format!("`,` or `{}`", char::from(end)))),
        }
    }

    /// One level further in.
    #[inline]
    pub(crate) fn deeper(&self, depth: usize) -> Parsed<usize> {
        if depth < DEPTH_MAX {
            return Ok(depth + 1);
        }
        Err(Fault::new(format!("nested deeper than {DEPTH_MAX} levels at byte {}", self.at)))
    }

    /// The fault of a value that is not of its column's type; a value that is not even JSON says that instead.
    #[cold]
    pub(crate) fn mismatch(&self, start: usize, expected: &str, why: &str) -> Box<Fault> {
        let mut value = Cursor { text: self.text, at: start };
        if let Err(fault) = value.skip(0) {
            return fault;
        }
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        Fault::new(format!("expected {expected}, found `{}`{why}", excerpt(value.since(start))))
    }

    #[cold]
    pub(crate) fn unexpected(&self, wanted: &str) -> Box<Fault> {
        let found = match self.rest() {
            [] => "the end of the text".to_string(),
            rest => format!("`{}`", excerpt(rest.get(..16).unwrap_or(rest))),
        };
        Fault::new(format!("not JSON: expected {wanted} at byte {}, found {found}", self.at))
    }

    #[cold]
    fn leading_zero(&self, start: usize) -> Box<Fault> {
        let found = excerpt(self.since(start));
        Fault::new(format!("not JSON: a number with a leading zero at byte {start}, `{found}`"))
    }

    #[cold]
    fn wrong_escape(&self, what: &str) -> Box<Fault> {
        let rest = self.rest();
        Fault::new(format!("{what} at byte {}: `{}`", self.at, excerpt(rest.get(..12).unwrap_or(rest))))
    }
}

/// The number that JSON does not have and that bears this name.
pub(crate) fn named_number(name: &[u8]) -> Option<f64> {
    NAMED_NUMBERS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}
