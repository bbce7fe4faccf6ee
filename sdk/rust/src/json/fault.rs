//! What is wrong with a message.

use std::fmt;

/// Longest piece of a message that is shown in a fault.
const SHOWN_CHARACTERS_MAX: usize = 60;

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field of the message, where it is one field's fault.
    pub field: Option<&'static str>,
    /// Where in the field, as `[0].sku`; empty when it is the field itself.
    pub within: String,
    /// For people.
    pub text: String,
    /// The field, or what is within, is null or absent and may not be.
    pub null: bool,
}

impl Fault {
    pub(super) fn message(text: impl Into<String>) -> Self {
        Fault { field: None, within: String::new(), text: text.into(), null: false }
    }

    /// Something that is null or absent and may not be.
    pub(super) fn nothing() -> Self {
        Fault { null: true, ..Fault::message("it is null or absent") }
    }

    /// A field that is null or absent and may not be.
    pub fn null(field: &'static str) -> Self {
        Fault::nothing().of(field)
    }

    /// A field that is there twice.
    pub fn twice(field: &'static str) -> Self {
        Fault::message("it is there twice").of(field)
    }

    /// The fault, of that field.
    pub fn of(self, field: &'static str) -> Self {
        Fault { within: self.path(), field: Some(field), ..self }
    }

    /// The fault, of that element.
    pub(super) fn at(self, element: impl fmt::Display) -> Self {
        Fault { within: format!("[{element}]{}", self.path()), field: None, ..self }
    }

    /// Where it is, behind what it stands in.
    fn path(&self) -> String {
        match self.field {
            Some(field) => format!(".{field}{}", self.within),
            None => self.within.clone(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "`{field}{}`: {}", self.within, self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for Fault {}

/// A piece of a message, cut to a length that can be shown.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
