//! Messages of Arrow and DataFusion name Arrow's types; people know those of contracts.

use arrow_schema::DataType;

/// The text with Arrow's names of types as contracts have them: `Decimal128(38, 10)` becomes `decimal(38,10)`. What
/// stands in quotes comes from a person or a row and stays.
pub(super) fn contract_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\'' | '`' => quoted(rest, first),
            c if c.is_alphanumeric() => {
                let word = word(rest);
                if let Some((length, name)) = type_at(rest, word) {
                    out.push_str(&name);
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
                word
            }
            c => c.len_utf8(),
        };
        out.push_str(rest.get(..taken).unwrap_or_default());
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Bytes of what stands in quotes at the start; the quote alone when it is never closed.
fn quoted(text: &str, quote: char) -> usize {
    text.get(1..).and_then(|rest| rest.find(quote)).map_or(1, |end| end + 2)
}

/// A type that begins with this word: bytes taken, and its name in contracts.
fn type_at(text: &str, word: usize) -> Option<(usize, String)> {
    let with_brackets =
        text.get(word..)?.starts_with('(').then(|| word + brackets(text.get(word..).unwrap_or_default()));
    with_brackets.into_iter().chain([word]).find_map(|length| Some((length, name(text.get(..length)?)?)))
}

/// Bytes up to the bracket that closes the first.
fn brackets(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open <= 1 => return at + 1,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn name(text: &str) -> Option<String> {
    // Some messages give the width apart: `Decimal128 of precision 5`.
    if matches!(text, "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256") {
        return Some("decimal".to_owned());
    }
    let data_type: DataType = text.parse().ok()?;
    let simple = match &data_type {
        DataType::LargeUtf8 | DataType::Utf8View => "string",
        DataType::LargeBinary | DataType::BinaryView => "binary",
        DataType::Timestamp(..) => "timestamp",
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal256(precision, scale) => return Some(format!("decimal({precision},{scale})")),
        other => return crisol_ipc::types::name(other),
    };
    Some(simple.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_contracts() {
        for (arrow, ours) in [
            ("Cannot cast string 'Int64' to value of Int64 type", "Cannot cast string 'Int64' to value of bigint type"),
            ("12 is too large to store in a Decimal128(38, 10).", "12 is too large to store in a decimal(38,10)."),
            ("Utf8 = List(Int32)", "string = array<int>"),
            ("too large to store in a Decimal128 of precision 5", "too large to store in a decimal of precision 5"),
            ("Timestamp(µs, \"UTC\") + Date32", "timestamp + date"),
            ("Can't cast value 300 to type Int8", "Can't cast value 300 to type tinyint"),
            ("no column `Utf8`; it's Boolean", "no column `Utf8`; it's boolean"),
        ] {
            assert_eq!(contract_types(arrow), ours);
        }
    }
}
