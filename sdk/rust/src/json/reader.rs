//! Reads any message, and says what is wrong with it.

use std::borrow::Cow;

use jiter::{Jiter, JiterError, Peek};

use super::FromJson;
use super::fault::{Fault, shown};
use crate::value::Text;

/// Walks through a message.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    jiter: Jiter<'a>,
    /// Objects in which it stands.
    depth: usize,
    /// It stands before the object that begins.
    begins: bool,
}

impl<'a> Reader<'a> {
    /// At the start of a message.
    pub fn new(text: &'a str) -> Self {
        Reader { text, jiter: Jiter::new(text.as_bytes()), depth: 0, begins: false }
    }

    /// An object begins here.
    pub fn object(&mut self) {
        self.depth += 1;
        self.begins = true;
    }

    /// A value that has to be an object.
    ///
    /// # Errors
    /// Another value.
    pub fn expect_object(&mut self, peek: Peek) -> Result<(), Fault> {
        if peek == Peek::Object { Ok(()) } else { Err(self.mismatch("an object")) }
    }

    /// The next field of the object: what `lookup` makes of its name. `None` at the object's end.
    ///
    /// # Errors
    /// Text that is no JSON object.
    #[inline]
    pub fn field<K>(&mut self, lookup: impl FnOnce(&str) -> K) -> Result<Option<K>, Fault> {
        let begins = std::mem::take(&mut self.begins);
        let name = if begins { self.jiter.next_object() } else { self.jiter.next_key() };
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

    /// The object is at its end. After the outermost one nothing may follow.
    ///
    /// # Errors
    /// Something follows.
    #[inline]
    pub fn end(&mut self) -> Result<(), Fault> {
        self.depth = self.depth.saturating_sub(1);
        match self.depth {
            0 => self.jiter.finish().map_err(|e| not_json(self.text, &e)),
            _ => Ok(()),
        }
    }

    /// The string at which the reader stands.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'a>, Fault> {
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
    pub(super) fn number(&mut self, peek: Peek) -> Result<&'a str, Fault> {
        let start = self.jiter.current_index();
        if let Err(error) = self.jiter.known_number_bytes(peek) {
            return Err(not_json(self.text, &error));
        }
        Ok(self.text.get(start..self.jiter.current_index()).unwrap_or_default())
    }

    /// The boolean at which the reader stands.
    #[inline]
    pub(super) fn bool(&mut self, peek: Peek) -> Result<bool, Fault> {
        self.jiter.known_bool(peek).map_err(|e| not_json(self.text, &e))
    }

    /// Passes the bracket of the array at which the reader stands. Is there an element?
    pub(super) fn array(&mut self) -> Result<bool, Fault> {
        let first = self.jiter.known_array();
        first.map(|element| element.is_some()).map_err(|e| not_json(self.text, &e))
    }

    /// Is there one more element?
    pub(super) fn element(&mut self) -> Result<bool, Fault> {
        let next = self.jiter.array_step();
        next.map(|element| element.is_some()).map_err(|e| not_json(self.text, &e))
    }

    /// A value of another type than wanted.
    #[cold]
    pub(super) fn mismatch(&mut self, wanted: &str) -> Fault {
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

#[cold]
fn not_json(text: &str, error: &JiterError) -> Fault {
    if text.trim().is_empty() {
        return Fault::message("the message is empty");
    }
    let position = text.get(..error.index).map_or(error.index, |before| before.chars().count());
    Fault::message(format!("not a JSON object: {} at character {}", error.error_type, position + 1))
}
