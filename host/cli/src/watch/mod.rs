//! What is shown while streams run: bars on a terminal, lines elsewhere, JSON Lines for programs.

mod bars;
mod json;
mod lines;
mod plugins;
mod screen;
mod trouble;

use std::io::IsTerminal;
use std::sync::Arc;

use indicatif::MultiProgress;

use crate::args::{Global, Output};
use crate::run::Observers;

pub(crate) use screen::bars;

/// The listeners that the flags and the terminal ask for.
pub(crate) fn observers(global: &Global, bars: &MultiProgress) -> Observers {
    let mut observers: Observers = Vec::new();
    if global.output == Output::Json {
        observers.push(Arc::new(json::Json));
    }
    if std::io::stderr().is_terminal() && !global.no_progress && !global.quiet {
        observers.push(Arc::new(bars::Bars::new(bars.clone())));
    } else {
        observers.push(Arc::new(lines::Lines::default()));
    }
    observers
}

/// `1234567` as `1,234,567`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
