//! The name of a field as JSON usually has it.

use crisol_sdk::scan;

/// Bytes that are compared at once.
const BLOCK: usize = 16;

/// A name in double quotes, followed by a colon.
#[derive(Debug)]
pub(crate) struct Written {
    /// Empty when the name can be written in more ways.
    text: Box<[u8]>,
    /// Its first bytes, and where they stand in a block.
    head: u128,
    mask: u128,
}

impl Written {
    pub(crate) fn new(name: &str) -> Self {
        let plain = !name.bytes().any(|b| b < b' ' || matches!(b, b'"' | b'\\'));
        let text: Box<[u8]> = if plain { format!("\"{name}\":").into_bytes().into() } else { Box::default() };
        let (mut head, mut mask) = ([0; BLOCK], [0; BLOCK]);
        for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(&text) {
            (*head, *mask) = (*byte, u8::MAX);
        }
        Self { text, head: u128::from_le_bytes(head), mask: u128::from_le_bytes(mask) }
    }

    /// The bytes of it at the start of a text; `None` when the text does not start with it.
    #[inline]
    pub(crate) fn at(&self, text: &[u8]) -> Option<usize> {
        let length = self.text.len();
        let found = match text.first_chunk::<BLOCK>() {
            Some(block) if length <= BLOCK => u128::from_le_bytes(*block) & self.mask == self.head,
            _ => scan::starts_with(text, &self.text),
        };
        (found && length > 0).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_at_the_start_and_nowhere_else() {
        for name in ["", "a", "schema_version", "fourteen_bytes", "more_than_sixteen_bytes"] {
            let (written, text) = (Written::new(name), format!("\"{name}\":"));
            for rest in ["", "1", "1}                              "] {
                let whole = text.clone() + rest;
                assert_eq!(written.at(whole.as_bytes()), Some(text.len()), "{whole}");
                for at in 0..text.len() {
                    let mut other = whole.clone().into_bytes();
                    other[at] ^= 1;
                    assert_eq!(written.at(&other), None, "{name}: byte {at}");
                    assert_eq!(written.at(&whole.as_bytes()[..at]), None, "{name}: {at} bytes");
                }
            }
        }
    }

    #[test]
    fn a_name_with_escapes_is_never_found() {
        for name in ["a\"b", "a\\b", "a\nb"] {
            assert_eq!(Written::new(name).at(format!("\"{name}\":1                ").as_bytes()), None);
            assert_eq!(Written::new(name).at(b""), None);
        }
    }
}
