//! JSON objects straight into records: no tree, numbers never through a float on their way to a decimal.
//!
//! A message is one object and nothing else. Fields of the record may come in any order and may be absent (null);
//! other fields are skipped. A field of the record that is there twice, text after the object, and a value of
//! another type are faults that name the field and the cause.

mod quick;

use std::borrow::Cow;
use std::fmt;

use jiter::{Jiter, JiterError, Peek};

pub use quick::{Plain, Quick};

use crate::value::{Date, Decimal, Text, Timestamp};

/// Longest piece of a message that is shown in a fault.
const SHOWN_CHARACTERS_MAX: usize = 60;

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field, where it is one field's fault.
    pub field: Option<&'static str>,
    /// For people.
    pub text: String,
    /// The field is null or absent and may not be.
    pub null: bool,
}

impl Fault {
    fn message(text: impl Into<String>) -> Self {
        Fault { field: None, text: text.into(), null: false }
    }

    /// A field that is null or absent and may not be.
    pub fn null(field: &'static str) -> Self {
        Fault { field: Some(field), text: "it is null or absent".to_string(), null: true }
    }

    /// A field that is there twice.
    pub fn twice(field: &'static str) -> Self {
        Fault { field: Some(field), text: "it is there twice".to_string(), null: false }
    }

    /// The fault, of that field.
    pub fn of(mut self, field: &'static str) -> Self {
        self.field.get_or_insert(field);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "`{field}`: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for Fault {}

/// Walks through a message.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    jiter: Jiter<'a>,
    inside: bool,
}

impl<'a> Reader<'a> {
    /// At the start of a message.
    pub fn new(text: &'a str) -> Self {
        Reader { text, jiter: Jiter::new(text.as_bytes()), inside: false }
    }

    /// The next field of the object: what `lookup` makes of its name. `None` at the object's end.
    ///
    /// # Errors
    /// Text that is no JSON object.
    #[inline]
    pub fn field<K>(&mut self, lookup: impl FnOnce(&str) -> K) -> Result<Option<K>, Fault> {
        let name = if self.inside { self.jiter.next_key() } else { self.jiter.next_object() };
        self.inside = true;
        match name {
            Ok(name) => Ok(name.map(lookup)),
            Err(error) => Err(not_json(self.text, &error)),
        }
    }

    /// A value of the record's type, or null.
    ///
    /// # Errors
    /// A value of another type, or no JSON.
    #[inline]
    pub fn value<T: FromJson<'a>>(&mut self) -> Result<Option<T>, Fault> {
        let peek = self.jiter.peek().map_err(|e| not_json(self.text, &e))?;
        if peek == Peek::Null {
            self.jiter.known_null().map_err(|e| not_json(self.text, &e))?;
            return Ok(None);
        }
        T::from_json(self, peek).map(Some)
    }

    /// Passes over a value.
    ///
    /// # Errors
    /// Text that is no JSON.
    #[inline]
    pub fn skip(&mut self) -> Result<(), Fault> {
        self.jiter.next_skip().map_err(|e| not_json(self.text, &e))
    }

    /// Nothing may follow.
    ///
    /// # Errors
    /// Something follows.
    #[inline]
    pub fn end(&mut self) -> Result<(), Fault> {
        self.jiter.finish().map_err(|e| not_json(self.text, &e))
    }

    /// The string at which the reader stands.
    #[inline]
    fn string(&mut self) -> Result<Text<'a>, Fault> {
        let start = self.jiter.current_index() + 1;
        match self.jiter.known_str() {
            Ok(decoded) => match self.text.get(start..start + decoded.len()) {
                // An escape is longer than what it stands for: equal texts mean that there is none.
                Some(plain) if plain == decoded => Ok(Cow::Borrowed(plain)),
                _ => Ok(Cow::Owned(decoded.to_string())),
            },
            Err(error) => Err(not_json(self.text, &error)),
        }
    }

    /// The number at which the reader stands, as it is written.
    #[inline]
    fn number(&mut self, peek: Peek) -> Result<&'a str, Fault> {
        let start = self.jiter.current_index();
        if let Err(error) = self.jiter.known_number_bytes(peek) {
            return Err(not_json(self.text, &error));
        }
        Ok(self.text.get(start..self.jiter.current_index()).unwrap_or_default())
    }

    /// A value of another type than wanted.
    #[cold]
    fn mismatch(&mut self, wanted: &str) -> Fault {
        let start = self.jiter.current_index();
        match self.skip() {
            Ok(()) => {
                let found = self.text.get(start..self.jiter.current_index()).unwrap_or_default();
                Fault::message(format!("{} is not {wanted}", shown(found)))
            }
            Err(fault) => fault,
        }
    }
}

