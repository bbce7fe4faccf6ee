//! What is shown while streams run: bars on a terminal, lines elsewhere, JSON Lines for programs.

mod bars;
mod json;
mod lines;
mod screen;

use std::io::IsTerminal;
use std::sync::Arc;

use crisol::Build;
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

/// An exchange of components, for people.
fn swapped(component: &str, from: &[Build], to: &[Build], streams: &[String]) -> String {
    let list = |builds: &[Build]| {
        let one = |build: &Build| format!("{} ({})", build.version, build.digest.get(..12).unwrap_or(&build.digest));
        let builds: Vec<String> = builds.iter().map(one).collect();
        if builds.is_empty() { "nothing".to_string() } else { builds.join(", ") }
    };
    let streams = streams.join(", ");
    format!("component `{component}`: {} in place of {} from the next batch of {streams}", list(to), list(from))
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
    use crisol::Build;

    use super::{swapped, thousands};

    #[test]
    fn an_exchange_names_builds_and_streams() {
        let build = |version: &str, digest: &str| Build { version: version.into(), digest: digest.repeat(64) };
        let streams = ["silver.orders".to_string()];
        assert_eq!(
            swapped("orders", &[build("1.0.0", "a")], &[build("3.0.0", "c"), build("1.0.0", "a")], &streams),
            "component `orders`: 3.0.0 (cccccccccccc), 1.0.0 (aaaaaaaaaaaa) in place of 1.0.0 (aaaaaaaaaaaa) from the \
             next batch of silver.orders"
        );
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
