//! Escapes in strings.

/// Reads the escape that `text` starts with: the character and the length of the escape.
///
/// Half of a surrogate pair is no character and is refused; `\'` is read, as single quotes are.
pub(crate) fn read(text: &[u8]) -> Result<(char, usize), &'static str> {
    let simple = match text.get(1) {
        Some(b'u') => return unicode(text),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b @ (b'"' | b'\'' | b'\\' | b'/')) => char::from(*b),
        _ => return Err("an escape that JSON does not have"),
    };
    Ok((simple, 2))
}

/// Appends a string whose escapes have been read before.
pub(crate) fn append(raw: &[u8], to: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|&b| b == b'\\') {
        let (plain, escape) = rest.split_at(at);
        to.extend_from_slice(plain);
        let Ok((character, length)) = read(escape) else { return };
        to.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = escape.get(length..).unwrap_or_default();
    }
    to.extend_from_slice(rest);
}

fn unicode(text: &[u8]) -> Result<(char, usize), &'static str> {
    let first = unit(text, 0).ok_or("`\\u` without four hexadecimal digits")?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let lone = "half of a surrogate pair";
    let second = unit(text, 6).ok_or(lone)?;
    if first >= 0xDC00 || !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).map(|c| (c, 12)).ok_or(lone)
}

/// The code unit of the `\uXXXX` at `at`.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = text.get(at..at + 6)? else { return None };
    digits.iter().try_fold(0, |unit, &b| Some(unit << 4 | char::from(b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        let mut bytes = Vec::new();
        append(raw.as_bytes(), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn every_escape_is_read() {
        assert_eq!(text(r#"a\n\t\r\b\f\"\'\\\/z"#), "a\n\t\r\u{8}\u{c}\"'\\/z");
        assert_eq!(text(r"\u0041\u00e9\u00E9\u0000"), "Aéé\0");
        assert_eq!(text(r"x\ud83d\ude00y"), "x😀y");
        assert_eq!(text("plain é"), "plain é");
    }

    #[test]
    fn half_pairs_and_unknown_escapes_are_refused() {
        for raw in [r"\ud83d", r"\ud83dx", r"\ud83d\n", r"\ud83d\u0041", r"\ude00", r"\ude00\ud83d", r"\ud83d\ud83d"] {
            assert_eq!(read(raw.as_bytes()), Err("half of a surrogate pair"), "{raw}");
        }
        for raw in [r"\u12", r"\u12g4", r"\u+123", r"\u"] {
            assert_eq!(read(raw.as_bytes()), Err("`\\u` without four hexadecimal digits"), "{raw}");
        }
        for raw in [r"\x", r"\", r"\U0041", r"\0"] {
            assert_eq!(read(raw.as_bytes()), Err("an escape that JSON does not have"), "{raw}");
        }
    }
}
