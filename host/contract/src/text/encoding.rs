//! From the bytes of a file to its text, which must be UTF-8.

/// What some editors put at the start of a file.
pub(super) const MARK: char = '\u{feff}';
pub(super) const MARK_FOUND: &str = "the file begins with a byte order mark, which JSON does not allow";
pub(super) const MARK_HINT: &str = "save it as `UTF-8`, not as `UTF-8 with BOM`";

/// Where and why bytes are no text.
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// The text as far as it goes, and what is wrong with what follows.
pub(super) fn text(bytes: &[u8]) -> (&str, Option<Fault>) {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file is UTF-16, not UTF-8".to_owned();
        return ("", Some(Fault { offset: 0, message, hint: "save it as `UTF-8`" }));
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error,
    };
    let offset = error.valid_up_to();
    let good = bytes.get(..offset).and_then(|good| std::str::from_utf8(good).ok()).unwrap_or_default();
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let message = format!("the file is not UTF-8: byte {offset} is 0x{byte:02X}");
    (good, Some(Fault { offset, message, hint: "save it as `UTF-8`" }))
}
