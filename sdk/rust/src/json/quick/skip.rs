//! Values that nobody wants: passed over without being read, and yet not accepted when they are no JSON.

use super::Quick;
use crate::scan;

/// Deepest nesting that is passed over.
const DEPTH_MAX: usize = 32;

impl Quick<'_> {
    /// Passes over the value that comes next.
    #[inline]
    pub fn skip(&mut self) -> Option<()> {
        self.pass(DEPTH_MAX)
    }

    #[inline]
    fn pass(&mut self, depth: usize) -> Option<()> {
        match self.next()? {
            b'"' => self.pass_string(),
            first @ (b'-' | b'0'..=b'9') => self.pass_number(first),
            b'{' => self.pass_object(depth.checked_sub(1)?),
            b'[' => self.pass_array(depth.checked_sub(1)?),
            b'n' => self.word(b"ull"),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            _ => None,
        }
    }

    fn pass_object(&mut self, depth: usize) -> Option<()> {
        let mut byte = self.next()?;
        if byte == b'}' {
            return Some(());
        }
        loop {
            if byte != b'"' {
                return None;
            }
            self.pass_string()?;
            if self.next()? != b':' {
                return None;
            }
            self.pass(depth)?;
            match self.next()? {
                b',' => byte = self.next()?,
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn pass_array(&mut self, depth: usize) -> Option<()> {
        if self.next()? == b']' {
            return Some(());
        }
        self.at -= 1;
        loop {
            self.pass(depth)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    #[inline]
    fn pass_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let end = scan::special::<b'"'>(bytes, self.at);
        self.at = end + 1;
        (bytes.get(end) == Some(&b'"')).then_some(())
    }

    /// The rest of a number that starts with this byte.
    #[inline]
    fn pass_number(&mut self, first: u8) -> Option<()> {
        let bytes = self.text.as_bytes();
        let whole = if first == b'-' { self.at } else { self.at - 1 };
        let count = scan::digit_count(bytes, whole);
        if count == 0 || (count > 1 && bytes.get(whole) == Some(&b'0')) {
            return None;
        }
        self.at = whole + count;
        if bytes.get(self.at) == Some(&b'.') {
            let places = scan::digit_count(bytes, self.at + 1);
            if places == 0 {
                return None;
            }
            self.at += 1 + places;
        }
        (!matches!(bytes.get(self.at), Some(b'e' | b'E'))).then_some(())
    }
}
