//! The version in texts as most producers write them, in a fraction of the time that a parser takes.
//!
//! An answer is the parser's own answer. Where a text is not plain (escapes, odd numbers, faults, no such field) there is
//! none, and the parser is asked.

use jiter::Jiter;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// More digits are left to the parser.
const DIGITS_MAX: usize = 9;

/// The number in the first field of this name at the top level.
pub(super) fn version(text: &[u8], field: &[u8]) -> Option<u32> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.take(b'{')?;
    loop {
        let key = cursor.key()?;
        cursor.take(b':')?;
        if key == field {
            return cursor.version();
        }
        cursor.skip()?;
        cursor.take(b',')?;
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        let found = self.next()? == wanted;
        self.at += 1;
        found.then_some(())
    }

    /// A name in ASCII.
    fn key(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.at;
        self.string::<true>()?;
        self.text.get(start..self.at - 1)
    }

    /// Steps behind the quote that ends a string without escapes; with `ASCII` it has no other bytes.
    fn string<const ASCII: bool>(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let words = rest.chunks_exact(8);
        let (tail, mut at) = (words.remainder(), self.at);
        for word in words {
            let word = u64::from_le_bytes(word.try_into().ok()?);
            let special = special(word) | if ASCII { word & HIGHS } else { 0 };
            if special != 0 {
                at += special.trailing_zeros() as usize / 8;
                return self.close(at);
            }
            at += 8;
        }
        at += tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..32) || (ASCII && !byte.is_ascii()))?;
        self.close(at)
    }

    fn close(&mut self, at: usize) -> Option<()> {
        self.at = at + 1;
        (self.text.get(at) == Some(&b'"')).then_some(())
    }

    /// Steps over a value.
    fn skip(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => {
                self.at += 1;
                self.string::<false>()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'{' | b'[' => {
                let mut inner = Jiter::new(self.text.get(self.at..)?);
                inner.next_skip().ok()?;
                self.at += inner.current_index();
                Some(())
            }
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let found = self.text.get(self.at..)?.starts_with(word);
        self.at += word.len();
        found.then_some(())
    }

    /// Digits, with a fraction perhaps; what follows is seen by whoever takes the comma.
    fn number(&mut self) -> Option<()> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        self.whole()?;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            (!self.digits().is_empty()).then_some(())?;
        }
        Some(())
    }

    /// Digits without a needless zero before them.
    fn whole(&mut self) -> Option<&'a [u8]> {
        let digits = self.digits();
        matches!(digits, [b'0'] | [b'1'..=b'9', ..]).then_some(digits)
    }

    fn digits(&mut self) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        rest.get(..digits).unwrap_or_default()
    }

    fn version(&mut self) -> Option<u32> {
        self.next()?;
        let digits = self.whole().filter(|digits| digits.len() <= DIGITS_MAX)?;
        let ends = matches!(self.text.get(self.at)?, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        ends.then(|| digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }
}

/// The highest bit of each byte that is a quote, a backslash or a control character; exact up to the first one.
fn special(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let backslash = zero(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 32) & !word;
    (quote | backslash | control) & HIGHS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::{Found, parsed};
    use super::*;

    /// Pieces of which texts are put together: whole fields, and what makes them odd or wrong.
    const PIECES: [&str; 40] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        " ",
        "\n",
        "\"v\":",
        "\"v\" : ",
        "\"a\":",
        "\"\\u0076\":",
        "1",
        "0",
        "-",
        "12",
        "007",
        ".",
        "1.5",
        "1e3",
        "9999999999",
        "true",
        "false",
        "null",
        "nul",
        "NaN",
        "\"x\"",
        "\"\\n\"",
        "\"ñ\"",
        "\"v\\\"\"",
        "\"a longer text, beyond one word\"",
        "\u{1}",
        "\"\u{1f}\"",
        "{\"v\":9}",
        "[{\"v\":8}]",
        "[1,]",
        "\"v\":3,",
        "\"b\":\"long enough for a word\",",
    ];

    fn text() -> impl Strategy<Value = String> {
        let field = (select(vec!["v", "w", "long name"]), select(PIECES.to_vec()));
        let plain = proptest::collection::vec(field, 0..6).prop_map(|fields| {
            let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        let wild = proptest::collection::vec(select(PIECES.to_vec()), 0..12).prop_map(|pieces| pieces.concat());
        let opened = proptest::collection::vec(select(PIECES.to_vec()), 0..12)
            .prop_map(|pieces| format!("{{{}", pieces.concat()));
        prop_oneof![plain, wild, opened]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn an_answer_is_that_of_the_parser(text in text(), at in any::<prop::sample::Index>(), byte in any::<Option<u8>>()) {
            let mut bytes = text.into_bytes();
            if let (Some(byte), false) = (byte, bytes.is_empty()) {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(found) = version(&bytes, b"v") {
                prop_assert_eq!(parsed(&bytes, "v"), Found::Version(found), "{}", String::from_utf8_lossy(&bytes));
            }
        }

        #[test]
        fn every_special_byte_is_found_first(word in any::<[u8; 8]>()) {
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..32);
            let found = special(u64::from_le_bytes(word));
            let first = (found != 0).then(|| found.trailing_zeros() as usize / 8);
            prop_assert_eq!(first, word.iter().position(is_special));
        }
    }

    #[test]
    fn plain_texts_are_answered() {
        let text = |text: &str| version(text.as_bytes(), b"v");
        assert_eq!(text(r#"{"v":2}"#), Some(2));
        assert_eq!(
            text(r#" { "a" : {"v": 9}, "b":[{"v":8}], "c":"ñ v, and so on", "d":-1.5,"e":null,"v" : 3 }"#),
            Some(3)
        );
        for other in
            [r#"{"a":"\"","v":2}"#, r#"{"v":1.5}"#, r#"{"v":1e2}"#, r#"{"v":01}"#, r#"{"a":1}"#, "", r#"{"v":1"#]
        {
            assert_eq!(text(other), None, "{other}");
        }
    }
}
