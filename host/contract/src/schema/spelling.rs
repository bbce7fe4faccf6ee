//! Names of options, which are compared without case, dots and underscores (K-001), as patterns.

use crate::keys::plain;

/// An option of the Kafka client.
pub(super) const CLIENT: &str = "^[kK][aA][fF][kK][aA]\\..";

/// All spellings of an option.
pub(super) fn of_option(name: &str) -> String {
    let letters = plain(name).chars().map(any_case).collect::<Vec<_>>();
    format!("^[._]*{}[._]*$", letters.join("[._]*"))
}

/// A word in any case.
pub(super) fn of_word(word: &str) -> String {
    format!("^{}$", word.chars().map(any_case).collect::<String>())
}

fn any_case(letter: char) -> String {
    match letter.is_ascii_alphabetic() {
        true => format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase()),
        false => letter.to_string(),
    }
}