/// A piece of a message, cut to a length that can be shown.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

#[cold]
fn not_json(text: &str, error: &JiterError) -> Fault {
    if text.trim().is_empty() {
        return Fault::message("the message is empty");
    }
    let position = text.get(..error.index).map_or(error.index, |before| before.chars().count());
    Fault::message(format!("not a JSON object: {} at character {}", error.error_type, position + 1))
}

/// A type that a JSON value can become.
pub trait FromJson<'a>: Sized {
    /// The value at which the reader stands, which begins with `peek` and is not null.
    ///
    /// # Errors
    /// A value of another type, or no JSON.
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault>;

    /// A plain value that is not null; `None` when it is of another type.
    fn from_plain(plain: Plain<'a>) -> Option<Self>;
}

impl<'a> FromJson<'a> for Text<'a> {
    #[inline]
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        if peek == Peek::String { reader.string() } else { Err(reader.mismatch("a string")) }
    }

    #[inline]
    fn from_plain(plain: Plain<'a>) -> Option<Self> {
        if let Plain::Text(text) = plain { Some(Cow::Borrowed(text)) } else { None }
    }
}

impl<'a> FromJson<'a> for bool {
    #[inline]
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        if !matches!(peek, Peek::True | Peek::False) {
            return Err(reader.mismatch("a boolean"));
        }
        reader.jiter.known_bool(peek).map_err(|e| not_json(reader.text, &e))
    }

    #[inline]
    fn from_plain(plain: Plain<'a>) -> Option<Self> {
        if let Plain::Bool(value) = plain { Some(value) } else { None }
    }
}

macro_rules! from_number {
    ($($type:ty, $wanted:literal, $short:expr;)*) => {$(
        impl<'a> FromJson<'a> for $type {
            #[inline]
            fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
                if !peek.is_num() {
                    return Err(reader.mismatch($wanted));
                }
                let number = reader.number(peek)?;
                number.parse().map_err(|_| Fault::message(format!("{} is not {}", shown(number), $wanted)))
            }

            #[inline]
            fn from_plain(plain: Plain<'a>) -> Option<Self> {
                let Plain::Number(text, short) = plain else { return None };
                let value: Option<$type> = short.and_then($short);
                value.or_else(|| text.parse().ok())
            }
        }
    )*};
}

from_number! {
    i8, "a tinyint", |short| short.integer()?.try_into().ok();
    i16, "a smallint", |short| short.integer()?.try_into().ok();
    i32, "an int", |short| short.integer()?.try_into().ok();
    i64, "a bigint", |short| short.integer();
    f32, "a float", |_| None;
    f64, "a double", |_| None;
}

impl<'a, const P: u8, const S: u8> FromJson<'a> for Decimal<P, S> {
    /// A number, or a number in a string, as many senders write money.
    #[inline]
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        let text = match peek {
            Peek::String => reader.string()?,
            _ if peek.is_num() => Cow::Borrowed(reader.number(peek)?),
            _ => return Err(reader.mismatch(&format!("a decimal({P},{S})"))),
        };
        match Decimal::parse(&text) {
            Some(decimal) => Ok(decimal),
            None => Err(wrong_text(&text, peek, &format!("a decimal({P},{S})"))),
        }
    }

    #[inline]
    fn from_plain(plain: Plain<'a>) -> Option<Self> {
        match plain {
            Plain::Number(text, short) => {
                let units = short.and_then(|short| short.decimal(P, S));
                units.map(Decimal::of_units).or_else(|| Decimal::parse(text))
            }
            Plain::Text(text) => Decimal::parse(text),
            _ => None,
        }
    }
}

macro_rules! from_text {
    ($($type:ty, $wanted:literal;)*) => {$(
        impl<'a> FromJson<'a> for $type {
            #[inline]
            fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
                if peek != Peek::String {
                    return Err(reader.mismatch($wanted));
                }
                let text = reader.string()?;
                <$type>::parse(&text).ok_or_else(|| wrong_text(&text, peek, $wanted))
            }

            #[inline]
            fn from_plain(plain: Plain<'a>) -> Option<Self> {
                if let Plain::Text(text) = plain { <$type>::parse(text) } else { None }
            }
        }
    )*};
}

from_text! {
    Timestamp, "a timestamp";
    Date, "a date";
}

#[cold]
fn wrong_text(text: &str, peek: Peek, wanted: &str) -> Fault {
    let quote = if peek == Peek::String { "\"" } else { "" };
    Fault::message(format!("{quote}{}{quote} is not {wanted}", shown(text)))
}

#[cfg(test)]
mod tests;
