//! Text of components made safe to print: no terminal escapes, no line breaks, never longer than allowed.

use std::path::Path;

/// Escapes what could move a cursor, colour a terminal or reorder a line, and cuts to `bytes_max`.
pub fn printable(text: &str, bytes_max: usize) -> String {
    let mut safe = String::with_capacity(text.len().min(bytes_max));
    for c in text.chars() {
        let before = safe.len();
        match c {
            '\n' | '\r' | '\t' => safe.extend(c.escape_default()),
            c if c.is_control() || reorders(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
        if safe.len() > bytes_max {
            safe.truncate(before);
            return ellipsis(safe, bytes_max);
        }
    }
    safe
}

/// A path without anything that could move a cursor: who may write to a folder chooses the names in it.
pub fn printable_path(path: &Path) -> String {
    /// The longest path of the system.
    const PATH_BYTES_MAX: usize = 4 << 10;
    printable(&path.to_string_lossy(), PATH_BYTES_MAX)
}

/// Marks, embeddings and isolates that change the direction of text, and characters without width.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{061c}')
}

fn ellipsis(mut text: String, bytes_max: usize) -> String {
    const DOTS: char = '…';
    while text.len() + DOTS.len_utf8() > bytes_max {
        if text.pop().is_none() {
            return text;
        }
    }
    text.push(DOTS);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(printable("país, 東京, `a b`", 100), "país, 東京, `a b`");
    }

    #[test]
    fn terminal_escapes_and_line_breaks_are_shown_not_sent() {
        assert_eq!(printable("a\u{1b}[31mred\r\n\u{9b}x", 100), "a\\u{1b}[31mred\\r\\n\\u{9b}x");
        assert_eq!(printable("a\u{202e}b", 100), "a\\u{202e}b");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(printable("ääää", 7), "ää…");
        assert_eq!(printable("abcdef", 6), "abcdef");
        assert_eq!(printable("abcdefg", 6), "abc…");
        assert_eq!(printable("abc", 0), "");
    }
}
