//! JSON objects straight into records: no tree, numbers never through a float on their way to a decimal.
//!
//! A message is one object and nothing else. Fields of the record may come in any order and may be absent (null);
//! other fields are skipped. A field of the record, or a key of a map, that is there twice, text after the object, and a
//! value of another type are faults that name the place and the cause.

mod fault;
mod nested;
mod quick;
mod reader;

use std::borrow::Cow;

pub use fault::Fault;
#[doc(hidden)]
pub use jiter::Peek;
pub use quick::{Plain, Quick};
pub use reader::Reader;

use crate::value::{Date, Decimal, Text, Timestamp};
use fault::shown;

/// A type that a JSON value can become.
pub trait FromJson<'a>: Sized {
    /// The value at which the reader stands, which begins with `peek` and is not null.
    ///
    /// # Errors
    /// A value of another type, or no JSON.
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault>;

    /// A plain value that is not null, which the reader has just passed or, for an array or object, before which it
    /// stands; `None` when it is of another type.
    fn from_plain(plain: Plain<'a>, quick: &mut Quick<'a>) -> Option<Self>;
}

impl<'a> FromJson<'a> for Text<'a> {
    #[inline]
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        if peek == Peek::String { reader.string() } else { Err(reader.mismatch("a string")) }
    }

    #[inline]
    fn from_plain(plain: Plain<'a>, _: &mut Quick<'a>) -> Option<Self> {
        if let Plain::Text(text) = plain { Some(Cow::Borrowed(text)) } else { None }
    }
}

impl<'a> FromJson<'a> for bool {
    #[inline]
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        if !matches!(peek, Peek::True | Peek::False) {
            return Err(reader.mismatch("a boolean"));
        }
        reader.bool(peek)
    }

    #[inline]
    fn from_plain(plain: Plain<'a>, _: &mut Quick<'a>) -> Option<Self> {
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
            fn from_plain(plain: Plain<'a>, _: &mut Quick<'a>) -> Option<Self> {
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
    fn from_plain(plain: Plain<'a>, _: &mut Quick<'a>) -> Option<Self> {
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
            fn from_plain(plain: Plain<'a>, _: &mut Quick<'a>) -> Option<Self> {
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
