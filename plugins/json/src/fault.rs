//! Why a row is refused, and where: the path of the field, the cause, and the offending value cut short.

use std::fmt;

/// Longest part of an offending value that is shown, in characters.
const VALUE_CHARS_MAX: usize = 60;
/// Longest name or map key that is shown in a path, in characters.
const NAME_CHARS_MAX: usize = 60;

/// The first thing wrong with a row. The row is refused whole, so the first is enough.
#[derive(Debug)]
pub struct Fault {
    /// From the field inwards to the root: pushed while the parser returns.
    path: Vec<Step>,
    cause: String,
}

#[derive(Debug)]
enum Step {
    Field(String),
    Item(usize),
    Key(String),
}

/// What parsing gives. Boxed: the good way is hot, the fault is rare.
pub(crate) type Parsed<T> = Result<T, Box<Fault>>;

impl Fault {
    #[cold]
    pub(crate) fn new(cause: String) -> Box<Self> {
        Box::new(Self { path: Vec::new(), cause })
    }

    /// The same fault, seen from the object around it.
    #[cold]
    pub(crate) fn in_field(mut self: Box<Self>, name: &str) -> Box<Self> {
        self.path.push(Step::Field(cut(name, NAME_CHARS_MAX)));
        self
    }

    /// The same fault, seen from the array around it.
    #[cold]
    pub(crate) fn in_item(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.path.push(Step::Item(index));
        self
    }

    /// The same fault, seen from the map around it.
    #[cold]
    pub(crate) fn in_key(mut self: Box<Self>, key: &str) -> Box<Self> {
        self.path.push(Step::Key(cut(key, NAME_CHARS_MAX)));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.path.iter().rev().enumerate() {
            match step {
                Step::Field(name) if name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty() => {
                    write!(f, "{}{name}", if i > 0 { "." } else { "" })?;
                }
                Step::Field(name) => write!(f, "{}`{name}`", if i > 0 { "." } else { "" })?,
                Step::Item(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[\"{key}\"]")?,
            }
        }
        if !self.path.is_empty() {
            write!(f, ": ")?;
        }
        f.write_str(&self.cause)
    }
}

/// A piece of the row for a message: control characters escaped, long text cut.
#[cold]
pub(crate) fn excerpt(text: &[u8]) -> String {
    // Four bytes a character at most; one more to notice that there is more.
    let head = text.get(..4 * (VALUE_CHARS_MAX + 1)).unwrap_or(text);
    cut(&String::from_utf8_lossy(head), VALUE_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> String {
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == chars_max {
            shown.push('…');
            break;
        }
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_names_fields_items_and_keys() {
        let fault = Fault::new("wrong".into()).in_field("qty").in_item(3).in_field("items");
        assert_eq!(fault.to_string(), "items[3].qty: wrong");
        let fault = Fault::new("wrong".into()).in_field("b c").in_key("k").in_field("a");
        assert_eq!(fault.to_string(), "a[\"k\"].`b c`: wrong");
        assert_eq!(Fault::new("wrong".into()).to_string(), "wrong");
    }

    #[test]
    fn excerpt_is_cut_at_characters_and_escapes_control() {
        assert_eq!(excerpt("é".repeat(100).as_bytes()), format!("{}…", "é".repeat(60)));
        assert_eq!(excerpt(b"a\nb\0"), "a\\nb\\0");
        assert_eq!(excerpt(b"12"), "12");
    }
}
